"""The numbers of Figure 1 of filippone2007, from a fast run."""

import pytest

pytestmark = pytest.mark.xdist_group("filippone2007")  # one run for all


def test_the_figure_has_its_valley_and_clusters(fast):
    """The valley of the histogram at .3667, three clusters above it, four iterations."""
    draws = fast("filippone2007")[0].draws
    assert draws.valleys.mean() == pytest.approx(0.3667, abs=5e-4)
    assert draws.n_right == draws.n_right_at_printed_level == len(draws.all)
    assert set(draws.iterations) == {4}
    assert all(draw.dense_inside > 0.97 for draw in draws.all)
