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
            f"calibration='split' needs {_FEWEST_TO_SPLIT} to {_MOST_TO_SPLIT:,} rows "
            f"(copies included), because only half of them are fitted; there are {n_rows:,.0f}. "
            "Use calibration='leave-one-out'."
        )


class WithPValues:
    """The p-values of :class:`typicality.OneClusterPCM`, which has the scores."""

    def p_values(self: Any, X: ArrayLike, method: str = "loo") -> Doubles:
        r"""p-values: the probability that a row from the same source is as untypical as this row.

        .. math:: p(x) = \frac{1 + \#\{i : S_i \le S(x)\}}{n + 1}, \qquad
            S_i = \sum_{j \ne i} w_j K(x_i, x_j), \qquad S(x) = \sum_j w_j K(x, x_j)

        Here :math:`S(x)` is the weighted sum of the kernel values of a new row x, and :math:`S_i`
        that of training row i without itself. The p-value is the fraction of training rows with a
        sum of at most :math:`S(x)`, where x itself is counted as one of n + 1 rows.

        The p-values are valid if a new row from the same source has a p-value of at most t with
        probability at most t. This is proven in two cases: for ``calibration="split"``; and for a
        kernel of a distance, ``weights="uniform"`` and a `sigma` that was not chosen from these
        rows. For fitted weights and the rules for `sigma`, it was only measured, for at least 60
        rows and continuous features (docs/theory). If many rows are equal and the kernel is narrow,
        p-values are too small: a fraction of .111 is below .10. Then use ``weights="uniform"`` or
        ``calibration="split"``. All these statements are about the average over training sets;
        `false_alarm_interval_` shows how much a single model can differ.

        All rows of X are treated as new rows. p-values of training rows are too large, because the
        sum of a training row includes the row itself. Outliers among the training rows make all
        p-values larger: if 5 % of the training rows are outliers, hardly any p-value is small.

        Errors of approximate sums can make p-values larger, but never smaller. For kernels that are
        not functions of a distance, S is the logarithm of the typicality (for training rows,
        without the row itself).

        Original to typicality, see docs/theory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        method : {"loo", "full"}, default="loo"
            "loo" is the formula above. "full" also adds the new row to the sums of the training
            rows: :math:`S_i + w(x) K(x_i, x)`, where w(x) is the weight that follows from its
            typicality. These p-values are never larger, and cost O(n d) per row. If the p-values
            are proven to be valid and no sums are equal, they are uniformly distributed. For
            kernels much wider than the data, use "full" only with ``weights="uniform"``.

        Returns
        -------
        p_values : array of shape (n_samples,)
            Values between 1 / (n + 1) and 1.

        See Also
        --------
        outliers_at : Outliers at a given false discovery rate.
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
        p_values: Doubles = self._p_values(X, method)
        return p_values

    @like_rows
    @by_blocks
    def _p_values(self: Any, X: ArrayLike, method: str) -> Doubles:
        rows = self._read(X)
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
            return (
                "new rows are compared with rows that are not in the sums, because of "
                "calibration='split' or a sample of the rows (max_samples)"
            )
        if isinstance(self._left_out, CompressedScores):
            return "a compressed model does not keep the training rows"
        if not self._left_out.known.columns.on_sphere:
            return (
                "it needs a kernel that depends only on the distance of two rows, and the kernel "
                f"is {self.kernel_}"
            )
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
    ) -> NDArray[np.bool_]:
        """The rows that are outliers at a given false discovery rate.

        On average, at most a fraction `fdr` of the selected rows come from the source of the
        training rows. The rows are selected from `p_values` by
        :func:`typicality.metrics.select_discoveries`. The rate is proven for "bh" with
        ``calibration="split"``, and for "by" if the p-values are proven to be valid. For "bh" with
        leave-one-out p-values, and for "storey", it was only measured (docs/theory).

        Use this method for new rows only. To flag training rows, use `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows. The result for a row depends on the other rows of X.
        fdr : float, default=0.1
            The largest accepted false discovery rate, between 0 and 1.
        method : {"bh", "by", "storey"}, default="bh"
            The procedure: Benjamini and Hochberg, Benjamini and Yekutieli, or Storey.

        Returns
        -------
        outliers : array of shape (n_samples,), bool
        """
        p_values: Doubles = self.p_values(X)
        found: NDArray[np.bool_] = self._discoveries(p_values, fdr, method)
        return found

    def _discoveries(self: Any, p_values: Doubles, fdr: float, method: str) -> NDArray[np.bool_]:
        found = select_discoveries(p_values, fdr=fdr, method=method)
        if not found.any():
            n_rows = self._reference().n_rows
            warn_about_few_reference_rows(p_values, n_rows, fdr=fdr, method=method)
        return found
