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
    r"""Cross-conformal p-values of new rows, for any outlier detector.

    The p-value of a new row is the probability that a row from the source of X is as untypical as
    this row. The n reference rows X are split at random into K folds of nearly equal size. For each
    fold k, a copy of the detector is fitted on the other folds; its scores are :math:`S_{-k}`. Let
    :math:`k(i)` be the fold of row i. Then

    .. math:: p(x) = \frac{1 + \#\{i : S_{-k(i)}(x_i) \le S_{-k(i)}(x)\}}{n + 1}

    So a reference row and x are compared by a detector that was fitted without both. This is the
    cross-conformal p-value of :cite:`vovk2015`; with ``n_splits=len(X)``, it is that of the
    jackknife+ of :cite:`barber2021`. :func:`typicality.metrics.select_discoveries` selects outliers
    from p-values at a false discovery rate.

    **What is proven.** For a new row that is exchangeable with the reference rows, and any
    detector,

    .. math:: P(p \le t) \le 2 \, \frac{t (n + 1) + K - 1}{n + K},

    which is less than :math:`2 t + 2 K / n`. This holds because twice a weighted mean of the
    p-values of K split conformal detectors is a p-value (:cite:`vovk2020`). With
    ``n_splits=len(X)``, and a detector that does not depend on the order of rows, :math:`P(p \le t)
    \le 2 t` (:cite:`barber2021`, theorem 1). Then the false discovery rate of ``method="by"`` is at
    most twice its `fdr`. For "bh", there is no proof. All these statements are about the average
    over sets of reference rows.

    **What was measured.** With ten folds of 60 or 200 rows from three sources, the fraction of
    p-values up to .05 is .042 to .057 for a one-class SVM, local outlier factor and kernel density,
    and .027 to .048 for a Gaussian mixture. The fraction up to .1 is .064 to .107. "bh" with
    ``fdr=0.1`` has a false discovery rate of .03 to .08. Detectors that differ much between folds
    have fewer small p-values.

    Outliers in X make p-values larger. A new row that is also in X gets a p-value that is too
    large. For a proof without the factor 2, use ``OneClusterPCM(calibration="split")``.

    Costs `n_splits` fits, and the scores of X_new by each fitted detector.

    Parameters
    ----------
    detector : estimator
        A detector with `fit`, and with `score_samples` or `decision_function` (larger for more
        typical rows). Examples are detectors of typicality and scikit-learn (LocalOutlierFactor
        with ``novelty=True``), densities (KernelDensity), and pipelines that end in one.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        The reference rows, without outliers. With ``kernel="precomputed"``, the square matrix.
    X_new : array-like, sparse matrix or dataframe of shape (n_new, n_features)
        The new rows. With ``kernel="precomputed"``, their kernel values with the rows of X.
    n_splits : int, default=10
        The number of folds K, from 2 to the number of reference rows.
    score : str or callable, optional
        As in :func:`outlier_stability`. If larger scores are less typical, use ``score=lambda
        model, rows: -model.decision_function(rows)``.
    random_state : int, RandomState or None, default=None
        The seed of the folds, and of estimators whose own `random_state` is None. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        The number of folds that run in parallel, with any joblib backend. -1 uses all cores.
        Results do not depend on it.

    Returns
    -------
    p_values : array of shape (n_new,)
        Values between 1 / (n + 1) and 1. Scores that differ only by rounding are treated as equal.

    Raises
    ------
    RepetitionError
        A fit failed. The message names the fold.

    See Also
    --------
    typicality.OneClusterPCM.p_values : p-values of one-cluster PCM, with a single fit.

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
    X = resample.check_rows_to_split(X, detector)
    n_rows = n_rows_of(X)
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
        partial(_count, resample.seeded_clone(detector, rng), X, X_new, np.sort(fold), score)
        for fold in folds
    ]
    names = [f"Fold {k:,} of {n_splits:,}" for k in range(1, n_splits + 1)]
    counts: Any = sum(resample.run_parallel(works, names, n_jobs))
    return np.asarray((1 + counts) / (n_rows + 1))


def _count(model: Any, X: Any, X_new: Any, fold: Places, score: Score) -> NDArray[np.intp]:
    """How many rows of a fold score at most as high as each new row, by a fit without the fold."""
    training = np.delete(np.arange(n_rows_of(X)), fold)
    model.fit(resample.rows_of(model, X, training, trained_on=training))
    held_out = resample.rows_of(model, X, fold, trained_on=training)
    if get_tags(model).input_tags.pairwise:
        X_new = (X_new if issparse(X_new) else np.asarray(X_new))[:, training]
    reference, new = plain_scores(model, held_out, score), plain_scores(model, X_new, score)
    above = new * (1.0 + _ROUNDING * np.sign(new))  # infinite scores stay what they are
    return np.searchsorted(np.sort(reference), above, side="right")
