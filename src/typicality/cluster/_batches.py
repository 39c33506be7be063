"""Learning batch by batch: what earlier batches left is kept as a weight for each prototype."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from typicality._checks import check_blocks, check_sample_weight
from typicality._compat import fit_context
from typicality._typing import Doubles
from typicality.cluster._inputs import has_input_space
from typicality.cluster._prototypes import PrototypeClusterer
from typicality.rows import as_rows, is_blockwise
from typicality.solve.picard import picard
from typicality.solve.step import ClusterState
from typicality.spaces import Centroids, Euclidean, Sweep


def _takes_batches(model: Any) -> bool:
    """Whether sums over rows and a weight for each prototype are all that a batch leaves."""
    spherical = getattr(model, "covariance_type", "spherical") == "spherical"
    if has_input_space(model.kernel) and spherical and model.missing == "error":
        return True
    raise AttributeError(
        "partial_fit needs kernel='linear', covariance_type='spherical' and missing='error'."
    )


class BatchClusterer(PrototypeClusterer):
    """Base of the estimators that can learn batch by batch; not for direct use."""

    mass_: Annotated[Doubles, "c"]

    @available_if(_takes_batches)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        decay: float = 1.0,
    ) -> Self:
        r"""Learn from another batch of rows, without the rows of earlier batches.

        The first batch is fitted. Then

        .. math:: v_k = \frac{\rho M_k v'_k + \sum_h \omega_h w_{hk} x_h}
            {\rho M_k + \sum_h \omega_h w_{hk}}, \qquad
            M_k \leftarrow \rho M_k + \sum_h \omega_h w_{hk},

        where :math:`v'_k` and :math:`M_k` are the prototypes and the sums of weights of all earlier
        batches, and :math:`\rho` is `decay`. The sum is over the rows of the batch, and is iterated
        to convergence. The parameters of the memberships, such as `m_`, `lam_` or `eta_`, are those
        of the first batch, which should have rows of all clusters. `labels_` and `memberships_` are
        those of the last batch, and `mass_` has :math:`M_k`. Only in the input space, with
        spherical clusters.

        Implements the single pass of :cite:`hore2007`. Differs from it: earlier batches are kept as
        sums, not as rows at the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of the batch.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k has the effect of k copies of the row.
        decay : float, default=1.0
            The factor of the weight of all earlier batches, from 0 to 1. Below 1, prototypes follow
            data that change.

        Returns
        -------
        self
        """
        if not 0 <= decay <= 1:
            raise ValueError(f"decay must be between 0 and 1; got {decay!r}.")
        if not hasattr(self, "_prototypes"):
            self.fit(X, sample_weight=sample_weight)
        before, known = self._prototypes, getattr(self, "mass_", None)
        if self._home is not None:
            raise ValueError("partial_fit takes arrays, and the first batch was a tensor.")
        if is_blockwise(X):
            rows: Any = check_blocks(self, as_rows(X, sample_weight), training=False)
            space = Euclidean(rows)
        else:
            rows = self._reader.read(self._in_memory(X, training=False))
            space = Euclidean(rows, check_sample_weight(sample_weight, rows))
        space.origin = before.origin
        mass = np.zeros(before.n_clusters) if known is None else decay * known
        step = _Joined(space, before, mass)
        state = ClusterState(before, self._rule)
        result = picard(step, state, tol=self.tol, max_iter=self.max_iter)
        prototypes = result.state.prototypes
        outcome = space.outcome(self._rule, prototypes, memberships=self.store_memberships)
        learned = {
            "_prototypes": prototypes,
            "cluster_centers_": self._reader.restore(prototypes.centers),
            "mass_": mass + outcome.mass,
            "labels_": None if outcome.labels is None else self._labels_of(outcome.labels),
            "memberships_": outcome.memberships,
            "objective_": outcome.objective,
            "n_iter_": result.n_iter,
            "status_": result.status,
            "objective_path_": np.array(result.objectives),
        }
        self.__dict__.update({k: v for k, v in learned.items() if v is not None})
        return self


@dataclass(frozen=True)
class _Joined:
    """A step whose means take part of earlier batches, kept as weights at given prototypes."""

    space: Euclidean
    before: Centroids
    mass: Doubles

    def __call__(
        self, state: ClusterState[Centroids]
    ) -> tuple[ClusterState[Centroids], float, float]:
        sweep: Sweep[Centroids] = self.space.sweep(state.rule, state.prototypes)
        total = self.mass + sweep.mass
        share = np.divide(self.mass, total, out=np.ones_like(total), where=total > 0)[:, None]
        offsets = share * self.before.offsets + (1 - share) * sweep.prototypes.offsets
        following = replace(state.prototypes, offsets=offsets)
        moves = state.prototypes.sqdist_to(following)
        residual = float(np.sqrt(moves.max() / (self.space.total_variance or 1.0)))
        return ClusterState(following, state.rule), residual, sweep.objective
