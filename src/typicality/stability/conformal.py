"""p-values of new rows for any outlier detector, by cross-validation."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state, get_tags, indexable

from typicality._arguments import check_whole
from typicality._compat import n_rows_of
from typicality._typing import Doubles, Places
from typicality.exceptions import RepetitionError
from typicality.stability import resample
from typicality.stability.outliers import Score, check_detector, plain_scores

_ROUNDING = 1e-12  # scores of equal rows differ by it, when a row is scored in another batch


def cross_conformal_p_values(
    detector: Any,
    X: Any,
    X_new: Any,
    *,
    n_splits: int = 10,
    score: Score = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Doubles:
    r"""How probable it is that a row of the source of X is as untypical as each new row.

    The n reference rows X are split at random in K folds, as equal as can be. A copy of the
    detector is fitted without each fold; :math:`S_{-k}` are its scores. With :math:`k(i)` the fold
    of row i,

    .. math:: p(x) = \frac{1 + \#\{i : S_{-k(i)}(x_i) \le S_{-k(i)}(x)\}}{n + 1}

    counts the reference rows that are no more typical than x by a detector that knows neither. That
    is the cross-conformal p-value of :cite:`vovk2015`; with ``n_splits=len(X)``, that of the
    jackknife+ of :cite:`barber2021`. :func:`typicality.metrics.select_discoveries` takes p-values
    to outliers at a rate of false discoveries.

    **What is proven.** For a new row that is exchangeable with the reference rows, and any
    detector,

    .. math:: P(p \le t) \le 2 \, \frac{t (n + 1) + K - 1}{n + K},

    which is less than :math:`2 t + 2 K / n`. The fraction, with p in place of t, is a weighted mean
    of the p-values of K split conformal detectors, and twice a mean of p-values is a p-value
    (:cite:`vovk2020`). With ``n_splits=len(X)``, for a detector that does not depend on the order
    of rows, :math:`P(p \le t) \le 2 t` (:cite:`barber2021`, theorem 1; its proof holds for any
    scores), and ``method="by"`` keeps the rate of false discoveries at most at twice its `fdr`. For
    "bh" there is no proof. All of this holds on average over sets of reference rows.

    **What was measured.** With ten folds of 60 or 200 rows from three sources, the share of
    p-values of at most .05 is .042 to .057 for a one-class SVM, local outlier factor and kernel
    density, and .027 to .048 for a Gaussian mixture; of at most .1, it is .064 to .107. "bh" at .1
    gives .03 to .08 false discoveries. Detectors that change much from fold to fold have fewer
    small p-values.

    Outliers in X make p-values larger. A new row that is also in X gets a p-value that is too
    large. For a proof without the factor 2, use ``OneClusterPCM(calibration="split")``.

    Costs `n_splits` fits, and the scores of X_new by each of the fitted detectors. Results do not
    depend on `n_jobs`.

    Parameters
    ----------
    detector : estimator
        Any detector with `fit` and with `score_samples` or `decision_function`, larger for rows
        that are more normal: of typicality, of scikit-learn (LocalOutlierFactor with
        ``novelty=True``), a density (KernelDensity), or a Pipeline that ends in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The reference rows, without outliers; for detectors of square matrices
        (``kernel="precomputed"``) that matrix.
    X_new : array-like, sparse matrix or dataframe of shape (n_new, n_features)
        The new rows; for detectors of square matrices, their values against X.
    n_splits : int, default=10
        The number of folds K, from 2 to the number of reference rows.
    score : str or callable, optional
        As in :func:`outlier_stability`. Detectors for which larger is less normal need
        ``score=lambda model, rows: -model.decision_function(rows)``.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of detectors whose own `random_state` is None.
    n_jobs : int or None, default=None
        How many folds run side by side; any joblib backend will do.

    Returns
    -------
    p_values : array of shape (n_new,)
        In (0, 1]; none is below 1 / (n + 1). Scores that differ by rounding alone are equal.

    Raises
    ------
    RepetitionError
        A fold failed: the message says which, and on which rows.

    See Also
    --------
    typicality.OneClusterPCM.p_values : p-values of one-cluster PCM, by one fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import OneClassSVM
    >>> from typicality.stability import cross_conformal_p_values
    >>> X = np.random.RandomState(0).normal(size=(99, 2))
    >>> cross_conformal_p_values(OneClassSVM(), X, [[0, 0], [5, 5]], random_state=0)
    array([0.55, 0.01])
    """
    check_detector(detector, score)
    X, n_rows = resample.check_rows_to_split(X, detector)
    (X_new,) = indexable(X_new)
    if np.ndim(X_new) != 2 or np.shape(X_new)[0] == 0 or np.shape(X_new)[1] != np.shape(X)[1]:
        raise ValueError(
            f"X_new has shape {np.shape(X_new)}, expected (n_new, {np.shape(X)[1]}): at least one "
            "row, with the columns of X."
        )
    n_splits = check_whole(n_splits, "n_splits", least=2)
    if n_splits > n_rows:
        raise ValueError(
            f"n_splits must be at most {n_rows}, the number of rows of X; got {n_splits}."
        )
    rng = check_random_state(random_state)
    folds = np.array_split(rng.permutation(n_rows), n_splits)
    works = [
        partial(_count, f"Fold {k:,} of {n_splits:,}", model, X, X_new, np.sort(fold), score)
        for k, fold in enumerate(folds, start=1)
        for model in [resample.seeded_clone(detector, rng)]
    ]
    with resample.run_parallel(works, n_jobs) as running:
        attempts = list(running)
    resample.warn_once([each.warnings for each in attempts], n_splits, among="folds")
    counts: Any = sum(each.value for each in attempts)
    return np.asarray((1 + counts) / (n_rows + 1))


def _count(
    name: str, model: Any, X: Any, X_new: Any, fold: Places, score: Score
) -> NDArray[np.intp]:
    """How many rows of a fold score at most as high as each new row, by a fit without the fold."""
    training = np.delete(np.arange(n_rows_of(X)), fold)
    takes_matrix = get_tags(model).input_tags.pairwise
    rows = "X"
    try:
        model.fit(resample.rows_of(model, X, training, trained_on=training))
        held_out = resample.rows_of(model, X, fold, trained_on=training)
        reference = plain_scores(model, held_out, score)
        rows = "X_new"
        if takes_matrix:
            X_new = (X_new if issparse(X_new) else np.asarray(X_new))[:, training]
        new = plain_scores(model, X_new, score)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise RepetitionError(f"{name} failed on rows of {rows}. {cause}") from error
    above = new * (1.0 + _ROUNDING * np.sign(new))  # infinite scores stay what they are
    return np.searchsorted(np.sort(reference), above, side="right")
