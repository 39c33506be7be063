"""Save and load models, without code in the files.

A saved model is a folder with two files: `model.skops`, an archive that skops writes and reads, and
`model.json`, with the version of the format. skops creates only objects of types that it trusts.
Then :class:`_Checker` compares all arrays of our classes with the annotations of these classes,
because compiled code does not check where it reads.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator

import typicality
from typicality import kernels, membership
from typicality._estimators import ESTIMATORS
from typicality._files import atomic_folder
from typicality._record import MODEL_FILES
from typicality._tensors import array_of
from typicality._typing import Index
from typicality._words import enumerated
from typicality.exceptions import ModelFileError
from typicality.rows import is_dask
from typicality.sums import has_compiled_sums

__all__ = ["load", "save", "trusted_types"]

_FORMAT = "typicality model"
_VERSION = 5
_LARGEST_TEXT = 2**26  # bytes of JSON; a million features with names need less
_LEFT_OUT = ("_skl_callbacks", "_metadata_request")  # of an estimator: for later fits only


def _in(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"typicality.{module}.{name}" for name in names)


# What models hold, besides the estimators, the kernels and the rules.
_PARTS = (
    *_in("preprocessing.scaling", "ColumnScaler"),
    *_in("preprocessing.mixed", "MixedColumns"),
    *_in("preprocessing.sphere", "PlaceScaler"),
    *_in("kernels.products", "FromScikitLearn"),
    *_in("cluster._inputs", "Coordinates", "Box", "KernelValues"),
    *_in("cluster._inputs", "Dissimilarities", "Paths", "Stretched"),
    *_in("cluster._gaussians", "GaussianParts"),
    *_in("sums.columns", "KernelColumns", "PrecomputedKernel", "PrecomputedSqdist"),
    *_in("sums.dense", "DenseSums"),
    *_in("sums.tiles", "TileExpansion"),
    *_in("sums.fourier", "FourierExpansion", "FourierGrid"),
    *_in("sums.landmarks", "ReducedSet"),
    *_in("minimax", "MinimaxPaths"),
    *_in("solve.schedules", "LambdaPath"),
    *_in("solve.picard", "Status"),
    *_in("spaces.euclidean", "Centroids"),
    *_in("spaces.ellipsoids", "Ellipsoids"),
    *_in("spaces.partial", "PartialCentroids"),
    *_in("spaces.gram", "ExpandedPrototypes"),
    *_in("spaces.nearest", "NearestRows", "GivenDistances"),
    *_in("density", "LeaveOneOut", "Calibration"),
    *_in("levelsets.heights", "Landscape", "LocalLandscape"),
    *_in("levelsets.regions", "Regions"),
    *_in("levelsets.tree", "AlphaTree", "Cut"),
)
# What skops also finds in our models: types of arrays, and values that are computed when needed.
_TRUSTED_TOO = (
    *("numpy.dtype", "scipy.sparse._csr.csr_array"),
    "sklearn.compose._column_transformer._RemainderColsList",  # in scikit-learn 1.6
    *_in("_sparse", "SparseArray"),
    *_in("levelsets.tree", "Branches", "Valley"),
)


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Save a model in a folder, for :func:`load`.

    With the same versions of the libraries, the loaded model predicts exactly the same numbers.
    Pipelines with transformers of scikit-learn can differ by rounding errors, for example PCA with
    ``svd_solver="arpack"`` or ``"randomized"``. The folder appears only when it is complete. Saving
    the same model again gives the same bytes. It contains the training rows if prediction needs
    them, as with most kernels; `compress` makes a smaller model. A model that was fitted on tensors
    is saved with arrays, and predicts on the CPU. Callbacks and metadata requests are not saved.

    Parameters
    ----------
    model : estimator of typicality, or Pipeline that ends with one
        The model, fitted or not. A pipeline can contain the transformers of typicality, and those
        transformers of scikit-learn that skops trusts, which are nearly all. Functions cannot be
        saved, neither as kernels nor as selectors of columns.
    path : path
        The folder to create.
    overwrite : bool, default=False
        Whether to replace an existing model. A folder with other files in it is never replaced.

    Returns
    -------
    path : Path
        The folder.

    Raises
    ------
    ModelFileError
        The model contains something that cannot be saved, such as a function.
    FileExistsError
        `path` exists already.

    Examples
    --------
    >>> import numpy as np, tempfile, typicality
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = typicality.FuzzyCMeans(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = typicality.load(typicality.save(model, f"{folder}/groups"))
    >>> bool((again.predict(X) == model.labels_).all())
    True
    """
    with atomic_folder(path, overwrite=overwrite, is_ours=_is_ours) as folder:
        document = {
            "format": _FORMAT,
            "format_version": _VERSION,
            "made_by": f"typicality {typicality.__version__}",
        }
        (folder / "model.json").write_text(json.dumps(document, indent=1) + "\n")
        (folder / "model.skops").write_bytes(_archive(model))
    return Path(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`save` or the command line has saved.

    Loading executes no code from the folder, and creates only objects of known types. The arrays
    of typicality are checked, because compiled code uses them. Transformers of scikit-learn are
    checked for their types only.

    Parameters
    ----------
    path : path
        The folder of a saved model, or the folder of results that `typicality cluster` or
        `typicality outliers` has written.

    Returns
    -------
    model : estimator, Pipeline or Run
        The saved model. For a folder of the command line, it is a
        :class:`~typicality.run_folder.Run`, whose `predict` takes the original table.

    Raises
    ------
    ModelFileError
        The folder has no model, or the model is damaged, or another version has saved it.

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        The model contains transformers of scikit-learn, and was saved with another version of
        scikit-learn.
    """
    path = Path(path)
    try:
        is_run = (path / "run.json").is_file() and (path / "model").is_dir()
        folder = path / "model" if is_run else path
        _require_known_version(folder)
        model = _read(folder / "model.skops")
        if not is_run:
            return model
        from typicality.run_folder import run_of  # which needs pyarrow

        return run_of(model, path)
    except Warning:  # where warnings are errors
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, ModelFileError) else _in_one_line(error)
        raise ModelFileError(
            f"{path} holds no usable model: {reason}. If a file of it is damaged, save the model "
            "again or get a new copy."
        ) from error


def trusted_types() -> list[str]:
    """The types in models of typicality, for ``skops.io.load``.

    ``skops.io.load`` creates only objects of types that it trusts. Pass this list as `trusted`. It
    contains classes of typicality and types of arrays.

    Returns
    -------
    names : list of str
        Dotted names, sorted.

    Examples
    --------
    >>> import skops.io
    >>> import typicality
    >>> data = skops.io.dumps(typicality.FuzzyCMeans(3))
    >>> skops.io.loads(data, trusted=typicality.trusted_types())
    FuzzyCMeans(n_clusters=3)
    """
    public: list[Any] = [getattr(m, name) for m in (kernels, membership) for name in m.__all__]
    names = {
        f"{kind.__module__}.{kind.__name__}"
        for kind in public
        if isinstance(kind, type) and is_dataclass(kind)
    }
    names |= {f"{info.module}.{info.name}" for info in ESTIMATORS.values()}
    return sorted(names.union(_PARTS, _TRUSTED_TOO))


# ---- files ---------------------------------------------------------------------------------------


def _skops_io() -> Any:
    """The module skops.io, without what it does not need.

    It imports all of scikit-learn, which imports torch and Dask where they are installed: a second,
    and 200 MB. scikit-learn 1.6 ends that import with an error where it finds array_api_compat, but
    not SCIPY_ARRAY_API=1. A module that is None in `sys.modules` counts as not installed.
    """
    if "skops.io" not in sys.modules:
        away = [name for name in ("torch", "dask", "cupy", "jax") if name not in sys.modules]
        compat = sys.modules.get("array_api_compat")
        sys.modules.update(dict.fromkeys([*away, "array_api_compat"]))  # type: ignore[arg-type]
        try:
            import_module("skops.io")
        finally:
            for name in [*away, "array_api_compat"]:
                sys.modules.pop(name, None)
            if compat is not None:
                sys.modules["array_api_compat"] = compat
    return sys.modules["skops.io"]


def _archive(model: Any) -> bytes:
    """The archive of a model, if it can be loaded again."""
    skops_io = _skops_io()

    if not isinstance(model, BaseEstimator):
        name = getattr(model, "__name__", type(model).__name__)
        raise ModelFileError(f"This model cannot be saved: {name} is not an estimator.")
    try:
        data = skops_io.dumps(_portable(model, {}))
        strange = sorted({*skops_io.get_untrusted_types(data=data)} - {*trusted_types()})
    except Exception as error:
        raise ModelFileError(f"This model cannot be saved: {_in_one_line(error)}.") from error
    if strange:
        raise ModelFileError(
            f"This model cannot be saved: it holds {enumerated(strange)}, and a model file holds "
            "no functions and only known types. Use a kernel by name or an object of "
            "typicality.kernels, and name columns in a list; or keep the model with pickle, whose "
            "files run code when they are read."
        )
    return _with_numbers(data)


def _with_numbers(data: bytes) -> bytes:
    """The archive with 1, 2, ... for addresses in memory and without times: the same every time."""
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return match[1] + numbers.setdefault(match[2], str(len(numbers) + 1))

    packed = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as old, ZipFile(packed, "w") as new:
        schema = re.sub(r'("__id__": |"file": ")(\d+)', numbered, old.read("schema.json").decode())
        new.writestr(ZipInfo("schema.json"), schema, ZIP_DEFLATED)
        for name in old.namelist():
            if name != "schema.json":
                stem, _, kind = name.partition(".")
                new.writestr(
                    ZipInfo(f"{numbers.get(stem, stem)}.{kind}"), old.read(name), ZIP_STORED
                )
    return packed.getvalue()


def _read(path: Path) -> Any:
    """The model in an archive, with all its arrays checked."""
    skops_io = _skops_io()

    data = _bytes_of(path)
    with ZipFile(io.BytesIO(data)) as archive:
        largest = max((entry.file_size for entry in archive.infolist()), default=0)
    if largest > max(len(data), _LARGEST_TEXT):
        raise ModelFileError("model.skops holds a part that is larger than the file")
    model = skops_io.loads(data, trusted=trusted_types())
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"it holds an object of {type(model).__name__}, which is no estimator")
    _Checker().walk(model)
    return model


def _bytes_of(path: Path) -> bytes:
    """The content of a file that is no link, pipe or device."""
    if path.is_symlink() or not path.is_file():
        raise ModelFileError(f"{path.name} is missing, or not a regular file")
    return path.read_bytes()


def _require_known_version(folder: Path) -> None:
    if not folder.is_dir():
        raise ModelFileError("the folder does not exist")
    text = _bytes_of(folder / "model.json")
    try:
        document = json.loads(text)
        number = document["format_version"] if document["format"] == _FORMAT else None
    except (ValueError, RecursionError, TypeError, KeyError):
        number = None
    if not isinstance(number, int):
        raise ModelFileError("model.json does not describe a model of typicality")
    if number != _VERSION:
        remedy = "fit the model again and save it" if number < _VERSION else "upgrade typicality"
        raise ModelFileError(
            f"it has format {number}, and typicality {typicality.__version__} reads format "
            f"{_VERSION}; {remedy}"
        )


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds a model and nothing else."""
    return {path.name for path in folder.iterdir()} == {*MODEL_FILES}


def _in_one_line(error: Exception) -> str:
    first, *_ = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {first}".rstrip(". :")


# ---- what is saved -------------------------------------------------------------------------------


def _portable(value: Any, made: dict[int, tuple[Any, Any]]) -> Any:
    """A copy of a part of a model, without tensors, callbacks and what is computed when needed.

    `made` has the parts that were copied before, with their copies, by address.
    """
    if id(value) not in made:
        made[id(value)] = (value, _copied(value, made))
    return made[id(value)][1]


def _copied(value: Any, made: dict[int, tuple[Any, Any]]) -> Any:
    value = array_of(value)
    kind = type(value)
    if _is_our_class(kind) and hasattr(value, "on_host"):
        return _portable(value.on_host, made)
    if isinstance(value, BaseEstimator):
        state = {k: v for k, v in vars(value).items() if k not in _LEFT_OUT and not is_dask(v)}
    elif _is_our_class(kind) and is_dataclass(value):
        state = {field.name: getattr(value, field.name) for field in fields(value)}
    elif kind in (list, tuple):
        return kind(_portable(entry, made) for entry in value)
    elif kind is dict:
        return {key: _portable(entry, made) for key, entry in value.items()}
    elif _is_our_class(kind) and isinstance(value, tuple):  # a named tuple
        return kind(*(_portable(entry, made) for entry in value))
    elif kind.__module__.startswith("pandas.") and kind.__name__ == "Index":
        return value.tolist()  # names of columns
    else:
        return value
    copy = object.__new__(kind)
    vars(copy).update({key: _portable(entry, made) for key, entry in state.items()})
    return copy


# ---- what is checked -----------------------------------------------------------------------------

_PLAIN: dict[Any, Any] = {
    NoneType: NoneType,
    str: str,
    bool: bool | np.bool_,
    int: Integral,
    float: Real,
}
Sizes = dict[str, int]


class _Checker:
    """Checks parts of a model against the annotations of their classes, each part once.

    :class:`typicality._typing.Index` explains the annotations.
    """

    def __init__(self) -> None:
        self._sizes: dict[int, Sizes] = {}  # of the parts that were visited, by address

    def walk(self, value: Any) -> None:
        """Check a part of a model, and all parts in it.

        Raises
        ------
        ModelFileError
            A field has the wrong type, shape or content.
        """
        if id(value) in self._sizes:
            return
        sizes = self._sizes[id(value)] = {}
        if _is_our_class(type(value)) or isinstance(value, BaseEstimator):
            self._visit(value, sizes)
        elif issparse(value):
            value.check_format(full_check=True)
        elif isinstance(value, list | tuple | set | dict):
            for entry in value.values() if isinstance(value, dict) else value:
                self.walk(entry)

    def _visit(self, part: Any, sizes: Sizes) -> None:
        """Check an object; the parts in it first, because its sizes are theirs."""
        values = _fields_of(part)
        for value in values.values():
            self.walk(value)
        kind: Any = type(part)
        hints = _hints_of(kind) if _is_our_class(kind) else {}
        for key, hint in hints.items():
            if key in values and isinstance(hint, type) and issubclass(hint, Enum):
                values[key] = hint(values[key])  # skops keeps it as a text
            if key in values and not self._fits(values[key], hint, sizes):
                raise ModelFileError(f"{kind.__name__}.{key} has the wrong type or shape")
        for key, hint in hints.items():
            for index in _indices_in(hint):
                if isinstance(values.get(key), np.ndarray) and not index.holds(values[key], sizes):
                    raise ModelFileError(f"{kind.__name__}.{key} holds an index beyond its range")
        if not _SOUND.get(kind.__name__, lambda part: True)(part):
            raise ModelFileError(f"the fields of {kind.__name__} contradict each other")

    def _fits(self, value: Any, hint: Any, sizes: Sizes) -> bool:
        """Whether a value is what an annotation says; its sizes are noted in `sizes`."""
        kind, arguments = get_origin(hint) or hint, get_args(hint)
        if kind in (Union, UnionType):
            return any(self._fits_on_trial(value, argument, sizes) for argument in arguments)
        if kind is Annotated and isinstance(arguments[1], str):
            return _has_shape(value, arguments[0], arguments[1].split(), sizes)
        if kind is Annotated:  # a narrower type
            return self._fits(value, arguments[1], sizes)
        if kind is Literal:
            return value in arguments
        if kind in (list, tuple):
            alike = kind is list or arguments[-1] is Ellipsis
            return (
                isinstance(value, kind)
                and (alike or len(value) == len(arguments))
                and all(
                    self._fits(v, arguments[0 if alike else i], sizes) for i, v in enumerate(value)
                )
            )
        if isinstance(kind, type) and _is_our_class(kind) and not issubclass(kind, str):
            known = type(value) if getattr(kind, "_is_protocol", False) else kind
            shared = self._sizes.get(id(value), {})
            return (
                _is_our_class(type(value))
                and isinstance(value, known)
                and all(
                    _agree(sizes, size, length) for size, length in shared.items() if size[0] != "_"
                )
            )
        return isinstance(value, _PLAIN.get(kind, object))

    def _fits_on_trial(self, value: Any, hint: Any, sizes: Sizes) -> bool:
        trial = dict(sizes)
        fits = self._fits(value, hint, trial)
        sizes.update(trial if fits else {})
        return fits


def _is_our_class(kind: type) -> bool:
    return kind.__module__.startswith("typicality.")


def _fields_of(part: Any) -> dict[str, Any]:
    """The fields of an object; values that were computed when needed are dropped from it."""
    if hasattr(part, "_asdict"):
        return dict(part._asdict())
    state: dict[str, Any] = vars(part)
    if not is_dataclass(part):
        return state
    names = [field.name for field in fields(part)]
    for computed in state.keys() - {*names}:
        del state[computed]
    missing = next((name for name in names if name not in state), None)
    if missing is not None:
        raise ModelFileError(f"{type(part).__name__} lacks the field {missing!r}")
    return state


@cache
def _hints_of(kind: Hashable) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {key: hint for key, hint in hints.items() if get_origin(hint) is not ClassVar}


def _indices_in(hint: Any) -> list[Index]:
    """The marks of positions in an annotation."""
    found = [argument for argument in get_args(hint) if isinstance(argument, Index)]
    inner = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    return found + [index for argument in inner for index in _indices_in(argument)]


def _has_shape(value: Any, base: Any, names: list[str], sizes: Sizes) -> bool:
    """Whether a value is an array of a kind of numbers, with the sizes of these names."""
    if base is int:
        return isinstance(value, Integral) and _agree(sizes, names[0], int(value))
    kind = csr_array if base is csr_array else np.ndarray
    right_kind = isinstance(value, kind) and value.dtype.kind in _kinds_of(base)
    if names == ["..."]:
        return right_kind
    return (
        right_kind
        and value.ndim == len(names)
        and all(_agree(sizes, *pair) for pair in zip(names, value.shape, strict=True))
    )


def _kinds_of(base: Any) -> str:
    """The kinds of numbers, as NumPy names them, of an array type; "f" if it does not say."""
    if get_origin(base) is not np.ndarray:
        return "f"
    (scalar,) = get_args(get_args(base)[1])
    families = {np.floating: "f", np.integer: "iu", np.bool_: "b", np.complexfloating: "c"}
    return next((kind for family, kind in families.items() if issubclass(scalar, family)), "O")


def _agree(sizes: Sizes, name: str, length: int) -> bool:
    """Whether a size is the one known by that name; it becomes so where none is known."""
    if name.isdigit() or name == "*":
        return name == "*" or int(name) == length
    if name.endswith("-1"):
        name, length = name.removesuffix("-1"), length + 1
    return sizes.setdefault(name, length) == length


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
    shape = (n_pairs, *expansion.grid.shape)
    return expansion.modes.dtype == np.complex128 and bool(expansion.modes.shape == shape)


def _has_its_sums(scores: Any) -> bool:
    """Whether there is a number of copies of each row, and compiled sums where they are used."""
    columns = scores.columns
    if columns is None:
        return True
    compiled = scores.rtol is None or has_compiled_sums(columns)
    return compiled and len(scores.copies) == columns.n_training


# What must hold of a part beyond its annotations, because compiled code takes it for granted.
_SOUND: dict[str, Callable[[Any], bool]] = {
    "Paths": lambda part: part.taking_part.sum() == len(part.paths.rows),
    "TileExpansion": lambda part: has_compiled_sums(part.columns),
    "FourierGrid": _spans_its_box,
    "FourierExpansion": _has_all_modes,
    "LeaveOneOut": _has_its_sums,
    "Landscape": lambda part: has_compiled_sums(part.columns),
    "Cut": lambda part: np.ndim(part.alpha) == 0 or len(part.alpha) == part.n_clusters,
    "GaussianParts": lambda part: {*part.groups.tolist()} == {*range(1 + max(part.groups))},
    "Function": lambda part: isinstance(part.function, kernels.products.FromScikitLearn),
}
