"""The classes a model file may name, with what each of their fields may hold.

This is the only place that says so. A name in a file is looked up here and nowhere else; a new
class enters by being added. Sizes: n rows in sums or nodes of a tree, N rows that were fitted, d
features, c prototypes.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from typicality import membership
from typicality.kernels import DISTANCE_KERNELS, named_kernel
from typicality.operators import has_compiled_sums
from typicality.persistence._entries import (
    Estimator,
    Record,
    are_contiguous,
    has_all_modes,
    spans_its_box,
)
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

COLUMNS = ("KernelColumns", "PrecomputedKernel", "PrecomputedSqdist")
SUMS = ("BlockedSums", "TileExpansion", "FourierExpansion", "ReducedSet")
READERS = ("Coordinates", "Box", "KernelValues", "Dissimilarities", "Paths", "Sphere")


def _record_of(kind: Any) -> Record:
    """A rule or a kernel of a distance: numbers, and the spread `eta` of each cluster."""
    names = [field.name for field in fields(kind)]
    kinds = {name: floats("c") if name == "eta" else number for name in names}
    return Record(kind.__module__, kinds)


_RULES = {
    name: _record_of(getattr(membership, name))
    for name in membership.__all__
    if is_dataclass(getattr(membership, name)) and fields(getattr(membership, name))
}
_DISTANCE_KERNELS = {
    type(kernel).__name__: _record_of(type(kernel))
    for kernel in map(named_kernel, DISTANCE_KERNELS)
}
RULES = tuple(_RULES)
KERNELS = (*_DISTANCE_KERNELS, "Linear", "LocalGaussian", "Polynomial", "Cosine", "Function")

RECORDS: dict[str, Record] = {
    # kernels and rules
    **_DISTANCE_KERNELS,
    **_RULES,
    "Linear": Record("typicality.kernels", {}),
    "LocalGaussian": Record(
        "typicality.kernels",
        {
            "rows": floats("_reference", "_coordinates"),
            "n_neighbors": whole,
            "dimension": one_of(nothing, number),
        },
    ),
    "Polynomial": Record(
        "typicality.kernels",
        {"degree": number, "gamma": one_of(nothing, number), "coef0": number},
    ),
    "Cosine": Record("typicality.kernels", {}),
    "Function": Record("typicality.kernels", {"function": part("_FromScikitLearn")}),
    "_FromScikitLearn": Record(
        "typicality.kernels", {"name": words("additive_chi2", "chi2", "sigmoid")}
    ),
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
    "Sphere": Record("typicality.cluster._readers", {"metric": words("cosine", "haversine")}),
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
    "KernelColumns": Record(
        "typicality.operators.columns",
        {"kernel_function": part(*KERNELS), "training": floats("n", "d")},
    ),
    "PrecomputedKernel": Record(
        "typicality.operators.columns", {"diagonal": floats("n"), "on_sphere": flag}
    ),
    "PrecomputedSqdist": Record(
        "typicality.operators.columns",
        {"means": floats("n"), "positive_semidefinite": flag, "order": whole},
    ),
    "BlockedSums": Record(
        "typicality.operators.blocked", {"columns": part(*COLUMNS), "weights": floats("n", "c")}
    ),
    "TileExpansion": Record(
        "typicality.operators.tiles",
        {
            "columns": part("KernelColumns"),
            "weights": floats("n", "c"),
            "skip_rtol": number,
            "single": flag,
        },
        lambda made: has_compiled_sums(made.columns),
    ),
    "ReducedSet": Record(
        "typicality.operators.reduced_set",
        {
            "columns": part("KernelColumns"),
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
        spans_its_box,
    ),
    "FourierExpansion": Record(
        "typicality.operators.nufft",
        {
            "grid": part("FourierGrid"),
            "modes": one_of(*(array("c", *[f"_{i}" for i in range(m)]) for m in (2, 3, 4))),
            "scale": floats("c"),
            "total": floats("c"),
        },
        has_all_modes,
    ),
    # prototypes and scores
    "Centroids": Record(
        "typicality.geometry.input_space", {"origin": floats("d"), "offsets": floats("c", "d")}
    ),
    "ExpandedPrototypes": Record(
        "typicality.geometry.kernel_space",
        {
            "sums": part(*SUMS),
            "energy": floats("c"),
            "dtype": float_type,
            "source": one_of(nothing, tuple_of(part(*COLUMNS), floats("n", "c"))),
        },
    ),
    "KnownRows": Record(
        "typicality.geometry.scores",
        {
            "columns": part(*COLUMNS),
            "weights": floats("n"),
            "copies": floats("n"),
            "nearest": number,
        },
    ),
    "LeaveOneOut": Record(
        "typicality.geometry.scores",
        {"mean": part("ExpandedPrototypes"), "known": part("KnownRows")},
    ),
    "FastLeaveOneOut": Record(
        "typicality.geometry.scores",
        {
            "mean": part("ExpandedPrototypes"),
            "known": part("KnownRows"),
            "iterations_rtol": number,
        },
        lambda made: has_compiled_sums(made.known.columns),
    ),
    "CompressedScores": Record("typicality.geometry.scores", {"mean": part("ExpandedPrototypes")}),
    # level sets
    "Landscape": Record(
        "typicality.levelsets.landscape",
        {
            "columns": part("KernelColumns"),
            "weights": floats("n"),
            "energy": number,
            "eta": number,
            "sums": part(*SUMS),
        },
        lambda made: has_compiled_sums(made.columns),
    ),
    "NearestRows": Record(
        "typicality.geometry.rows", {"rows": floats("n", "_coordinates"), "norm": whole}
    ),
    "GivenDistances": Record(
        "typicality.geometry.rows",
        {"columns": array("i", "n")},
        lambda made: bool((made.columns >= 0).all()),
    ),
    "LocalLandscape": Record(
        "typicality.levelsets.local",
        {
            "search": part("NearestRows", "GivenDistances"),
            "counts": floats("n"),
            "n_neighbors": whole,
            "dimension": number,
            "squares": floats("n"),
            "radii": floats("n"),
            "energy": number,
            "eta": number,
        },
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
            "landscape": part("Landscape", "LocalLandscape"),
            "tree": part("AlphaTree"),
            "labelling": words("neighbours", "complete"),
            "n_neighbors": whole,
            "aside": wholes("_aside", below="N"),
            "aside_rows": floats("_aside", "_coordinates"),
            "typicality": floats("N"),
        },
    ),
    "Cut": Record(
        "typicality.levelsets.tree",
        {
            "node_labels": wholes("n", below="n", lowest=-1),
            "alpha": one_of(number, floats("_clusters")),
            "filled": one_of(nothing, wholes("n", below="_clusters")),
            "reach": one_of(nothing, floats("_clusters")),
        },
        lambda made: np.ndim(made.alpha) == 0 or len(made.alpha) == made.n_clusters,
    ),
    "GaussianParts": Record(
        "typicality.cluster._mixture",
        {
            "weights": floats("_parts"),
            "means": floats("_parts", "d"),
            "covariances": floats("_parts", "d", "d"),
            "groups": wholes("_parts", below="_parts"),
            "n_iter": whole,
        },
        are_contiguous,
    ),
    # what a fit tells of itself
    "LambdaPath": Record(
        "typicality.solve.schedules",
        {
            "lam": floats("_tried"),
            "n_clusters": array("i", "_tried"),
            "unassigned": floats("_tried"),
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

_SETTINGS = ("_sklearn_output_config",)
_OF_A_FIT = (
    "feature_names_in_",
    "kernel_",
    "sigma_",
    "n_iter_",
    "status_",
    "objective_path_",
    "plan_",
)


def _with_prototypes(*more: str) -> Estimator:
    needed = ("n_features_in_", "_prototypes", "_rule", "_reader", "prototype_labels_")
    common = ("n_clusters_", "cluster_centers_", "labels_", "memberships_", "objective_")
    return Estimator(needed, (*common, *_OF_A_FIT, *_SETTINGS, *more))


ESTIMATORS: dict[str, Estimator] = {
    "AdaptivePCM": _with_prototypes("eta_"),
    "AlphaCutClustering": Estimator(
        ("n_features_in_", "_regions", "_cut", "_reader", "_assign", "_min_cluster_size", "tree_"),
        (
            "labels_",
            "n_clusters_",
            "alpha_",
            "typicality_",
            "memberships_",
            "medoids_",
            "medoid_indices_",
            "evidence_",
            "agreement_",
            "weights_",
            "eta_",
            *_OF_A_FIT,
        ),
    ),
    "AutoClustering": Estimator(
        ("n_features_in_", "estimator_"),
        (
            *("feature_names_in_", "labels_", "memberships_", "n_clusters_"),
            *("explanation_", "agreement_"),
        ),
    ),
    "ColumnScaler": Estimator(
        ("n_features_in_", "center_", "scale_", "fill_"),
        ("feature_names_in_", *_SETTINGS),
    ),
    "EntropyCMeans": _with_prototypes("lam_"),
    "FuzzyCMeans": _with_prototypes("m_"),
    "JoinedMixture": Estimator(
        ("n_features_in_", "_parts", "_center", "_scale", "n_clusters_"),
        (
            *("feature_names_in_", "labels_", "memberships_", "prototype_labels_", "n_parts_"),
            *("cluster_centers_", "agreement_", "n_iter_", "status_", "plan_"),
        ),
    ),
    "OneClusterPCM": Estimator(
        ("n_features_in_", "_left_out", "_rule", "_reader", "eta_", "offset_"),
        ("typicality_", "weights_", *_OF_A_FIT),
    ),
    "Pipeline": Estimator((), _SETTINGS),
    "PossibilisticCMeans": _with_prototypes("eta_", "m_"),
    "SequentialPCM": _with_prototypes("eta_", "lam_", "lambda_path_"),
    "SparseAdaptivePCM": _with_prototypes("eta_"),
}

# Attributes mean the same in all estimators. Those that tell sizes come first.
ATTRIBUTES: dict[str, Kind] = {
    "n_features_in_": size("d"),
    "feature_names_in_": array("O", "d"),
    "estimator_": part("AlphaCutClustering", "EntropyCMeans", "JoinedMixture"),
    "_parts": part("GaussianParts"),
    "_center": floats("d"),
    "_scale": floats("d"),
    "_prototypes": part("Centroids", "ExpandedPrototypes"),
    "_left_out": part("LeaveOneOut", "FastLeaveOneOut", "CompressedScores"),
    "_regions": part("Regions"),
    "_cut": part("Cut"),
    "_rule": part(*RULES),
    "_reader": part(*READERS),
    "_assign": words("core", "typical", "all"),
    "_min_cluster_size": whole,
    "tree_": part("AlphaTree"),
    "prototype_labels_": wholes("c", below="c", lowest=-1),
    "cluster_centers_": floats("c", "d"),
    "labels_": array("i", "N"),
    "memberships_": one_of(floats("N", "c"), sparse_floats("N", "c"), floats("N", "_clusters")),
    "typicality_": floats("N"),
    "medoids_": floats("_clusters", "d"),
    "medoid_indices_": wholes("_clusters", below="N"),
    "evidence_": one_of(nothing, number),
    "agreement_": one_of(nothing, number),
    "weights_": floats("N"),
    "n_clusters_": whole,
    "n_parts_": whole,
    "explanation_": text,
    "alpha_": one_of(number, floats("_clusters")),
    "eta_": one_of(number, floats("c")),
    "lam_": number,
    "m_": number,
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
