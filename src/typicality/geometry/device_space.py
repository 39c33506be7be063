"""Kernel-induced spaces of rows on a device: the numbers of an iteration stay there."""

from typing import TYPE_CHECKING, Any

import numpy as np

from typicality._cached import cached_property
from typicality._tensors import OnDevice
from typicality._typing import Doubles, Floats
from typicality.geometry.kernel_prototypes import KernelPrototypes
from typicality.geometry.kernel_space import KernelSpace
from typicality.membership.base import MembershipRule
from typicality.operators.torch_blocked import on_device

if TYPE_CHECKING:
    from torch import Tensor


class DeviceSpace(KernelSpace):
    """A :class:`KernelSpace` whose weights, products and memberships are on a device of torch.

    Only sums over all rows come to the host; what is not written here works on copies there. For
    kernels that have a form in torch: their rows lie on a sphere.
    """

    operator: Any

    @cached_property
    def mean(self) -> KernelPrototypes:
        return self.prototypes(np.broadcast_to(1.0, (len(self.X), 1)))

    @cached_property
    def total_variance(self) -> float:
        return float((self._here(self.mean.weights) * self._sqdist(self.mean)).sum())

    @property
    def neighbours(self) -> float:
        import torch

        weights = self._here(self.mean.weights)[:, 0]
        counted = weights > 0
        similar = 1.0 - self._here(self.mean.products)[counted, 0] / self._sqradius
        ordered = torch.sort(similar / weights[counted])[0]
        middle = [(len(ordered) - 1) // 2, len(ordered) // 2]
        return float(ordered[middle].mean()) - 1.0

    def n_clipped(self, prototypes: KernelPrototypes) -> int:
        sqdist = self._signed_sqdist(prototypes)
        largest = max(float(sqdist.abs().max()), self.total_variance)
        return int((sqdist < -1e-9 * largest).sum())

    def prototypes(self, weights: Floats) -> KernelPrototypes:
        weighted = self._here(weights) * self._mass
        return self._at(weighted / weighted.sum(dim=0))

    def _expanded(self, weights: Doubles) -> KernelPrototypes:
        return self._at(self._here(weights))

    def _at(self, weights: "Tensor") -> KernelPrototypes:
        products = self.operator.complement_of(weights)
        cross = (weights.T @ products).cpu().numpy()
        kept: list[Any] = [OnDevice(weights), OnDevice(products)]
        return KernelPrototypes(self.operator, kept[0], cross, self.X.dtype, kept[1])

    def memberships(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Floats:
        import torch

        degrees: Any = rule.memberships(self._sqdist(prototypes))
        kept: Any = OnDevice(degrees.to(getattr(torch, self.X.dtype.name)))
        return kept  # type: ignore[no-any-return]

    def objective_and_mass(
        self, rule: MembershipRule, prototypes: KernelPrototypes
    ) -> tuple[float, Doubles]:
        sqdist = self._sqdist(prototypes)
        memberships = rule.memberships(sqdist)
        objective = (rule.objective(memberships, sqdist)[:, None] * self._mass).sum()
        mass = (rule.weights(memberships) * self._mass).sum(dim=0)
        return float(objective), mass.cpu().numpy()

    def _moves(self, before: KernelPrototypes, after: KernelPrototypes) -> Doubles:
        change = self._here(after.weights) - self._here(before.weights)
        shift = self._here(after.products) - self._here(before.products)
        moves: Doubles = -(change * shift).sum(dim=0).cpu().numpy()
        return moves.clip(min=0.0)

    def _next_weights(self, rule: MembershipRule, prototypes: KernelPrototypes) -> Any:
        import torch

        sqdist = self._sqdist(prototypes)
        if self.sample_weight is None:
            pull = rule.pull(sqdist)
        else:
            taking_part = self._mass[:, 0] > 0
            pull = torch.zeros_like(sqdist)
            pull[taking_part] = rule.pull(sqdist[taking_part]) * self._mass[taking_part]
        total = pull.sum(dim=0)
        following = torch.where(total > 0, pull / total, self._here(prototypes.weights))
        return OnDevice(following)

    def _here(self, array: Any) -> "Tensor":
        return on_device(array, str(self.operator.device))

    @cached_property
    def _mass(self) -> "Tensor":
        """The weights of the rows, shape (n, 1)."""
        return self._here(self._row_weight)[:, None]

    def _signed_sqdist(self, prototypes: KernelPrototypes) -> "Tensor":
        """Squared distances before those that rounding made negative are set to zero."""
        return 2.0 * self._here(prototypes.products) - self._here(prototypes.energy)

    def _sqdist(self, prototypes: KernelPrototypes) -> "Tensor":
        return self._signed_sqdist(prototypes).clamp(min=0.0)
