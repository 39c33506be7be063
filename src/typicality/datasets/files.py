"""Data sets that are not part of the package, read from a folder or fetched by scikit-learn."""

import os
import warnings
from pathlib import Path
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_openml

from typicality.datasets.shapes import Labelled

FOLDER_VARIABLE = "TYPICALITY_DATA"
PathOrNone = str | os.PathLike[str] | None


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
    X, labels = _read("s2.csv", folder, (5000, 2))
    return X, labels - 1


def load_breast_cancer_original(folder: PathOrNone = None) -> Labelled:
    """Breast Cancer Wisconsin (Original): 683 rows of nine scores from 1 to 10, two classes.

    16 of the original 699 rows have missing values and are left out. This is not the data set of
    :func:`sklearn.datasets.load_breast_cancer`, which has other features and other patients.

    It is read from the file ``breast_cancer_wisconsin_original_683.csv``, if this exists. The file
    has a header line, and then one line per row, with the label (0 or 1) last. Otherwise
    :func:`sklearn.datasets.fetch_openml` fetches the data (data_id 15) and caches them.

    It is used in :cite:`filippone2010`, Fig. 5, where malignant rows are outliers.

    Parameters
    ----------
    folder : str, path or None, default=None
        The folder of the file. By default, the folder in the environment variable
        ``TYPICALITY_DATA``.

    Returns
    -------
    X : array of shape (683, 9)
        The rows.
    y : array of shape (683,)
        0 for benign (444 rows), 1 for malignant (239).
    """
    name = "breast_cancer_wisconsin_original_683.csv"
    return _read_or_fetch(name, folder, (683, 9), data_id=15, positive="malignant")


def load_ionosphere(folder: PathOrNone = None) -> Labelled:
    """Ionosphere: 351 radar returns of 34 features from -1 to 1, two classes.

    The second feature is 0 in all rows, and one row occurs twice.

    It is read from the file ``ionosphere.csv``, if this exists. The file has a header line, and
    then one line per row, with the label (0 or 1) last. Otherwise
    :func:`sklearn.datasets.fetch_openml` fetches the data (data_id 59) and caches them.

    It is used in :cite:`filippone2010`, Fig. 5, where bad returns are outliers.

    Parameters
    ----------
    folder : str, path or None, default=None
        The folder of the file. By default, the folder in the environment variable
        ``TYPICALITY_DATA``.

    Returns
    -------
    X : array of shape (351, 34)
        The rows.
    y : array of shape (351,)
        0 for good returns (225 rows), 1 for bad ones (126).
    """
    return _read_or_fetch("ionosphere.csv", folder, (351, 34), data_id=59, positive="b")


def _read(name: str, folder: PathOrNone, shape: tuple[int, int]) -> Labelled:
    """The rows of a file with a header line, and the labels in its last column."""
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    if not folder or not (Path(folder) / name).is_file():
        raise FileNotFoundError(
            f"{name} is not part of typicality. Put the file into a folder and set the environment "
            f"variable {FOLDER_VARIABLE} to it, or pass folder (now: {str(folder or 'none')!r})."
        )
    table = np.loadtxt(Path(folder) / name, delimiter=",", skiprows=1, ndmin=2)
    X, labels = table[:, :-1], table[:, -1].astype(np.int_)
    if X.shape != shape:
        raise ValueError(
            f"{Path(folder) / name} has {X.shape[0]} rows of {X.shape[1]} features and a label; "
            f"{shape[0]} rows of {shape[1]} features were expected. Get the file again."
        )
    return X, labels


def _read_or_fetch(
    name: str, folder: PathOrNone, shape: tuple[int, int], *, data_id: int, positive: str
) -> Labelled:
    """The same, or complete rows of a data set of OpenML; the label of `positive` is 1."""
    try:
        return _read(name, folder, shape)
    except FileNotFoundError as missing:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="A network error occurred")  # is retried
                data = fetch_openml(
                    data_id=data_id, as_frame=False, parser="liac-arff", n_retries=1
                )
        except (URLError, TimeoutError) as error:
            raise FileNotFoundError(f"{missing} OpenML cannot be reached: {error}") from error
    complete = ~np.isnan(data.data).any(axis=1)
    return data.data[complete], (data.target[complete] == positive).astype(np.int_)
