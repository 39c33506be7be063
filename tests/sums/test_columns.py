"""The kernel against the training rows, whatever a row is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sums.contract import ANY

every_columns = pytest.mark.parametrize("columns", ANY.values(), ids=ANY)


@every_columns
def test_distances_are_those_of_the_kernel_values(rng, columns):
    """K + K - 2K of the kernel values gives twice `half_sqdist`, whatever the columns are."""
    against, rows = columns(rng.normal(size=(30, 3)))
    norms = against.sqnorm(rows)
    expected = norms[:, None] + norms - 2 * against.kernel(rows)
    assert_allclose(2 * against.half_sqdist(rows), expected, atol=1e-10)
    assert_allclose(np.diag(against.kernel(rows)), norms, atol=1e-10)


@every_columns
def test_distances_between_some_training_rows(rng, columns):
    against, rows = columns(rng.normal(size=(30, 3)))
    index = np.array([4, 11, 2])
    expected = against.half_sqdist(rows)[np.ix_(index, index)]
    assert_allclose(against.half_sqdist_among(rows[index], index), expected, atol=1e-12)
