"""The classes a model file may name, with what each of their fields may hold.

This is the only place that says so. A name in a file is looked up here and nowhere else; a new
class enters by being added. Sizes: n rows in sums or nodes of a tree, N rows that were fitted, d
features, c prototypes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from typicality.operators import has_compiled_sums
from typicality.persistence._kinds import (
    Kind,
    array,
    enum,
    flag,
    float_type,
    floats,
    nothing,
    number,
    one_of,
    output_setting,
    part,
    size,
    sparse_floats,
    text,
    tuple_of,
    whole,
    wholes,
    words,
)

__all__ = [
    "ATTRIBUTES",
    "ENUMS",
    "ESTIMATORS",
    "LEFT_OUT",
    "RECORDS",
    "Estimator",
    "Record",
    "class_of",
]


@dataclass(frozen=True)
class Record:
    """A dataclass or named tuple.

    Parameters
    ----------
    module : str
        Where it lives.
    fields : mapping of str to kind
        All its fields; a field is judged after those before it.
    is_sound : callable, optional
        What else must hold of an object that was made.
    """

    module: str
    fields: Mapping[str, Kind]
    is_sound: Callable[[Any], bool] = lambda made: True


@dataclass(frozen=True)
class Estimator:
    """An estimator, or a pipeline of them.

    Parameters
    ----------
    module : str
        Where it lives.
    needs : tuple of str
        Attributes without which a fitted one cannot predict.
    """

    module: str
    needs: tuple[str, ...] = ()


def class_of(name: str, entry: Record | Estimator) -> Any:
    """The class of an entry; the module is the one written here, never one from a file."""
    return getattr(import_module(entry.module), name)


KERNELS = ("Gaussian", "Laplacian", "Cauchy", "Linear", "Polynomial", "Cosine", "Function")
COLUMNS = ("Evaluated", "GivenKernel", "GivenSqdist")
SUMS = ("BlockedSums", "TileExpansion", "FourierExpansion", "ReducedSet")
READERS = ("Coordinates", "Box", "KernelValues", "Dissimilarities", "Paths")
RULES = (
    "Fuzzy",
    "Entropic",
    "Possibilistic1993",
    "Possibilistic1996",
    "SparsePossibilistic",
    "BisectedSparsePossibilistic",
)


def _has_all_modes(expansion: Any) -> bool:
    n_pairs = -(-len(expansion.scale) // 2)
    return bool(
        expansion.modes.dtype == np.complex128
        and expansion.modes.shape == (n_pairs, *expansion.grid.shape)
    )


_STATIONARY = Record("typicality.kernels.of_distance", {"sigma": number})
_SPARSE = Record("typicality.membership.sparse", {"eta": floats("c"), "lam": number, "p": number})

RECORDS: dict[str, Record] = {
    # kernels and rules
    "Gaussian": _STATIONARY,
    "Laplacian": _STATIONARY,
    "Cauchy": _STATIONARY,
    "Linear": Record("typicality.kernels.of_product", {}),
    "Polynomial": Record(
        "typicality.kernels.of_product",
        {"degree": number, "gamma": one_of(nothing, number), "coef0": number},
    ),
    "Cosine": Record("typicality.kernels.of_product", {}),
    "Function": Record("typicality.kernels.named", {"function": part("_FromScikitLearn")}),
    "_FromScikitLearn": Record(
        "typicality.kernels.named", {"name": words("additive_chi2", "chi2", "sigmoid")}
    ),
    "Fuzzy": Record("typicality.membership.fuzzy", {"m": number}),
    "Entropic": Record("typicality.membership.entropic", {"lam": number}),
    "Possibilistic1993": Record(
        "typicality.membership.possibilistic", {"eta": floats("c"), "m": number}
    ),
    "Possibilistic1996": Record("typicality.membership.possibilistic", {"eta": floats("c")}),
    "SparsePossibilistic": _SPARSE,
    "BisectedSparsePossibilistic": _SPARSE,
    # rows
    "Coordinates": Record("typicality.cluster._readers", {"origin": floats("d")}),
    "Box": Record(
        "typicality.cluster._readers",
        {"origin": floats("d"), "low": floats("d"), "factor": floats("d"), "size": number},
    ),
    "KernelValues": Record(
        "typicality.cluster._readers",
        {"dtype": float_type, "keys": array("u", "_known"), "diagonal": floats("_values")},
    ),
    "Dissimilarities": Record("typicality.cluster._readers", {"dtype": float_type}),
    "Paths": Record(
        "typicality.cluster._readers",
        {
            "coordinates": part("Coordinates", "Box"),
            "paths": part("MinimaxPaths"),
            "taking_part": array("b", "n"),
        },
        lambda made: made.taking_part.sum() == len(made.paths.rows),
    ),
    "MinimaxPaths": Record(
        "typicality.minimax",
        {
            "rows": floats("_walked", "d"),
            "order": wholes("_walked", below="_walked"),
            "gaps": floats("_walked"),
        },
    ),
    # sums of kernel values
    "Evaluated": Record(
        "typicality.operators.columns",
        {"kernel_object": part(*KERNELS), "training": floats("n", "d")},
    ),
    "GivenKernel": Record(
        "typicality.operators.columns", {"diagonal": floats("n"), "on_sphere": flag}
    ),
    "GivenSqdist": Record(
        "typicality.operators.columns",
        {"means": floats("n"), "positive_semidefinite": flag, "order": whole},
    ),
    "BlockedSums": Record(
        "typicality.operators.blocked", {"columns": part(*COLUMNS), "weights": floats("n", "c")}
    ),
    "TileExpansion": Record(
        "typicality.operators.tiles",
        {
            "columns": part("Evaluated"),
            "weights": floats("n", "c"),
            "skip_rtol": number,
            "single": flag,
        },
        lambda made: has_compiled_sums(made.columns),
    ),
    "ReducedSet": Record(
        "typicality.operators.reduced_set",
        {
            "columns": part("Evaluated"),
            "weights": floats("n", "c"),
            "total": floats("c"),
            "rtol": number,
        },
    ),
    "FourierGrid": Record(
        "typicality.operators.fourier_grid",
        {
            "sigma": number,
            "rtol": number,
            "low": floats("d"),
            "high": floats("d"),
            "reach": number,
            "period": floats("d"),
            "half": one_of(*(tuple_of(*[whole] * length) for length in (1, 2, 3))),
        },
        lambda made: len(made.half) == len(made.low),
    ),
    "FourierExpansion": Record(
        "typicality.operators.nufft",
        {
            "grid": part("FourierGrid"),
            "modes": one_of(*(array("c", *[f"_{i}" for i in range(m)]) for m in (2, 3, 4))),
            "scale": floats("c"),
            "total": floats("c"),
        },
        _has_all_modes,
    ),
    # prototypes and scores
    "Centroids": Record(
        "typicality.geometry.centroids", {"origin": floats("d"), "offsets": floats("c", "d")}
    ),
    "ExpandedPrototypes": Record(
        "typicality.geometry.kernel_prototypes",
        {
            "sums": part(*SUMS),
            "energy": floats("c"),
            "dtype": float_type,
            "source": one_of(nothing, tuple_of(part(*COLUMNS), floats("n", "c"))),
        },
    ),
    "KnownRows": Record(
        "typicality.geometry.leave_one_out",
        {
            "columns": part(*COLUMNS),
            "weights": floats("n"),
            "copies": floats("n"),
            "nearest": number,
        },
    ),
    "LeaveOneOut": Record(
        "typicality.geometry.leave_one_out",
        {"mean": part("ExpandedPrototypes"), "known": part("KnownRows")},
    ),
    "FastLeaveOneOut": Record(
        "typicality.geometry.leave_one_out",
        {
            "mean": part("ExpandedPrototypes"),
            "known": part("KnownRows"),
            "iterations_rtol": number,
        },
        lambda made: has_compiled_sums(made.known.columns),
    ),
    "CompressedScores": Record(
        "typicality.geometry.leave_one_out", {"mean": part("ExpandedPrototypes")}
    ),
    # level sets
    "Landscape": Record(
        "typicality.levelsets.landscape",
        {
            "columns": part("Evaluated"),
            "weights": floats("n"),
            "energy": number,
            "eta": number,
            "sums": part(*SUMS),
        },
        lambda made: has_compiled_sums(made.columns),
    ),
    "AlphaTree": Record(
        "typicality.levelsets.tree",
        {
            "heights": floats("n"),
            "weight": floats("n"),
            "pairs": wholes("n-1", 2, below="n"),
            "saddles": floats("n-1"),
            "node_alpha": floats("n"),
            "saddle_alpha": floats("n-1"),
            "node_of": wholes("N", below="n"),
            "entry_alpha": floats("N"),
            "row_of": wholes("n", below="N"),
        },
    ),
    "Regions": Record(
        "typicality.levelsets.regions",
        {
            "landscape": part("Landscape"),
            "tree": part("AlphaTree"),
            "labelling": words("neighbours", "complete"),
            "n_neighbors": whole,
            "aside": wholes("_aside", below="N"),
            "aside_rows": floats("_aside", "d"),
            "typicality": floats("N"),
        },
    ),
    "Cut": Record(
        "typicality.levelsets.tree",
        {
            "node_labels": wholes("n", below="n", lowest=-1),
            "alpha": one_of(number, floats("_clusters")),
        },
        lambda made: np.ndim(made.alpha) == 0 or len(made.alpha) == made.n_clusters,
    ),
    # what a fit tells of itself
    "LambdaPath": Record(
        "typicality.solve.lambda_path",
        {
            "lam": floats("_tried"),
            "n_clusters": array("i", "_tried"),
            "index": floats("_tried"),
            "criterion": text,
            "chosen": whole,
        },
    ),
    "Plan": Record(
        "typicality.plan",
        {
            "method": text,
            "working_memory": whole,
            "reason": text,
            "product_seconds": one_of(nothing, number),
            "rtol": number,
        },
    ),
}

ENUMS = {"Status": "typicality.solve.picard"}

_WITH_PROTOTYPES = (
    "n_features_in_",
    "_prototypes",
    "_rule",
    "_reader",
    "prototype_labels_",
    "n_clusters_",
    "kernel_",
)

ESTIMATORS: dict[str, Estimator] = {
    "AdaptivePCM": Estimator("typicality.cluster.adaptive", _WITH_PROTOTYPES),
    "AlphaCutClustering": Estimator(
        "typicality.cluster.alpha_cut",
        ("n_features_in_", "_regions", "_cut", "_reader", "_assign", "_min_cluster_size", "tree_"),
    ),
    "ColumnScaler": Estimator(
        "typicality.preprocessing", ("n_features_in_", "center_", "scale_", "fill_")
    ),
    "EntropyCMeans": Estimator("typicality.cluster.entropy", _WITH_PROTOTYPES),
    "FuzzyCMeans": Estimator("typicality.cluster.fuzzy", _WITH_PROTOTYPES),
    "OneClusterPCM": Estimator(
        "typicality.cluster.one_cluster",
        ("n_features_in_", "_left_out", "_rule", "_reader", "eta_", "offset_", "kernel_"),
    ),
    "Pipeline": Estimator("sklearn.pipeline"),
    "PossibilisticCMeans": Estimator("typicality.cluster.possibilistic", _WITH_PROTOTYPES),
    "SequentialPCM": Estimator("typicality.cluster.sequential", _WITH_PROTOTYPES),
    "SparseAdaptivePCM": Estimator("typicality.cluster.sparse_adaptive", _WITH_PROTOTYPES),
}

# Attributes mean the same in all estimators; which of them one has is its own affair. Those that
# bind sizes come first.
ATTRIBUTES: dict[str, Kind] = {
    "n_features_in_": size("d"),
    "feature_names_in_": array("O", "d"),
    "_prototypes": part("Centroids", "ExpandedPrototypes"),
    "_left_out": part("LeaveOneOut", "FastLeaveOneOut", "CompressedScores"),
    "_regions": part("Regions"),
    "_cut": part("Cut"),
    "_rule": part(*RULES),
    "_reader": part(*READERS),
    "_assign": words("core", "all"),
    "_min_cluster_size": whole,
    "tree_": part("AlphaTree"),
    "prototype_labels_": wholes("c", below="c", lowest=-1),
    "cluster_centers_": floats("c", "d"),
    "labels_": array("i", "N"),
    "memberships_": one_of(floats("N", "c"), sparse_floats("N", "c")),
    "typicality_": floats("N"),
    "weights_": floats("N"),
    "n_clusters_": whole,
    "alpha_": one_of(number, floats("_clusters")),
    "eta_": one_of(number, floats("c")),
    "lam_": number,
    "lambda_path_": part("LambdaPath"),
    "offset_": number,
    "kernel_": one_of(text, part(*KERNELS)),
    "sigma_": one_of(nothing, number),
    "n_iter_": whole,
    "status_": enum("Status"),
    "objective_": number,
    "objective_path_": floats("_steps"),
    "plan_": part("Plan"),
    "center_": floats("d"),
    "scale_": floats("d"),
    "fill_": floats("d"),
    "_sklearn_output_config": output_setting,
}

# Of the state of an estimator: what a later fit needs and prediction does not.
LEFT_OUT = ("_skl_callbacks", "_metadata_request")
