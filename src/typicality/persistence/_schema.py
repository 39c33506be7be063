"""What a model file may hold: the classes it may name, and whether a value fits an annotation.

A class that a file names is looked up in `ALLOWED` and nowhere else. What its fields may hold
follows from its annotations, which :class:`typicality._typing.Index` explains; the classes of
scikit-learn, which have none, are in `_scikit_learn`.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    ForwardRef,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

import numpy as np
from scipy.sparse import csr_array

from typicality import kernels, membership
from typicality._estimators import ESTIMATORS as TABLE
from typicality._typing import Index
from typicality.cluster._estimator import OPTIONAL_ATTRIBUTES
from typicality.persistence import _scikit_learn
from typicality.sums import has_compiled_sums


def _in(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{module}.{name}" for name in names)


def _dataclasses_of(module: Any, *without: str) -> tuple[str, ...]:
    names = [name for name in module.__all__ if is_dataclass(getattr(module, name))]
    return tuple(f"{getattr(module, n).__module__}.{n}" for n in names if n not in without)


# The only classes that a file may name, grouped by the interface that annotations name.
ALLOWED: dict[str, tuple[str, ...]] = {
    "BaseEstimator": (
        *(f"{info.module}.{info.name}" for info in TABLE.values()),
        "typicality.preprocessing.scaling.ColumnScaler",
        "typicality.preprocessing.mixed.MixedColumns",
        "typicality.preprocessing.sphere.SphereEmbedding",
        *_scikit_learn.ATTRIBUTES,
    ),
    "Kernel": _dataclasses_of(kernels),
    "Callable": ("typicality.kernels.products.FromScikitLearn",),
    "MembershipRule": _dataclasses_of(membership, "Hard"),  # the rule of no fitted model
    "Reader": _in(
        "typicality.cluster._inputs",
        "Coordinates",
        "SparseCoordinates",
        "Box",
        "KernelValues",
        "Dissimilarities",
        "Paths",
        "Stretched",
    ),
    "Columns": _in(
        "typicality.sums.columns", "KernelColumns", "PrecomputedKernel", "PrecomputedSqdist"
    ),
    "Expansion": (
        "typicality.sums.dense.DenseSums",
        "typicality.sums.tiles.TileExpansion",
        "typicality.sums.fourier.FourierExpansion",
        "typicality.sums.landmarks.ReducedSet",
    ),
    "Enum": ("typicality.solve.picard.Status",),
    "": (
        "typicality.minimax.MinimaxPaths",
        "typicality.sums.fourier.FourierGrid",
        "typicality.spaces.euclidean.Centroids",
        "typicality.spaces.gram.ExpandedPrototypes",
        *_in("typicality.spaces.nearest", "NearestRows", "GivenDistances"),
        *_in("typicality.geometry.scores", "KnownRows", "LeaveOneOut", "FastLeaveOneOut"),
        "typicality.geometry.scores.CompressedScores",
        "typicality.geometry.calibration.Calibration",
        "typicality.levelsets.heights.Landscape",
        "typicality.levelsets.heights.LocalLandscape",
        "typicality.levelsets.regions.Regions",
        *_in("typicality.levelsets.tree", "AlphaTree", "Cut"),
        "typicality.cluster._mixture.GaussianParts",
        "typicality.solve.schedules.LambdaPath",
    ),
}
_NAMES = {group: tuple(path.split(".")[-1] for path in paths) for group, paths in ALLOWED.items()}
_PATHS = {path.split(".")[-1]: path for paths in ALLOWED.values() for path in paths}
SAVED_ESTIMATORS = _NAMES["BaseEstimator"]
SAVED_ENUMS = _NAMES["Enum"]
OF_SCIKIT_LEARN = tuple(path.split(".")[-1] for path in _scikit_learn.ATTRIBUTES)
SAVED_RECORDS = tuple(_PATHS.keys() - {*SAVED_ESTIMATORS, *SAVED_ENUMS})

# Attributes of estimators as files list them; others follow. Those that tell sizes come first.
_ORDER = (
    *("n_features_in_", "feature_names_in_", "estimator_", "_parts", "_center", "_scale"),
    *("_prototypes", "_left_out", "_regions", "_cut", "_rule", "_reader", "_assign"),
    *("_min_cluster_size", "tree_", "prototype_labels_", "cluster_centers_", "labels_"),
    *("memberships_", "typicality_", "medoids_", "medoid_indices_", "evidence_", "agreement_"),
    *("weights_", "n_clusters_", "n_parts_", "explanation_", "alpha_", "eta_", "lam_", "m_"),
    *("lambda_path_", "offset_", "kernel_", "sigma_", "n_iter_", "status_", "objective_"),
    *("objective_path_", "sums_", "log_unit_", "center_", "scale_", "fill_"),
)
_OUTPUT_SETTING = "_sklearn_output_config"  # what scikit-learn's `set_output` notes


@cache
def class_of(name: str) -> Any:
    """The class of a name; the module is one that we wrote down, never one from a file."""
    module, _, _ = _PATHS[name].rpartition(".")
    return getattr(import_module(module), name)


@cache
def fields_of(name: str) -> dict[str, Any]:
    """The fields of a dataclass or named tuple with their annotations, in order."""
    kind = class_of(name)
    hints = hints_of(kind, include_extras=True)
    names = getattr(kind, "_fields", None) or [field.name for field in fields(kind)]
    return {field: hints[field] for field in names}


@cache
def attributes_of(name: str) -> dict[str, Any]:
    """The attributes that an estimator may have with their annotations, in order."""
    kind = class_of(name)
    if name in OF_SCIKIT_LEARN:
        hints = _scikit_learn.ATTRIBUTES[_PATHS[name]]
    else:
        annotated = hints_of(kind, include_extras=True)
        hints = {key: hint for key, hint in annotated.items() if get_origin(hint) is not ClassVar}
    first = {key: hints[key] for key in _ORDER if key in hints}
    setting = {_OUTPUT_SETTING: _OUTPUT_SETTING} if hasattr(kind, "set_output") else {}
    return first | hints | setting


def parameters_of(name: str) -> dict[str, Any]:
    """The parameters that may hold objects, or could hold code, with their annotations."""
    if name in OF_SCIKIT_LEARN:
        return _scikit_learn.PARAMETERS.get(name, {})
    return {"kernel": Union[str, ForwardRef("Kernel")]}  # noqa: UP007


def lacking(name: str, attributes: dict[str, Any]) -> str | None:
    """An attribute without which a fitted estimator cannot predict, if there is one."""
    optional = {_OUTPUT_SETTING, *OPTIONAL_ATTRIBUTES, *_scikit_learn.OPTIONAL_ATTRIBUTES}
    if not attributes.keys() - {_OUTPUT_SETTING}:  # not fitted
        return None
    needed = (key for key in attributes_of(name) if key not in optional)
    return next((key for key in needed if key not in attributes), None)


def is_foreign(value: Any) -> bool:
    """Whether only parameters of scikit-learn may be so: a type, or objects that are not text."""
    if not isinstance(value, np.ndarray):
        return isinstance(value, type)
    text = value.ndim == 1 and all(type(entry) is str for entry in value)
    return value.dtype == object and not text


# ---- whether a value fits ------------------------------------------------------------------------


class Made(NamedTuple):
    """An object that has been made: the name of its class, its sizes, and what it holds.

    `depth` and `n_parts` count the objects in it: on the longest way down, and along all ways.
    """

    value: Any
    name: str
    sizes: dict[str, int]
    depth: int = 1
    n_parts: int = 1


class Context(NamedTuple):
    """The sizes of the object that is being judged, and the objects made before it."""

    sizes: dict[str, int]
    made: dict[int, Made]

    def agree(self, name: str, length: int) -> bool:
        """Whether a size is the one known by that name; it becomes so where none is known."""
        if name.isdigit() or name == "*":
            return name == "*" or int(name) == length
        if name.endswith("-1"):
            name, length = name.removesuffix("-1"), length + 1
        return self.sizes.setdefault(name, length) == length


_PLAIN: dict[Any, Callable[[Any], bool]] = {
    NoneType: lambda value: value is None,
    str: lambda value: isinstance(value, str),
    bool: lambda value: isinstance(value, bool | np.bool_),
    int: lambda value: _is_number(value, int | np.integer) and bool(value >= 0),
    float: lambda value: _is_number(value, int | float | np.integer | np.floating),
    slice: lambda value: type(value) is slice,
    np.dtype: lambda value: isinstance(value, np.dtype) and value.kind == "f",
    np.generic: lambda value: isinstance(value, np.dtype),
    _OUTPUT_SETTING: lambda value: (
        type(value) is dict
        and value.keys() == {"transform"}
        and fits(value["transform"], Literal["default", "pandas", "polars"], Context({}, {}))
    ),
}
_MOST_FEATURES = 10**7  # scikit-learn makes up as many names where no array tells the number
_FAMILIES = (np.floating, np.signedinteger, np.unsignedinteger, np.bool_, np.complexfloating)


def fits(value: Any, hint: Any, context: Context) -> bool:
    """Whether a value is what an annotation says; the sizes it tells are noted in the context."""
    kind, arguments = get_origin(hint) or hint, get_args(hint)
    if kind is Annotated:
        return _fits_marks(value, *arguments, context=context)
    if kind in (Union, UnionType):
        return any(_fits_on_trial(value, argument, context) for argument in arguments)
    if kind is Literal:
        return isinstance(value, str) and value in arguments
    if kind in (list, tuple):
        alike = kind is list or arguments[-1] is Ellipsis
        return (
            type(value) is kind
            and (alike or len(value) == len(arguments))
            and all(fits(v, arguments[0 if alike else i], context) for i, v in enumerate(value))
        )
    if kind is dict:
        return type(value) is dict and all(fits(v, arguments[1], context) for v in value.values())
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return type(value) is kind
    return _is_part(value, kind, context)


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _fits_on_trial(value: Any, hint: Any, context: Context) -> bool:
    trial = context._replace(sizes=dict(context.sizes))
    if fits(value, hint, trial):
        context.sizes.update(trial.sizes)
        return True
    return False


def _fits_marks(value: Any, base: Any, *marks: Any, context: Context) -> bool:
    shape, *bounds = marks
    if not isinstance(shape, str):  # a narrower type
        return fits(value, shape, context)
    if base is int:
        counts = fits(value, int, context) and value <= _MOST_FEATURES
        return counts and context.agree(shape, int(value))
    if not _is_array_of(value, base):
        return False
    sizes = shape.split()
    if sizes != ["..."] and not (
        value.ndim == len(sizes) and all(map(context.agree, sizes, value.shape))
    ):
        return False
    return all(_is_within(value, bound, context) for bound in bounds)


def _is_array_of(value: Any, base: Any) -> bool:
    if base is csr_array:
        return isinstance(value, csr_array) and value.dtype.kind == "f"
    if not isinstance(value, np.ndarray):
        return False
    if base is np.ndarray:  # of anything
        return True
    scalar = np.floating if base is Any else _scalar_of(base)
    if scalar is np.object_:
        return value.dtype == object and all(type(entry) is str for entry in value.flat)
    return any(issubclass(scalar, f) and issubclass(value.dtype.type, f) for f in _FAMILIES)


def _scalar_of(base: Any) -> Any:
    """The type of the entries; `NDArray` is an ndarray of a dtype, or an alias with a name."""
    last = get_args(base)[-1]
    scalar = get_args(last)[0] if get_origin(last) is np.dtype else last
    return get_origin(scalar) or scalar


def _is_within(value: Any, bound: Index, context: Context) -> bool:
    if bound.below is None:
        return bool((value >= bound.lowest).all())
    if bound.below not in context.sizes:
        return False
    return bool(((value >= bound.lowest) & (value < context.sizes[bound.below])).all())


def _is_part(value: Any, kind: Any, context: Context) -> bool:
    """Whether a value is an object made before; its sizes are those of the object that holds it."""
    made = context.made.get(id(value))
    name = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind.__name__
    if made is None or made.name not in _NAMES.get(name, (name,)):
        return False
    shared = {name: length for name, length in made.sizes.items() if name[0] != "_"}
    return all(context.agree(name, length) for name, length in shared.items())


# ---- what must hold of an object beyond its fields -----------------------------------------------


def _spans_its_box(grid: Any) -> bool:
    """Whether points lie within two periods, as finufft, which does not look, must be told."""
    extent = grid.high - grid.low
    return bool(
        1 <= len(grid.half) <= 3
        and len(grid.half) == len(grid.low)
        and grid.rtol > 0
        and grid.reach >= 0
        and (extent >= 0).all()
        and (grid.period >= extent + grid.reach).all()
        and np.isfinite([*grid.low, *grid.period, grid.sigma]).all()
    )


def _has_all_modes(expansion: Any) -> bool:
    """Whether there is a Fourier coefficient for each mode and each pair of columns."""
    n_pairs = -(-len(expansion.scale) // 2)
    return bool(
        expansion.modes.dtype == np.complex128
        and expansion.modes.shape == (n_pairs, *expansion.grid.shape)
    )


def _is_numbered(parts: Any) -> bool:
    """Whether the groups of a mixture are numbered from 0 without a gap."""
    return len(parts.groups) > 0 and len(np.unique(parts.groups)) == parts.groups.max() + 1


def _describes_its_columns(step: Any) -> bool:
    """Whether there is a kind and a list of categories for each column, and a scale for numbers."""
    if not hasattr(step, "kinds_"):
        return True
    kinds, known = step.kinds_, step.categories_
    n_numeric = sum(kind in ("number", "rank") for kind in kinds)
    needs_categories = [kind in ("rank", "category") for kind in kinds]
    scaled = 0 if step.scaler_ is None else step.scaler_.n_features_in_
    return (
        len(kinds) == len(known) == step.n_features_in_
        and {*kinds} <= {"number", "rank", "category", "left out"}
        and needs_categories == [len(names) > 0 for names in known]
        and len(step.heights_) == kinds.count("category")
        and n_numeric == step.n_numeric_ == scaled
    )


IS_SOUND: dict[str, Callable[[Any], bool]] = {
    "Paths": lambda made: made.taking_part.sum() == len(made.paths.rows),
    "TileExpansion": lambda made: has_compiled_sums(made.columns),
    "FourierGrid": _spans_its_box,
    "FourierExpansion": _has_all_modes,
    "FastLeaveOneOut": lambda made: has_compiled_sums(made.known.columns),
    "Landscape": lambda made: has_compiled_sums(made.columns),
    "Cut": lambda made: np.ndim(made.alpha) == 0 or len(made.alpha) == made.n_clusters,
    "GaussianParts": _is_numbered,
    "MixedColumns": _describes_its_columns,
    **_scikit_learn.IS_SOUND,
}
