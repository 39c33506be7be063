"""Fewer costly steps for one cluster: a sample of the rows solves most of the problem first."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import array_of
from typicality._typing import Doubles, Floats, Places
from typicality.solve.picard import picard
from typicality.solve.step import ClusterState, Step
from typicality.spaces import KernelPrototypes
from typicality.sums.columns import KernelColumns
from typicality.sums.tiles import Tiles

_SAMPLE = 2048  # rows
_WORTHWHILE = 8  # times the sample: the rows that a row is compared with in a plain step
_TOL, _MAX_ITER = 1e-7, 1000  # on the sample, where an iteration takes milliseconds
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_ROUNDING = 1e-12


class _Sample(NamedTuple):
    """Rows drawn in proportion to their weights, with what each stands for.

    Parameters
    ----------
    rows : array of shape (m,)
        Which rows.
    times : array of shape (m,)
        How often each was drawn.
    factor : array of shape (m,)
        What the weight of each is multiplied by in sums that stand for those of all rows.
    columns : KernelColumns
        The kernel against these rows.
    half_sqdist : array of shape (m, m)
        Half their mutual squared distances in the space of the kernel.
    """

    rows: Places
    times: Doubles
    factor: Doubles
    columns: KernelColumns
    half_sqdist: Floats


@dataclass(frozen=True, eq=False)
class LookAhead:
    r"""A step of one cluster that ends near the fixed point instead of a little nearer to it.

    With the products :math:`f = E w` of the weights w, a plain step has the weights
    :math:`F(f)_h \propto \omega_h e^{-2 f_h / \eta}`. This step first solves the fixed point on a
    sample S of 2,048 rows, where a row of weight :math:`w_r` stands for
    :math:`v_r = w_r \Omega / (m \omega_r)`, with the sums over all rows as they are at w:

    .. math:: v^* = \kappa F_S \big( f_S + E_{SS} (v^* - v) \big), \qquad
        w' = F \big( f + E_{\cdot S} (v^* - v) \big).

    At a fixed point :math:`v^* = v`, so the limit is that of plain steps, and so are the residual
    and the promise of products. A step leaves a few percent of the distance to the limit. A step
    that would raise the objective is taken plainly.

    Costs the product of a plain step, O(n m d) and O(m^2) for each iteration on the sample.
    Nothing is random. Original to typicality, see docs/theory.

    Parameters
    ----------
    plain : callable
        The plain step.
    space : Gram
        The space of the rows, with products by :class:`typicality.sums.tiles.Tiles`.
    """

    plain: Step
    space: Any

    def __call__(self, state: ClusterState[Any]) -> tuple[ClusterState[Any], float, float]:
        space: Any = self.space
        rule: Any = state.rule
        objective, _ = space.objective_and_mass(rule, state.prototypes)
        weights = self._weights_ahead(state.prototypes, float(rule.eta[0]))
        ahead = space.prototypes(weights[:, None])
        off = (space.operator.rtol + _ROUNDING) * self._row_weight.sum()
        if not space.objective_and_mass(rule, ahead)[0] <= objective + 4.0 * off:
            return self.plain(state)
        change = float(abs(ahead.weights - state.prototypes.weights).sum())
        return ClusterState(ahead, rule), change, objective

    def _weights_ahead(self, prototypes: KernelPrototypes, eta: float) -> Doubles:
        """The weights of all rows after the fixed point of the sample, before sample weights."""
        sample, products = self._sample, array_of(prototypes.products[:, 0])
        plain = self._row_weight * _pull(products, eta, self._row_weight)
        kept = (sample.factor * plain[sample.rows]).sum() / plain.sum()
        weights = array_of(prototypes.weights[:, 0])
        at, before = products[sample.rows], sample.factor * weights[sample.rows]

        def step(stands_for: Doubles) -> tuple[Doubles, float, float]:
            here = at + np.einsum("ij,j->i", sample.half_sqdist, stands_for - before)
            pull = sample.times * _pull(here, eta, sample.times)
            following = kept * pull / pull.sum()
            return following, float(np.abs(following - stands_for).sum()), 0.0

        solved = picard(step, before, tol=_TOL, max_iter=_MAX_ITER).state
        change = Tiles(sample.columns, single=True).expansion((solved - before)[:, None])
        return _pull(products + change.complement_at(self.space.X)[:, 0], eta, self._row_weight)

    @property
    def _row_weight(self) -> Doubles:
        space = self.space
        return np.ones(len(space.X)) if space.sample_weight is None else space.sample_weight

    @cached_property
    def _sample(self) -> _Sample:
        row_weight = self._row_weight.astype(np.float64)
        total = row_weight.cumsum()
        # Multiples of the golden ratio: evenly spread, and out of step with any period of the rows.
        places = np.sort(np.arange(1, _SAMPLE + 1) * _GOLDEN % 1.0) * total[-1]
        drawn = np.searchsorted(total, places, side="right").clip(max=len(total) - 1)
        rows, times = np.unique(drawn, return_counts=True)
        factor = times * total[-1] / (_SAMPLE * row_weight[rows])
        columns = KernelColumns(self.space.columns.kernel_function, self.space.X[rows])
        half_sqdist = columns.half_sqdist(columns.training)
        return _Sample(rows, times.astype(np.float64), factor, columns, half_sqdist)


def _pull(products: Doubles, eta: float, row_weight: Doubles) -> Doubles:
    """The pull of rows on the mean; one for the nearest row that has a weight, 0 for those without.

    That is exp(-d / eta) but for a factor, as d is twice the product and a constant.
    """
    taking_part = row_weight > 0
    apart = products - products[taking_part].min()
    return np.where(taking_part, np.exp(-2.0 * apart.clip(min=0.0) / eta), 0.0)


def looking_ahead(plain: Step, space: Any) -> Step:
    """The step that needs fewer products, where a product is costly; else the plain one.

    Parameters
    ----------
    plain : callable
        The step of one cluster with a fixed spread.
    space : Space
        The space of the rows.
    """
    operator = getattr(space, "operator", None)
    if not isinstance(operator, Tiles):
        return plain
    compared = operator.share_of_work() * operator.columns.n_training
    return LookAhead(plain, space) if compared >= _WORTHWHILE * _SAMPLE else plain
