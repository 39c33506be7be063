"""One-cluster possibilistic c-means: density and outliers."""

from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from typicality._compat import Interval, StrOptions, fit_context
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._estimator import KERNEL_CONSTRAINTS, KernelEstimator
from typicality.cluster._spaces import OpenSpace, SumOptions, check_compressible, open_space
from typicality.cluster._warnings import (
    require_finite,
    warn_about_coarse_promise,
    warn_about_constant_rows,
    warn_about_convergence,
    warn_about_equal_typicalities,
    warn_about_features,
    warn_about_kernel,
    warn_about_lonely_row,
    warn_about_vanished_spread,
)
from typicality.geometry.scores import (
    CompressedScores,
    FastLeaveOneOut,
    LeaveOneOut,
    leave_one_out,
)
from typicality.kernels import BANDWIDTH_KERNELS, Kernel
from typicality.membership.base import MembershipRule
from typicality.membership.possibilistic import Possibilistic1996
from typicality.membership.spread import smallest_spread, spread_update
from typicality.solve.picard import PicardResult, Status
from typicality.solve.step import Alternation, ByMemberships, ByWeights, WatchedState

_NOMINAL_RATE = 0.05  # contamination="auto": no rule estimates the true one
_TIED = 1e-12  # of the threshold: scores that differ by less are the same


class OneClusterPCM(CallbackSupportMixin, OutlierMixin, KernelEstimator):
    r"""One-cluster PCM in a kernel-induced space: how typical is a row of the data as a whole.

    All rows are modelled by one possibilistic cluster in the space of the kernel,

    .. math:: \min_{u, v} \sum_h \omega_h \Big( u_h \lVert \Phi(x_h) - v \rVert^2 +
        \eta (u_h \ln u_h - u_h) \Big), \qquad
        u_h = e^{-\lVert \Phi(x_h) - v \rVert^2 / \eta}, \qquad
        v = \frac{\sum_h \omega_h u_h \Phi(x_h)}{\sum_h \omega_h u_h}.

    Back in the input space the typicality u is a model of the density: rows of low typicality are
    outliers. With kernels of a distance the density may have any shape: it is a kernel density
    estimate whose weights are the typicalities themselves, so outliers lose their pull when `gamma`
    is small; at ``gamma=1`` it ranks rows almost as a plain one does (Spearman above .98). The
    linear kernel, and dissimilarities, describe one round cluster.

    The threshold is calibrated by leave-one-out scores: a nominal rate of 1 % flags about 1 % of
    new rows from the same source, which plain training scores do not achieve with narrow kernels.

    An iteration costs one product with the kernel matrix, which is never formed when it is large.
    For a Gaussian kernel and up to three features, and for kernels that are narrow beside the data,
    that takes O(n) time and memory, and a prediction next to nothing for each row. At the worst it
    takes O(n^2 d) time and O(n) memory, and a prediction O(n d) a row. `plan_` says which it was.

    Implements :cite:`filippone2010`, table I, eq. (26)-(28); :cite:`filippone2007`, section 4.
    Differs from the papers: weights by a softmax, distances that keep their digits for wide
    kernels, a stop by the change of weights, thresholds calibrated by leave-one-out scores.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        The kernel. "gaussian" (or "rbf"), "laplacian" and "cauchy" have a width `sigma`; "local"
        is a Gaussian whose width follows the density, :class:`typicality.kernels.LocalGaussian`
        with a quarter of the rows as neighbours (22 or more);
        "linear" models the data by one Gaussian; "polynomial" (or "poly"), "cosine" and all other
        names of
        :func:`sklearn.metrics.pairwise.pairwise_kernels`; a kernel object of
        :mod:`typicality.kernels`; a function of two arrays of rows; "precomputed" and
        "dissimilarities", where X is a square matrix of kernel values or of distances;
        "connectivity", where two rows are close if a chain of short steps connects them.
    sigma : float or str, default="auto"
        The width of the kernel, the resolution at which density is seen; or a rule for it
        (:mod:`typicality.bandwidth`). "auto" is half the median distance of two rows, an eighth
        with ``novelty=True``. For noise around clusters in few dimensions "knn" is better.
    gamma : float, default=1.0
        The multiplier of the spread eta. Below 0.5 outliers lose their pull; large values give the
        kernel density estimate.
    weights : {"typicality", "uniform"}, default="typicality"
        "uniform" gives all rows the same pull: the kernel density estimate, in one iteration.
    eta_update : {"never", "each_step"}, default="never"
        Whether eta is estimated again in each iteration.

        .. warning:: With "each_step" eta can shrink without end: the cluster collapses onto a point
            when the rows fill no more than 2 / gamma dimensions in the space of the kernel.
    contamination : "auto" or float in (0, 0.5], default="auto"
        The nominal rate of rows that `predict` flags: of new rows from the same source, and of the
        training rows themselves. It is not estimated; "auto" is 0.05.
    novelty : bool, default=False
        Whether the training data are clean. It chooses the width of ``sigma="auto"`` only: clean
        data want a narrow kernel, contaminated ones a wide one.
    criterion : {"weights", "memberships"}, default="weights"
        What `tol` is compared with: the sum of the changes of the weights, or, as in the papers,
        of the typicalities (with ``tol=0.01``).
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-5
        Stop when the criterion falls below. 0 runs to `max_iter`.
    algorithm : {"auto", "dense", "blocked", "truncated", "nufft", "nystroem"}, default="auto"
        How sums of kernel values are computed; `plan_` says which way "auto" took, and why. All
        keep `rtol`; "dense" is exact, and "blocked" but for single precision where `rtol` allows
        it. :func:`typicality.operators.plan` tells beforehand.
    rtol : float, default=1e-6
        How far those sums may be off, relative to the variance in the space of the kernel; a tenth
        of `tol` at the most. With ``algorithm="auto"`` those of up to 2048 rows are exact; 0 for
        exact sums of any number of rows.

    Attributes
    ----------
    typicality_ : array of shape (n_samples,)
        The typicality of the training rows, in [0, 1].
    weights_ : array of shape (n_samples,)
        The weights of the training rows in the mean; they sum to one.
    eta_ : float
        The spread, a squared distance in the space of the kernel.
    offset_ : float
        The score below which a row is flagged.
    n_iter_ : int
        The number of iterations.
    status_ : str
        "converged", "max_iter", or "stopped" by a callback.
    objective_path_ : array of shape (n_iter,)
        The objective before each iteration; it never rises while eta is fixed.
    kernel_ : Kernel or str
        The kernel that was used.
    sigma_ : float or None
        Its width, where it has one.
    plan_ : Plan
        How the iterations were computed.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        Their names, where X had some.

    See Also
    --------
    PossibilisticCMeans : Several possibilistic clusters.
    sklearn.neighbors.KernelDensity : The density that ``weights="uniform"`` gives, normalised.
    sklearn.svm.OneClassSVM : A sphere around the data instead of a Gaussian in their middle.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [5.0]])
    >>> model = OneClusterPCM(sigma=0.3, contamination=0.3).fit(X)
    >>> model.predict([[0.25], [5.5]])
    array([ 1, -1])
    """

    _left_out: LeaveOneOut | FastLeaveOneOut | CompressedScores
    _rule: Annotated[Any, MembershipRule]
    typicality_: Annotated[Floats, "N"]
    weights_: Annotated[Doubles, "N"]
    eta_: float
    offset_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "weights": [StrOptions({"typicality", "uniform"})],
        "eta_update": [StrOptions({"never", "each_step"})],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "novelty": ["boolean"],
        "criterion": [StrOptions({"weights", "memberships"})],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "gaussian",
        sigma: float | str = "auto",
        gamma: float = 1.0,
        weights: str = "typicality",
        eta_update: str = "never",
        contamination: float | str = "auto",
        novelty: bool = False,
        criterion: str = "weights",
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.gamma = gamma
        self.weights = weights
        self.eta_update = eta_update
        self.contamination = contamination
        self.novelty = novelty
        self.criterion = criterion
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Model the density of the rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows. With ``kernel="precomputed"`` the square matrix of kernel values, with
            ``kernel="dissimilarities"`` that of dissimilarities.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k counts as k copies of the row; 0 leaves a row out of everything but its score.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight)

    def predict_typicality(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> Floats:
        """The typicality of each row, by the formula of the paper.

        Implements :cite:`filippone2010`, eq. (28). A training row takes part in its own typicality:
        compare training rows with new ones by `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones. With ``kernel="precomputed"`` their kernel values with the
            training rows.
        diag : array-like of shape (n_samples,), optional
            With ``kernel="precomputed"``, the kernel of each row with itself; needed for new rows
            where it is not the same for all training rows.

        Returns
        -------
        typicality : array of shape (n_samples,)
            In [0, 1].
        """
        rows = self._read(X, diag)
        typicality: Floats = self._left_out.mean.memberships(self._rule, rows)[:, 0]
        return typicality

    def score_samples(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> Doubles:
        r"""How typical each row is, without its own contribution; larger is more typical.

        For kernels of a distance the logarithm of the weighted density estimate,
        :math:`\log s(x)` with :math:`s(x) = \sum_r w_r K(x, x_r)`, of which the typicality is an
        increasing function; for others the logarithm of the typicality. A row that
        coincides with a training row is scored without one copy of it, so a training row gets its
        leave-one-out score; a score does not depend on the other rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.
        diag : array-like of shape (n_samples,), optional
            As in `predict_typicality`.

        Returns
        -------
        scores : array of shape (n_samples,)
        """
        rows = self._read(X, diag)
        scores: Doubles = self._left_out.scores(rows, self.eta_)
        return scores

    def decision_function(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> Doubles:
        """The score minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.
        diag : array-like of shape (n_samples,), optional
            As in `predict_typicality`.

        Returns
        -------
        decisions : array of shape (n_samples,)
        """
        decisions: Doubles = self.score_samples(X, diag=diag) - self.offset_
        return decisions

    def predict(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> NDArray[np.int_]:
        """+1 for rows that are typical, -1 for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, or old ones.
        diag : array-like of shape (n_samples,), optional
            As in `predict_typicality`.

        Returns
        -------
        flags : array of shape (n_samples,), int
        """
        return np.where(self.decision_function(X, diag=diag) < 0, -1, 1)

    def compress(self, rtol: float = 1e-4) -> Self:
        """A small model for prediction only: it needs no training rows, or few of them.

        Gaussian sums in up to three dimensions become Fourier coefficients, others a reduced set of
        rows: the sparsification :cite:`filippone2010` asks for in its conclusions.

        Parameters
        ----------
        rtol : float, default=1e-4
            The promise: s, the mean of kernel values, is off by at most so much, at any point. Rows
            of which no more is known than that s is below the promise get the logarithm of it: for
            ranking outliers among themselves keep the full model.

        Returns
        -------
        model : OneClusterPCM
            It predicts as this one does, within the promise; it has forgotten the training rows,
            which it scores as new ones, and has no `typicality_` and `weights_`.
        """
        check_is_fitted(self)
        check_compressible(self.kernel_, rtol)
        warn_about_coarse_promise(rtol, self.offset_)
        density = self._left_out.compress(rtol)
        return self._without("typicality_", "weights_", _left_out=density)

    def _learn(self, rows: Floats, weight: Floats | None, callbacks: FitCallbacks) -> None:
        opened = open_space(
            self.kernel,
            self.sigma,
            rows,
            weight,
            novelty=self.novelty,
            explicit=False,
            sums=SumOptions.of(self),
        )
        space: Any = opened.space
        if space.total_variance > 0:
            warn_about_features(opened, self)
        callbacks.begin(1, lambda state: self._for_prediction(state, opened))
        result = solve_one_cluster(self, space, self.weights, callbacks, self.eta_update)
        state = result.state
        self._set(
            **self._for_prediction(state, opened),
            **density_attributes(opened, result),
            typicality_=space.memberships(state.rule, state.prototypes)[:, 0],
        )
        warn_about_density(self, space, result)
        if self.eta_update == "each_step":
            smallest = smallest_spread(space.total_variance)
            warn_about_vanished_spread(np.array([self.eta_]), smallest)
        else:
            warn_about_lonely_row(self.weights_, space.mean.weights[:, 0])

    def _for_prediction(self, state: State, opened: OpenSpace) -> dict[str, Any]:
        """All that prediction needs."""
        space: Any = opened.space
        rule: Any = state.rule
        eta = float(rule.eta[0])
        left_out = leave_one_out(
            state.prototypes,
            space.columns,
            space.sample_weight,
            total_variance=space.total_variance,
            rtol=space.tolerance.tails,
        )
        rate = _NOMINAL_RATE if self.contamination == "auto" else float(self.contamination)
        offset = left_out.training_quantile(space.X, eta, rate, state.prototypes.products[:, 0])
        return {
            "_rule": rule,
            "_reader": opened.reader,
            "_left_out": left_out,
            "weights_": state.prototypes.weights[:, 0],
            "eta_": eta,
            # A row on the threshold is typical, however its score was rounded.
            "offset_": offset - _TIED * max(1.0, abs(offset)),
        }


# ---- the density of all rows, which AlphaCutClustering cuts --------------------------------------


def solve_one_cluster(
    estimator: Any, space: Any, weights: str, callbacks: FitCallbacks, eta_update: str = "never"
) -> PicardResult[State]:
    """Iterate from the mean of all rows; with uniform weights that mean is the result.

    Implements :cite:`filippone2010`, table I; for uniform weights, the end of its section IV-D.
    """
    gamma, total_variance = estimator.gamma, space.total_variance
    eta = gamma * total_variance
    if eta <= 0:
        if not space.n_clipped(space.mean):  # there is a warning about clipped distances
            warn_about_constant_rows()
        eta = 1.0  # all distances are zero: every typicality is one whatever eta is
    ones = np.broadcast_to(1.0, (len(space.X), 1))  # takes no memory
    state = WatchedState(space.mean, Possibilistic1996(np.array([eta])), ones)
    if weights == "uniform":  # the kernel density estimate
        objective, _ = space.objective_and_mass(state.rule, state.prototypes)
        return PicardResult(state, Status.CONVERGED, (0.0,), (objective,))
    update = spread_update(eta_update, gamma=gamma, total_variance=total_variance)
    step: Any = Alternation(space, update)
    by_weights = estimator.criterion == "weights"
    step = ByWeights(step) if by_weights else ByMemberships(step, space)
    result = callbacks.run(step, state)
    require_finite(result)
    return result


def density_attributes(opened: OpenSpace, result: PicardResult[State]) -> dict[str, Any]:
    """The attributes that say how a fit went."""
    return {
        "kernel_": opened.kernel,
        "sigma_": opened.sigma,
        "n_iter_": result.n_iter,
        "status_": result.status,
        "objective_path_": np.array(result.objectives),
        "plan_": opened.space.plan(1),
    }


def warn_about_density(
    estimator: Any, space: Any, result: PicardResult[State], **instead: str
) -> None:
    """No convergence, a kernel too wide or too narrow, typicalities all alike."""
    change = f"the {estimator.criterion} still change by {{:.1e}} in total"
    warn_about_convergence(result, tol=estimator.tol, max_iter=estimator.max_iter, change=change)
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
        warn_about_equal_typicalities(log_typicality, estimator.gamma, space.neighbours)
