"""OneClusterPCM on rows that are read block by block: thresholds and p-values from folds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from typicality._typing import Doubles
from typicality.cluster._callbacks import FitCallbacks
from typicality.cluster._density import (
    begin_density,
    open_density,
    solve_one_cluster,
    warn_about_density,
)
from typicality.cluster._p_values import TIED, check_number_to_split
from typicality.cluster._spaces import OpenSpace
from typicality.geometry.block_space import BlockPrototypes, BlockSpace
from typicality.geometry.calibration import Calibration, false_alarm_interval
from typicality.geometry.kernel_prototypes import ExpandedPrototypes
from typicality.geometry.scores import CompressedScores
from typicality.membership.base import MembershipRule
from typicality.operators.bases import Basis
from typicality.rows import Block, Rows, content_hash, histogram, quantile

_FEWEST_DRAWN = 64  # rows that are drawn one by one for two halves
_WHOLE_WEIGHT = 1.0 - 1e-12  # without a row of this weight nothing would be left


def learn_by_blocks(estimator: Any, rows: Rows, callbacks: FitCallbacks, rate: float) -> None:
    """Set all fitted attributes of an OneClusterPCM but `weights_`, which has no place to be."""
    fitted, held_out = rows, None
    if estimator.calibration == "split":
        fitted, held_out = _halves(rows, estimator.random_state)
    opened = open_density(estimator, fitted, None)
    space: Any = opened.space
    begin_density(space, callbacks, lambda state: _for_prediction(state, opened, rate, held_out))
    result = solve_one_cluster(estimator, space, callbacks, weights=estimator.weights)
    state: Any = result.state
    estimator._set(
        **_for_prediction(state, opened, rate, held_out),
        **estimator._record(opened, result),
    )
    mean, rule = estimator._left_out.mean, state.rule
    estimator.typicality_ = rows.map(lambda block: mean.memberships(rule, block.X)[:, 0])
    warn_about_density(estimator, space, result)


def _halves(rows: Rows, random_state: Any) -> tuple[Rows, Rows]:
    """The rows for the fit, and those for thresholds and p-values: each row is drawn by itself.

    A hash of the number of a row and the seed decides, whatever the row holds: any engine and any
    blocks give the same halves, and those of exchangeable rows are exchangeable.
    """
    if rows.weighted:
        raise ValueError(
            "calibration='split' takes no sample_weight for rows that are read block by block. "
            "Repeat the rows instead, or use calibration='leave-one-out'."
        )
    check_number_to_split(rows.n_rows)
    if rows.n_rows < _FEWEST_DRAWN:  # a half could be empty
        raise ValueError(
            f"calibration='split' needs at least {_FEWEST_DRAWN} rows if they are read block by "
            f"block; there are {rows.n_rows}. Pass the rows as an array."
        )
    seed = float(check_random_state(random_state).randint(2**31))

    def is_held_out(block: Block) -> Doubles:
        numbers = np.arange(block.start, block.start + len(block.X), dtype=np.float64)
        keys = content_hash(np.column_stack([np.full(len(numbers), seed), numbers]))
        return np.asarray(keys >= 2**63, dtype=block.X.dtype)

    return rows.reweighted(lambda block: 1 - is_held_out(block)), rows.reweighted(is_held_out)


def _for_prediction(
    state: Any, opened: OpenSpace, rate: float, held_out: Rows | None
) -> dict[str, Any]:
    """All that prediction needs, in five passes or six."""
    space: Any = opened.space
    rows: Rows = space.rows
    made_by = None if state.before is None else (state.before.rule, state.before.prototypes)
    mean = _refined(space, made_by)
    left_out = _LeftOut.of(rows, mean, made_by, state.mass)
    if held_out is None:
        counted = histogram(rows, left_out.lower_bounds)
        offset = quantile(rows, left_out.scores, rate)
    else:  # they took no part: nothing of them is left out
        plain = replace(left_out, unit=0.0)
        counted = histogram(held_out, plain.lower_bounds)
        offset = quantile(held_out, plain.scores, rate)
    copies = counted.weight / counted.unit
    return {
        "_rule": state.rule,
        "_reader": opened.reader,
        "_left_out": CompressedScores(mean.for_prediction()),
        "_calibration": Calibration(counted.lower_ends, copies, held_out is None),
        "eta_": float(state.rule.eta[0]),
        # A row on the threshold is typical, however its score was rounded.
        "offset_": offset - TIED * max(1.0, abs(offset)),
        "false_alarm_interval_": false_alarm_interval(rate, copies),
    }


def _refined(
    space: BlockSpace, made_by: tuple[MembershipRule, BlockPrototypes] | None
) -> BlockPrototypes:
    """The mean with the same weights in a basis with a finer promise: scores are small sums."""
    basis: Basis = space.basis.finer(space.rows)
    fine = BlockSpace(space.kernel, space.rows, basis)
    if made_by is None:
        return space.mean if basis is space.basis else fine.mean
    pull = _pull_of(made_by)
    return fine.means(lambda block: pull(block)[:, None])


def _pull_of(
    made_by: tuple[MembershipRule, BlockPrototypes] | None,
) -> Callable[[Block], Doubles]:
    """The weight of rows in the mean before it is divided by their sum; 1 for uniform weights."""
    if made_by is None:
        return lambda block: np.ones(len(block.X))
    rule, prototypes = made_by[0], made_by[1].for_prediction()
    return lambda block: rule.weights(rule.memberships(prototypes.exact_sqdist(block.X)))[:, 0]


@dataclass(frozen=True, eq=False)
class _LeftOut:
    r"""Scores of the training rows, each without one copy of itself.

    .. math:: s(x_h) = \frac{\sum_r w_r K(x_h, x_r) - w}{1 - w}

    with w the weight of one copy of the row, as in
    :class:`~typicality.geometry.scores.LeaveOneOut`. Sums below the promise count as the promise.

    Parameters
    ----------
    mean : ExpandedPrototypes
        The mean.
    rtol : float
        The promise of its sums at the training rows.
    pull : _Pull
        The weights of rows.
    unit : float
        The weight of one copy of a row whose pull is 1.
    """

    mean: ExpandedPrototypes
    rtol: float
    pull: Callable[[Block], Doubles]
    unit: float

    @classmethod
    def of(cls, rows: Rows, mean: BlockPrototypes, made_by: Any, mass: float) -> "_LeftOut":
        largest = 1.0
        if rows.weighted:
            largest = float(rows.reduce(lambda block: np.max(block.weight), max))  # type: ignore[arg-type]
        unit = min(1.0, largest) / mass
        return cls(mean.for_prediction(), mean.basis.rtol, _pull_of(made_by), unit)

    def scores(self, block: Block) -> Doubles:
        """As `score_samples` gives them, without one copy of a row."""
        sums, own = self._sums(block)
        # Where nothing would be left, nothing is left out.
        own[own >= _WHOLE_WEIGHT] = 0.0
        promise = self.mean.sums.rtol
        return np.asarray(np.log(np.maximum(sums - own, promise)) - np.log1p(-own))

    def lower_bounds(self, block: Block) -> Doubles:
        """Of the logarithms of sums over the other rows, which p-values compare with."""
        sums, own = self._sums(block)
        with np.errstate(divide="ignore"):  # a sum that may be nothing
            return np.asarray(np.log(np.maximum(sums - own - self.rtol, 0.0)))

    def _sums(self, block: Block) -> tuple[Doubles, Doubles]:
        sums = np.asarray(self.mean.sums.at(block.X)[:, 0], dtype=np.float64)
        return sums, np.minimum(self.unit * self.pull(block), 1.0)
