"""How far a fit and a command walk: the functions of typicality they call, and how deep they nest.

Run with `python benchmarks/walks.py [names]`; with names, the functions of each walk are listed.
"""

import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_iris

import typicality
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans, OneClusterPCM
from typicality.cli import main as command_line
from typicality.cli.demo import write_iris

_HOME = str(Path(typicality.__file__).parent)


def walk(action: Callable[[], Any]) -> tuple[Counter[str], int]:
    """The calls of each function of typicality in an action, and the depth of the deepest.

    Bodies of classes and comprehensions are no functions.
    """
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
        if code.co_name[0] != "<" and code.co_flags & 1:  # optimised: not the body of a class
            calls[f"{Path(code.co_filename).relative_to(_HOME)}:{code.co_qualname}"] += 1

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls, deepest


def fits() -> dict[str, Callable[[], Any]]:
    """Second fits of estimators."""
    random = np.random.default_rng(0)
    cases: dict[str, tuple[Any, Any]] = {
        "FuzzyCMeans, 300 x 4": (FuzzyCMeans(random_state=0), random.normal(size=(300, 4))),
        "OneClusterPCM, 1,000 x 2": (OneClusterPCM(), random.normal(size=(1000, 2))),
        "AlphaCutClustering, 2,000 x 2": (AlphaCutClustering(), random.normal(size=(2000, 2))),
        "AutoClustering, iris": (AutoClustering(random_state=0), load_iris().data),
    }
    for estimator, X in cases.values():
        estimator.fit(X)
    return {name: lambda e=e, X=X: e.fit(X) for name, (e, X) in cases.items()}


def commands() -> dict[str, Callable[[], Any]]:
    """Commands on iris.csv in the current folder, after a first run of each."""
    write_iris(Path("iris.csv"), overwrite=True)

    def called(line: str, *more: str) -> Any:
        done = CliRunner().invoke(command_line, [*line.split(), *more])
        assert done.exit_code == 0, done.output
        return done

    lines = {
        "cluster": "cluster iris.csv -o clusters --force",
        "outliers": "outliers iris.csv -o outliers --force",
        "score": "score clusters iris.csv -o scored.csv --force",
        "explain": "explain clusters iris.csv --row 3",
        "report": "report clusters --force",
    }
    for line in lines.values():
        called(line)
    return {f"typicality {name} iris.csv": lambda w=w: called(w) for name, w in lines.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, action in {**fits(), **commands()}.items():
            calls, depth = walk(action)
            n_files = len({function.split(":")[0] for function in calls})
            print(
                f"{name}: {len(calls)} functions in {n_files} files, {sum(calls.values()):,} "
                f"calls, {depth} deep"
            )
            if sys.argv[1:]:
                for function, number in sorted(calls.items()):
                    print(f"  {number:6} {function}")


if __name__ == "__main__":
    main()
