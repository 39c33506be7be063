"""How the sums of an iteration are computed, why, and how long: what estimators keep as `plan_`."""

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
    """A method, its working memory, one sentence why, and how long a fit is expected to take.

    Parameters
    ----------
    method : str
        The name of the method.
    working_memory : int
        Bytes that an iteration of four threads needs beyond the data and the fitted attributes.
    reason : str
        One sentence.
    product_seconds : float, optional
        What one product with the kernel matrix, or one sweep over the rows, is expected to take in
        four threads; None where nothing was estimated.
    rtol : float, default=0.0
        How far means of kernel values may be off; 0 where sums are exact but for rounding.
    n_products : int, default=10
        How many products a fit is expected to need. This is a usual number: how many it will be
        depends on the rows.
    other_seconds : float, optional
        What all else in a fit is expected to take in four threads; None where nothing was
        estimated.
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
        """What a fit is expected to take in four threads; None where nothing was estimated."""
        return self.seconds_in(PLANNED_THREADS)

    def seconds_in(self, n_threads: int) -> float | None:
        r"""What a fit is expected to take in so many threads; None where nothing was estimated.

        .. math:: T \Big( s + \frac{1 - s}{p} \Big)

        for p threads, where T are the seconds of one processor and s is the share of them that runs
        in one thread, by method. It can be wrong by a factor of three, and by more on a machine
        that is much slower or quicker than those on which the seconds were measured. Code that is
        compiled at the first fit is not counted.

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
