"""The terminals of docs/first_minutes.md and docs/messy_files.md are true to what is printed."""

import importlib.util
import re
import shlex
from contextlib import chdir
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from typicality.cli import main

pytestmark = pytest.mark.xdist_group("recording")  # one run of the commands for all

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ["first_minutes.md", "messy_files.md"]


@pytest.fixture(scope="module")
def recording():
    found = importlib.util.spec_from_file_location("recording", DOCS / "make_recording.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    module._printed = partial(printed_here, module._printed)  # a process for each takes long
    return module


def printed_here(by_shell, command, folder):
    """What a command prints; ours run in this process."""
    program, *arguments = shlex.split(command)
    if program != "typicality":
        return by_shell(command, folder)
    with chdir(folder):
        done = CliRunner().invoke(main, arguments, env={"COLUMNS": "80", "NO_COLOR": "1"})
    return done.output.replace(str(folder), "/home/you")


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    return DOCS / request.param


@pytest.fixture(scope="module")
def folder(page, tmp_path_factory):
    return tmp_path_factory.mktemp(page.stem)


@pytest.fixture(scope="module")
def printed(recording, page, folder):
    """The page with all its commands run again in the folder."""
    return recording.recorded(page.read_text("utf-8"), folder)


def test_commands_print_what_the_page_says(recording, page, printed):
    said = page.read_text("utf-8")
    assert recording.without_seconds(printed) == recording.without_seconds(said)


@pytest.mark.usefixtures("printed")
def test_the_python_lines_say_what_they_give(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code = page.read_text("utf-8").split("```python\n")[1].split("```")[0]
    *lines, last = code.strip().splitlines()
    names = {}
    exec("\n".join(lines), names)
    expression, said = last.split("  # ")
    assert repr(eval(expression, names)) == said


def test_the_text_for_the_boss_has_the_numbers_of_the_output():
    _, *files = re.split(r"^## ", (DOCS / "messy_files.md").read_text("utf-8"), flags=re.MULTILINE)
    texts = {section: " ".join(re.findall(r"^> .*", section, re.MULTILINE)) for section in files}
    told = {section: text for section, text in texts.items() if text}
    assert len(told) == 3
    for section, text in told.items():
        printed = " ".join(re.findall(r"^```console\n(.*?)^```", section, re.DOTALL | re.MULTILINE))
        number = r"\d+(?:[.,]\d+)*"
        assert set(re.findall(number, text)) <= set(re.findall(number, printed))
