"""The tables of `p_values.py` for nonconform 1.0, split conformal and jackknife+, on the same rows.

nonconform asks for Python 3.12, but version 1.0.2 runs on 3.11. It needs an environment of its own:

    python -m venv .venv-nonconform
    .venv-nonconform/bin/pip install pyod pandas tqdm .
    .venv-nonconform/bin/pip install --no-deps --ignore-requires-python nonconform==1.0.2
    .venv-nonconform/bin/python benchmarks/p_values_nonconform.py

Run `p_values.py` first: both write to one log, and the tables here show both. The detectors are
PyOD's KNN (five neighbours, its default) and scikit-learn's isolation forest. Split holds half of
the rows out, as `calibration="split"` does. Jackknife+ fits n models and takes the median of their
scores, so it has fewer draws; with the isolation forest it runs twice, for its time only.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from nonconform import ConformalDetector, CrossValidation, Split
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest

from _report import Report, machine
from p_values import Contestant, Doubles, Setting, parse, run_and_show

_DETECTORS = {"KNN": KNN, "isolation forest": IsolationForest}
_STRATEGIES = {"split": lambda: Split(n_calib=0.5), "jackknife+": CrossValidation.jackknife}
_FEW = {Setting("discoveries", "normal", d, 200, 0.0) for d in (2, 8)}


def _fit(X: Doubles, seed: int, _: Setting, *, detector: str, strategy: str) -> Any:
    chosen = _DETECTORS[detector](), _STRATEGIES[strategy]()
    return ConformalDetector(detector=chosen[0], strategy=chosen[1], seed=seed).fit(X)


def _p_values(model: Any, new: Doubles) -> Doubles:
    return np.asarray(model.compute_p_values(new), dtype=np.float64)


def _contestant(detector: str, strategy: str, most_draws: Callable[[Setting], int]) -> Contestant:
    fit = partial(_fit, detector=detector, strategy=strategy)
    ways = {f"nonconform, {detector}, {strategy}": _p_values}
    return Contestant(fit, ways, most_draws=most_draws)


PEERS = [
    _contestant("KNN", "split", lambda _: 200),
    _contestant("isolation forest", "split", lambda setting: 20 if setting.n <= 200 else 0),
    _contestant("KNN", "jackknife+", lambda setting: 10 if setting.n <= 200 else 0),
    _contestant("isolation forest", "jackknife+", lambda setting: int(setting in _FEW)),
]


def main() -> None:
    options = parse((__doc__ or "").splitlines()[0])
    logging.disable(logging.WARNING)  # of a detector without random_state
    report = Report()
    for line in machine("nonconform", "pyod"):
        report.line(line)
    run_and_show(options, PEERS, report)


if __name__ == "__main__":
    main()
