"""Plans: how the kernel sums of a fit are computed, and how long this may take."""

from dataclasses import dataclass

__all__ = ["Plan"]

PLANNED_THREADS = 4  # times and memory are estimated for so many, whatever the machine has
# The share of processor time that runs in one thread, by method, from measurements on 16 cores
# (docs/benchmarks/cores.md).
_SERIAL = {"input space": 0.1, "local": 0.2, "nufft": 0.25, "nystroem": 0.15}
_OTHERS_SERIAL = 0.03
_ON_GPU = ("fused", "torch")


@dataclass(frozen=True)
class Plan:
    """How kernel sums are computed: the method, the reason, the memory and the expected time.

    Parameters
    ----------
    method : str
        The name of the method.
    working_memory : int
        The bytes that an iteration with four threads needs, in addition to the data and the fitted
        attributes.
    reason : str
        The reason for the method, in one sentence.
    product_seconds : float, optional
        The expected seconds for one product with the kernel matrix, or one pass over the rows, with
        four threads; None if not estimated.
    rtol : float, default=0.0
        The largest error of means of kernel values; 0 if sums are exact except for rounding.
    n_products : int, default=10
        The expected number of products in a fit. The actual number depends on the rows.
    other_seconds : float, optional
        The expected seconds for all other work of a fit, with four threads; None if not estimated.
    """

    method: str
    working_memory: int
    reason: str
    product_seconds: float | None = None
    rtol: float = 0.0
    n_products: int = 10
    other_seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"

    @property
    def fit_seconds(self) -> float | None:
        """The expected seconds of a fit with four threads; None if not estimated."""
        return self.seconds_in(PLANNED_THREADS)

    def seconds_in(self, n_threads: int) -> float | None:
        r"""The expected seconds of a fit with a number of threads; None if not estimated.

        .. math:: T \Big( s + \frac{1 - s}{p} \Big)

        where p is the number of threads, T the seconds with one thread, and s the fraction of T
        that cannot run in parallel. The estimate can be wrong by a factor of three, or more on a
        machine that is much slower or faster than usual. The time to compile code at the first fit
        is not included.

        Parameters
        ----------
        n_threads : int
            The number of threads.
        """
        if self.product_seconds is None and self.other_seconds is None:
            return None
        seconds = (self.product_seconds or 0.0) * self.n_products + (self.other_seconds or 0.0)
        if self.method in _ON_GPU:
            return seconds
        serial = _SERIAL.get(self.method, _OTHERS_SERIAL)
        return PLANNED_THREADS * seconds * (serial + (1.0 - serial) / n_threads)
