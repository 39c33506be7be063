"""The command of a paper: `PYTHONPATH=papers python -m PAPER [--fast] [--output FOLDER]`."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import matplotlib as mpl

from regenerating.page import Page

__all__ = ["Setting", "regenerate"]

_PAPERS = Path(__file__).resolve().parents[1]
_DPI = 110  # pictures stay below 150 kB


@dataclass(frozen=True)
class Setting:
    """How a paper is regenerated.

    Parameters
    ----------
    folder : Path
        Where RESULTS.md goes, and the folder `figures`.
    fast : bool
        Fewer repetitions and draws: for tests, not for the page that is kept.
    n_jobs : int
        How many processes work side by side; numbers do not depend on it.
    """

    folder: Path
    fast: bool = False
    n_jobs: int = -1

    def pick(self, full: Any, fast: Any) -> Any:
        """One of two values, by whether the run is to be fast."""
        return fast if self.fast else full

    def save(self, figure: Any, name: str) -> Path:
        """Write a figure of matplotlib to the folder `figures`, and close it."""
        import matplotlib.pyplot as plt

        path = self.folder / "figures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=_DPI)
        plt.close(figure)
        return path


def regenerate(
    paper: str, make: Callable[[Setting], Page], arguments: Sequence[str] | None = None
) -> None:
    """Make a paper's page and figures, as the command line says."""
    parser = argparse.ArgumentParser(prog=f"python -m {paper}", description=f"Regenerate {paper}.")
    parser.add_argument("--fast", action="store_true", help="fewer repetitions, to papers/results")
    parser.add_argument("--output", type=Path, help="the folder to write to")
    parser.add_argument("--jobs", type=int, default=-1, help="processes side by side [all cores]")
    chosen = parser.parse_args(arguments)
    usual = _PAPERS / "results" / paper if chosen.fast else _PAPERS / paper
    setting = Setting(folder=chosen.output or usual, fast=chosen.fast, n_jobs=chosen.jobs)
    mpl.use("Agg")
    start = perf_counter()
    page = make(setting)
    setting.folder.mkdir(parents=True, exist_ok=True)
    target = setting.folder / "RESULTS.md"
    target.write_text(page.text, encoding="utf-8")
    for claim in page.claims:
        print(f"{claim.verdict}: {claim.place}: {claim.words}")
    print(f"{perf_counter() - start:.0f} s: {target}")
