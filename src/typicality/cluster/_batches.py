"""Learning batch by batch: what earlier batches left is kept as a weight for each prototype."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from typicality._checks import check_blocks, check_sample_weight
from typicality._compat import fit_context
from typicality._tensors import is_followed
from typicality.cluster._diagnostics import require_finite
from typicality.cluster._inputs import has_input_space
from typicality.cluster._prototypes import PrototypeClusterer
from typicality.rows import as_rows, is_blockwise
from typicality.solve.picard import picard
from typicality.spaces import Centroids, Euclidean


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

        The first batch is fitted, as by `fit`; it can also be a fit of many rows. Then

        .. math:: v_k = \frac{\rho M_k v'_k + \sum_h \omega_h w_{hk} x_h}
            {\rho M_k + \sum_h \omega_h w_{hk}}, \qquad
            M_k \leftarrow \rho M_k + \sum_h \omega_h w_{hk},

        where :math:`v'_k` and :math:`M_k` are the prototypes and the sums of weights of all earlier
        batches, and :math:`\rho` is `decay`. The sum is over the rows of the batch, and is iterated
        to convergence. The parameters of the memberships, such as `m_`, `lam_` or `eta_`, are those
        of the first batch, which should have rows of all clusters. `labels_` and `memberships_` are
        those of the last batch. Only in the input space, with spherical clusters.

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
        if is_followed(X) or self._home is not None:
            raise ValueError(
                "partial_fit takes arrays, and a batch was a tensor. Pass all batches as arrays."
            )
        if not hasattr(self, "_prototypes"):
            self.fit(X, sample_weight=sample_weight)
            return self
        if is_blockwise(X):
            rows: Any = check_blocks(self, as_rows(X, sample_weight), training=False)
            space = Euclidean(rows)
        else:
            rows = self._reader.read(self._in_memory(X, training=False))
            space = Euclidean(rows, check_sample_weight(sample_weight, rows))
        before: Centroids = self._prototypes
        space.origin = before.origin
        spread = space.total_variance or 1.0
        mass = decay * self._mass

        def step(prototypes: Centroids) -> tuple[Centroids, float, float]:
            sweep = space.sweep(self._rule, prototypes)
            total = mass + sweep.mass
            share = np.divide(mass, total, out=np.ones_like(total), where=total > 0)[:, None]
            offsets = share * before.offsets + (1 - share) * sweep.prototypes.offsets
            following = replace(before, offsets=offsets)
            move = np.sqrt(prototypes.sqdist_to(following).max() / spread)
            return following, float(move), sweep.objective

        result = picard(step, before, tol=self.tol, max_iter=self.max_iter)
        require_finite(result)
        last = space.sweep(self._rule, result.state)
        self._prototypes, self._mass = result.state, mass + last.mass
        self.cluster_centers_ = self._reader.restore(result.state.centers)
        self.n_iter_, self.status_, self.objective_ = result.n_iter, result.status, last.objective
        self.objective_path_ = np.array(result.objectives)
        self._judge(rows)
        return self
