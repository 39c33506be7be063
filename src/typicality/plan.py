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
        Bytes that an iteration of four threads needs beyond the data and the fitted attributes.
    reason : str
        One sentence.
    product_seconds : float, optional
        What one product with the kernel matrix is expected to take in four threads; None where
        nothing was estimated.
    rtol : float, default=0.0
        How far means of kernel values may be off; 0 where sums are exact but for rounding.
    """

    method: str
    working_memory: int
    reason: str
    product_seconds: float | None = None
    rtol: float = 0.0

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"
