"""Expected seconds of fits (`plan_`) beside measured ones: `python benchmarks/expected_seconds.py`.

Processor seconds of one fit each in one thread, after a small fit that loads compiled code. The
names of estimators as arguments choose among them.
"""

import sys
import time
import warnings

from threadpoolctl import threadpool_limits

import typicality
from _blobs import blobs, named
from _report import machine

_SHAPES = {
    "AlphaCutClustering": [(10_000, 2), (100_000, 2), (20_000, 8), (100_000, 8)],
    "OneClusterPCM": [(100_000, 2), (1_000_000, 2), (100_000, 3), (10_000, 8), (30_000, 8)],
    "FuzzyCMeans": [(100_000, 2), (1_000_000, 2), (300_000, 8)],
    "EntropyCMeans": [(100_000, 2), (300_000, 8)],
    "PossibilisticCMeans": [(100_000, 2), (300_000, 8)],
    "AdaptivePCM": [(100_000, 2), (300_000, 8)],
    "SequentialPCM": [(100_000, 8)],
}
_WITH_NUMBER = ("FuzzyCMeans", "EntropyCMeans", "PossibilisticCMeans", "AdaptivePCM")
_WARM_ROWS = 6_000
_N_CLUSTERS = 8


def main() -> None:
    print("\n".join(machine()))
    print("| estimator | rows x features | iterations | expected | measured | ratio |")
    print("|---|---|---|---|---|---|")
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or _SHAPES:
        parameters = {"n_clusters": _N_CLUSTERS} if name in _WITH_NUMBER else {}
        for shape in _SHAPES[name]:
            X = blobs(*shape)
            model = getattr(typicality, name)(**parameters)
            with threadpool_limits(1):
                model.fit(X[:_WARM_ROWS])
                start = time.process_time()
                model.fit(X)
                took = time.process_time() - start
            expected = model.plan_.seconds_in(1)
            cells = [name, named(shape), str(model.n_iter_), f"{expected:.2f}", f"{took:.2f}"]
            print(f"| {' | '.join([*cells, f'{expected / took:.2f}'])} |", flush=True)


if __name__ == "__main__":
    main()
