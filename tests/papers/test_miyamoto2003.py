"""The claims of miyamoto2003, from a fast run."""

import numpy as np
import pytest

from miyamoto2003 import make
from miyamoto2003.examples import Standing, best, entropy, is_separated, standing, trials
from miyamoto2003.figures import FIGURES, fitted
from miyamoto2003.functions import squared_distances
from regenerating import Verdict
from typicality.datasets import make_crescents

VERDICTS = [
    ("section 4, ordinary c-means", Verdict.HOLDS),
    ("section 4, no kernel", Verdict.HOLDS),
    ("Fig. 1", Verdict.HOLDS),
    ("Fig. 2", Verdict.HOLDS),
    ("Fig. 3", Verdict.HOLDS),
    ("Fig. 4", Verdict.HOLDS),
    ("Fig. 5", Verdict.HOLDS),
    ("section 4, ten trials", Verdict.IN_PART),
    ("section 4, standard form", Verdict.IN_PART),
    ("section 4, sensitivity", Verdict.HOLDS),
    ("section 3, prototypical regions", Verdict.IN_PART),
    ("conclusion, two forms", Verdict.HOLDS),
]


def test_miyamoto2003_verdicts_are_those_of_the_page(fast, kept_verdicts):
    page = fast(make)
    assert [(claim.place, claim.verdict) for claim in page.claims] == VERDICTS
    assert kept_verdicts("miyamoto2003") == VERDICTS
    for name in ("figure_1", "figure_2", "figure_3", "figure_4", "figure_5", "sensitivity"):
        assert f"(figures/{name}.png)" in page.text


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"Fig. {figure.number}")
def test_classification_functions_are_those_of_the_paper(figure):
    """Eq. (10) and (16): memberships of any point from the distances of eq. (11) and (15)."""
    X, _ = figure.draw()
    model = fitted(figure)
    points = np.random.RandomState(0).uniform(-0.5, 1.5, size=(50, 2))
    sqdist = squared_distances(model, X, points)
    lam = getattr(model, "lam_", None)
    raw = 1 / sqdist if lam is None else np.exp(-lam * sqdist)
    by_hand = raw / raw.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_memberships(points), by_hand, atol=2e-4)


def test_more_starts_cannot_help():
    """A draw of the crescents whose wrong partition has the lower objective."""
    X, truth = make_crescents(random_state=13)
    fits = trials(entropy(15.0, 50.0), X)
    assert not is_separated(best(fits), truth)
    assert standing(best(fits), X, truth) is Standing.LOWER
