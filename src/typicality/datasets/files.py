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
    """The set S2 of the S-sets: 5000 rows in the plane, 15 normal clusters.

    Read from the file ``s2.csv``: a line ``f0,f1,label``, then one line for each row, with labels
    from 1 to 15. The labels are those of the generator of S2; another labelling that is in
    circulation agrees with them on most rows only (adjusted Rand index 0.94). OpenML, as far as we
    know, does not have the set, so there is no other way. For more data of this kind see
    :func:`make_s2_like`.

    The set is that of :cite:`franti2006`, and Experiment 2 of :cite:`xenaki2014`.

    Parameters
    ----------
    folder : str, path or None, default=None
        Where the file is; None is the folder that the environment variable ``TYPICALITY_DATA``
        names.

    Returns
    -------
    X : array of shape (5000, 2)
        The rows, coordinates up to 1,000,000.
    y : array of shape (5000,)
        0 to 14.
    """
    return load(S2, folder)


def load_breast_cancer_original(
    folder: PathOrNone = None, *, data_home: PathOrNone = None
) -> Labelled:
    """Breast Cancer Wisconsin (Original): 683 rows of nine scores from 1 to 10, two classes.

    Of the 699 rows of the set, the 16 in which a value is missing are left out. Not the set of
    :func:`sklearn.datasets.load_breast_cancer`, which has other features of other patients.

    Read from the file ``breast_cancer_wisconsin_original_683.csv`` where there is one: a line of
    names, then one line for each row, with the label, 0 or 1, last. Otherwise from OpenML by
    :func:`sklearn.datasets.fetch_openml` (data_id 15), which keeps what it downloads.

    A set of :cite:`filippone2010`, Fig. 5, where the benign class is normal.

    Parameters
    ----------
    folder : str, path or None, default=None
        Where the file is; None is the folder that the environment variable ``TYPICALITY_DATA``
        names.
    data_home : str, path or None, default=None
        Where scikit-learn keeps what it downloads; None is scikit-learn's own default.

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

    Read from the file ``ionosphere.csv`` where there is one: a line of names from ``f0`` to ``f33``
    and ``label``, then one line for each row, with the label, 0 or 1, last. Otherwise from OpenML
    by :func:`sklearn.datasets.fetch_openml` (data_id 59), which keeps what it downloads.

    A set of :cite:`filippone2010`, Fig. 5, where the good returns are normal.

    Parameters
    ----------
    folder : str, path or None, default=None
        Where the file is; None is the folder that the environment variable ``TYPICALITY_DATA``
        names.
    data_home : str, path or None, default=None
        Where scikit-learn keeps what it downloads; None is scikit-learn's own default.

    Returns
    -------
    X : array of shape (351, 34)
        The rows.
    y : array of shape (351,)
        0 for good returns (225 rows), 1 for bad ones (126).
    """
    return load(IONOSPHERE, folder, data_home=data_home)
