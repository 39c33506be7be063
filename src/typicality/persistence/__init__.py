"""Save and load models, without code in the files.

A saved model is a folder with two files: ``model.json`` describes the objects of the model, and
``arrays.safetensors`` holds its arrays. Loading a model executes no code from these files. Only
classes of a fixed list can be loaded, and every field is checked. docs/architecture describes the
format.
"""

import hashlib
import json
import os
import stat
import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as bytes_of_arrays
from sklearn.exceptions import InconsistentVersionWarning

import typicality
from typicality._files import atomic_folder
from typicality._record import MODEL, RECORD
from typicality.exceptions import ModelFileError
from typicality.persistence._objects import Writer, read_model
from typicality.persistence._schema import ALLOWED, OF_SCIKIT_LEARN, SAVED_ESTIMATORS
from typicality.run import Run

__all__ = ["MODEL_FILES", "load", "save", "trusted_types"]

MODEL_FILES = ("model.json", "arrays.safetensors")  # what the folder of a model holds

# What skops also finds in our models: types of arrays, and values that are computed when needed.
_TRUSTED_TOO = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "typicality._sparse.SparseArray",
    "typicality.levelsets.tree.Branches",
    "typicality.levelsets.tree.Valley",
)
_FORMAT = "typicality model"
_VERSION = 4
_LARGEST_DOCUMENT = 2**26  # bytes; a million features with names need less


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
        The model, fitted or not. Pipelines can contain ColumnScaler, MixedColumns and these
        transformers of scikit-learn: StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler,
        QuantileTransformer, SimpleImputer, MissingIndicator, PCA, OneHotEncoder, ColumnTransformer,
        and FunctionTransformer without a function. Functions cannot be saved, neither as kernels
        nor as selectors of columns.
    path : path
        The folder to create.
    overwrite : bool, default=False
        Whether to replace an existing model, of this or another version. A folder with other
        files in it is never replaced.

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
        try:
            document, arrays = _files_of(model)
        except (ModelFileError, RecursionError) as error:
            raise ModelFileError(f"This model cannot be saved: {error}.") from error
        (folder / "model.json").write_bytes(document)
        (folder / "arrays.safetensors").write_bytes(arrays)
    return Path(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`save` or the command line has saved.

    Loading executes no code from the folder. So models from untrusted sources can be loaded; at
    worst, their predictions are wrong.

    Parameters
    ----------
    path : path
        The folder of a saved model, or the folder of results that `typicality cluster` or
        `typicality outliers` has written.

    Returns
    -------
    model : estimator, Pipeline or Run
        The saved model. For a folder of the command line, it is a
        :class:`~typicality.run.Run`, whose `predict` takes the original table.

    Raises
    ------
    ModelFileError
        The folder has no model, or the model is damaged, or a newer version has saved it.

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        The model contains transformers of scikit-learn, and was saved with another minor version of
        scikit-learn.
    """
    path = Path(path)
    try:
        if not path.is_dir():
            raise ModelFileError("the folder does not exist")
        is_run = (path / RECORD).is_file() and (path / MODEL).is_dir()
        folder = path / MODEL if is_run else path
        document = _document(folder / "model.json")
        arrays = _arrays(folder / "arrays.safetensors", document)
        model = read_model(document.get("objects"), arrays)
        model = Run.load(model, path) if is_run else model
    except OSError:
        raise
    except Exception as error:
        foreseen = isinstance(error, ModelFileError)
        why = error if foreseen else f"reading it failed with {type(error).__name__}"
        raise ModelFileError(
            f"{path} holds no usable model: {why}. If a file of it is damaged, save the model "
            "again or get a new copy."
        ) from error
    _warn_about_versions(document)
    return model


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
    >>> import typicality
    >>> "typicality.cluster.fuzzy.FuzzyCMeans" in typicality.trusted_types()
    True

    With skops installed::

        skops.io.dump(model, "model.skops")
        model = skops.io.load("model.skops", trusted=typicality.trusted_types())
    """
    ours = {path for paths in ALLOWED.values() for path in paths if path.startswith("typicality.")}
    return sorted(ours | {*_TRUSTED_TOO})


def _files_of(model: Any) -> tuple[bytes, bytes]:
    """The two files of a model."""
    if type(model).__name__ not in SAVED_ESTIMATORS:
        raise ModelFileError(
            f"{type(model).__name__} is not an estimator of typicality, a ColumnScaler or a "
            "Pipeline"
        )
    writer = Writer()
    writer.add(model, type(model).__name__)
    # Whatever could not be read again is noticed now, while there is still a model to keep.
    read_model(writer.objects, dict(writer.arrays.arrays))
    arrays = bytes_of_arrays(writer.arrays.arrays)
    document = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "made_with": {
            "typicality": typicality.__version__,
            "numpy": version("numpy"),
            "scikit-learn": version("scikit-learn"),
        },
        "arrays_sha256": hashlib.sha256(arrays).hexdigest(),
        "objects": writer.objects,
    }
    text = json.dumps(document, indent=1, allow_nan=False).encode("ascii") + b"\n"
    if len(text) > _LARGEST_DOCUMENT:
        raise ModelFileError(
            f"its description has {len(text):,} bytes, which is more than a model file may have"
        )
    return text, arrays


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds a model, of this version or another, and nothing else."""
    with suppress(ModelFileError, OSError):
        held = {path.name for path in folder.iterdir()}
        return bool(_description(folder / "model.json")) and held <= {*MODEL_FILES}
    return False


def _document(path: Path) -> dict[str, Any]:
    """The description of a model, of a version we know."""
    document = _description(path)
    number = document.get("format_version")
    if type(number) is not int or number < 1:
        raise ModelFileError("model.json has no format_version")
    if number < _VERSION:
        raise ModelFileError(
            f"it has format {number} and was saved by an older version; fit the model again and "
            f"save it (the installed version, {typicality.__version__}, reads format {_VERSION})"
        )
    if number > _VERSION:
        raise ModelFileError(
            f"it has format {number} and was made by a newer typicality; upgrade this one "
            f"({typicality.__version__}, which reads format {_VERSION})"
        )
    return document


def _description(path: Path) -> dict[str, Any]:
    """What model.json holds, if it says that it describes a model of typicality."""
    if _plain_file(path) > _LARGEST_DOCUMENT:
        raise ModelFileError("model.json is larger than the limit for models")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError("model.json is not valid JSON") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFileError("model.json does not describe a model of typicality")
    return document


def _arrays(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    """The arrays that belong to a description."""
    _plain_file(path)
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != document.get("arrays_sha256"):
        raise ModelFileError("arrays.safetensors is damaged, or belongs to another model.json")
    try:
        with safe_open(path, framework="np") as arrays:
            return {name: arrays.get_tensor(name) for name in arrays.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ModelFileError("arrays.safetensors cannot be read") from error


def _plain_file(path: Path) -> int:
    """The size of a file that is no link, pipe or device."""
    try:
        status = path.lstat()
    except OSError as error:
        raise ModelFileError(f"{path.name} is missing") from error
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(f"{path.name} is a link, or not a regular file")
    return status.st_size


def _warn_about_versions(document: dict[str, Any]) -> None:
    """Warn as scikit-learn does where its transformers were made by another minor version."""
    foreign = {*OF_SCIKIT_LEARN} - {"Pipeline"}
    held = [one["class"] for one in document["objects"] if one["class"] in foreign]
    made_with = document.get("made_with")
    before = made_with.get("scikit-learn") if isinstance(made_with, dict) else None
    before = before if isinstance(before, str) else "unknown"
    now = version("scikit-learn")
    if held and before.split(".")[:2] != now.split(".")[:2]:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=held[0],
                current_sklearn_version=now,
                original_sklearn_version=before,
            ),
            stacklevel=3,
        )
