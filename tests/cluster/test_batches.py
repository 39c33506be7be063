"""Learning batch by batch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from typicality import EntropyCMeans, FuzzyCMeans, PossibilisticCMeans, load, save
from typicality.rows import rows_in_memory

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
BATCHED = [
    FuzzyCMeans(3, random_state=0),
    FuzzyCMeans(3, m=1.3, noise_distance=3.0, random_state=0),
    EntropyCMeans(3, random_state=0),
    PossibilisticCMeans(3, eta_scale=1.0, random_state=0),
]
every_batched = pytest.mark.parametrize("model", BATCHED, ids=str)


def batch(seed, n_rows=300, shift=0.0):
    rng = np.random.default_rng(seed)
    return CENTRES[rng.integers(3, size=n_rows)] + shift + rng.normal(size=(n_rows, 2))


def by_place(centers):
    return centers[np.lexsort(centers.round().T)]


@every_batched
def test_batches_find_the_centres_of_all_rows(model):
    batches = [batch(seed) for seed in range(10)]
    whole, streamed = clone(model).fit(np.vstack(batches)), clone(model)
    for rows in batches:
        streamed.partial_fit(rows)
    assert_allclose(by_place(streamed.cluster_centers_), by_place(whole.cluster_centers_), atol=0.1)
    labels = streamed.predict(batches[0])
    shared = {
        (a, b) for a, b in zip(labels, whole.predict(batches[0]), strict=True) if min(a, b) >= 0
    }
    assert len(shared) == 3


@every_batched
def test_the_same_batch_again_changes_only_the_mass(model):
    rows = batch(0)
    once = clone(model).set_params(tol=1e-10).partial_fit(rows)
    centers, mass = once.cluster_centers_, once._mass
    twice = once.partial_fit(rows)
    assert_allclose(twice.cluster_centers_, centers, atol=1e-7)
    assert_allclose(twice._mass, 2 * mass, rtol=1e-6)


def test_hard_memberships_give_the_means_of_all_rows():
    batches = [batch(seed, n_rows) for seed, n_rows in enumerate((200, 50, 400))]
    model = FuzzyCMeans(3, m=1.01, random_state=0)
    for rows in batches:
        model.partial_fit(rows)
    every = np.vstack(batches)
    labels = model.predict(every)
    means = [every[labels == k].mean(axis=0) for k in range(3)]
    assert_allclose(model.cluster_centers_, means, atol=1e-6)
    assert_allclose(model._mass, np.bincount(labels), rtol=1e-6)


def test_with_decay_the_prototypes_follow_the_data():
    kept, forgotten = (FuzzyCMeans(3, random_state=0).partial_fit(batch(0)) for _ in range(2))
    for step in range(1, 9):
        rows = batch(step, shift=0.5 * step)
        kept.partial_fit(rows)
        forgotten.partial_fit(rows, decay=0.2)
    now = by_place(CENTRES + 4.0)
    assert_allclose(by_place(forgotten.cluster_centers_), now, atol=0.6)
    assert np.abs(by_place(kept.cluster_centers_) - now).max() > 1.0


def test_weights_count_copies_and_rows_can_be_blocks():
    first, rows = batch(0), batch(1, 40)
    weight = np.random.default_rng(0).integers(0, 3, size=len(rows))
    models = [FuzzyCMeans(3, random_state=0).partial_fit(first) for _ in range(3)]
    models[0].partial_fit(rows, sample_weight=weight)
    models[1].partial_fit(np.repeat(rows, weight, axis=0))
    models[2].partial_fit(rows_in_memory(rows, weight.astype(float)))
    for other in models[1:]:
        assert_allclose(models[0].cluster_centers_, other.cluster_centers_)
        assert_allclose(models[0]._mass, other._mass)


def test_the_first_batch_can_be_a_fit_and_a_model_is_saved_with_its_batches(tmp_path):
    model = FuzzyCMeans(3, random_state=0).fit(batch(0)).partial_fit(batch(1))
    other = FuzzyCMeans(3, random_state=0).partial_fit(batch(0)).partial_fit(batch(1))
    assert_array_equal(model.cluster_centers_, other.cluster_centers_)
    assert_array_equal(model.labels_, model.predict(batch(1)))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    expected = model.partial_fit(batch(2)).cluster_centers_
    assert_array_equal(again.partial_fit(batch(2)).cluster_centers_, expected)
    fresh = FuzzyCMeans(3, random_state=0).fit(batch(0))
    assert_array_equal(model.fit(batch(0)).cluster_centers_, fresh.cluster_centers_)


@pytest.mark.parametrize(
    "parameters", [{"kernel": "gaussian"}, {"covariance_type": "full"}, {"missing": "partial"}]
)
def test_other_spaces_are_refused(parameters):
    model = FuzzyCMeans(3, random_state=0, **parameters)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as refused:
        model.partial_fit(batch(0))
    assert "kernel='linear'" in str(refused.value.__cause__ or refused.value)


def test_a_batch_needs_the_features_of_the_first_and_a_decay_is_a_share():
    model = FuzzyCMeans(3, random_state=0).partial_fit(batch(0))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(batch(1)[:, :1])
    with pytest.raises(ValueError, match="decay"):
        model.partial_fit(batch(1), decay=1.5)


def test_a_batch_that_is_a_tensor_is_refused_at_once():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X = torch.arange(40.0).reshape(20, 2)
    model = FuzzyCMeans(2, random_state=0)
    with pytest.raises(ValueError, match="partial_fit takes arrays"):
        model.partial_fit(X)
    with pytest.raises(ValueError, match="partial_fit takes arrays"):
        model.fit(X).partial_fit(X.numpy())
