"""How the sums of an iteration are computed, and why: what estimators keep as `plan_`."""

from dataclasses import dataclass

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """A method, its working memory, and one sentence why.

    Parameters
    ----------
    method : str
        The name of the method.
    working_memory : int
        Bytes that an iteration needs beyond the data and the fitted attributes.
    reason : str
        One sentence.
    """

    method: str
    working_memory: int
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"
