"""p-values of rows and outliers at a rate of false discoveries, by the scores of a detector."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from typicality._typing import Doubles
from typicality.cluster._estimator import by_blocks, like_rows
from typicality.cluster._warnings import warn_about_few_reference_rows, warn_about_local_p_values
from typicality.geometry.calibration import Calibration
from typicality.geometry.scores import CompressedScores, FastLeaveOneOut
from typicality.kernels import LocalGaussian
from typicality.metrics.discoveries import select_discoveries
from typicality.rows import is_blockwise

_FEWEST_FOR_LOCAL = 40  # p-values with fewer rows and the local kernel are too small
_FEWEST_TO_SPLIT, _MOST_TO_SPLIT = 4, 10**8
TIED = 1e-12  # of the threshold: scores that differ by less are the same


def check_number_to_split(n_rows: float) -> None:
    """An error about too few or too many rows for two halves."""
    if not _FEWEST_TO_SPLIT <= n_rows <= _MOST_TO_SPLIT:
        raise ValueError(
            f"calibration='split' needs {_FEWEST_TO_SPLIT} to {_MOST_TO_SPLIT:,} rows, copies "
            f"counted, and half of them are fitted; there are {n_rows:,.0f}. Use "
            "calibration='leave-one-out'."
        )


class WithPValues:
    """The p-values of :class:`typicality.OneClusterPCM`, which has the scores."""

    def p_values(
        self: Any, X: ArrayLike, method: str = "loo", *, diag: ArrayLike | None = None
    ) -> Doubles:
        r"""How probable it is that a row of the same source is as untypical as each row.

        .. math:: p(x) = \frac{1 + \#\{i : S_i \le S(x)\}}{n + 1}, \qquad
            S_i = \sum_{j \ne i} w_j K(x_i, x_j), \qquad S(x) = \sum_j w_j K(x, x_j)

        counts the training rows that are no more typical of the others than the row is of all. A
        new row of the same source gets a p-value of at most t with probability at most t. That is
        proven for a kernel of a distance, ``weights="uniform"`` and a `sigma` that was not chosen
        from these rows, and for ``calibration="split"`` whatever `fit` chooses. For fitted weights
        and the rules for `sigma` it was measured, from 60 rows on and for continuous features
        (docs/theory): where many rows are equal and the kernel is narrow, p-values are too small,
        .111 of them below .10. Use ``weights="uniform"`` or ``calibration="split"`` there. All of
        it holds on average over training sets; `false_alarm_interval_` tells how far one may be
        from it.

        Every row is taken as new. p-values of the training rows themselves are too large, because
        each of them takes part in its own sum. Outliers among the training rows make the p-values
        of others larger: with one in twenty, hardly any is small.

        Errors of fast sums make p-values larger, never smaller; those of a compressed model are
        at least those of the full one. For kernels that are not of a distance, S is the
        logarithm of the typicality (without the row itself for training rows).

        Original to typicality, see docs/theory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        method : {"loo", "full"}, default="loo"
            "full" adds the row, with the weight its typicality gives it, to the sums of the
            training rows as well: :math:`S_i + w(x) K(x_i, x)`. These p-values are never larger,
            and uniform where the theorem holds and no sums tie. For a kernel much wider than the
            data use ``weights="uniform"``: its sums differ by the weights of the rows alone.
            Costs O(n d) a row.
        diag : array-like of shape (n_samples,), optional
            As in `predict_typicality`.

        Returns
        -------
        p_values : array of shape (n_samples,)
            In (0, 1]; none is below 1 / (n + 1).

        See Also
        --------
        outliers_at : The rows that can be called outliers at a rate of false discoveries.
        """
        if method not in ("loo", "full"):
            raise ValueError(f"method must be 'loo' or 'full', got {method!r}.")
        if is_blockwise(X):
            if method == "full":
                raise ValueError(
                    "method='full' compares each row with all training rows and takes arrays "
                    "only. Use method='loo'."
                )
            check_is_fitted(self)
            self._reference()  # once, and not for each block
        p_values: Doubles = self._p_values(X, method, diag=diag)
        return p_values

    @like_rows
    @by_blocks
    def _p_values(self: Any, X: ArrayLike, method: str, *, diag: ArrayLike | None) -> Doubles:
        rows = self._read(X, diag)
        calibration: Calibration = self._reference()
        few = calibration.of_fit and calibration.n_rows < _FEWEST_FOR_LOCAL
        if few and isinstance(self.kernel_, LocalGaussian):
            warn_about_local_p_values(_FEWEST_FOR_LOCAL)
        scores: Any = self._left_out
        _, above = scores.bounds(rows, self.eta_)
        if method == "loo":
            return calibration.p_values(above)
        why = self._no_full_p_values()
        if why is not None:
            raise ValueError(f"method='full' cannot be used: {why}. Use method='loo'.")
        copies = scores.known.copies
        weights = scores.known.weights[copies > 0] / copies[copies > 0]
        if np.ptp(weights) <= TIED * weights.max():  # uniform, or as good as that
            weight = np.full(len(rows), weights[0])
        else:
            pull = scores.mean.memberships(self._rule, rows)[:, 0]
            weight = pull / (copies * self.typicality_).sum()
        return calibration.full_p_values(scores.known, rows, above, weight)

    def _scores_and_p_values(self: Any, X: ArrayLike) -> tuple[Doubles, Doubles]:
        """Both for new rows, from the same sums where these are costly."""
        rows, scores = self._read(X), self._left_out
        if isinstance(scores, FastLeaveOneOut):
            found, (_, above) = scores.scores_and_bounds(rows, self.eta_)
        else:
            found, (_, above) = scores.scores(rows, self.eta_), scores.bounds(rows, self.eta_)
        p_values: Doubles = self._reference().p_values(above)
        return found, p_values

    def _no_full_p_values(self: Any) -> str | None:
        if not self._reference().of_fit:
            return "calibration='split' compares rows with others that take no part in the sums"
        if isinstance(self._left_out, CompressedScores):
            return "a compressed model does not keep the training rows"
        if not self._left_out.known.columns.on_sphere:
            return f"it needs a kernel of a distance, and the kernel is {self.kernel_}"
        return None

    def _reference(self: Any) -> Calibration:
        calibration: Calibration | None = self._calibration
        if calibration is None:
            scores: Any = self._left_out
            calibration = Calibration(scores.reference(), scores.known.copies, True)
            self._set(_calibration=calibration)
        return calibration

    @like_rows
    def outliers_at(
        self: Any,
        X: ArrayLike,
        *,
        fdr: float = 0.1,
        method: str = "bh",
        diag: ArrayLike | None = None,
    ) -> NDArray[np.bool_]:
        """The rows that are outliers at a rate of false discoveries.

        Of the rows returned, a share of at most `fdr` is of the source of the training rows, on
        average. The p-values of `p_values` go through
        :func:`typicality.metrics.select_discoveries`. That is proven for ``method="by"`` where the
        p-values are, and for "bh" with ``calibration="split"``; "bh" with leave-one-out p-values,
        and "storey", were measured (docs/theory).

        Rows of the training data are never outliers here: `predict` flags those at a rate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows; the result for a row depends on how many others there are, and on them.
        fdr : float, default=0.1
            The rate of false discoveries, between 0 and 1.
        method : {"bh", "by", "storey"}, default="bh"
            The procedure: Benjamini and Hochberg, Benjamini and Yekutieli, or Storey.
        diag : array-like of shape (n_samples,), optional
            As in `predict_typicality`.

        Returns
        -------
        outliers : array of shape (n_samples,), bool
        """
        p_values: Doubles = self.p_values(X, diag=diag)
        found: NDArray[np.bool_] = self._discoveries(p_values, fdr, method)
        return found

    def _discoveries(self: Any, p_values: Doubles, fdr: float, method: str) -> NDArray[np.bool_]:
        found = select_discoveries(p_values, fdr=fdr, method=method)
        if not found.any():
            n_rows = self._reference().n_rows
            warn_about_few_reference_rows(p_values, n_rows, fdr=fdr, method=method)
        return found
