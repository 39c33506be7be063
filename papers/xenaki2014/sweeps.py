"""The number of clusters along lambda on Iris, Wine and S2: a table and a picture."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from regenerating import Claim, Page, Setting, Verdict, markdown_table
from typicality import SequentialPCM
from typicality.metrics import rand_score
from xenaki2014.data import LOADERS
from xenaki2014.estimators import PaperSeqSAPCM
from xenaki2014.printed import TABLES, Row

__all__ = ["Sweep", "report"]

_CRUDE = 3.0  # a parameter may be called crude where a factor of three does no harm
_LARGE_FACTOR = 100
_P = 0.5
_OURS = "SeqSAPCM"
_BLUE, _ORANGE = "#0072B2", "#D55E00"

_TEXT = """## Lambda

SeqSAPCM was fitted at {n_values} values of λ. The last column shows what
`SequentialPCM(lam="auto")` chooses. On S2, the right number of clusters is found in a narrow range
of λ. With larger λ the number falls to zero."""


class Step(NamedTuple):
    """What a value of lambda gives: the number of clusters, and the largest spread."""

    lam: float
    n_clusters: int
    largest_spread: float


class Sweep(NamedTuple):
    """A data set along lambda, and the model that chose lambda itself."""

    row: Row
    steps: list[Step]
    automatic: SequentialPCM

    def window(self) -> tuple[float, float]:
        """The run of values around the paper's that give the paper's number."""
        near = np.argmin([abs(np.log(step.lam / self.row.lam)) for step in self.steps])
        first = last = int(near)
        while first > 0 and self.steps[first - 1].n_clusters == self.row.m_final:
            first -= 1
        while last + 1 < len(self.steps) and self.steps[last + 1].n_clusters == self.row.m_final:
            last += 1
        return self.steps[first].lam, self.steps[last].lam

    def collapse(self) -> tuple[Step, Step]:
        """The last value of lambda with clusters, and the next, without."""
        empty = next(i for i, step in enumerate(self.steps) if step.n_clusters == 0)
        return self.steps[empty - 1], self.steps[empty]


def _step(task: tuple[str, float]) -> Step:
    name, lam = task
    X, _ = LOADERS[name]()
    model = PaperSeqSAPCM(lam=lam, assign="all").fit(X)
    return Step(lam, int(model.n_clusters_), float(np.max(model.eta_, initial=0.0)))


def _sweep(name: str, setting: Setting, n_values: int) -> Sweep:
    X, _ = LOADERS[name]()
    row = next(r for rows in TABLES.values() for r in rows if (r.data, r.method) == (name, _OURS))
    automatic = SequentialPCM(assign="all").fit(X)
    path = automatic.lambda_path_
    lams = np.geomspace(path.lam[0], path.lam[-1], n_values).tolist()
    return Sweep(row, setting.each(_step, [(name, lam) for lam in lams]), automatic)


def report(page: Page, setting: Setting, names: Iterable[str]) -> None:
    """The table, the picture, and the claims on lambda."""
    n_values = setting.pick(60, 16)
    sweeps = {name: _sweep(name, setting, n_values) for name in names}
    page.say(_TEXT.format(n_values=n_values))
    header = ("", "λ, m in the paper", "m: range of λ, from the paper's start")
    header += ('λ, m, RM by `lam="auto"`',)
    page.say(markdown_table(header, [_line(name, sweep) for name, sweep in sweeps.items()]))
    page.show(setting.save(_picture(sweeps), "sweeps"), "The number of clusters along lambda")
    page.judge(_crude(sweeps))
    page.judge(_collapse(sweeps))


def _line(name: str, sweep: Sweep) -> tuple[str, ...]:
    model, row = sweep.automatic, sweep.row
    rand = 100 * rand_score(LOADERS[name]()[1], model.labels_)
    chosen = f"{model.lam_:.2g}, {model.n_clusters_}, {rand:.2f}"
    return name, f"{row.lam}, {row.m_final}", _runs(sweep.steps), chosen


def _runs(steps: list[Step]) -> str:
    """The numbers of clusters, each with the values of lambda that give it."""
    runs = [(m, list(run)) for m, run in groupby(steps, key=lambda step: step.n_clusters)]
    return "; ".join(f"{m}: {run[0].lam:.2g}-{run[-1].lam:.2g}" for m, run in runs)


def _crude(sweeps: dict[str, Sweep]) -> Claim:
    windows = {name: sweep.window() for name, sweep in sweeps.items()}
    widths = {name: high / low for name, (low, high) in windows.items()}
    evidence = "SeqSAPCM finds the right number of clusters for λ from " + ", ".join(
        f"{low:.2g} to {high:.2g} on {name} (a factor of {_factor(widths[name])})"
        for name, (low, high) in windows.items()
    )
    n_wide = sum(width >= _CRUDE for width in widths.values())
    verdict = Verdict.HOLDS if n_wide == len(widths) else Verdict.FAILS
    words = "a crude estimate of the single parameter λ is enough"
    return Claim("abstract, λ", words, verdict, evidence)


def _factor(width: float) -> str:
    return f"{width:,.0f}" if width >= _LARGE_FACTOR else f"{width:.1f}"


def _collapse(sweeps: dict[str, Sweep]) -> Claim:
    """Beyond eta / (e p (1 - p)) all memberships are zero; in practice they are long before."""
    bound = 1 / (np.e * _P * (1 - _P))
    shares = {}
    for name, sweep in sweeps.items():
        last, empty = sweep.collapse()
        shares[name] = empty.lam / last.largest_spread
    evidence = (
        f"by theory all memberships are zero above λ = {bound:.2f} η; in our fits the last cluster "
        "vanishes at λ / η = "
    )
    evidence += ", ".join(f"{share:.2f} on {name}" for name, share in shares.items())
    holds = max(shares.values()) <= bound
    words = "above some value of λ, no row is compatible with any cluster"
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Claim("section 2, sparsity", words, verdict, evidence)


# ---- picture ------------------------------------------------------------------------------------


def _picture(sweeps: dict[str, Sweep]) -> Figure:
    figure = Figure(figsize=(8, 3.2 * len(sweeps)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(sweeps), 1))
    for ax, (name, sweep) in zip(axes, sweeps.items(), strict=True):
        _draw(ax, name, sweep)
    return figure


def _draw(ax: Any, name: str, sweep: Sweep) -> None:
    path = sweep.automatic.lambda_path_
    ax.step(path.lam, path.n_clusters, where="mid", color=_BLUE, label='path of lam="auto"')
    ax.plot(path.lam, path.n_clusters, ".", color=_BLUE)
    ax.set(xscale="log", xlabel="lambda")
    ax.set_ylabel("clusters", color=_BLUE)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    index_ax = ax.twinx()
    finite = np.isfinite(path.index)
    index_ax.plot(path.lam[finite], path.index[finite], color=_ORANGE)
    index_ax.set_ylabel(path.criterion, color=_ORANGE)
    chosen = path.lam[path.chosen]
    ax.axvline(chosen, color="0.5", lw=1, ls="--")
    lams: NDArray[np.float64] = np.array([step.lam for step in sweep.steps])
    counts = np.array([step.n_clusters for step in sweep.steps])
    ax.step(lams, counts, where="mid", color="0.6", lw=1, zorder=0, label="each λ on its own")
    ax.plot(sweep.row.lam, sweep.row.m_final, "k*", markersize=11, label="paper")
    found = path.n_clusters[path.chosen]
    ax.set_title(f"{name}: {found} clusters at lambda = {chosen:.3g}")
    highest = max(counts.max(), path.n_clusters.max())
    ax.set_ylim(0, 1.1 * highest + 0.5)
    # On the upper of the two axes, so that no line crosses it.
    index_ax.legend(handles=ax.get_legend_handles_labels()[0], loc="lower left", fontsize=8)
