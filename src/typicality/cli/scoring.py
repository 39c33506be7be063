"""New rows through a model that was kept, block by block: what `typicality score` does."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from typicality._files import atomic_file
from typicality._typing import Doubles
from typicality._words import counted, share
from typicality.cli.console import Terminal
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.resources import within
from typicality.cli.run_folder import SavedRun, open_run, require_free
from typicality.cli.words import as_cells
from typicality.exceptions import ModelFileError
from typicality.fitted import column_names, view
from typicality.persistence import load
from typicality.tables import Block, TableFile, append_columns, open_table, rows_of


@dataclass(frozen=True)
class ScoreChoice:
    """What to score, and how.

    Parameters
    ----------
    model : str
        The folder of a run, or of a model.
    file : str
        The rows; "-" for standard input.
    output : str
        The csv file to write; "-" for standard output.
    format : str or None
        The format of the file, where its name does not tell.
    delimiter : str or None
        What stands between its cells, where a first look does not tell.
    header : bool or None
        Whether its first line names the columns, where a first look does not tell.
    missing : {"error", "drop", "median"} or None
        What to do with missing values; None for what the run did.
    force : bool
        Whether a file that is there is replaced.
    jobs : int or None
        The number of threads.
    memory : float or None
        Gigabytes of working memory.
    as_json : bool
        Whether the count of rows is printed as JSON.
    quiet : bool
        Whether nothing is printed but errors.
    """

    model: str
    file: str
    output: str
    format: str | None
    delimiter: str | None
    header: bool | None
    missing: str | None
    force: bool
    jobs: int | None
    memory: float | None
    as_json: bool
    quiet: bool


@dataclass
class Tally:
    """How many rows were scored.

    Parameters
    ----------
    n_rows : int, default=0
        All rows.
    n_nowhere : int, default=0
        Those that belong nowhere, or are outliers.
    n_left_out : int, default=0
        Those with missing values that were not judged.
    """

    n_rows: int = 0
    n_nowhere: int = 0
    n_left_out: int = 0


class Scorer:
    """A kept model that judges blocks of a file.

    Parameters
    ----------
    pipeline : Pipeline
        The steps "columns" and "model"; it is used up.
    missing : {"error", "drop", "median"}
        What to do with missing values.

    Attributes
    ----------
    model : estimator
        The fitted estimator.
    names : tuple of str
        The columns it needs.
    tally : Tally
        What it has counted so far.
    """

    def __init__(self, pipeline: Any, *, missing: str) -> None:
        self._scaler, self.model = pipeline["columns"], pipeline["model"]
        self.names = tuple(str(name) for name in self._scaler.feature_names_in_)
        del self._scaler.feature_names_in_  # blocks are arrays, their columns taken by name
        self._scaler.set_params(missing="median" if missing == "median" else "error")
        self._missing = missing
        self.tally = Tally()

    def cells(self, block: Block) -> dict[str, list[str]]:
        """What the model says of the rows of a block, as text; empty for rows it does not judge."""
        X = rows_of(block, self.names)
        missing = np.asarray(np.isnan(X).any(axis=1))
        if self._missing == "error" and missing.any():
            raise UnusableError(self._about_missing(block, X))
        kept = ~missing if self._missing == "drop" else np.full_like(missing, True)
        columns = self._columns(X[kept])
        flags = columns["outlier"] if "outlier" in columns else columns["label"] < 0
        self.tally.n_rows += len(X)
        self.tally.n_nowhere += int(np.count_nonzero(flags))
        self.tally.n_left_out += int(np.count_nonzero(~kept))
        return as_cells(columns, kept)

    def _columns(self, X: Doubles) -> dict[str, NDArray[Any]]:
        if len(X) == 0:
            return {name: np.empty(0) for name in column_names(self.model)}
        return view(self.model, self._scaler.transform(X)).columns

    def _about_missing(self, block: Block, X: Doubles) -> str:
        row, column = np.argwhere(np.isnan(X))[0]
        return (
            f"{block.source}, {block.place(int(row))}, column {self.names[column]!r}: the value is "
            "missing, and the run this model comes from had none; leave such rows unjudged with "
            "--missing drop, or fill in medians with --missing median."
        )


def score_file(choice: ScoreChoice) -> None:
    """Judge the rows of a file, in bounded memory, and write them with what was found."""
    if choice.as_json and choice.output == "-":
        raise WrongUseError("--json and the rows cannot both go to standard output; give --output.")
    terminal = Terminal(quiet=choice.quiet, as_json=choice.as_json)
    saved = open_run(Path(choice.model))
    with within(jobs=choice.jobs, memory=choice.memory):
        with terminal.doing(f"Loading {saved.model_folder}"):
            scorer = Scorer(load_pipeline(saved), missing=choice.missing or saved.missing)
        with (
            _stream(choice) as stream,
            _open(choice) as table,
            terminal.doing(f"Scoring {table.name}") as tell,
        ):
            _score(scorer, table, stream, tell)
    if choice.as_json:
        terminal.json({"output": choice.output, **asdict(scorer.tally)})
    if choice.output != "-":
        terminal.say(_summary(scorer.tally, scorer.model))
        terminal.say_path("Written: ", choice.output)


def _open(choice: ScoreChoice) -> TableFile:
    return open_table(
        choice.file, format=choice.format, delimiter=choice.delimiter, header=choice.header
    )


def load_pipeline(saved: SavedRun) -> Any:
    """The pipeline of a run.

    Raises
    ------
    ModelFileError
        The folder holds a model that was not made by the command line.
    """
    pipeline = load(saved.model_folder)
    steps = getattr(pipeline, "named_steps", {})
    if list(steps) != ["columns", "model"] or not hasattr(steps["columns"], "feature_names_in_"):
        raise ModelFileError(
            f"{saved.model_folder} holds a model that does not know the columns of a file; use it "
            "from Python with typicality.load, or make one with `typicality cluster`."
        )
    return pipeline


def _score(scorer: Scorer, table: TableFile, stream: TextIO, tell: Any) -> None:
    for block in table.blocks():
        append_columns(stream, block, scorer.cells(block), header=block.first_row == 0)
        n_rows = counted(scorer.tally.n_rows, "row")
        tell(f"Scored {n_rows} of {table.name}, {100 * table.fraction_read:.0f} %")


@contextmanager
def _stream(choice: ScoreChoice) -> Iterator[Any]:
    """Where the rows go: a file that appears when it is complete, or standard output."""
    if choice.output != "-":
        path = Path(choice.output)
        require_free(path, force=choice.force)
        with atomic_file(path, overwrite=choice.force) as stream:
            yield stream
        return
    stdout: Any = sys.stdout
    stdout.reconfigure(encoding="utf-8", newline="")
    try:
        yield stdout
    except KeyboardInterrupt:
        raise KeyboardInterrupt("Interrupted; the rows were written in part.") from None


def _summary(tally: Tally, model: Any) -> str:
    n_nowhere, some = tally.n_nowhere, tally.n_nowhere != 1
    belong = "belong nowhere" if some else "belongs nowhere"
    if hasattr(model, "score_samples"):
        belong = "are outliers" if some else "is an outlier"
    words = f"{counted(tally.n_rows, 'row')}; {n_nowhere:,} ({share(n_nowhere, tally.n_rows)})"
    words += f" {belong}."
    if tally.n_left_out:
        words += f" {counted(tally.n_left_out, 'row')} with missing values were not judged."
    return words
