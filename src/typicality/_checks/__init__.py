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
    check_kernel,
    check_kernel_of_distance,
    check_one_cut,
    check_spread,
    check_start_array,
)
from typicality._checks.partitions import (
    check_centers,
    check_choice,
    check_exponent,
    check_flags,
    check_labels,
    check_memberships,
    check_n_pairs,
    check_points,
    check_same_length,
    is_labels,
)
from typicality._checks.rows import (
    check_distinct_rows,
    check_magnitudes,
    check_reach,
    check_rows,
    check_sample_weight,
)

__all__ = [
    "check_alpha",
    "check_centers",
    "check_choice",
    "check_diagonal",
    "check_dissimilarities",
    "check_distinct_rows",
    "check_exponent",
    "check_flags",
    "check_kernel",
    "check_kernel_matrix",
    "check_kernel_of_distance",
    "check_known",
    "check_labels",
    "check_magnitudes",
    "check_memberships",
    "check_n_pairs",
    "check_no_diagonal",
    "check_one_cut",
    "check_points",
    "check_reach",
    "check_rows",
    "check_same_length",
    "check_sample_weight",
    "check_spread",
    "check_start_array",
    "is_labels",
]
