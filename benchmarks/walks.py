"""How far a fit walks: the functions of typicality that it calls, and how deep they nest.

Run with `python benchmarks/walks.py [names]`; with names, the functions of each walk are listed.
"""

import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import typicality
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans, OneClusterPCM

_HOME = str(Path(typicality.__file__).parent)


def walk(estimator: Any, X: Any) -> tuple[Counter[str], int]:
    """The calls of each function of typicality in a second fit, and the depth of the deepest."""
    estimator.fit(X)
    calls: Counter[str] = Counter()
    depth = deepest = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(_HOME):
            return
        if event == "return":
            depth -= 1
            return
        depth += 1
        deepest = max(deepest, depth)
        calls[f"{Path(code.co_filename).relative_to(_HOME)}:{code.co_qualname}"] += 1

    sys.setprofile(profile)
    try:
        estimator.fit(X)
    finally:
        sys.setprofile(None)
    return calls, deepest


def main() -> None:
    random = np.random.default_rng(0)
    walks = [
        ("FuzzyCMeans, 300 x 4", FuzzyCMeans(random_state=0), random.normal(size=(300, 4))),
        ("OneClusterPCM, 1,000 x 2", OneClusterPCM(), random.normal(size=(1000, 2))),
        ("AlphaCutClustering, 2,000 x 2", AlphaCutClustering(), random.normal(size=(2000, 2))),
        ("AutoClustering, iris", AutoClustering(random_state=0), load_iris().data),
    ]
    warnings.simplefilter("ignore")
    for name, estimator, X in walks:
        calls, depth = walk(estimator, X)
        print(f"{name}: {len(calls)} functions, {sum(calls.values()):,} calls, {depth} deep")
        if sys.argv[1:]:
            for function, number in sorted(calls.items()):
                print(f"  {number:6} {function}")


if __name__ == "__main__":
    main()
