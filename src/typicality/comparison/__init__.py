"""Our methods beside others on the same rows: agreement, stability, time.

:func:`compare_methods` is the whole; the functions it is made of measure any results.
"""

from typicality.comparison.agreement import (
    AgreementMatrix,
    agreement_matrix,
    placed_rows_agreement,
    rank_agreement,
)
from typicality.comparison.compare import compare_methods
from typicality.comparison.comparison import Comparison
from typicality.comparison.results import ClustererResult, DetectorResult
from typicality.comparison.stability import (
    Repeats,
    agreement_of_refits,
    draw_subsamples,
    shared_rows_agreement,
)

__all__ = [
    "AgreementMatrix",
    "ClustererResult",
    "Comparison",
    "DetectorResult",
    "Repeats",
    "agreement_matrix",
    "agreement_of_refits",
    "compare_methods",
    "draw_subsamples",
    "placed_rows_agreement",
    "rank_agreement",
    "shared_rows_agreement",
]
