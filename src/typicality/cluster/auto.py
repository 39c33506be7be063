"""The automatic method: density, a joined mixture or round groups, whichever the rows call for."""

import warnings
from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin, clone
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from typicality._compat import Interval, fit_context
from typicality._progress import part
from typicality._tensors import array_of
from typicality._typing import Floats, Labels
from typicality._words import counted
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._estimator import Estimator, like_rows
from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.fuzzy import EntropyCMeans
from typicality.cluster.mixture import (
    MANY_COLUMNS,
    MOST_COLUMNS,
    JoinedMixture,
    has_steps,
    spread_over_steps,
    steps_of,
)
from typicality.exceptions import warn_again
from typicality.rows import Rows, count_distinct_rows
from typicality.rows.distinct import lexicographic_order

_MOST_ROWS = 2000  # for the methods that are only asked for their opinion, and for silhouettes
_MOST_CLUSTERS = 12
_AGREES = 0.7  # adjusted Rand index of a mixture and a split by density
_STARTS = 3
_STEPS = 30  # of round groups whose silhouettes are compared
_FEWEST_OF_HALVES = 20  # rows, for an agreement of fits to two halves

_DENSITY, _MIXTURE, _ROUND = "density", "a Gaussian mixture", "round groups"


class AutoClustering(ClusterMixin, Estimator):
    """Automatic clustering: chooses the method and the number of clusters from the rows.

    It chooses one of three methods:

    - *density* (:class:`AlphaCutClustering`): dense regions of any shape;
    - *a Gaussian mixture*, whose components are joined if no valley of the density separates them:
      with many columns, it needs fewer rows than density does;
    - *round groups* (:class:`EntropyCMeans`): 2 to 12 clusters, chosen by the silhouette.

    With fewer than four columns, density is used first. If it finds one cluster, a mixture of
    overlapping Gaussians is used, provided that it agrees with the best split by density. With four
    or more columns, the mixture is used first, and density if the mixture finds one cluster. If
    both find one cluster, the result is one cluster. No mixture is fitted to more than 500 columns.

    ``at_least=2`` forces a split. With fewer than four columns, this is a mixture if each group is
    a single Gaussian, else the best split by density. With more columns, it is round groups. If you
    know that there are groups, ``at_least=2`` gives the best results on tables. `explanation_`
    states what was chosen, and why.

    The result does not depend on the order of the rows. Gaps between whole numbers, such as ages,
    do not separate clusters: if density finds clusters and a column has few values, density is
    fitted again to values spread over the steps between them. This result is taken if it has fewer
    clusters.

    Columns are used in their own units. So scale them first, for example with
    :class:`typicality.preprocessing.ColumnScaler`; only the mixture does not depend on units.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    at_least : int, default=1
        The smallest number of clusters. 2 forces a split if the data show only one cluster.
    random_state : int, RandomState or None, default=None
        The seed or generator for the samples and initial values of round groups. None is the seed
        0. The results of the other methods do not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster of each row: 0, 1, 2, ...; -1 for rows that belong to no cluster.
    n_clusters_ : int
        The number of clusters.
    memberships_ : array of shape (n_samples, n_clusters)
        The memberships, in [0, 1], as `estimator_` defines them.
    estimator_ : AlphaCutClustering, EntropyCMeans or JoinedMixture
        The fitted estimator of the chosen method.
    explanation_ : str
        What was chosen, why, and how many clusters the runs of the mixture find.
    agreement_ : float or None
        How stable the result is, at most 1: the mean adjusted Rand index between the result and
        those for parts of the rows. For a mixture, these are its runs; for the other methods, fits
        to two halves of the rows, with at most 2,000 rows each. For one cluster, it is the share of
        halves with one cluster. None with fewer than 20 rows, or with fewer rows in a half than
        round groups.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, if X has names.

    See Also
    --------
    AlphaCutClustering : Clusters by density only, with a tree of clusters.
    SequentialPCM : Round clusters, found one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import AutoClustering
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (100, 5)), rng.normal(4, 1, (80, 5))])
    >>> model = AutoClustering(random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> model.explanation_.split(";")[0]
    '2 clusters by a Gaussian mixture, the first choice for four columns or more'
    """

    _fewest_rows = 2
    estimator_: Annotated[Any, AlphaCutClustering | EntropyCMeans | JoinedMixture]
    labels_: Annotated[Labels, "N"]
    memberships_: Annotated[Floats, "N _clusters"]
    agreement_: float | None
    n_clusters_: int
    explanation_: str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "at_least": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, *, at_least: int = 1, random_state: Any = None) -> None:
        self.at_least = at_least
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose a method, and find the clusters.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster.
        y : ignored
            Present for consistency.
        sample_weight : array-like of shape (n_samples,), optional
            The number of copies of each row. `estimator_` is fitted to the copies.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight)

    @like_rows
    def predict(self, X: ArrayLike) -> Labels:
        """The cluster of each row; -1 for rows that belong to no cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows; `fit(X).predict(X)` equals `fit_predict(X)`.

        Returns
        -------
        labels : array of shape (n_samples,), int32
        """
        self._check_columns(X)
        labels: Labels = self.estimator_.predict(X)
        return labels

    @like_rows
    def predict_memberships(self, X: ArrayLike) -> Floats:
        """The membership of each row in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows or training rows.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            Values in [0, 1]. For mixtures and round groups, they sum to one. For density, see
            :meth:`AlphaCutClustering.predict_memberships`.
        """
        self._check_columns(X)
        memberships: Floats = self.estimator_.predict_memberships(X)
        return memberships

    @property
    def _sums_to_one(self) -> bool:
        return not isinstance(self.estimator_, AlphaCutClustering)

    def _soft_features(self, X: ArrayLike) -> Floats:
        return self.predict_memberships(X)

    def _soft_names(self) -> list[str]:
        names: list[str] = self.estimator_._soft_names()
        return names

    def _check_columns(self, X: ArrayLike) -> None:
        """Check the number and names of the columns; `estimator_` checks the values."""
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _learn(self, rows: Any, weight: Floats | None, callbacks: FitCallbacks) -> None:
        callbacks.begin(0, lambda state: {})
        if isinstance(rows, Rows):
            raise ValueError(
                "AutoClustering compares methods on all rows, which must be in memory. Use "
                "AlphaCutClustering or SequentialPCM, or a sample of the rows."
            )
        given = rows
        if weight is not None:
            if (weight != np.floor(weight)).any():
                raise ValueError(
                    "AutoClustering takes whole numbers of copies as sample_weight. For other "
                    "weights, use AlphaCutClustering, FuzzyCMeans or EntropyCMeans."
                )
            rows = np.repeat(rows, weight.astype(np.intp), axis=0)
        if count_distinct_rows(rows, None, self.at_least) < self.at_least:
            raise ValueError(
                f"at_least={self.at_least} is more than the number of distinct rows of X "
                f"(n_samples={len(rows)}). Choose a smaller at_least, or pass more data."
            )
        random = check_random_state(0 if self.random_state is None else self.random_state)
        methods = _Methods(rows, int(random.randint(2**31 - 1)))
        with part(0.0, 0.6):
            tried = self._try(methods, rows.shape[1])
        chosen = tried[-1]
        with part(0.6, 1.0):
            self.agreement_ = methods.agreement(chosen)
        self.estimator_ = chosen.model
        self.labels_ = chosen.model.labels_
        self.n_clusters_ = chosen.model.n_clusters_
        self.memberships_ = chosen.model.memberships_
        self.explanation_ = self._explain(tried)
        if hasattr(self, "feature_names_in_"):
            chosen.model.feature_names_in_ = self.feature_names_in_
        if weight is not None:
            self.labels_ = chosen.model.predict(given)
            self.memberships_ = chosen.model.predict_memberships(given)
        for warning in chosen.warnings:
            warn_again(warning)

    def _try(self, methods: "_Methods", n_columns: int) -> list["_Answer"]:
        """The methods up to the first one that sees enough clusters; the last is the answer."""
        if n_columns < MANY_COLUMNS:
            return self._try_density_first(methods)
        turns = [(_MIXTURE, 1), (_DENSITY, 1), (_ROUND, self.at_least)][: 2 + (self.at_least > 1)]
        turns = turns[n_columns > MOST_COLUMNS :]
        tried: list[_Answer] = []
        for place, (name, at_least) in enumerate(turns):
            if not tried or not self._is_enough(tried[-1]):
                with part(place / len(turns), (place + 1) / len(turns)):
                    tried.append(methods.fit(name, at_least))
        return tried

    def _try_density_first(self, methods: "_Methods") -> list["_Answer"]:
        """Density; then a mixture of one Gaussian for each group; then a split by density.

        If no split is asked for, the mixture and the split must agree, and ICL must prefer one
        Gaussian: groups that ICL separates and density does not are pieces of a curve.
        """
        with part(0.0, 0.5):
            density = methods.fit(_DENSITY)
        if self._is_enough(density):
            return [density]
        with part(0.5, 0.7):
            mixture = methods.fit(_MIXTURE, self.at_least)
        plain = self._is_enough(mixture) and mixture.model._is_plain
        if self.at_least > 1 and plain:
            return [density, mixture]
        if self.at_least == 1 and not (plain and mixture.model._overlap):
            return [density]
        with part(0.7, 1.0):
            split = methods.fit(_DENSITY, max(2, self.at_least))
        if self.at_least > 1:
            return [density, split]
        core = split.model.labels_ >= 0
        agreement = adjusted_rand_score(mixture.model.labels_[core], split.model.labels_[core])
        return [density, mixture] if agreement >= _AGREES else [density]

    def _is_enough(self, answer: "_Answer") -> bool:
        return bool(answer.model.n_clusters_ >= max(2, self.at_least))

    def _explain(self, tried: list["_Answer"]) -> str:
        first, chosen = tried[0], tried[-1]
        found = counted(chosen.model.n_clusters_, "cluster")
        columns = "four columns or more" if first.name == _MIXTURE else "fewer than four columns"
        if first.rows.shape[1] > MOST_COLUMNS:
            columns = f"more than {MOST_COLUMNS} columns"
        if chosen.asked_for:
            why = f"{found} by {chosen.name}, because at_least={self.at_least} asks for a split"
        elif chosen.model.n_clusters_ < 2:
            names = " nor ".join(answer.name for answer in tried)
            seeing = f"neither {names} sees a" if len(tried) > 1 else f"{names} sees no"
            why = f"{found}: {seeing} gap between groups, so any split is arbitrary"
        elif chosen is first:
            why = f"{found} by {chosen.name}, the first choice for {columns}"
        else:
            why = f"{found} by {chosen.name}, because {first.name} sees fewer"
        runs = first.model.runs_ if first.name == _MIXTURE else []
        return "; ".join([why, *_words_of_runs(runs), *chosen.remarks]) + "."


class _Answer(NamedTuple):
    """A method: its name in a sentence, its model, its warnings, and what else is to be said.

    A split that the method does not see by itself was `asked_for`. `rows` are those of the fit.
    """

    name: str
    model: Any
    rows: Floats
    warnings: tuple[Any, ...]
    asked_for: bool
    remarks: tuple[str, ...] = ()


class _Methods:
    """The methods, fitted to rows in any order."""

    def __init__(self, rows: Floats, seed: int) -> None:
        self._rows, self._seed = array_of(rows), seed
        self._order = lexicographic_order(self._rows)

    def fit(self, name: str, at_least: int = 1) -> _Answer:
        """The answer of a method, with at least this number of clusters."""
        stepped = name == _DENSITY and has_steps(self._rows)
        with part(0.0, 0.5 if stepped else 1.0):
            answer = self._fitted(name, at_least, self._rows)
        if not stepped or answer.model.n_clusters_ < 2:
            return answer
        with part(0.5, 1.0):
            other = self._without_steps(at_least)
        return other if other.model.n_clusters_ < answer.model.n_clusters_ else answer

    def agreement(self, answer: _Answer) -> float | None:
        """The mean adjusted Rand index of an answer with those for two halves of the rows.

        For one cluster, it is the share of halves with one cluster: rows that belong to none, which
        are a group of their own elsewhere, would decide it.
        """
        model = answer.model
        if answer.name == _MIXTURE:
            agreement: float = model.agreement_
            return agreement
        some = np.random.RandomState(0).permutation(self._order)[: 2 * _MOST_ROWS]
        round_groups = model.n_clusters if answer.name == _ROUND else 0
        if len(some) < max(_FEWEST_OF_HALVES, 2 * round_groups):
            return None
        rows, labels, halves = answer.rows[some], model.labels_[some], []
        for first in (0, 1):
            with part(first / 2, (first + 1) / 2), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the user sees those of the fit to all rows
                halves.append(clone(model).fit(rows[first::2]))
        if model.n_clusters_ == 1:
            return float(np.mean([half.n_clusters_ == 1 for half in halves]))
        return float(np.mean([adjusted_rand_score(labels, half.predict(rows)) for half in halves]))

    def _fitted(self, name: str, at_least: int, rows: Floats) -> _Answer:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = self._method(name, at_least).fit(rows)
        told = tuple(each.message for each in caught)
        return _Answer(name, model, rows, told, at_least > 1)

    def _method(self, name: str, at_least: int) -> Any:
        if name == _DENSITY:
            return AlphaCutClustering(at_least=at_least)
        if name == _MIXTURE:
            return JoinedMixture()
        fewest = min(at_least, count_distinct_rows(self._rows, None, enough=at_least))
        return self._entropic(self._best_number(at_least) or fewest)

    def _without_steps(self, at_least: int) -> _Answer:
        """Density of rows that are spread over the steps of their columns.

        A gap no wider than the step of a column, as between whole numbers, is no gap.
        """
        ordered, spread = self._rows[self._order], np.empty_like(self._rows)
        steps = steps_of(ordered)
        steps[steps**2 > 12 * ordered.var(axis=0)] = 0.0  # nearly constant: all would be noise
        spread[self._order] = spread_over_steps(ordered, steps)
        answer = self._fitted(_DENSITY, at_least, spread)
        model = answer.model
        model.labels_ = model.predict(self._rows)
        model.typicality_ = model.predict_typicality(self._rows)
        model.memberships_ = model.predict_memberships(self._rows)
        model.medoids_ = self._rows[model.medoid_indices_]
        return answer._replace(remarks=("gaps no wider than the step of a column were ignored",))

    def _best_number(self, at_least: int) -> int | None:
        """The number of round groups with the best silhouette; None where all coincide."""
        shuffled = np.random.RandomState(self._seed).permutation(self._order)
        some = self._rows[shuffled[:_MOST_ROWS]]
        n_distinct = count_distinct_rows(some, None, enough=_MOST_CLUSTERS + 1)
        scores = {}
        for number in range(at_least, min(_MOST_CLUSTERS, n_distinct - 1) + 1):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nobody needs those of a comparison
                labels = self._entropic(number).set_params(max_iter=_STEPS).fit(some).labels_
            if labels.max() + 1 == number:  # no prototypes coincide
                scores[number] = silhouette_score(some, labels)
        return max(scores, key=lambda number: scores[number], default=None)

    def _entropic(self, number: int) -> EntropyCMeans:
        return EntropyCMeans(number, n_init=_STARTS, random_state=self._seed)


def _words_of_runs(numbers: Sequence[int]) -> list[str]:
    """How many runs of the mixture find how many clusters: the most frequent number first."""
    counts = Counter(numbers).most_common()
    if not counts:
        return []
    (number, count), *others = counts
    if not others:
        return [f"all {count} runs of the mixture find {number}"]
    words = f"{count} of {len(numbers)} runs of the mixture find {counted(number, 'cluster')}"
    words = ", ".join([words, *(f"{n} find {k}" for k, n in others)])
    return [words, "the result agrees best with all runs"]
