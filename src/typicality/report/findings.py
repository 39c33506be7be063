"""What a fitted model says of rows: the one place that knows which kinds of model there are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted

from typicality._typing import Doubles, Floats
from typicality.geometry.checks import check_rows
from typicality.kernels import LocalGaussian, Stationary
from typicality.levelsets import AlphaTree

_ROWS_COMPARED = 1000


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fitted model says of rows.

    Parameters
    ----------
    kind : {"tree", "memberships", "typicality"}
        How labels follow from a level: from the tree of alpha-cuts, by dropping rows of small
        memberships, or by flagging rows of a low score.
    labels : array of shape (n,), int32
        Their labels; -1 for rows that belong nowhere.
    strength : array of shape (n,)
        How typical each row is; larger is more.
    strength_name, strength_words : str
        What that is called, and one sentence what it means.
    fitted_words : str
        How the labels were made.
    cut : float, optional
        The level of the labels.
    levels : array of shape (n_clusters,), optional
        The level of each cluster, where each has its own.
    tree : AlphaTree, optional
        The clusters at every level.
    min_size : int, default=1
        The smallest cluster of the tree that a first look should show.
    memberships : array of shape (n, n_clusters), optional
        The memberships, a column for each label.
    centers : array of shape (n_clusters, d), optional
        The prototype of each label, where it has coordinates.
    """

    kind: str
    labels: NDArray[np.int32]
    strength: Doubles
    strength_name: str
    strength_words: str
    fitted_words: str
    cut: float | None = None
    levels: Doubles | None = None
    tree: AlphaTree | None = None
    min_size: int = 1
    memberships: Doubles | None = None
    centers: Floats | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def n_nowhere(self) -> int:
        """How many of them belong nowhere."""
        return int(np.count_nonzero(self.labels < 0))


def read_rows(model: Any, X: Any) -> Floats:
    """The rows of X as an array, if they and the model can be reported on."""
    _check_reportable(model)
    check_is_fitted(model)
    rows = check_rows(model, X, training=False)
    method = chosen_method(model)
    if hasattr(method, "tree_"):
        _check_training_rows(method, X, n_rows=len(rows))
    return rows


def _check_reportable(model: Any) -> None:
    """An estimator of typicality, not a pipeline around one."""
    if hasattr(model, "steps"):
        raise TypeError(
            "A report is made of an estimator, not of a pipeline: pass its last step, the rows as "
            "the steps before have made them, and the rows as they were as display, i.e. "
            "model[-1].report(model[:-1].transform(X), display=X)."
        )
    kinds = ("labels_at", "decision_function", "predict_memberships")
    if isinstance(model, type) or not any(hasattr(model, name) for name in kinds):
        raise TypeError(
            f"{model!r} is not an estimator of typicality: a report shows typicalities or "
            "memberships. Pass a fitted estimator, e.g. AlphaCutClustering().fit(X)."
        )


def _check_training_rows(model: Any, X: Any, *, n_rows: int) -> None:
    """The rows that a tree was grown from; some of them are looked at."""
    known = model.typicality_
    n_fitted = len(known)
    same = n_rows == n_fitted
    if same:
        n_compared = min(_ROWS_COMPARED, n_rows)
        some, typicality = resample(X, known, replace=False, n_samples=n_compared, random_state=0)
        same = np.allclose(model.predict_typicality(some), typicality, rtol=1e-3, atol=1e-6)
    if not same:
        raise ValueError(
            f"X has {n_rows} rows and is not what the model was fitted on ({n_fitted} rows): "
            "the tree of clusters knows those rows only, in their order. Pass the X of fit, or fit "
            "the model to these rows."
        )


def chosen_method(model: Any) -> Any:
    """The fitted method that an automatic model has chosen; any other model itself."""
    return getattr(model, "estimator_", model)


def find(model: Any, X: Any) -> Findings:
    """What a fitted model says of rows; X as it came, the model may know its columns by name."""
    model = chosen_method(model)
    if hasattr(model, "tree_"):
        return _of_tree(model)
    if hasattr(model, "offset_"):
        return _of_detector(model, X)
    return _of_prototypes(model, X)


# ---- alpha-cuts ----------------------------------------------------------------------------------

# At a plain cut every row that stands alone is a cluster of its own; nobody wants to see those.
_SMALLEST_SHOWN = 5


def _of_tree(model: Any) -> Findings:
    own_levels = np.ndim(model.alpha_) > 0
    return Findings(
        kind="tree",
        labels=model.labels_,
        strength=model.typicality_.astype(np.float64),
        strength_name="typicality",
        strength_words=(
            "How dense the data are around a row, from 0 to 1: rows amid many others are typical, "
            "rows far from all others are not."
        ),
        fitted_words=_words_of_cut(model),
        cut=None if own_levels else float(model.alpha_),
        levels=model.alpha_ if own_levels else None,
        tree=model.tree_,
        min_size=model.min_cluster_size if model.min_cluster_size > 1 else _SMALLEST_SHOWN,
    )


def _words_of_cut(model: Any) -> str:
    if np.ndim(model.alpha_) > 0:
        words = "Automatic: each cluster at a level of its own"
    elif model.rejection_rate is not None:
        share = f"{100 * model.rejection_rate:g} %"
        words = f"Cut at {float(model.alpha_):.3g}, so that {share} of the rows are below"
    elif model.alpha == "valley":
        words = f"Cut at {float(model.alpha_):.3g}, the valley between typical and other rows"
    else:
        words = f"Cut at {float(model.alpha_):.3g}"
    filled = model.assign == "all"
    return f"{words}; other rows go to the nearest cluster" if filled else words


# ---- one cluster ---------------------------------------------------------------------------------


def _of_detector(model: Any, X: Any) -> Findings:
    scores = np.asarray(model.score_samples(X), dtype=np.float64)
    cut = float(model.offset_)
    is_density = isinstance(model.kernel_, LocalGaussian | Stationary)
    return Findings(
        kind="typicality",
        labels=np.where(scores < cut, np.int32(-1), np.int32(0)),
        strength=scores,
        strength_name="score (log density)" if is_density else "score (log typicality)",
        strength_words=(
            "How typical a row is of the data as a whole, on a logarithmic scale, judged by the "
            "other rows only: one less means about a third as "
            f"{'dense' if is_density else 'typical'}."
        ),
        fitted_words=f"Rows that score below {cut:.4g} are outliers".replace("-", "\N{MINUS SIGN}"),
        cut=cut,
    )


# ---- prototypes ----------------------------------------------------------------------------------


def _of_prototypes(model: Any, X: Any) -> Findings:
    label_of = np.asarray(model.prototype_labels_)
    first = np.unique(label_of, return_index=True)[1]
    possibilistic = all(
        str(name).startswith("typicality") for name in model.get_feature_names_out()
    )
    memberships = _by_label(model.predict_memberships(X), label_of)
    meaning = (
        "How typical a row is of its cluster, from 0 to 1; rows far from all clusters are typical "
        "of none."
        if possibilistic
        else "How surely a row belongs to its cluster rather than to another; rows between clusters"
        " share their membership. It says nothing of how far a row is from all of them."
    )
    name = "typicality" if possibilistic else "membership"
    return Findings(
        kind="memberships",
        labels=np.asarray(model.predict(X), dtype=np.int32),
        strength=memberships.max(axis=1, initial=0.0),
        strength_name="typicality" if possibilistic else "largest membership",
        strength_words=meaning,
        fitted_words=f"Each row in the cluster of its largest {name}",
        cut=0.0,
        memberships=memberships,
        centers=model.cluster_centers_[first] if hasattr(model, "cluster_centers_") else None,
    )


def _by_label(memberships: Floats, label_of: NDArray[np.int32]) -> Doubles:
    """The membership of each row in each label: the largest, where prototypes share one."""
    found = np.zeros((len(memberships), label_of.max(initial=-1) + 1))
    for column, label in zip(memberships.T, label_of, strict=True):
        np.maximum(found[:, label], column, out=found[:, label])
    return found
