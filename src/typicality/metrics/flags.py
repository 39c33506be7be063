"""Agreement of two sets of outliers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._arguments import check_same_length


def jaccard_score(flags_a: Any, flags_b: Any) -> float:
    r"""The Jaccard index of two sets of outliers.

    .. math:: J(A, B) = \frac{|A \cap B|}{|A \cup B|}

    is the number of rows that are in both sets, divided by the number of rows that are in at least
    one set. It is in [0, 1]; larger values mean more agreement. It is 1 if both sets are empty.
    Rows in neither set have no effect.

    Implements the Jaccard coefficient of :cite:`filippone2010`, eq. (37).

    Parameters
    ----------
    flags_a, flags_b : array-like of shape (n,)
        Flags of the rows: booleans, with True for outliers; or the values +1 and -1 that `predict`
        of an outlier detector returns, with -1 for outliers. The two arguments can have different
        forms.

    Returns
    -------
    float
        The index.

    Examples
    --------
    >>> from typicality.metrics import jaccard_score
    >>> jaccard_score([True, True, False, False], [-1, 1, -1, 1])
    0.3333333333333333
    """
    a, b = check_flags(flags_a, "flags_a"), check_flags(flags_b, "flags_b")
    check_same_length(len(a), "flags_a", len(b), "flags_b")
    either = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / either if either else 1.0


def check_flags(flags: Any, name: str) -> NDArray[np.bool_]:
    """Outlier flags: truth values, or +1 and -1 as `predict` gives them, where -1 is an outlier."""
    array = np.asarray(flags)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one flag for each row, and at least one row."
        )
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "if" and np.isin(array, (-1, 1)).all():
        outlier: NDArray[np.bool_] = array == -1
        return outlier
    sample = ", ".join(map(repr, array[:3].tolist())) + ", ..." * (len(array) > 3)
    raise ValueError(
        f"{name} must be boolean, True for an outlier, or +1 and -1 as predict returns, "
        f"-1 for an outlier; it holds {sample}. If 1 marks an outlier and 0 an inlier, "
        f"pass {name} == 1."
    )
