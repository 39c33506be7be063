"""What `typicality demo` shows: one command on a real data set, and what to try next."""

import csv
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np

from typicality._files import atomic_file
from typicality._words import enumerated
from typicality.cli.console import Terminal
from typicality.cli.group import main
from typicality.cli.run_folder import REPORT, require_free


def show(output: str, *, force: bool) -> None:
    """Write the data, run the command, and say what to look at.

    Parameters
    ----------
    output : str
        The folder for the data and the results.
    force : bool
        Whether what is there is replaced.
    """
    folder = Path(output)
    file, results = folder / "iris.csv", folder / "iris-clusters"
    require_free(file, force=force)
    require_free(results, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    write_iris(file, overwrite=force)
    terminal = Terminal()
    terminal.say(
        "Iris: 150 flowers of three species, four lengths each. The species is a column of text, "
        "which takes no part: let us see whether the lengths tell the species apart."
    )
    arguments = ["cluster", str(file), "--output", str(results), *(["--force"] if force else [])]
    terminal.say_path("\n$ ", f"{shlex.join(['typicality', *arguments])}\n")
    hidden = ["--debug"] if click.get_current_context().params["debug"] else []
    main([*arguments, *hidden], prog_name="typicality", standalone_mode=False)
    terminal.say()
    terminal.say(_what_to_look_at(results / "labels.csv"))
    terminal.say("\nNext, you may try:")
    for line in _what_to_try(file, results):
        terminal.say_path("  ", line)
    terminal.say_path("\n", (results / REPORT).resolve())


def write_iris(path: Path, *, overwrite: bool) -> None:
    """Write Fisher's Iris, from scikit-learn, as csv with the species in words."""
    from sklearn.datasets import load_iris

    data: Any = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    with atomic_file(path, overwrite=overwrite) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*names, "species"])
        species = np.asarray(data.target_names)[data.target]
        writer.writerows([*row, name] for row, name in zip(data.data, species, strict=True))


def _what_to_look_at(labels: Path) -> str:
    """Which species each cluster holds, counted from the file the command has written."""
    with open(labels, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    words = []
    for label in sorted({row["label"] for row in rows} - {"-1"}, key=int):
        counts = Counter(row["species"] for row in rows if row["label"] == label)
        held = [f"{number} {species}" for species, number in counts.most_common()]
        words.append(f"cluster {label} holds {enumerated(held)}")
    return (
        f"What to look at: {'; '.join(words)}. In the report, look at the rows between two "
        "clusters: there the species are mixed up."
    )


def _what_to_try(file: Path, results: Path) -> list[str]:
    return [
        f"typicality cluster {shlex.quote(str(file))} --method sequential",
        f"typicality outliers {shlex.quote(str(file))} --rate 0.02",
        f"typicality score {shlex.quote(str(results))} {shlex.quote(str(file))} -o scored.csv",
        f"typicality compare {shlex.quote(str(file))}",
    ]
