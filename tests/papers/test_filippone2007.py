"""The claims of filippone2007 that hold, from a fast run; those that do not are in RESULTS.md."""

import matplotlib as mpl
import pytest

from filippone2007.page import measure, write
from regenerating import Setting, Verdict

pytestmark = pytest.mark.xdist_group("filippone2007")  # one run for all


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    return Setting(folder=tmp_path_factory.mktemp("filippone2007"), fast=True)


@pytest.fixture(scope="module")
def found(setting):
    return measure(setting)


@pytest.fixture(scope="module")
def page(found, setting):
    mpl.use("Agg")
    return write(found, setting)


def test_filippone2007_verdicts_are_those_of_the_page(page):
    verdicts = [claim.verdict for claim in page.claims]
    assert verdicts.count(Verdict.HOLDS) == 12
    in_part = [claim.words for claim in page.claims if claim.verdict == Verdict.IN_PART]
    first_words = [words.split()[0] for words in in_part]
    assert first_words == ["centroids", "sigma", "high", "the", "generalises"]
    assert verdicts.count(Verdict.FAILS) == 0


def test_filippone2007_figure_has_its_valley_and_clusters(found):
    """The valley of the histogram at .3667, three clusters above it, four iterations."""
    assert found.draws.valleys.mean() == pytest.approx(0.3667, abs=5e-4)
    assert found.draws.n_right == len(found.draws.all)
    assert found.draws.n_right_at_printed_level == len(found.draws.all)
    assert set(found.draws.iterations) == {4}
    assert all(draw.dense_inside > 0.97 for draw in found.draws.all)


def test_the_objective_stops_at_the_same_valley(found):
    """The other rule of section 2: no significant improvement of the objective."""
    for one, other in zip(found.draws.by_objective, found.draws.all, strict=True):
        assert one.model.n_iter_ < other.model.n_iter_
        assert one.model.alpha_ == pytest.approx(other.model.alpha_, abs=1e-4)


def test_noise_keeps_its_pull(found):
    """What removes the noise is the cut: its weight is that of its rows but for a hundredth."""
    noise = found.conditions.at_noise(1000)
    assert noise.share_right == 1.0
    assert noise.weight_of_noise == pytest.approx(2 / 3, abs=0.01)


def test_filippone2007_prototypes_collapse_in_narrow_kernels(found):
    """Narrow kernels collapse, wide ones and the linear one do not; the latter is plain PCM."""
    prototypes = found.prototypes
    assert prototypes.of_sigma == {0.5: [1, 1], 5.0: [3, 3]}
    assert prototypes.linear == [3, 3]
    assert prototypes.linear_difference < 1e-12


def test_filippone2007_thresholds_are_spheres(found):
    """Thresholds are spheres around one centre, at which the SVM's objective is not least."""
    spheres = found.spheres
    assert spheres.sphere_error < 1e-10
    assert all(sphere.svm_objective < sphere.objective for sphere in spheres.of_nu)
    assert spheres.n_levels_equal == spheres.n_levels
