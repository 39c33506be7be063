"""Data sets that are not ours to ship, read from a folder of yours or from OpenML."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_openml

from typicality._typing import Doubles
from typicality.datasets._labelled import Labelled

FOLDER_VARIABLE = "TYPICALITY_DATA"
PathOrNone = str | os.PathLike[str] | None


class OnOpenML(NamedTuple):
    """Where a set is on OpenML, and its classes in the order of our labels."""

    data_id: int
    classes: tuple[str, ...]


@dataclass(frozen=True)
class KnownSet:
    """What a set looks like, wherever it comes from."""

    name: str
    loader: str
    file: str
    columns: tuple[str, ...]
    n_rows: int
    labels: range
    openml: OnOpenML | None = None

    @property
    def header(self) -> str:
        """The first line of the file."""
        return ",".join((*self.columns, "label"))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, len(self.columns)


S2 = KnownSet("S2", "load_s2", "s2.csv", ("f0", "f1"), 5000, range(1, 16))

BREAST_CANCER = KnownSet(
    "Breast Cancer Wisconsin (Original)",
    "load_breast_cancer_original",
    "breast_cancer_wisconsin_original_683.csv",
    (
        "clump_thickness",
        "cell_size",
        "cell_shape",
        "adhesion",
        "epithelial_size",
        "bare_nuclei",
        "bland_chromatin",
        "normal_nucleoli",
        "mitoses",
    ),
    683,
    range(2),
    openml=OnOpenML(15, ("benign", "malignant")),
)

IONOSPHERE = KnownSet(
    "Ionosphere",
    "load_ionosphere",
    "ionosphere.csv",
    tuple(f"f{number}" for number in range(34)),
    351,
    range(2),
    openml=OnOpenML(59, ("g", "b")),
)


def load_s2(folder: PathOrNone = None) -> Labelled:
    """The data set S2: 5000 rows with two features, in 15 normal clusters.

    It is read from the file ``s2.csv``, which has a header line ``f0,f1,label`` and then one line
    per row, with labels from 1 to 15. The labels are those of the generator of S2. (Another
    published labelling differs: the adjusted Rand index of the two is 0.94.) :func:`make_s2_like`
    generates similar data.

    The data set is from :cite:`franti2006`, and is used in Experiment 2 of :cite:`xenaki2014`.

    Parameters
    ----------
    folder : str, path or None, default=None
        The folder of the file. By default, the folder in the environment variable
        ``TYPICALITY_DATA``.

    Returns
    -------
    X : array of shape (5000, 2)
        The rows, with values up to 1,000,000.
    y : array of shape (5000,)
        0 to 14.
    """
    return _load(S2, folder)


def load_breast_cancer_original(
    folder: PathOrNone = None, *, data_home: PathOrNone = None
) -> Labelled:
    """Breast Cancer Wisconsin (Original): 683 rows of nine scores from 1 to 10, two classes.

    16 of the original 699 rows have missing values and are left out. This is not the data set of
    :func:`sklearn.datasets.load_breast_cancer`, which has other features and other patients.

    It is read from the file ``breast_cancer_wisconsin_original_683.csv``, if this exists. The file
    has a header line, and then one line per row, with the label (0 or 1) last. Otherwise the data
    are loaded from OpenML by :func:`sklearn.datasets.fetch_openml` (data_id 15), which caches them.

    It is used in :cite:`filippone2010`, Fig. 5, where malignant rows are outliers.

    Parameters
    ----------
    folder : str, path or None, default=None
        The folder of the file. By default, the folder in the environment variable
        ``TYPICALITY_DATA``.
    data_home : str, path or None, default=None
        The download cache of scikit-learn. By default, scikit-learn's own folder.

    Returns
    -------
    X : array of shape (683, 9)
        The rows.
    y : array of shape (683,)
        0 for benign (444 rows), 1 for malignant (239).
    """
    return _load(BREAST_CANCER, folder, data_home=data_home)


def load_ionosphere(folder: PathOrNone = None, *, data_home: PathOrNone = None) -> Labelled:
    """Ionosphere: 351 radar returns of 34 features from -1 to 1, two classes.

    The second feature is 0 in all rows, and one row occurs twice.

    It is read from the file ``ionosphere.csv``, if this exists. The file has a header line with
    ``f0`` to ``f33`` and ``label``, and then one line per row, with the label (0 or 1) last.
    Otherwise the data are loaded from OpenML by :func:`sklearn.datasets.fetch_openml` (data_id 59),
    which caches them.

    It is used in :cite:`filippone2010`, Fig. 5, where bad returns are outliers.

    Parameters
    ----------
    folder : str, path or None, default=None
        The folder of the file. By default, the folder in the environment variable
        ``TYPICALITY_DATA``.
    data_home : str, path or None, default=None
        The download cache of scikit-learn. By default, scikit-learn's own folder.

    Returns
    -------
    X : array of shape (351, 34)
        The rows.
    y : array of shape (351,)
        0 for good returns (225 rows), 1 for bad ones (126).
    """
    return _load(IONOSPHERE, folder, data_home=data_home)


# ---- from a folder or from OpenML, checked either way --------------------------------------------


def _load(known: KnownSet, folder: PathOrNone, *, data_home: PathOrNone = None) -> Labelled:
    """The rows of a known set and their labels from 0."""
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    path = Path(folder or "") / known.file
    if folder and path.is_file():
        return _read(path, known)
    why = f"not in the folder {str(folder)!r}" if folder else "no folder to look in is named"
    if known.openml is None:
        raise _missing(known, f"{why}; OpenML, as far as we know, does not have it")
    try:
        return _fetch(known, known.openml, data_home=data_home)
    except (URLError, TimeoutError, ConnectionError) as error:
        raise _missing(known, f"{why}; and OpenML could not be reached ({error})") from error


def _read(path: Path, known: KnownSet) -> Labelled:
    """The file of a folder: a header, then a line for each row with its label last."""
    try:
        header, *lines = path.read_text(encoding="utf-8-sig").rstrip().splitlines()
        table = np.loadtxt(lines, delimiter=",", ndmin=2) if len(lines) == known.n_rows else None
    except ValueError as error:
        raise _not_that_file(path, known) from error
    if header != known.header or table is None:
        raise _not_that_file(path, known)
    X, labels = table[:, :-1], table[:, -1]
    if not _fits(X, labels, known):
        raise _not_that_file(path, known)
    return X, labels.astype(np.int_) - known.labels.start


def _fetch(known: KnownSet, source: OnOpenML, *, data_home: PathOrNone) -> Labelled:
    """The set as OpenML keeps it, without rows in which values are missing."""
    with warnings.catch_warnings():
        # One for each attempt; where all fail, the error says what these would.
        warnings.filterwarnings("ignore", message="A network error occurred")
        found = fetch_openml(
            data_id=source.data_id, data_home=data_home, as_frame=False, parser="liac-arff"
        )
    complete = ~np.isnan(found.data).any(axis=1)
    number = dict(zip(source.classes, known.labels, strict=True))
    labels = np.array([number.get(name, np.nan) for name in found.target[complete]])
    X: Doubles = found.data[complete]
    if not _fits(X, labels, known):
        raise ValueError(
            f"Data set {source.data_id} of OpenML is not the version of {known.name} that "
            f"{known.loader} expects: {known.n_rows} complete rows of {len(known.columns)} "
            f"features, and the classes {' and '.join(source.classes)}. Pass folder to read "
            f"the file {known.file}."
        )
    return X, labels.astype(np.int_) - known.labels.start


def _fits(X: Doubles, labels: Doubles, known: KnownSet) -> bool:
    return bool(
        X.shape == known.shape and np.isfinite(X).all() and np.isin(labels, known.labels).all()
    )


def _not_that_file(path: Path, known: KnownSet) -> ValueError:
    first, last = known.labels[0], known.labels[-1]
    return ValueError(
        f"{path} is not the file of {known.name} that {known.loader} expects: a line "
        f"{known.header!r}, then {known.n_rows} lines of {len(known.columns)} numbers "
        f"and a label from {first} to {last}. Get the file again."
    )


def _missing(known: KnownSet, why: str) -> FileNotFoundError:
    online = (
        ", or go online once: the set then stays in scikit-learn's cache, the folder data_home"
        if known.openml
        else ""
    )
    return FileNotFoundError(
        f"{known.file} is not part of typicality: {why}. Put the file into a folder and set the "
        f"environment variable {FOLDER_VARIABLE} to it, or pass folder{online}."
    )
