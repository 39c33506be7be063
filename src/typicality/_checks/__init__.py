"""The only place that judges user input: errors name the input, the reason and the remedy."""

from typicality._checks.pairs import (
    check_diagonal,
    check_dissimilarities,
    check_kernel_matrix,
    check_known,
    check_no_diagonal,
)
from typicality._checks.parameters import (
    check_alpha,
    check_has_path,
    check_kernel,
    check_kernel_of_distance,
    check_one_cut,
    check_spread,
    check_start_array,
    check_start_count,
    check_start_points,
)
from typicality._checks.rows import (
    check_distinct_rows,
    check_magnitudes,
    check_reach,
    check_rows,
    check_sample_weight,
    check_varying_rows,
)

__all__ = [
    "check_alpha",
    "check_diagonal",
    "check_dissimilarities",
    "check_distinct_rows",
    "check_has_path",
    "check_kernel",
    "check_kernel_matrix",
    "check_kernel_of_distance",
    "check_known",
    "check_magnitudes",
    "check_no_diagonal",
    "check_one_cut",
    "check_reach",
    "check_rows",
    "check_sample_weight",
    "check_spread",
    "check_start_array",
    "check_start_count",
    "check_start_points",
    "check_varying_rows",
]
