"""`typicality demo`: a first look, on a real data set."""

import csv
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from typicality.cli.options import Options, command, force, option


@command
@option("--output -o DIR", "The folder for all files.", default="typicality-demo")
@force
def demo(options: Options) -> None:
    """Try typicality on a real data set.

    Writes Fisher's Iris data as a csv file, runs `typicality cluster` on it, and prints the path of
    the report.
    """
    from typicality.cli.console import Terminal
    from typicality.cli.folder import REPORT, require_free
    from typicality.cli.main import main

    folder = Path(str(options.output))
    file, results = folder / "iris.csv", folder / "iris-clusters"
    require_free(file, force=options.force)
    require_free(results, force=options.force)
    folder.mkdir(parents=True, exist_ok=True)
    write_iris(file, overwrite=options.force)
    terminal = Terminal()
    terminal.say(
        "Iris: 150 flowers of three species, with four measured lengths each. The "
        "species is a column of text and is not used: let us see whether the lengths "
        "separate the species."
    )
    arguments = ["cluster", str(file), "--output", str(results)]
    if options.force:
        arguments.append("--force")
    terminal.say_path("\n$ ", shlex.join(["typicality", *arguments]))
    terminal.say()
    hidden = ["--debug"] if click.get_current_context().params["debug"] else []
    main([*arguments, *hidden], prog_name="typicality", standalone_mode=False)
    terminal.say()
    terminal.say(
        "What to look at: which species each cluster holds, and the rows between two "
        "clusters, where the species are mixed."
    )
    # The command as it was called, if the shell does not find it by its name.
    found = Path(sys.argv[0]).name != "typicality" or shutil.which("typicality")
    program = "typicality" if found else sys.argv[0]
    terminal.say("\nNext, you may try:")
    for words in (
        ["cluster", str(file), "--method", "sequential"],
        ["outliers", str(file), "--rate", "0.02"],
        ["score", str(results), str(file), "-o", "scored.csv"],
        ["compare", str(file)],
    ):
        terminal.say_path("  ", shlex.join([program, *words]))
    terminal.say_path("\n", (results / REPORT).resolve())


def write_iris(path: Path, *, overwrite: bool) -> None:
    """Write Fisher's Iris, from scikit-learn, as csv with the species in words."""
    import numpy as np
    from sklearn.datasets import load_iris

    from typicality._files import atomic_file

    data: Any = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in data.feature_names]
    with atomic_file(path, overwrite=overwrite) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*names, "species"])
        species = np.asarray(data.target_names)[data.target]
        writer.writerows([*row, name] for row, name in zip(data.data, species, strict=True))
