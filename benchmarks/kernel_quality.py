"""What kernels are good for: shapes, calibrated rates of rejection, ranks; all from one run.

`python benchmarks/kernel_quality.py [--quick]` prints tables and a verdict on each target, and
writes them to `benchmarks/results/kernel_quality.md`. It needs `benchmarks/requirements.txt`, and
makes `.venv-peers` for a package that pins an older numpy.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.metrics import adjusted_rand_score

from _processes import peer_python
from _ranking import GAMMAS, WIDTHS, rank_correlations
from _rejection import N_NEW, OURS, WAYS, Case, actual_rates
from _report import Report, Verdict, machine
from _shapes import PEER, SHAPES, SKFUZZY, Outcome, Shape, fit, peer_labels, skfuzzy_labels

_RESULTS = Path(__file__).resolve().parent / "results" / "kernel_quality.md"
_N_DRAWS = 20  # of the rates
_N_RANKINGS = 10
_LARGEST_Z = 3.0
_LEAST_SPEARMAN = 0.987

Outcomes = dict[str, list[Outcome]]
Labeller = Callable[..., np.ndarray]

# ---- shapes -------------------------------------------------------------------------------------


def separate(shape: Shape, n_draws: int, peer: Labeller | None) -> Outcomes:
    """Every contestant on every draw of a shape."""
    outcomes: Outcomes = {name: [] for name in [*shape.ours, SKFUZZY, PEER]}
    for seed in range(n_draws):
        X, y = shape.draw(seed)
        for name, estimator in shape.ours.items():
            outcomes[name].append(fit(estimator, X, y, seed))
        outcomes[SKFUZZY].append(Outcome(adjusted_rand_score(y, skfuzzy_labels(X, seed))))
        if peer is not None:
            outcomes[PEER].append(Outcome(adjusted_rand_score(y, peer(X))))
    return outcomes


def show_shape(shape: Shape, outcomes: Outcomes, report: Report) -> None:
    n_draws = len(outcomes[SKFUZZY])
    columns = [f"{n_draws} draws, a fit each", "mean ARI", "min", "ARI 1", "warned", "failed"]
    columns += ["wrong lower", "right lower", "right unstable"]
    report.table(shape.name, columns, [_shape_row(*item, shape) for item in outcomes.items()])


def _shape_row(name: str, outcomes: list[Outcome], shape: Shape) -> list[str]:
    if not outcomes:
        return [f"{name}: NOT MEASURED", *["MISSING"] * 8]
    aris = [outcome.ari for outcome in outcomes]
    failures = [outcome for outcome in outcomes if outcome.ari < 1]
    counts = [str(len(outcomes) - len(failures))]
    ours = [str(sum(outcome.warned for outcome in outcomes)), str(len(failures))]
    ours += [str(sum(o.objective == word for o in failures)) for word in ("lower", "higher", "")]
    blank = ["", str(len(failures)), "", "", ""]
    scores = [f"{np.mean(aris):.3f}", f"{min(aris):.3f}"]
    return [name, *scores, *counts, *(ours if name in shape.ours else blank)]


def shape_verdicts(results: dict[str, Outcomes]) -> list[Verdict]:
    circles, ball, crescents = results.values()
    peers = [o.ari for name in (SKFUZZY, PEER) for o in circles[name]]
    return [
        _always_right("circles, gaussian, defaults: ARI 1.0", circles["fuzzy, gaussian, defaults"]),
        _always_right("circles, connectivity: ARI 1.0", circles["fuzzy, connectivity"]),
        _always_right("circles, entropy: ARI 1.0", circles["entropy, gaussian, annealing"]),
        Verdict("circles, peers below 0.2", f"at most {max(peers):.3f}", (max(peers) < 0.2,)),
        _always_right("ball and ring, m = 2: ARI 1.0", ball["fuzzy m=2"]),
        _mostly_right("ball and ring, annealing", ball["entropy lam=10, annealing"]),
        _mostly_right("crescents, annealing", crescents["entropy lam=15, annealing"]),
    ]


def _n_right(outcomes: list[Outcome]) -> int:
    return sum(outcome.ari == 1 for outcome in outcomes)


def _always_right(target: str, outcomes: list[Outcome]) -> Verdict:
    """Right labels do not count where the memberships have collapsed: they are then luck."""
    met = tuple(outcome.ari == 1 and not outcome.warned for outcome in outcomes)
    measured = f"{_n_right(outcomes)} of {len(outcomes)} draws, {sum(met)} without a warning"
    return Verdict(target, measured, met)


def _mostly_right(target: str, outcomes: list[Outcome]) -> Verdict:
    share = _n_right(outcomes) / len(outcomes)
    return Verdict(f"{target}: right in 8 of 10 draws", f"{share:.0%}", (share >= 0.8,))


# ---- rates of rejection -------------------------------------------------------------------------


def show_rates(cases: list[Case], report: Report) -> None:
    n_draws = len(cases[0].actual[OURS])
    columns = ["source", "rows", "sigma", "nominal", OURS, "z", "near", *WAYS[1:]]
    title = f"Rejected of {N_NEW:,} new rows, %, mean of {n_draws} draws"
    report.table(title, columns, [_rate_row(case) for case in cases])
    report.line(
        "After ± the standard error of the mean, from the draws. z: the error of the mean in "
        "units of what sampling alone would give it, sqrt(q (1 - q) (1 / rows + 1 / new rows) / "
        "draws). near: draws within two sampling errors of the nominal rate."
    )


def _rate_row(case: Case) -> list[str]:
    ours = f"{case.mean(OURS):.2%}±{case.standard_error(OURS):.2%}".replace("%", "")
    others = [f"{100 * case.mean(way):.1f}" for way in WAYS[1:]]
    near = f"{case.n_near}/{len(case.actual[OURS])}"
    start = [case.source, str(case.n_training), str(case.sigma), f"{100 * case.nominal:g}"]
    return [*start, ours, f"{case.z:+.1f}", near, *others]


def rate_verdict(cases: list[Case]) -> Verdict:
    within = tuple(abs(case.z) <= _LARGEST_Z for case in cases)
    draws = sum(len(case.actual[OURS]) for case in cases)
    near = sum(case.n_near for case in cases)
    measured = f"mean rate of {sum(within)} of {len(cases)} cases within {_LARGEST_Z:g} sampling "
    measured += f"errors, {near} of {draws} single fits within 2"
    return Verdict("rejection within sampling error", measured, within)


# ---- ranks --------------------------------------------------------------------------------------


def show_ranks(n_draws: int, report: Report) -> Verdict:
    columns = ["sigma", *[f"gamma {gamma:g}: mean, min" for gamma in GAMMAS]]
    found = {sigma: rank_correlations(sigma, n_draws) for sigma in WIDTHS}
    rows = [
        [str(sigma), *[f"{r.mean():.4f}, {r.min():.4f}" for r in correlations.T]]
        for sigma, correlations in found.items()
    ]
    report.table(f"Spearman correlation with weights='uniform', {n_draws} draws", columns, rows)
    least = [correlations[:, 0].min() for correlations in found.values()]
    target = f"gamma 1 ranks as the density estimate (>= {_LEAST_SPEARMAN})"
    return Verdict(target, f"least {min(least):.4f}", tuple(r >= _LEAST_SPEARMAN for r in least))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws, for a first look")
    part = 10 if parser.parse_args().quick else 1
    report = Report()
    for line in machine():
        report.line(line)
    verdicts = shape_verdicts(_shapes(part, report))
    cases = list(actual_rates(max(2, _N_DRAWS // part), report.progress))
    show_rates(cases, report)
    verdicts += [rate_verdict(cases), show_ranks(max(2, _N_RANKINGS // part), report)]
    report.verdicts(verdicts)
    report.write(_RESULTS)


def _shapes(part: int, report: Report) -> dict[str, Outcomes]:
    results = {}
    with TemporaryDirectory() as folder:
        peer = _peer(Path(folder), report)
        for shape in SHAPES:
            report.progress(f"{shape.name}: {len(shape.ours) + 2} contestants")
            results[shape.name] = separate(shape, max(2, shape.n_draws // part), peer)
            show_shape(shape, results[shape.name], report)
    report.line(
        "warned: prototypes collapsed or coincide. Of the failures: how often the wrong solution "
        "has the lower objective, how often the right one has, and how often the iteration leaves "
        "the true labels, so that they are no solution at all."
    )
    return results


def _peer(folder: Path, report: Report) -> Labeller | None:
    try:
        return partial(peer_labels, peer_python(), folder)
    except RuntimeError as reason:
        report.line(f"{PEER}: NOT MEASURED, {reason}")
        return None


if __name__ == "__main__":
    main()
