"""One-cluster possibilistic c-means: density and outliers."""

import html
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from typicality._checks import check_rows
from typicality._compat import Interval, StrOptions
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats
from typicality._words import counted, for_people
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._diagnostics import (
    few_reference_rows,
    require_finite,
    sentences,
    tell,
    warn_about_coarse_promise,
    warn_about_convergence,
    warn_about_equal_typicalities,
    warn_about_features,
    warn_about_kernel,
    warn_about_lonely_row,
)
from typicality.cluster._estimator import (
    KERNEL_CONSTRAINTS,
    POSITIVE,
    SAMPLE_CONSTRAINTS,
    Estimator,
    by_blocks,
    like_rows,
)
from typicality.cluster._inputs import (
    Coordinates,
    OpenSpace,
    Stretched,
    check_compressible,
    open_space,
)
from typicality.cluster._learned import (
    Learned,
    calibrate,
    how_learned,
    learned_rows,
    map_rows,
    read_at_once,
    split_rows,
)
from typicality.density import Calibration, LeaveOneOut, false_alarm_interval, without_lowest
from typicality.explain import TypicalRows, are_typical, reason_text, telling_features
from typicality.kernels import BANDWIDTH_KERNELS, Kernel, LocalGaussian, Mixed
from typicality.membership.base import MembershipRule
from typicality.membership.possibilistic import Possibilistic1996
from typicality.metrics.discoveries import select_discoveries
from typicality.rows import Rows, is_blockwise, rows_in_memory
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import Alternation, ClusterState, Step
from typicality.spaces.gram import sqdist_of_products
from typicality.sums import KernelColumns

LOOP_SHARE = 0.7  # of the time of a fit; the rest is the scores of all rows
_FEWEST_FOR_LOCAL = 40  # p-values with fewer rows and the local kernel are too small
_TIED = 1e-12  # of the threshold: scores that differ by less are the same
_MOST_REASONS = 20  # rows of which reasons are printed
_NO_REASON = "no single feature"
_REASON_COLUMNS = ("row", "feature", "value", "expected", "robust z-score")
_NOMINAL_RATE = 0.05  # contamination="auto": no rule estimates the true one


# ---- the density of all rows, which AlphaCutClustering cuts --------------------------------------


class DensityEstimator(Estimator):
    """Base of the estimators that model the density of all rows; not for direct use."""

    def _step(self, space: Any) -> Step:
        """One iteration. A subclass can change the spread, or the residual that `tol` bounds."""
        return Alternation(space)


def solve_one_cluster(
    estimator: Any, space: Any, callbacks: FitCallbacks, *, weights: str
) -> PicardResult[State]:
    """Iterate from the mean of all rows; with uniform weights that mean is the result.

    Implements :cite:`filippone2010`, table I; for uniform weights, the end of its section IV-D.
    """
    eta: float = estimator.eta_scale * space.total_variance
    if not eta > 0:  # all distances are zero: every typicality is one whatever eta is
        eta = 1.0
        if not space.n_clipped(space.mean):  # there is a warning about clipped distances
            tell("constant rows")
    rule = Possibilistic1996(np.array([eta]))
    state: State = ClusterState(space.mean, rule)
    if weights == "uniform":  # the kernel density estimate
        objective = space.fold(rule, space.mean).objective
        return PicardResult(state, Status.CONVERGED, (0.0,), (objective,))
    result = callbacks.run(estimator._step(space), state)
    require_finite(result)
    return result


def warn_about_density(
    estimator: Any, space: Any, result: PicardResult[State], **instead: str
) -> None:
    """No convergence, a kernel too wide or too narrow, typicalities all alike."""
    warn_about_convergence(result, tol=estimator.tol, max_iter=estimator.max_iter)
    # Rules for sigma are not second-guessed: scores are sums of logarithms, however narrow.
    named = isinstance(estimator.kernel, str) and estimator.kernel
    by_rule = named in ("auto", *BANDWIDTH_KERNELS) and isinstance(estimator.sigma, str)
    by_rule |= named == "local"
    state = result.state
    too_narrow = warn_about_kernel(
        space, state.prototypes, estimator.kernel, narrow=not by_rule, **instead
    )
    on_sphere = space.columns.on_sphere and space.total_variance > 0
    if on_sphere and not by_rule and not too_narrow:
        rule: Any = state.rule
        log_typicality = state.prototypes.training_sqdist / rule.eta[0]
        warn_about_equal_typicalities(log_typicality, estimator.eta_scale, space.neighbours)


# ---- outliers ------------------------------------------------------------------------------------


class Reasons(NamedTuple):
    """The features in which rows are unusual, and by how much; the result of `explain`.

    Parameters
    ----------
    features : list of str
        The names of the features.
    values : array of shape (n_samples, n_features)
        The values of the rows.
    expected : array of shape (n_samples, n_features)
        The mean of the nearest typical rows, for each row.
    deviations : array of shape (n_samples, n_features)
        Robust z-scores: values minus expected values, divided by the spread of the feature (IQR /
        1.349).

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[7] = [0.0, 9.0, 0.0]
    >>> reasons = OneClusterPCM().fit(X).explain(X[7:9])
    >>> reasons.features[np.abs(reasons.deviations[0]).argmax()]
    'feature 1'
    >>> reasons.words(at_most=1)[0]
    'feature 1 9 (+7.4)'
    >>> reasons
    Reasons for 2 rows: value (robust z-score)
    row 0: feature 1 9 (+7.4)
    row 1: no single feature
    """

    features: list[str]
    values: Floats
    expected: Doubles
    deviations: Doubles

    def words(self, at_most: int = 3) -> list[str]:
        """The most unusual features of each row, with values and deviations, as text.

        Features with a deviation below 0.5, or below half of the largest deviation of the row, are
        left out.

        Parameters
        ----------
        at_most : int, default=3
            The largest number of features per row.

        Returns
        -------
        words : list of str
            One text per row. It is empty if the row is unusual in no single feature.
        """
        return [
            "; ".join(
                reason_text(self.features[j], self.values[i, j], self.deviations[i, j])
                for j in columns
            )
            for i, columns in enumerate(telling_features(self.deviations, at_most))
        ]

    def __repr__(self) -> str:
        first = [f"row {i}: {words or _NO_REASON}" for i, words in enumerate(self._first.words())]
        return "\n".join([self._heading, *first, *self._rest])

    def _repr_html_(self) -> str:
        some, lines = self._first, []
        for i, columns in enumerate(telling_features(some.deviations, 3)):
            for j in columns:
                numbers = map(for_people, (some.values[i, j], some.expected[i, j]))
                lines.append([str(i), some.features[j], *numbers, f"{some.deviations[i, j]:+.1f}"])
            if not columns:
                lines.append([str(i), _NO_REASON])
        head = "".join(f"<th>{name}</th>" for name in _REASON_COLUMNS)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>"
            for line in lines
        )
        rest = "".join(f"<p>{words}</p>" for words in self._rest)
        return f"<p>{self._heading}</p><table><tr>{head}</tr>{body}</table>{rest}"

    @property
    def _first(self) -> "Reasons":
        some = slice(_MOST_REASONS)
        return Reasons(self.features, self.values[some], self.expected[some], self.deviations[some])

    @property
    def _heading(self) -> str:
        return f"Reasons for {counted(len(self.values), 'row')}: value (robust z-score)"

    @property
    def _rest(self) -> list[str]:
        more = len(self.values) - _MOST_REASONS
        return [f"and {counted(more, 'more row')}"] if more > 0 else []


class OneClusterPCM(OutlierMixin, DensityEstimator):
    r"""One-cluster possibilistic c-means: density and outliers, by the typicality of each row.

    The rows :math:`x_h`, with sample weights :math:`\omega_h`, are mapped into the space of a
    kernel by :math:`\Phi`. There, all rows are modelled by one possibilistic cluster with mean v
    and spread :math:`\eta`:

    .. math:: \min_{u, v} \sum_h \omega_h \Big( u_h \lVert \Phi(x_h) - v \rVert^2 +
        \eta (u_h \ln u_h - u_h) \Big), \qquad
        u_h = e^{-\lVert \Phi(x_h) - v \rVert^2 / \eta}, \qquad
        v = \frac{\sum_h \omega_h u_h \Phi(x_h)}{\sum_h \omega_h u_h}.

    The typicality u is a model of the density in the input space: rows of low typicality are
    outliers. With kernels of a distance, such as the Gaussian, the density can have any shape. It
    is a kernel density estimate in which each row is weighted by its typicality. With a small
    `eta_scale`, outliers have little influence on this estimate. With ``eta_scale=1``, the ranks
    of rows are almost those of an unweighted estimate (Spearman correlation above .98). The linear
    kernel and dissimilarities describe one round cluster.

    The threshold is a quantile of leave-one-out scores. So ``contamination=0.01`` flags about 1 %
    of new rows from the same source. A quantile of plain training scores does not achieve this with
    narrow kernels.

    An iteration is one product with the kernel matrix; a large kernel matrix is never stored. This
    takes at most O(n^2 d) time and O(n) memory, and a prediction at most O(n d) per row. It takes
    only O(n) time for a Gaussian kernel with up to three features, and for kernels that are narrow
    compared with the data. `sums_` states the method that was used.

    Implements :cite:`filippone2010`, table I, eq. (26)-(28); :cite:`filippone2007`, section 4.
    Differs from the papers: distances stay accurate for wide kernels, the iterations stop when the
    mean hardly moves, and the threshold comes from leave-one-out scores.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        The kernel, a similarity of two rows:

        - "linear": models the data by one Gaussian;
        - "gaussian" (or "rbf"), "laplacian", "cauchy": kernels with the width `sigma`;
        - "local": a Gaussian whose width follows the density
          (:class:`typicality.kernels.LocalGaussian`, with a quarter of the rows as neighbours, at
          least 22);
        - "polynomial" (or "poly"), "cosine" and all other names of
          :func:`sklearn.metrics.pairwise.pairwise_kernels`;
        - an object of :mod:`typicality.kernels`, or a function that returns the kernel values of
          two arrays of rows;
        - "precomputed": X is a square matrix of kernel values;
        - "dissimilarities": X is a square matrix of distances;
        - "connectivity": two rows are close if a chain of short steps connects them.
    sigma : float or str, default="auto"
        The width of the kernel, or the name of a rule that computes it
        (:mod:`typicality.bandwidth`). Small values show fine structure of the density. "auto" is
        half the median distance of two rows; with ``novelty=True``, an eighth of the median
        distance. For noise around clusters in few dimensions, "knn" is better.
    eta_scale : float, default=1.0
        The factor of the spread eta. Values below 0.5 reduce the influence of outliers. Large
        values give the unweighted kernel density estimate.
    weights : {"typicality", "uniform"}, default="typicality"
        The influence of the rows on the mean: their typicality, or the same for all rows. "uniform"
        gives the kernel density estimate, in one iteration.
    contamination : "auto" or float in (0, 0.5], default="auto"
        The fraction of rows that `predict` flags, of the training rows and of new rows from the
        same source. It is not estimated from the data; "auto" is 0.05.
    novelty : bool, default=False
        Whether the training data contain no outliers. This changes only ``sigma="auto"``: data
        without outliers need a narrow kernel, data with outliers a wide one.
    trim : float in [0, 0.5], default=0.0
        The fraction of the training rows, by weight, that a second fit leaves out: those with the
        lowest scores of a first fit. So outliers that lie close together cannot support each other.
        0.2 is a good value; a group of rows smaller than this may be left out as a whole. With
        ``sigma="auto"``, the width of the first fit is the median distance of two rows, and that of
        the second fit is a quarter of it; a given `sigma` is used in both fits. All rows are
        scored, and thresholds and p-values compare with all rows. With ``novelty=True``, no rows
        are left out.
    calibration : {"leave-one-out", "split"}, default="leave-one-out"
        The scores with which thresholds and p-values compare a row. "leave-one-out" uses the
        training rows, each scored by the other rows. "split" fits the model on a random half of the
        rows, and uses the scores of the other half. With "split", p-values are proven to be valid
        for all parameters. But it finds fewer outliers: only half of the rows are fitted, and
        p-values are at least 2 / (n + 2).
    max_samples : int, "auto" or None, default="auto"
        With a kernel: the largest number of rows that the model is learned from. If there are more
        rows, it is learned from a sample of the distinct rows, chosen by a hash of their content,
        and all rows get labels or scores. "auto" is 10,000; a Gaussian kernel of up to three
        features takes all rows of an array, or 131,072 rows if they do not fit into memory. None is
        all rows.
    max_iter : int, default=1000
        The largest number of iterations.
    tol : float, default=1e-5
        Stop when the mean moves by less than `tol` times the root mean square distance of the rows
        to their mean, in the space of the kernel. With 0, `max_iter` iterations are run.
    rtol : float, default=1e-6
        The largest error of sums of kernel values, relative to the variance in the space of the
        kernel. Values above `tol` / 10 are lowered to `tol` / 10. Sums over few rows (up to 2,048
        for a Gaussian kernel and up to three features, else up to 5,120) are exact. 0 makes all
        sums exact.
    random_state : int, RandomState instance or None, default=None
        The seed or generator that draws the halves of ``calibration="split"``. Pass an int for
        reproducible results.

    Attributes
    ----------
    typicality_ : array of shape (n_samples,)
        The typicality of the training rows, in [0, 1].
    weights_ : array of shape (n_samples,)
        The weights of the training rows in the mean v. They sum to one; they are 0 for rows that
        `trim` leaves out. Not set if the model was learned from a sample, a file or a Dask
        collection.
    eta_ : float
        The spread, as a squared distance in the space of the kernel.
    offset_ : float
        The score below which a row is flagged.
    false_alarm_interval_ : tuple of two floats
        An interval that contains the rate of false alarms of this model with probability .95. The
        rate varies between models. On average it is `contamination`, or 1 / (n + 1) if this is
        larger. Its distribution is Beta(j, n + 1 - j) for n rows, where j is contamination (n + 1),
        at least 1.
    n_iter_ : int
        The number of iterations. With many rows and more than three features, a sample of the rows
        is used to need fewer iterations; the result is the same up to `tol`.
    status_ : str
        Why the iterations ended: "converged", "max_iter", or "stopped" by a callback.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration. It never rises if eta is fixed.
    kernel_ : Kernel or str
        The kernel that was used.
    sigma_ : float or None
        The width of the kernel; None if it has no width.
    sums_ : str
        How sums were computed, in a sentence.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    PossibilisticCMeans : Several possibilistic clusters.
    sklearn.neighbors.KernelDensity : A normalised density, as with ``weights="uniform"``.
    sklearn.svm.OneClassSVM : A boundary around the data in the space of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [5.0]])
    >>> model = OneClusterPCM(sigma=0.3, contamination=0.3).fit(X)
    >>> model.predict([[0.25], [5.5]])
    array([ 1, -1])
    """

    _left_out: LeaveOneOut
    _calibration: Calibration | None  # None until p-values are asked for, where they cost a pass
    _rule: Annotated[Any, MembershipRule]
    typicality_: Annotated[Floats, "N"]
    weights_: Annotated[Doubles, "N"]
    eta_: float
    offset_: float
    false_alarm_interval_: tuple[float, float]

    _why_dense = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **SAMPLE_CONSTRAINTS,
        "eta_scale": [POSITIVE],
        "weights": [StrOptions({"typicality", "uniform"})],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "novelty": ["boolean"],
        "trim": [Interval(Real, 0, 0.5, closed="both")],
        "calibration": [StrOptions({"leave-one-out", "split"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "gaussian",
        sigma: float | str = "auto",
        eta_scale: float = 1.0,
        weights: str = "typicality",
        contamination: float | str = "auto",
        novelty: bool = False,
        trim: float = 0.0,
        calibration: str = "leave-one-out",
        max_samples: int | str | None = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        rtol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.eta_scale = eta_scale
        self.weights = weights
        self.contamination = contamination
        self.novelty = novelty
        self.trim = trim
        self.calibration = calibration
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.rtol = rtol
        self.random_state = random_state

    @like_rows
    @by_blocks
    def predict_typicality(self, X: ArrayLike) -> Floats:
        """The typicality of each row, in [0, 1].

        Implements :cite:`filippone2010`, eq. (28). The typicality of a training row includes the
        row itself. To compare training rows with new rows, use `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows. With ``kernel="precomputed"``, the kernel values of these
            rows with the training rows; new rows need a kernel with a constant diagonal.

        Returns
        -------
        typicality : array of shape (n_samples,)
            In [0, 1].
        """
        rows = self._read(X)
        return self._left_out.mean.memberships(self._rule, rows)[:, 0]

    @like_rows
    @by_blocks
    def score_samples(self, X: ArrayLike) -> Doubles:
        r"""How typical each row is, without its own contribution; larger is more typical.

        For kernels of a distance, the score is :math:`\log s(x)`, where :math:`s(x) = \sum_r w_r
        K(x, x_r)` is the weighted density estimate. The typicality is an increasing function of it.
        For other kernels, the score is the logarithm of the typicality.

        If a row equals a training row, one copy of this training row is left out of the sum. So a
        training row gets its leave-one-out score. With ``calibration="split"``, all rows are scored
        as new rows. A score does not depend on the other rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        scores : array of shape (n_samples,)
        """
        rows = self._read(X)
        return self._left_out.scores(rows)

    @like_rows
    @by_blocks
    def decision_function(self, X: ArrayLike) -> Doubles:
        """The score minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        decisions : array of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    @like_rows
    @by_blocks
    def predict(self, X: ArrayLike) -> NDArray[np.int_]:
        """Flag outliers: +1 for typical rows, -1 for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        flags : array of shape (n_samples,), int
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def explain(self, X: ArrayLike) -> Reasons:
        """In which features rows are unusual, and by how much.

        Each row is compared with the mean of its 20 nearest typical training rows, other than
        itself. Here, the 90 % of the training rows with the largest typicality are typical. So the
        result does not depend on `contamination`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        reasons : Reasons
            The names of the features, the expected values, and the deviations from them.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, training=False)
        if not self._knows_its_rows:
            raise ValueError(
                "explain needs the features of the training rows, and this model does not have "
                "them: it was compressed, it was fitted on a sparse matrix, or its kernel does not "
                "use features. Use the model before it was compressed, or fit it on an array."
            )
        typical = self._typical_rows()
        deviations = typical.deviations(rows)
        expected = np.asarray(rows - deviations * typical.scale)
        names = [f"feature {j}" for j in range(rows.shape[1])]
        names = [str(name) for name in getattr(self, "feature_names_in_", names)]
        return Reasons(names, rows, expected, deviations)

    def p_values(self, X: ArrayLike, method: str = "loo") -> Doubles:
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
        return self._p_values(X, method)

    @like_rows
    @by_blocks
    def _p_values(self, X: ArrayLike, method: str) -> Doubles:
        rows = self._read(X)
        calibration: Calibration = self._reference()
        few = calibration.of_fit and calibration.n_rows < _FEWEST_FOR_LOCAL
        if few and isinstance(self.kernel_, LocalGaussian):
            tell("local p-values", fewest=_FEWEST_FOR_LOCAL)
        scores = self._left_out
        as_new = scores.judge(rows, new=True)
        above = as_new.scores + as_new.error
        if method == "loo":
            return calibration.p_values(above)
        self._check_full_p_values(calibration)
        copies = scores.copies
        weights = scores.weights[copies > 0, 0] / copies[copies > 0]
        if np.ptp(weights) <= _TIED * weights.max():  # uniform, or as good as that
            weight = np.full(len(rows), weights[0])
        else:
            pull = scores.mean.memberships(self._rule, rows)[:, 0]
            weight = pull / (copies * self.typicality_).sum()
        columns: Any = scores.columns
        return calibration.full_p_values(columns, rows, above, weight)

    def _scores_and_p_values(self, X: ArrayLike) -> tuple[Doubles, Doubles]:
        """Both for new rows, from the same sums."""
        scores, above = self._left_out.scores_and_bounds(self._read(X))
        return scores, self._reference().p_values(above)

    def _check_full_p_values(self, calibration: Calibration) -> None:
        columns, why = self._left_out.columns, None
        if not calibration.of_fit:
            why = (
                "new rows are compared with rows that are not in the sums, because of "
                "calibration='split', trim or a sample of the rows (max_samples)"
            )
        elif columns is None:
            why = "a compressed model does not keep the training rows"
        elif not columns.on_sphere:
            why = (
                "it needs a kernel that depends only on the distance of two rows, and the kernel "
                f"is {self.kernel_}"
            )
        if why is not None:
            raise ValueError(f"method='full' cannot be used: {why}. Use method='loo'.")

    def _reference(self) -> Calibration:
        calibration: Calibration | None = self._calibration
        if calibration is None:
            calibration = Calibration(self._left_out.reference(), self._left_out.copies, True)
            self._calibration = calibration
        return calibration

    @like_rows
    def outliers_at(
        self,
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
        return self._discoveries(self.p_values(X), fdr, method)

    def _discoveries(self, p_values: Doubles, fdr: float, method: str) -> NDArray[np.bool_]:
        found = select_discoveries(p_values, fdr=fdr, method=method)
        if not found.any():
            n_rows = self._reference().n_rows
            if fields := few_reference_rows(p_values, n_rows, fdr=fdr, method=method):
                tell("few reference rows", **fields)
        return found

    def _few_reference_rows(self, p_values: Doubles, fdr: float) -> str:
        """Why so few training rows allow no row to be an outlier; empty if they are enough."""
        fields = few_reference_rows(p_values, self._reference().n_rows, fdr=fdr)
        return " ".join(sentences("few reference rows", **fields)) if fields else ""

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_typicality(X)[:, None]

    def _soft_names(self) -> list[str]:
        return ["typicality"]

    @property
    def _knows_its_rows(self) -> bool:
        """Whether the training rows are at hand, as rows of features."""
        has_rows = isinstance(self._left_out.columns, KernelColumns)
        return has_rows and type(self._reader) in (Coordinates, Stretched)

    def _typical_rows(self) -> TypicalRows:
        columns: Any = self._left_out.columns
        rows = columns.training
        typicality: Any = getattr(self, "typicality_", None)
        if not isinstance(typicality, np.ndarray) or len(typicality) != len(rows):
            typicality = self._left_out.mean.memberships(self._rule, rows)[:, 0]  # of a sample
        if isinstance(self._reader, Stretched):
            rows = rows / self._reader.factor
        return TypicalRows.of(rows, are_typical(typicality))

    def compress(self, rtol: float = 1e-4) -> Self:
        """A small copy of the model for prediction, with few training rows or none.

        For Gaussian kernels and up to three features, the training rows are replaced by Fourier
        coefficients, and otherwise by a smaller set of rows. This is the sparsification that
        :cite:`filippone2010` proposes in its conclusions.

        Parameters
        ----------
        rtol : float, default=1e-4
            The largest error of s(x), the weighted mean of kernel values, at any point. If s(x)
            cannot be distinguished from values below `rtol`, the score is log(`rtol`). So keep the
            full model to rank outliers among themselves.

        Returns
        -------
        model : OneClusterPCM
            It predicts as this model does, up to the error `rtol`. It scores training rows as new
            rows, and has no `typicality_` and `weights_`. The p-value of a row is at least that of
            this model, and at most 1.02 times the p-value for a sum s(x) that is larger by 2
            `rtol`.
        """
        check_is_fitted(self)
        check_compressible(self.kernel_, rtol, self._reader)
        warn_about_coarse_promise(rtol, self.offset_)
        density = self._left_out.compress(rtol)
        calibration = self._reference().thinned()
        return self._without("typicality_", "weights_", _left_out=density, _calibration=calibration)

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        given = rows
        rows, weight = read_at_once(rows, weight)
        held_out: Any = None
        if self.calibration == "split":
            rows, weight, held_out = split_rows(rows, weight, self.random_state)
        learned = learned_rows(self, rows, weight, explicit=False)
        trim = 0.0 if self.novelty else self.trim
        # Before rows are trimmed, "auto" is wide, so that large groups of outliers are found.
        wide = trim > 0 and self._uses_sigma and self.sigma == "auto"
        opened = self._opened(learned.rows, learned.weight, "median" if wide else self.sigma)
        if opened.space.total_variance > 0:
            warn_about_features(opened, self)
        is_all = learned.is_all and given is rows
        reference = held_out
        if held_out is None and (trim or not learned.is_all):  # the threshold is that of all rows
            reference = rows if isinstance(rows, Rows) else rows_in_memory(array_of(rows), weight)
        callbacks.begin(
            2 if trim else 1,
            lambda state: self._for_prediction(state, opened, reference),
            loop_share=LOOP_SHARE,
        )
        result = solve_one_cluster(self, opened.space, callbacks, weights=self.weights)
        if trim:
            opened = self._trimmed(trim, learned, opened, result.state, shrink=4.0 if wide else 1.0)
            result = solve_one_cluster(self, opened.space, callbacks, weights=self.weights)
        space: Any = opened.space
        state = result.state
        attributes = self._for_prediction(state, opened, reference)
        self.__dict__.update(attributes | self._record(opened, result))
        if is_all:
            found = space.outcome(state.rule, state.prototypes, labels=False)
            self.typicality_ = found.memberships[:, 0]
        else:
            if given is not rows or "typicality_" not in attributes:
                mean, rule, read = self._left_out.mean, self._rule, self._reader.read
                self.typicality_ = map_rows(given, lambda X: mean.memberships(rule, read(X))[:, 0])
            del self.weights_
            self.sums_ = how_learned(learned, len(given), self.sums_)
        warn_about_density(self, space, result)
        weights, uniform = (array_of(p.weights[:, 0]) for p in (state.prototypes, space.mean))
        warn_about_lonely_row(weights, uniform)

    def _opened(self, rows: Any, weight: Floats | None, sigma: float | str) -> OpenSpace:
        return open_space(self.kernel, sigma, rows, weight, estimator=self, explicit=False)

    def _trimmed(
        self, trim: float, learned: Learned, opened: OpenSpace, state: State, *, shrink: float
    ) -> OpenSpace:
        """The space of the rows without those of the lowest scores, which get no weight."""
        space: Any = opened.space
        rule: Any = state.rule
        scores = LeaveOneOut.of(state.prototypes, space, float(rule.eta[0]))
        weight = without_lowest(scores.scores(array_of(space.X)), scores.copies, trim)
        sigma: Any = opened.sigma
        sigma = sigma / shrink if self._uses_sigma and sigma is not None else "auto"
        return self._opened(learned.rows, weight.astype(space.dtype), sigma)

    @property
    def _uses_sigma(self) -> bool:
        kernel = self.kernel
        return kernel in BANDWIDTH_KERNELS or (isinstance(kernel, Mixed) and kernel.sigma is None)

    @property
    def _rate(self) -> float:
        return _NOMINAL_RATE if self.contamination == "auto" else float(self.contamination)

    def _for_prediction(
        self, state: State, opened: OpenSpace, reference: Rows | None
    ) -> dict[str, Any]:
        """All that prediction needs.

        The rows of thresholds and p-values are those of the space, or `reference` where these are
        others.
        """
        space: Any = opened.space
        rule: Any = state.rule
        eta = float(rule.eta[0])
        scores = LeaveOneOut.of(state.prototypes, space, eta)
        calibration: Calibration | None = None  # made at the first use
        typicality: dict[str, Floats] = {}
        if self.calibration == "split":
            # New rows are compared with rows that took no part: none is taken for a training row.
            scores = replace(scores, nearest=-1.0)
        if reference is None:
            copies: Floats = scores.copies
            offset, log_sums = scores.calibrate(
                space.X, self._rate, state.prototypes.products[:, 0]
            )
            if log_sums is not None:
                calibration = Calibration(log_sums, copies, True)
        else:
            judge = lambda X: scores.judge(opened.reader.read(X))  # noqa: E731
            offset, calibration, apart = calibrate(reference, judge, self._rate)
            copies = calibration.copies
            if apart is not None and self.calibration != "split":
                sqdist = sqdist_of_products(apart[:, None], scores.mean.energy)
                typicality["typicality_"] = rule.memberships(sqdist)[:, 0].astype(reference.dtype)
        return typicality | {
            "_rule": rule,
            "_reader": opened.reader,
            "_left_out": scores,
            "_calibration": calibration,
            "weights_": array_of(state.prototypes.weights[:, 0]),
            "eta_": eta,
            # A row on the threshold is typical, however its score was rounded.
            "offset_": offset - _TIED * max(1.0, abs(offset)),
            "false_alarm_interval_": false_alarm_interval(self._rate, copies),
        }
