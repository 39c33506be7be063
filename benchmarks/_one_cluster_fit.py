"""Fits of one-cluster PCM to blobs, watched: `_one_cluster_fit.py N_ROWS N_FEATURES N_FITS CHECK`.

It prints a line of JSON. It is meant for a fresh process: the peak of its memory is then that of
the first fit. With `check` as the last word, scores are held against exact sums afterwards.
"""

import json
import sys
import time
from typing import Any, NamedTuple, Self

from _blobs import blobs
from _memory import ResidentPeak
from _processes import json_from
from _score_errors import ScoreErrors, errors_of_fit
from _transforms import PairSeconds, recorded_transforms, seconds_of_pair
from typicality import OneClusterPCM

__all__ = ["SIGMA", "OneClusterFit"]

SIGMA = 0.5
_WARM_ROWS = 20_000
_INTERVAL = 0.005  # seconds between two looks at memory


class OneClusterFit(NamedTuple):
    """What a fit took and how it was computed; scoring its own rows; one pair of transforms.

    Parameters
    ----------
    seconds : float
        Of the quickest fit.
    growth : int
        The highest rise of memory during the first fit, in bytes.
    n_iter : int
        Its iterations.
    method, reason : str
        The plan.
    transform : str
        Modes and tolerance of most transforms of finufft in the fit; empty without any.
    pair : PairSeconds or None
        A pair of such transforms alone, in the same process.
    errors : ScoreErrors or None
        Against exact sums.
    """

    seconds: float
    growth: int
    n_iter: int
    method: str
    reason: str
    transform: str
    pair: PairSeconds | None
    errors: ScoreErrors | None

    @classmethod
    def in_fresh_process(cls, shape: tuple[int, int], *, n_fits: int, check: bool) -> Self:
        """Run this file."""
        words = [*map(str, (*shape, n_fits)), "check" if check else "trust"]
        found = cls(*json_from(sys.executable, __file__, *words))
        pair = PairSeconds(*found.pair) if found.pair else None
        return found._replace(pair=pair, errors=ScoreErrors(*found.errors) if check else None)

    @property
    def allowed(self) -> float:
        """Half more than the seconds of a pair for each iteration and two besides."""
        return 1.5 * (self.n_iter + 2) * self.pair.calls if self.pair else float("nan")


def _fit(X: Any) -> OneClusterPCM:
    return OneClusterPCM(sigma=SIGMA).fit(X)


def _seconds(X: Any) -> float:
    start = time.perf_counter()
    _fit(X)
    return time.perf_counter() - start


def _watch(n_rows: int, n_features: int, n_fits: int, check: bool) -> OneClusterFit:
    _fit(blobs(_WARM_ROWS, n_features))  # loads all code
    X = blobs(n_rows, n_features)
    with recorded_transforms() as transforms, ResidentPeak(_INTERVAL) as resident:
        model = _fit(X)
    seconds = min(_seconds(X) for _ in range(n_fits))
    usual = max(transforms, key=transforms.__getitem__, default=None)
    return OneClusterFit(
        seconds,
        resident.growth,
        model.n_iter_,
        model.plan_.method,
        model.plan_.reason,
        usual.name if usual else "",
        seconds_of_pair(X, usual) if usual else None,
        errors_of_fit(model, X) if check else None,
    )


def main(n_rows: str, n_features: str, n_fits: str, check: str) -> None:
    print(json.dumps(_watch(int(n_rows), int(n_features), int(n_fits), check == "check")))


if __name__ == "__main__":
    main(*sys.argv[1:])
