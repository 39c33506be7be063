"""Annealing: a path of rules from an easy problem to the one that is asked."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from typicality.membership.base import MembershipRule
from typicality.solve.alternation import ClusterState
from typicality.solve.picard import PicardResult, Status

_FACTOR = 1.5
_KEPT_OF_THE_START = 0.05

Prototypes = TypeVar("Prototypes", bound=Any)


def rising_path(last: float, lowest: float) -> list[float]:
    """A geometric path that rises to `last`; its first value is the least above `lowest`.

    >>> rising_path(9.0, 3.0)
    [4.0, 6.0, 9.0]
    """
    path = [last]
    while path[-1] / _FACTOR > lowest:
        path.append(path[-1] / _FACTOR)
    return path[::-1]


def anneal(
    start: Prototypes,
    rules: Sequence[MembershipRule],
    run: Callable[[ClusterState[Prototypes]], PicardResult[ClusterState[Prototypes]]],
) -> PicardResult[ClusterState[Prototypes]]:
    """Run the rules one after the other, each from the result of the one before.

    Before each stage the prototypes move a little towards the start: where a stage has brought them
    together, the next could not tell them apart.

    Parameters
    ----------
    start : Prototypes
        Where the first stage begins.
    rules : sequence of MembershipRule
        The rules; the last is the one that is asked.
    run : callable
        `run(state)`: one run of the loop.

    Returns
    -------
    PicardResult
        That of the last stage, or of the stage that was stopped.
    """
    prototypes = start
    for rule in rules:
        result = run(ClusterState(prototypes.blend(start, _KEPT_OF_THE_START), rule))
        if result.status in (Status.NONFINITE, Status.STOPPED):
            break
        prototypes = result.state.prototypes
    return result
