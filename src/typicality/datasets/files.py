"""Data sets that are not ours to ship, read from a folder of yours or from OpenML."""

from typicality.datasets._labelled import Labelled
from typicality.datasets._reading import KnownSet, OnOpenML, PathOrNone, load

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
    return load(S2, folder)


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
    return load(BREAST_CANCER, folder, data_home=data_home)


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
    return load(IONOSPHERE, folder, data_home=data_home)
