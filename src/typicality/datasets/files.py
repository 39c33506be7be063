"""Data sets that are not ours to ship, read from a folder of yours."""

import os
from pathlib import Path

import numpy as np

from typicality.datasets._labelled import Labelled

FOLDER_VARIABLE = "TYPICALITY_DATA"
S2_FILE, S2_HEADER, S2_ROWS = "s2.csv", "f0,f1,label", 5000


def load_s2(folder: str | os.PathLike[str] | None = None) -> Labelled:
    """The set S2 of the S-sets: 5000 rows in the plane, 15 normal clusters.

    Read from the file ``s2.csv``: a line ``f0,f1,label``, then one line for each row, with labels
    from 1 to 15. The labels are those of the generator of S2; another labelling that is in
    circulation agrees with them on most rows only (adjusted Rand index 0.94). For more data of this
    kind see :func:`make_s2_like`.

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
    path = _find(S2_FILE, folder)
    try:
        header, *lines = path.read_text(encoding="utf-8-sig").splitlines()
        table = np.loadtxt(lines, delimiter=",", ndmin=2) if len(lines) == S2_ROWS else None
    except ValueError as error:
        raise _not_s2(path) from error
    if header != S2_HEADER or table is None or table.shape[1] != 3:
        raise _not_s2(path)
    X, labels = table[:, :2], table[:, 2]
    if not np.isfinite(X).all() or not np.isin(labels, np.arange(1, 16)).all():
        raise _not_s2(path)
    return X, labels.astype(np.int_) - 1


def _not_s2(path: Path) -> ValueError:
    return ValueError(
        f"{path} is not S2 as load_s2 reads it: a line {S2_HEADER!r}, then {S2_ROWS} lines of two "
        "coordinates and a label from 1 to 15. Get the file anew."
    )


def _find(name: str, folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise FileNotFoundError(
            f"{name} is not part of typicality, and no folder to look in is named: set the "
            f"environment variable {FOLDER_VARIABLE} to the folder that holds it, or pass folder."
        )
    path = Path(folder) / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{name} is not part of typicality, and not in the folder {str(folder)!r}: put it "
            f"there, or name another folder, by the environment variable {FOLDER_VARIABLE} or by "
            "folder."
        )
    return path
