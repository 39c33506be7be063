"""One fit in a kernel-induced space, watched: `_kernel_fit.py NAME N_ROWS WORKING_MEMORY`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the fit.
"""

import json
import sys
import time
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from _memory import ResidentPeak
from typicality import FuzzyCMeans, OneClusterPCM

__all__ = ["ESTIMATORS", "KernelFit", "draw"]

_MAX_ITER = 5  # of the fuzzy one: an iteration more takes time, but no memory
_WARM_ROWS = 2_100  # enough for compiled sums
_INTERVAL = 0.005  # seconds between two looks at memory; a block takes longer

ESTIMATORS: dict[str, Any] = {
    "OneClusterPCM(rtol=0)": partial(OneClusterPCM, rtol=0.0),
    f"FuzzyCMeans(3, kernel='gaussian', max_iter={_MAX_ITER}, rtol=0)": partial(
        FuzzyCMeans, 3, kernel="gaussian", max_iter=_MAX_ITER, rtol=0.0, random_state=0
    ),
}


class KernelFit(NamedTuple):
    """What one fit took: bytes above the imports and in all, seconds; and how it was computed."""

    growth: int
    peak: int
    seconds: float
    n_iter: int
    method: str
    working_memory: int


def draw(n_rows: int) -> NDArray[np.float64]:
    """Normal rows in two dimensions."""
    return np.random.default_rng(0).standard_normal((n_rows, 2))


def _watch(name: str, n_rows: int) -> KernelFit:
    build = ESTIMATORS[name]
    build().fit(draw(_WARM_ROWS))  # loads all code
    with ResidentPeak(_INTERVAL) as resident:
        start = time.perf_counter()
        model = build().fit(draw(n_rows))
        seconds = time.perf_counter() - start
    plan = model.plan_
    return KernelFit(
        resident.growth, resident.peak, seconds, model.n_iter_, plan.method, plan.working_memory
    )


def main(name: str, n_rows: str, working_memory: str) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # few iterations were asked for
    with sklearn.config_context(working_memory=int(working_memory)):
        print(json.dumps(_watch(name, int(n_rows))))


if __name__ == "__main__":
    main(*sys.argv[1:])
