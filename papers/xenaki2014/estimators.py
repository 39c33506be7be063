"""The estimators with the paper's own choices: its start, its box, and its bisection."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from typicality import AdaptivePCM, SequentialPCM, SparseAdaptivePCM
from typicality.cluster.adaptive import AdaptiveClusterer
from typicality.membership import SparsePossibilistic
from typicality.solve.starts import at_row, farthest_rows
from typicality.spaces import Gaps

__all__ = [
    "Bisected",
    "BisectedSAPCM",
    "PaperAPCM",
    "PaperSAPCM",
    "PaperSeqSAPCM",
    "RandomAPCM",
    "with_constants",
]

_HALF_INTERVAL = 1e-4  # where the bisection ends
_N_HALVINGS = 14  # enough for any interval between 0 and 1


class EveryRow(Gaps[Any]):
    """Gaps of all rows: none is isolated."""

    _isolation = np.inf


class ByThePaper(AdaptiveClusterer):
    """The whole range of a feature is scaled to [0, 10]; the start is far from the first row.

    Prototypes are in the units of the box, and only training rows have labels.
    """

    _side: ClassVar[float] = 10.0  # of the box

    def _open(self, rows: Any, weight: Any, **_: Any) -> Any:
        low, high = rows.min(axis=0), rows.max(axis=0)
        return super()._open((rows - low) * (self._side / (high - low)), weight)

    def _gaps(self, space: Any) -> EveryRow:
        return EveryRow(space, space.sample(at_most=None))

    def _first_prototypes(self, space: Any) -> Any:
        n_clusters = getattr(self, "n_clusters", 2)
        return farthest_rows(space, self._gaps(space), at_row(space, 0), n_clusters)


class PaperAPCM(ByThePaper, AdaptivePCM):
    """APCM."""


class RandomAPCM(PaperAPCM):
    """APCM that starts at random rows instead of max-min."""

    _seed: ClassVar[int] = 0

    def _first_prototypes(self, space: Any) -> Any:
        rows = np.random.RandomState(self._seed).permutation(space.rows.n_rows)[: self.n_clusters]
        return space.near_rows(rows, share=0.0)


class PaperSAPCM(ByThePaper, SparseAdaptivePCM):
    """SAPCM."""


class PaperSeqSAPCM(ByThePaper, SequentialPCM):
    """SeqSAPCM: outliers start clusters, too, and new clusters may begin with any width."""

    def _rounds(self, space: Any, given: Any, unit: float, callbacks: Any) -> Any:
        rounds = super()._rounds(space, self._first_prototypes(space), unit, callbacks)
        return replace(rounds, gaps=self._gaps(space), least_width=0.0)


class Bisected(SparsePossibilistic):
    """The typicalities of section 2, by bisection: four digits."""

    def memberships(self, sqdist: Any) -> Any:
        """The larger root of the derivative, where there is one."""
        relative = sqdist / self.eta
        inside = relative < self.edge
        least = (self.lam * self.p * (1.0 - self.p) / self.eta) ** (1.0 / (1.0 - self.p))
        low, high = np.where(inside, least, 1.0), np.ones_like(sqdist)
        for _ in range(_N_HALVINGS):
            middle = 0.5 * (low + high)
            slope = (
                relative + np.log(middle) + self.lam / self.eta * self.p * middle ** (self.p - 1)
            )
            going = 0.5 * (high - low) >= _HALF_INTERVAL
            low = np.where(going & (slope < 0), middle, low)
            high = np.where(going & (slope >= 0), middle, high)
        return np.where(inside, 0.5 * (low + high), 0.0)


class BisectedSAPCM(PaperSAPCM):
    """SAPCM with typicalities by bisection."""

    def _sparse_rule(self, eta: Any, lam: float) -> SparsePossibilistic:
        return Bisected(eta, lam, float(self.p))


def with_constants(estimator: type[Any], **constants: Any) -> type[Any]:
    """The estimator with another side of the box, or another seed."""
    return type(estimator.__name__, (estimator,), constants)
