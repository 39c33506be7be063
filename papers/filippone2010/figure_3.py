"""Figure 3: stability of 1-SVM, 1-PCM and KDE on the synthetic set, as Table II measures it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from filippone2010.boxes import draw_boxes
from filippone2010.detectors import KDE, PCM, SVM, svm, three
from filippone2010.figure_2 import SEED
from filippone2010.protocol import ByMethod, by_decision
from regenerating import Setting, markdown_table
from typicality.datasets import make_gaussian_and_outliers
from typicality.stability import outlier_stability

SIGMAS = (0.5, 1.0, 5.0)
RATES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)

_SPLITS = 1  # seed of the splits: all detectors see the same ones
_EXACT = 1e-10  # the tolerance of a solution to rounding
_OUTSIDE = 1e-6  # of the threshold: what lies beyond is no rounding

Doubles = NDArray[np.float64]


class Stabilities(NamedTuple):
    """Stability of the three methods for each width."""

    rates: tuple[float, ...]
    by_decision: dict[float, ByMethod]  # as the paper: as many rows as 1-SVM rejects
    rejected: dict[float, Doubles]  # their share, at each nu
    nominal: dict[float, ByMethod]  # every method rejects the rate, by a threshold
    by_rank: dict[float, ByMethod]
    other_sets: list[ByMethod]  # sigma 5, by decision, other draws of the set
    flagged: dict[float, Doubles]  # rows of a half that the SVM's `predict` flags, at the least nu
    outside: dict[float, int]  # the most rows of a half that an exact solution leaves outside
    n_half: int

    def margin(self, sigma: float, *, over: str = SVM) -> Doubles:
        """How much more stable 1-PCM is, at each nu."""
        return self._margin(self.by_decision[sigma], over)

    def nominal_margin(self, sigma: float) -> Doubles:
        """The same where every method rejects the rate itself."""
        return self._margin(self.nominal[sigma], SVM)

    def _margin(self, found: ByMethod, over: str) -> Doubles:
        return np.asarray(found[PCM].mean - found[over].mean)

    @property
    def least_margin_of_other_sets(self) -> Doubles:
        """The least of it over the other draws of the set, at sigma 5."""
        return np.min([found[PCM].mean - found[SVM].mean for found in self.other_sets], axis=0)

    @property
    def farthest_from_kde(self) -> float:
        """The mean of 1-PCM less that of KDE, where they differ most."""
        return largest(np.concatenate([self.margin(s, over=KDE) for s in self.by_decision]))


def largest(differences: Doubles) -> float:
    """The difference that is farthest from zero, with its sign."""
    return float(differences[np.argmax(abs(differences))])


def measure(setting: Setting) -> Stabilities:
    """Split and fit."""
    rates = setting.pick(RATES, (0.01, 0.03, 0.1))
    sigmas = setting.pick(SIGMAS, SIGMAS[-1:])
    n_repeats, n_by_rank, n_other = setting.pick((500, 100, 100), (24, 6, 8))
    n_halves = setting.pick(200, 20)
    X, _ = make_gaussian_and_outliers(random_state=SEED)
    others = [
        make_gaussian_and_outliers(random_state=seed)[0] for seed in range(1, setting.pick(6, 2))
    ]
    common = {"rates": rates, "n_jobs": setting.n_jobs}
    decided = {
        s: by_decision(X, s, rates=rates, n_repeats=n_repeats, setting=setting) for s in SIGMAS
    }
    elsewhere = {"rates": rates, "n_repeats": n_other, "setting": setting}
    return Stabilities(
        rates,
        {s: stability for s, (stability, _) in decided.items()},
        {s: shares for s, (_, shares) in decided.items()},
        {s: compare(X, s, n_repeats=n_repeats, **common) for s in sigmas},
        {s: compare(X, s, n_repeats=n_by_rank, transfer="rank", **common) for s in sigmas},
        [by_decision(other, 5.0, **elsewhere)[0] for other in others],
        {s: _flagged(X, s, rates[0], n_halves) for s in SIGMAS},
        {s: _outside(X, s, rates[0], setting.pick(20, 4)) for s in SIGMAS},
        len(X) // 2,
    )


def compare(
    X: Doubles,
    sigma: float,
    *,
    rates: tuple[float, ...],
    n_repeats: int,
    n_jobs: int,
    transfer: str = "threshold",
) -> ByMethod:
    """The stability of the three methods, over the same splits."""
    return {
        name: outlier_stability(
            detector,
            X,
            rates=rates,
            rate_parameter=parameter,
            transfer=transfer,
            n_repeats=n_repeats,
            random_state=_SPLITS,
            n_jobs=n_jobs,
        )
        for name, (detector, parameter) in three(sigma).items()
    }


def _flagged(X: Doubles, sigma: float, nu: float, n_halves: int) -> Doubles:
    """How many rows of a random half `OneClassSVM.predict` flags."""
    halves = _halves(X, n_halves)
    return np.array([(svm(sigma, nu).fit_predict(half) < 0).sum() for half in halves], dtype=float)


def _outside(X: Doubles, sigma: float, nu: float, n_halves: int) -> int:
    """The most rows of a half that a solution to rounding leaves strictly outside."""
    counts = []
    for half in _halves(X, n_halves):
        model = svm(sigma, nu).set_params(tol=_EXACT).fit(half)
        counts.append((model.decision_function(half) < -_OUTSIDE * abs(model.offset_[0])).sum())
    return int(max(counts))


def _halves(X: Doubles, n_halves: int) -> list[Doubles]:
    rng = np.random.RandomState(_SPLITS)
    return [X[rng.permutation(len(X))[: len(X) // 2]] for _ in range(n_halves)]


# ---- the picture and the tables -----------------------------------------------------------------


def picture(found: Stabilities, setting: Setting) -> Path:
    """Boxes of the three methods, a panel for each width."""
    import matplotlib.pyplot as plt

    n_panels = len(found.by_decision)
    size = (7.5, 0.5 + 2.6 * n_panels)
    figure, axes = plt.subplots(n_panels, 1, figsize=size, layout="constrained", squeeze=False)
    for place, (sigma, results) in zip(axes.flat, found.by_decision.items(), strict=True):
        draw_boxes(place, {name: r.scores for name, r in results.items()}, found.rates)
        place.set(title=f"$\\sigma$ = {sigma:g}", ylim=(-0.03, 1.03))
        place.set(xlabel="nu of 1-SVM", ylabel="Jaccard index")
    one_legend(figure, axes.flat)
    return setting.save(figure, "figure_3")


def one_legend(figure: Any, axes: Iterable[Any]) -> None:
    """The legend of the first panel below all of them, instead of one in each."""
    legends = [place.get_legend() for place in axes]
    handles, names = legends[0].legend_handles, [text.get_text() for text in legends[0].get_texts()]
    for legend in legends:
        legend.remove()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)


def table(by_sigma: dict[float, ByMethod], rates: tuple[float, ...]) -> str:
    """Means, 1-SVM / 1-PCM / KDE in each cell."""
    header = ("sigma", *(f"{rate:g}" for rate in rates))
    rows = [(f"{sigma:g}", *cells(results)) for sigma, results in by_sigma.items()]
    return markdown_table(header, rows)


def table_of_rejected(found: Stabilities) -> str:
    """The share of the rows that `predict` of 1-SVM rejects."""
    header = ("sigma", *(f"nu = {rate:g}" for rate in found.rates))
    shares = found.rejected.items()
    rows = [(f"{sigma:g}", *(f"{share:.3f}" for share in by_nu)) for sigma, by_nu in shares]
    return markdown_table(header, rows)


def cells(results: Any) -> list[str]:
    """The means of the three methods at each setting."""
    columns = zip(*(results[name].mean for name in (SVM, PCM, KDE)), strict=True)
    return [" / ".join(f"{value:.2f}" for value in column) for column in columns]
