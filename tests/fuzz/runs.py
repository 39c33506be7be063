"""Folders of runs: a run.json that was changed, and the commands that read it."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from click.testing import CliRunner
from hypothesis import strategies as st

from cli.conftest import group_lines
from fuzz.contract import Target, check_message
from fuzz.mutations import changed_bytes, changed_json, json_bytes
from typicality.cli import main
from typicality.cli.folder import RECORD

_COMMANDS = ["report", "score", "explain"]
_CODES = {0, 3, 4}  # done, unusable, exists already


def _invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@cache
def _run(command):
    """The folder of a run, and the file it was made from."""
    folder = Path(tempfile.mkdtemp(prefix="typicality-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rows = folder / "rows.csv"
    rows.write_text("\n".join(group_lines()) + "\n", encoding="utf-8")
    made = folder / "run"
    assert _invoke(command, rows, "-o", made).exit_code == 0
    return made, rows


@st.composite
def _changed_record(draw):
    command = draw(st.sampled_from(["cluster", "outliers"]))
    text = (_run(command)[0] / RECORD).read_bytes()
    if draw(st.integers(0, 4)) == 0:
        return command, draw(changed_bytes([text]))
    return command, json_bytes(draw(changed_json(json.loads(text))))


def _use(value, folder):
    """Let a command read a run with another record: a result, or one line and an exit code."""
    (made_by, record), command = value
    run, rows = _run(made_by)
    _copied(run, folder / "run", record)
    page = folder / "page.html"
    arguments = {
        "report": [folder / "run", "--force", "-o", page],
        "score": [folder / "run", rows, "-o", folder / "scores.csv", "--force"],
        "explain": [folder / "run", rows, "--line", 67],
    }
    done = _invoke(command, *arguments[command])
    assert done.exit_code in _CODES, (done.exit_code, done.output, done.exception)
    if done.exit_code:
        assert done.stderr.endswith("\n")
        check_message(done.stderr[:-1])
    else:
        lines = done.output.splitlines()
        assert all(line.isprintable() for line in lines), done.output
    return f"{command}: exit code {done.exit_code}"


def _copied(run, to, record):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(run, to)
    (to / RECORD).write_bytes(record)


TARGETS = {
    "run.json": Target(st.tuples(_changed_record(), st.sampled_from(_COMMANDS)), _use, ()),
}
