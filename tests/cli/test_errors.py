"""Errors in one sentence, with an exit code."""

import sys

import click
import pytest
from click.testing import CliRunner

from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import command
from typicality.exceptions import ModelFileError, TableError


def fail_with(error, *arguments):
    """A command that does nothing but fail."""

    def fail(options):
        raise error

    return CliRunner().invoke(command(fail), list(arguments))


ERRORS = {
    "table": (TableError("rows.csv, line 3: bad. Correct it."), 3, "rows.csv, line 3: bad."),
    "model": (ModelFileError("x holds no model."), 3, "x holds no model."),
    "rows": (UnusableError("Too few rows."), 3, "Too few rows."),
    "exists": (FileExistsError("x exists already."), 4, "x exists already."),
    "no place": (OSError(28, "No space left on device"), 3, "no space left on device."),
    "memory": (MemoryError(), 3, "not enough memory"),
    "interrupt": (KeyboardInterrupt(), 130, "Interrupted; nothing was written."),
    "no permission": (
        PermissionError(13, "Permission denied", "/etc/.typicality-0a.tmp"),
        3,
        "the folder /etc: permission denied",
    ),
    "bug": (
        ZeroDivisionError("division by zero"),
        1,
        "bug in typicality: ZeroDivisionError: division by zero",
    ),
}


@pytest.mark.parametrize(("error", "code", "sentence"), ERRORS.values(), ids=ERRORS)
def test_errors_are_one_line_and_a_code(error, code, sentence):
    done = fail_with(error)
    assert done.exit_code == code
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_wrong_use_points_to_the_help():
    done = fail_with(WrongUseError("That means nothing."))
    assert done.exit_code == 2
    assert "--help" in done.stderr
    assert done.stderr.endswith("Error: That means nothing.\n")


@pytest.mark.parametrize("error", [ValueError("odd"), KeyboardInterrupt()])
def test_debug_lets_errors_through(error):
    with pytest.raises((type(error), click.Abort)):
        CliRunner().invoke(
            command(lambda options: (_ for _ in ()).throw(error)),
            ["--debug"],
            standalone_mode=False,
            catch_exceptions=False,
        )


def test_names_the_terminal_cannot_show_are_escaped():
    speak = command(lambda options: sys.stdout.write("größer \udcff\n"))
    done = CliRunner(charset="ascii").invoke(speak)
    assert done.exit_code == 0
    assert done.stdout == "gr\\xf6\\xdfer \\udcff\n"


def test_command_ends_when_the_estimator_refuses_the_rows(run, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
    done = run("cluster", tmp_path / "rows.csv", "-m", "fcm", "-k", 9, "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert "9" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
