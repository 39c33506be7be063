"""The automatic method: density, a joined mixture or round groups, whichever the rows call for."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from typicality._compat import Interval, fit_context
from typicality._progress import part
from typicality._typing import Floats, Labels
from typicality._words import counted, enumerated
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._estimator import Estimator, like_rows
from typicality.cluster._mixture import JoinedMixture
from typicality.cluster.alpha_cut import AlphaCutClustering
from typicality.cluster.fuzzy import EntropyCMeans
from typicality.exceptions import warn_again
from typicality.rows import Rows, count_distinct_rows

_MANY_COLUMNS = 4  # from here on the mixture goes first
_MOST_ROWS = 2000  # for the methods that are only asked for their opinion, and for silhouettes
_MOST_CLUSTERS = 12
_STARTS = 3
_CHOICE_SHARE = 0.7  # of the time of a fit; the rest is the opinions of other methods

_DENSITY, _MIXTURE, _ROUND = "density", "a Gaussian mixture", "round groups"


class AutoClustering(ClusterMixin, Estimator):
    """Automatic clustering: chooses the method and the number of clusters from the rows.

    It compares three methods:

    - *density* (:class:`AlphaCutClustering`): dense regions of any shape;
    - *a Gaussian mixture*, whose components are joined if no valley of the density separates them:
      with many columns, it needs fewer rows than density does;
    - *round groups* (:class:`EntropyCMeans`): 2 to 12 clusters, chosen by the silhouette.

    With fewer than four columns, the result is that of density. With four or more columns, it is
    that of the mixture; if the mixture finds one cluster, it is that of density. If they find only
    one cluster, the result is one cluster. ``at_least=2`` forces a split: the best split by density
    with fewer than four columns, else round groups. `explanation_` states what was chosen, why, and
    what the other methods would give.

    Columns are used in their own units. So scale them first, for example with
    :class:`typicality.preprocessing.ColumnScaler`; only the mixture does not depend on units. There
    is no `sample_weight`, because the mixture does not support it.

    The chosen method is fitted on all rows. The other methods are fitted on at most 2,000 rows,
    which takes a few seconds.

    Original to typicality, see docs/theory.

    Parameters
    ----------
    at_least : int, default=1
        The smallest number of clusters. 2 forces a split if the data show only one cluster.
    random_state : int, RandomState or None, default=None
        The seed or generator for samples and initial values. Pass an int for reproducible results.

    Attributes
    ----------
    labels_ : array of shape (n_samples,), int32
        The cluster of each row: 0, 1, 2, ...; -1 for rows that belong to no cluster.
    n_clusters_ : int
        The number of clusters.
    memberships_ : array of shape (n_samples, n_clusters)
        The memberships, in [0, 1], as `estimator_` defines them.
    estimator_ : AlphaCutClustering, EntropyCMeans or a joined mixture
        The fitted estimator of the chosen method.
    explanation_ : str
        What was chosen, why, and what the other methods would give.
    agreement_ : float
        How much other results agree with the chosen one, at most 1. It is the mean adjusted Rand
        index with the results of the other methods, and with those of the chosen method at other
        scales or with other mixtures. If the result is one cluster, round groups are not included,
        because they always have at least two clusters.
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
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Choose a method, and find the clusters.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The rows to cluster.
        y : ignored
            Present for consistency.

        Returns
        -------
        self
        """
        return self._fit(X)

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
        if count_distinct_rows(rows, None, self.at_least) < self.at_least:
            raise ValueError(
                f"at_least={self.at_least} is more than the number of distinct rows of X "
                f"(n_samples={len(rows)}). Choose a smaller at_least, or pass more data."
            )
        methods = _Methods(rows, self.random_state)
        first = (_MIXTURE, _DENSITY) if rows.shape[1] >= _MANY_COLUMNS else (_DENSITY,)
        with part(0.0, _CHOICE_SHARE):
            chosen = self._choose(methods, first)
        names = [name for name in (_DENSITY, _MIXTURE, _ROUND) if name != chosen.name]
        with part(_CHOICE_SHARE, 1.0):
            others = [methods.opinion(name) for name in names]
        self.estimator_ = chosen.model
        self.labels_ = chosen.model.labels_
        self.n_clusters_ = chosen.n_clusters
        self.memberships_ = chosen.model.predict_memberships(rows)
        self.explanation_ = self._explain(chosen, others, first)
        self.agreement_ = _agreement(chosen, others)
        if hasattr(self, "feature_names_in_"):
            chosen.model.feature_names_in_ = self.feature_names_in_
        for warning in chosen.warnings:
            warn_again(warning)

    def _choose(self, methods: "_Methods", first: tuple[str, ...]) -> "_Answer":
        """The first method that sees enough clusters; if none does, the best split on request."""
        for name in first:
            answer = methods.fit(name)
            if answer.n_clusters >= max(2, self.at_least):
                return answer
        if self.at_least == 1:
            return answer
        last = _DENSITY if first == (_DENSITY,) else _ROUND
        return methods.fit(last, at_least=self.at_least)

    def _explain(self, chosen: "_Answer", others: list["_Answer"], first: tuple[str, ...]) -> str:
        found = counted(chosen.n_clusters, "cluster")
        news = [answer for answer in others if chosen.n_clusters > 1 or answer.name not in first]
        one, *more = [(answer.name, str(answer.n_clusters)) for answer in news]
        others_give = enumerated([" would give ".join(one), *map(" ".join, more)])
        if chosen.asked_for:
            asked = f"at_least={self.at_least} asks for a split"
            return f"{found} by {chosen.name}, because {asked}; {others_give}."
        if chosen.n_clusters < 2:
            seeing = (
                f"{first[0]} sees no"
                if len(first) == 1
                else f"neither {' nor '.join(first)} sees a"
            )
            return (
                f"{found}: {seeing} gap between groups, so any split is arbitrary, and "
                f"at_least=2 gives the best one; {others_give}."
            )
        columns = "fewer than four columns" if len(first) == 1 else "four columns or more"
        if chosen.name == first[0]:
            return f"{found} by {chosen.name}, the first choice for {columns}; {others_give}."
        return f"{found} by {chosen.name}, because {first[0]} sees fewer; {others_give}."


@dataclass(frozen=True, eq=False)
class _Answer:
    """A method: its name in a sentence, its model, its labels of the sample, its warnings.

    A split that the method does not see by itself was `asked_for`.
    """

    name: str
    model: Any
    labels: Labels
    warnings: tuple[Any, ...] = ()
    asked_for: bool = False

    @property
    def n_clusters(self) -> int:
        """The number of clusters it sees."""
        return int(self.model.n_clusters_)


class _Methods:
    """The methods: fitted on all rows, or on the sample of rows on which they are compared."""

    def __init__(self, rows: Floats, random_state: Any) -> None:
        random = check_random_state(random_state)
        self._rows, self._seed = rows, int(random.randint(2**31 - 1))
        self._sample = np.arange(len(rows))
        if len(rows) > _MOST_ROWS:
            self._sample = np.sort(random.choice(len(rows), _MOST_ROWS, replace=False))
        self._some = rows[self._sample]
        self._answers: dict[str, _Answer] = {}

    def fit(self, name: str, *, at_least: int = 1) -> _Answer:
        """The answer of a method that is fitted on all rows, with so many clusters at the least."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = self._method(name, at_least, self._rows).fit(self._rows)
        messages = tuple(each.message for each in caught)
        answer = _Answer(name, model, model.labels_[self._sample], messages, at_least > 1)
        self._answers[name] = answer
        return answer

    def opinion(self, name: str) -> _Answer:
        """The answer of a method; one that is not fitted yet is fitted on the sample."""
        if name in self._answers:
            return self._answers[name]
        model = _quietly_fitted(self._method(name, 1, self._some), self._some)
        return _Answer(name, model, model.labels_)

    def _method(self, name: str, at_least: int, rows: Floats) -> Any:
        """A method to be fitted to some rows."""
        if name == _DENSITY:
            return AlphaCutClustering(at_least=at_least)
        if name == _MIXTURE:
            return JoinedMixture(random_state=self._seed)
        at_least = max(at_least, 2)
        fewest = min(at_least, count_distinct_rows(rows, None, enough=at_least))
        return self._entropic(self._best_number(at_least) or fewest)

    def _best_number(self, at_least: int) -> int | None:
        """The number of round groups with the best silhouette; None where all coincide."""
        n_distinct = count_distinct_rows(self._some, None, enough=_MOST_CLUSTERS + 1)
        scores = {}
        for number in range(at_least, min(_MOST_CLUSTERS, n_distinct - 1) + 1):
            labels = _quietly_fitted(self._entropic(number), self._some).labels_
            if labels.max() + 1 == number:  # no prototypes coincide
                scores[number] = silhouette_score(self._some, labels)
        return max(scores, key=lambda number: scores[number], default=None)

    def _entropic(self, number: int) -> EntropyCMeans:
        return EntropyCMeans(number, n_init=_STARTS, random_state=self._seed)


def _quietly_fitted(model: Any, rows: Floats) -> Any:
    """A model fitted for comparison only: nobody needs its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


def _agreement(chosen: _Answer, others: list[_Answer]) -> float:
    """The mean adjusted Rand index to other answers that could have been the same."""
    asked = [answer for answer in others if chosen.n_clusters > 1 or answer.name != _ROUND]
    scores = [_adjusted_rand(chosen.labels, answer.labels) for answer in asked]
    own = getattr(chosen.model, "agreement_", None)
    return float(np.mean(scores if own is None else [*scores, own]))


def _adjusted_rand(first: Labels, second: Labels) -> float:
    """The adjusted Rand index on the rows that both put in a cluster."""
    both = (first >= 0) & (second >= 0)
    return float(adjusted_rand_score(first[both], second[both])) if both.any() else 0.0
