"""One-cluster possibilistic c-means: density and outliers."""

from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from typicality._compat import Interval, StrOptions
from typicality._quantiles import weighted_quantile
from typicality._typing import Doubles, Floats
from typicality.cluster._callbacks import FitCallbacks, State
from typicality.cluster._density import (
    begin_density,
    open_density,
    solve_one_cluster,
    warn_about_density,
)
from typicality.cluster._density_by_blocks import learn_by_blocks
from typicality.cluster._estimator import KERNEL_CONSTRAINTS, KernelEstimator, by_blocks, like_rows
from typicality.cluster._p_values import TIED, WithPValues, check_number_to_split
from typicality.cluster._readers import Coordinates, Stretched
from typicality.cluster._reasons import Reasons, reasons_for
from typicality.cluster._spaces import OpenSpace, check_compressible
from typicality.cluster._warnings import (
    warn_about_coarse_promise,
    warn_about_lonely_row,
    warn_about_vanished_spread,
)
from typicality.geometry.calibration import Calibration, false_alarm_interval, split_copies
from typicality.geometry.checks import check_rows
from typicality.geometry.scores import CompressedScores, FastLeaveOneOut, LeaveOneOut, leave_one_out
from typicality.geometry.typical_rows import TypicalRows, are_typical
from typicality.kernels import Kernel
from typicality.membership.base import MembershipRule
from typicality.membership.spread import smallest_spread
from typicality.operators import KernelColumns
from typicality.rows import Rows

_NOMINAL_RATE = 0.05  # contamination="auto": no rule estimates the true one


class OneClusterPCM(OutlierMixin, WithPValues, KernelEstimator):
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
        data want a narrow kernel, contaminated ones a wide one. It is not estimated from
        the rows: no rule that was tried beat a fixed width (docs/theory, unknown cleanliness).
    calibration : {"leave-one-out", "split"}, default="leave-one-out"
        What thresholds and p-values compare a row with: the training rows, each scored by the
        others, or a random half of the rows that takes no part in the fit. "split" proves the
        p-values whatever `fit` chooses from the data, and finds less: only half of the rows are
        left for the fit, and p-values are at least 2 / (n + 2).
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
        of `tol` at the most. With ``algorithm="auto"`` those of few rows are exact; 0 for
        exact sums of any number of rows.
    random_state : int, RandomState instance or None, default=None
        Draws the halves of ``calibration="split"``.

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
    false_alarm_interval_ : tuple of two floats
        Where the rate of false alarms of this model lies, with probability .95. On average over
        models it is `contamination`, or 1 / (n + 1) if that is more; for one model and n rows it
        varies like the j-th of n uniform variables, j = contamination (n + 1) or 1: a Beta
        distribution with j and n + 1 - j.
    n_iter_ : int
        The number of iterations. With many rows in more than three columns an iteration also uses
        the fixed point of a sample, and few are needed; the limit and `tol` are the same.
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
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "weights": [StrOptions({"typicality", "uniform"})],
        "eta_update": [StrOptions({"never", "each_step"})],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "novelty": ["boolean"],
        "calibration": [StrOptions({"leave-one-out", "split"})],
        "random_state": ["random_state"],
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
        calibration: str = "leave-one-out",
        criterion: str = "weights",
        max_iter: int = 1000,
        tol: float = 1e-5,
        algorithm: str = "auto",
        rtol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.gamma = gamma
        self.weights = weights
        self.eta_update = eta_update
        self.contamination = contamination
        self.novelty = novelty
        self.calibration = calibration
        self.criterion = criterion
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.rtol = rtol
        self.random_state = random_state

    @like_rows
    @by_blocks
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
        return self._left_out.mean.memberships(self._rule, rows)[:, 0]

    @like_rows
    @by_blocks
    def score_samples(self, X: ArrayLike, *, diag: ArrayLike | None = None) -> Doubles:
        r"""How typical each row is, without its own contribution; larger is more typical.

        For kernels of a distance the logarithm of the weighted density estimate,
        :math:`\log s(x)` with :math:`s(x) = \sum_r w_r K(x, x_r)`, of which the typicality is an
        increasing function; for others the logarithm of the typicality. A row that
        coincides with a training row is scored without one copy of it, so a training row gets its
        leave-one-out score (with ``calibration="split"`` all rows are scored as new ones); a score
        does not depend on the other rows of X.

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
        return self._left_out.scores(rows, self.eta_)

    @like_rows
    @by_blocks
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
        return self.score_samples(X, diag=diag) - self.offset_

    @like_rows
    @by_blocks
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

    def explain(self, X: ArrayLike) -> Reasons:
        """In which features rows are unusual, and by how much.

        Each row is compared with the mean of the 20 nearest typical rows of the fit; typical are
        the nine tenths with the largest typicality. So the reasons do not depend on
        `contamination`. A row does not count as a neighbour of itself.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            New rows, or old ones.

        Returns
        -------
        reasons : Reasons
            The names of the features, the values that were expected, and the deviations.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, training=False)
        if not self._knows_its_rows:
            raise ValueError(
                "explain compares rows with training rows, feature by feature, and this model "
                "has no training rows: it was compressed or fitted block by block, or its "
                "kernel does not take rows of features. Use a model of an array: the model "
                "before it was compressed, or one fitted on a sample of the rows."
            )
        return reasons_for(self, rows, self._typical_rows())

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_typicality(X)[:, None]

    def _soft_names(self) -> list[str]:
        return ["typicality"]

    @property
    def _knows_its_rows(self) -> bool:
        """Whether the training rows are at hand, as rows of features."""
        known = getattr(self._left_out, "known", None)
        return type(self._reader) in (Coordinates, Stretched) and isinstance(
            getattr(known, "columns", None), KernelColumns
        )

    def _typical_rows(self) -> TypicalRows:
        known: Any = self._left_out
        rows = known.known.columns.training
        if isinstance(self._reader, Stretched):
            rows = rows / self._reader.factor
        typicality = self.typicality_
        if len(typicality) != len(rows):
            typicality = self.predict_typicality(rows)
        return TypicalRows.of(rows, are_typical(typicality))

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
            which it scores as new ones, and has no `typicality_` and `weights_`. Its p-values are
            at least those of this model, and at most 1.02 times those of sums that are larger by
            2 `rtol`.
        """
        check_is_fitted(self)
        check_compressible(self.kernel_, rtol, self._reader)
        warn_about_coarse_promise(rtol, self.offset_)
        density = self._left_out.compress(rtol)
        calibration = self._reference().thinned()
        return self._without("typicality_", "weights_", _left_out=density, _calibration=calibration)

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        if isinstance(rows, Rows):
            learn_by_blocks(self, rows, callbacks, self._rate)
            return
        held_out = None
        if self.calibration == "split":
            weight, held_out = self._split(rows, weight)
        opened = open_density(self, rows, weight)
        space: Any = opened.space
        begin_density(space, callbacks, lambda state: self._for_prediction(state, opened, held_out))
        result = solve_one_cluster(
            self, space, callbacks, weights=self.weights, eta_update=self.eta_update
        )
        state = result.state
        self._set(
            **self._for_prediction(state, opened, held_out),
            **self._record(opened, result, callbacks, 1),
            typicality_=space.memberships(state.rule, state.prototypes)[:, 0],
        )
        warn_about_density(self, space, result)
        if self.eta_update == "each_step":
            smallest = smallest_spread(space.total_variance)
            warn_about_vanished_spread(np.array([self.eta_]), smallest)
        else:
            warn_about_lonely_row(self.weights_, space.mean.weights[:, 0])

    @property
    def _rate(self) -> float:
        return _NOMINAL_RATE if self.contamination == "auto" else float(self.contamination)

    def _split(self, rows: Floats, weight: Floats | None) -> tuple[Floats, Doubles]:
        """The copies of rows for the fit, and those for thresholds and p-values."""
        if weight is not None and (weight != np.floor(weight)).any():
            raise ValueError(
                "calibration='split' draws half of the copies of rows at random, so sample "
                "weights must be whole numbers. Use calibration='leave-one-out'."
            )
        n_rows = len(rows) if weight is None else float(weight.sum(dtype=np.float64))
        check_number_to_split(n_rows)
        random = check_random_state(self.random_state)
        fitted, held_out = split_copies(len(rows), weight, random)
        return fitted.astype(rows.dtype), held_out

    def _for_prediction(
        self, state: State, opened: OpenSpace, held_out: Doubles | None
    ) -> dict[str, Any]:
        """All that prediction needs."""
        space: Any = opened.space
        rule: Any = state.rule
        eta = float(rule.eta[0])
        scores = leave_one_out(
            state.prototypes,
            space.columns,
            space.sample_weight,
            total_variance=space.total_variance,
            rtol=space.tolerance.tails,
        )
        rate = self._rate
        if held_out is None:
            copies = scores.known.copies
            products = state.prototypes.products[:, 0]
            offset, reference = scores.calibrate(space.X, eta, rate, products)
        else:
            scores = scores.plain()  # new rows are compared with rows that took no part
            copies = held_out[held_out > 0]
            reference, _ = scores.bounds(space.X[held_out > 0], eta)
            offset = weighted_quantile(reference, rate, copies)
        return {
            "_rule": rule,
            "_reader": opened.reader,
            "_left_out": scores,
            "_calibration": (
                None if reference is None else Calibration(reference, copies, held_out is None)
            ),
            "weights_": state.prototypes.weights[:, 0],
            "eta_": eta,
            # A row on the threshold is typical, however its score was rounded.
            "offset_": offset - TIED * max(1.0, abs(offset)),
            "false_alarm_interval_": false_alarm_interval(rate, copies),
        }
