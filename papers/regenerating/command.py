"""The command of a paper: `PYTHONPATH=papers python -m PAPER [--fast] [--output FOLDER]`."""

import argparse
import shutil
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeVar

import matplotlib as mpl
from joblib import Parallel, delayed
from PIL import Image
from threadpoolctl import threadpool_limits

from regenerating.page import Page

__all__ = ["Setting", "regenerate"]

_PAPERS = Path(__file__).resolve().parents[1]
_DPI, _N_COLOURS = 110, 256  # pictures stay below 150 kB

Item = TypeVar("Item")
Value = TypeVar("Value")


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

    def each(self, work: Callable[[Item], Value], items: Iterable[Item]) -> list[Value]:
        """What `work` returns for each item, side by side, each on one thread.

        Work and items go to other processes: functions of a module, not those within a function.
        Warnings that are ignored here are ignored there.
        """
        one = partial(_on_one_thread, work, list(warnings.filters))
        return list(Parallel(self.n_jobs)(delayed(one)(item) for item in items))

    def save(self, figure: Any, name: str) -> Path:
        """Write a figure of matplotlib to the folder `figures`, and close it."""
        import matplotlib.pyplot as plt

        path = self.folder / "figures" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn = BytesIO()
        figure.savefig(drawn, dpi=_DPI)
        plt.close(figure)
        Image.open(drawn).convert("RGB").quantize(_N_COLOURS).save(path, optimize=True)
        return path


def _on_one_thread(work: Callable[[Item], Value], filters: list[Any], item: Item) -> Value:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filters[:] = filters  # type: ignore[index]
        return work(item)


def regenerate(
    paper: str, make: Callable[[Setting], Page], arguments: Sequence[str] | None = None
) -> None:
    """Make a paper's page and figures, as the command line says.

    The page that is kept stays as it is where the new one lacks something.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {paper}", description=f"Regenerate {paper}.")
    parser.add_argument("--fast", action="store_true", help="fewer repetitions, to papers/results")
    parser.add_argument("--output", type=Path, help="the folder to write to")
    parser.add_argument("--jobs", type=int, default=-1, help="processes side by side [all cores]")
    chosen = parser.parse_args(arguments)
    mpl.use("Agg")
    start = perf_counter()
    with TemporaryDirectory() as staging:
        setting = Setting(folder=Path(staging), fast=chosen.fast, n_jobs=chosen.jobs)
        page = make(setting)
        kept = not chosen.fast and not page.lacking
        usual = _PAPERS / paper if kept else _PAPERS / "results" / paper
        target = _publish(page, setting.folder, chosen.output or usual)
    for claim in page.claims:
        print(f"{claim.verdict}: {claim.place}: {claim.words}")
    for words in page.lacking:
        print(f"Left out, so that the page that is kept stays as it is: {words}")
    print(f"{perf_counter() - start:.0f} s: {target}")


def _publish(page: Page, made: Path, folder: Path) -> Path:
    """Put the page and its figures in place of those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "figures", ignore_errors=True)
    if (made / "figures").exists():
        shutil.copytree(made / "figures", folder / "figures")
    target = folder / "RESULTS.md"
    target.write_text(page.text, encoding="utf-8")
    return target
