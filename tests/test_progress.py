"""How far a fit is."""

import numpy as np
import pytest

from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    EntropyCMeans,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
    SequentialPCM,
)
from typicality._progress import advance, counter, followed_by, part

ESTIMATORS = [
    FuzzyCMeans(3, n_init=2, random_state=0),
    EntropyCMeans(3, init="annealing", random_state=0),
    PossibilisticCMeans(3, random_state=0),
    AdaptivePCM(6),
    SequentialPCM(),
    OneClusterPCM(),
    FuzzyCMeans(3, kernel="gaussian", random_state=0),
    AlphaCutClustering(),
    AlphaCutClustering(sigma=1.0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@every_estimator
def test_a_fit_reports_how_far_it_is(estimator, blobs):
    shares = []
    with followed_by(shares.append):
        estimator.fit(blobs[0])
    assert len(shares) >= 3
    assert 0.0 < min(shares) < max(shares) <= 1.0
    assert max(shares) > 0.3


def test_every_tree_moves_the_bar(blobs):
    shares = []
    with followed_by(shares.append):
        AlphaCutClustering().fit(blobs[0])
    assert shares == sorted(shares)
    assert len(set(shares)) > 6
    assert shares[-1] == 1.0


def test_methods_that_are_tried_are_parts_of_the_whole():
    X = np.random.default_rng(0).normal(size=(60, 4))
    shares = []
    with followed_by(shares.append):
        AutoClustering().fit(X)  # the mixture sees one cluster, and density is asked
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.6 * 0.5 / 8)  # the first of at most eight runs
    assert sum(share > 0.3 for share in shares) > 6  # the trees
    assert shares[-1] == 1.0


def test_parts_are_nested():
    shares = []
    with followed_by(shares.append):
        with part(0.5, 1.0):
            advance(0.5)
            with part(0.0, 0.5):
                advance(1.0)
                count = counter(2)
                count()
        advance(2.0)
    assert shares == pytest.approx([0.75, 0.75, 0.625, 0.75, 1.0, 1.0])
    advance(0.5)  # nobody follows
    assert len(shares) == 6
