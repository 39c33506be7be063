"""What is printed, and how."""

import io
import json
import re
import sys

import pytest

from typicality._progress import advance
from typicality._words import for_people
from typicality.cli.console import (
    Terminal,
    numbers,
    percentages,
    rich_table,
    shown,
    shown_apart,
)
from typicality.compiled import small


class FakeTerminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def attach(monkeypatch):
    """A function that makes both streams terminals of sixty columns."""
    return lambda: _attach(monkeypatch)


def _attach(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stderr", FakeTerminal())
    monkeypatch.setattr(sys, "stdout", FakeTerminal())


WORDS = "a warning that goes on for quite some time, so that it does not fit one line of sixty"


def test_colours_on_a_terminal_and_lines_that_fit(attach):
    attach()
    Terminal().warn([WORDS])
    text = sys.stderr.getvalue()
    assert "\x1b[1;33mWarning: " in text
    assert all(len(line) <= 60 + 20 for line in text.splitlines())
    assert len(text.splitlines()) == 2


def test_no_colours_where_they_are_not_wanted(attach, monkeypatch):
    attach()
    monkeypatch.setenv("NO_COLOR", "1")
    Terminal().warn([WORDS])
    assert "\x1b[1;33m" not in sys.stderr.getvalue()
    assert "33" not in sys.stderr.getvalue()


def test_progress_is_shown_and_taken_away(attach):
    attach()
    with Terminal().doing("Reading [bold]rows.csv") as tell:
        tell("Fitting [red]rows")
    assert "Fitting [red]rows" in sys.stderr.getvalue()
    assert sys.stdout.getvalue() == ""


def test_counting_shows_the_share_that_is_done_and_the_time_left(attach):
    attach()
    with Terminal().counting("Judging [bold]rows", 4) as count:
        count(1)
    text = sys.stderr.getvalue()
    assert all(words in text for words in ("Judging [bold]rows", "25%", "left"))
    assert sys.stdout.getvalue() == ""


@pytest.mark.parametrize("quiet", [{"quiet": True}, {"quiet": True, "as_json": True}])
def test_quiet_terminal_prints_nothing(attach, quiet):
    attach()
    terminal = Terminal(**quiet)
    terminal.say("words")
    terminal.say_path("words ", "path")
    terminal.warn(["words"])
    with terminal.doing("words") as tell, terminal.counting("words", 2) as count:
        tell("more")
        count(1)
    assert sys.stdout.getvalue() + sys.stderr.getvalue() == ""


def test_no_progress_where_nobody_watches(capsys):
    with Terminal().doing("Reading") as tell, Terminal().counting("Judging", 2) as count:
        tell("more")
        count(1)
    assert capsys.readouterr() == ("", "")


def test_text_is_not_markup(capsys):
    Terminal().say("[bold]not bold[/] :smile:")
    assert capsys.readouterr().out == "[bold]not bold[/] :smile:\n"


def test_paths_are_never_broken(capsys):
    Terminal().say_path("Open: ", "/long" * 40)
    assert capsys.readouterr().out == f"Open: {'/long' * 40}\n"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("plain", "plain"),
        ("a\x1b[31m\nb", "a [31m b"),
        ("x" * 25 + "y" * 25, "x" * 20 + "…" + "y" * 19),
        (" a ", "a"),
    ],
)
def test_texts_of_a_file_are_made_harmless(text, printed):
    assert shown(text) == printed


def test_numbers_have_the_digits_that_tell_them_apart():
    assert numbers([0.36495, 0.25]) == ["0.3649", "0.2500"]
    assert numbers([0.364955943, 0.364955954]) == ["0.3649559", "0.3649560"]
    assert numbers([0.5, 0.5]) == ["0.5000", "0.5000"]


def test_width_of_nothing_is_no_width(attach, monkeypatch):
    attach()
    monkeypatch.setenv("COLUMNS", "0")
    Terminal().say("words")
    assert sys.stdout.getvalue() == "words\n"


HOSTILE = "a\x1b[8m\x1b]0;t\x07\x9b2J\u202eb\u2066\x7f\r"


def test_nothing_printed_can_command_a_terminal(attach):
    attach()
    terminal = Terminal()
    terminal.say(HOSTILE)
    terminal.say(rich_table([["name"], [HOSTILE]]))
    terminal.say_path("Written: ", f"{HOSTILE}\nError: forged")
    terminal.warn([HOSTILE])
    terminal.json({"name": HOSTILE})
    with terminal.doing(HOSTILE):
        pass
    printed = sys.stdout.getvalue() + sys.stderr.getvalue()
    assert not set("\x07\x9b\u202e\u2066\x7f") & set(printed)
    assert "\x1b]0" not in printed
    assert "\nError: forged" not in printed


def test_json_keeps_its_value_when_it_is_made_harmless(capsys):
    Terminal().json({"name": HOSTILE})
    assert json.loads(capsys.readouterr().out) == {"name": HOSTILE}


def test_names_are_cut_in_the_middle_and_never_look_alike():
    names = [f"pf_ss_disappearances_{end}" for end in ("disap", "violent", "organized")]
    short = shown_apart(names, 20)
    assert len(set(short.values())) == 3
    assert all("…" in text for text in short.values())
    same_ends = ["a" * 30 + "1" + "b" * 30, "a" * 30 + "2" + "b" * 30]
    assert len(set(shown_apart(same_ends, 20).values())) == 2


def test_numbers_are_written_for_people():
    assert [for_people(x) for x in (5047.3, 46.815, -1234567.0, 0.00123)] == [
        *("5,047", "46.81", "-1,234,567", "0.00123")
    ]


def test_percentages_have_the_digits_that_rows_allow_and_are_never_rounded_up():
    assert percentages([149 / 150, 0.5], 150) == ["99.3 %", "50.0 %"]
    assert percentages([1 - 1 / 53940], 53940) == ["99.998 %"]


def test_a_closed_pipe_is_left_to_the_caller(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Closed())
    terminal = Terminal()
    for say in (lambda: terminal.say("words"), lambda: terminal.say_path("at ", "here")):
        with pytest.raises(BrokenPipeError):
            say()


def test_a_bar_moves_on_a_terminal_and_never_back(attach):
    filled = []
    for share in (0.25, 0.5, 1.0):
        attach()
        with Terminal().fitting("Fitting 9 rows"):
            advance(share)
            advance(0.1)
        filled.append(bar(sys.stderr.getvalue()))
    assert 0 < filled[0] < filled[1] < filled[2]


def test_lines_above_a_bar_have_no_remains_of_it(attach):
    attach()
    with Terminal().fitting("Fitting 9 rows"):
        advance(0.5)
        small.announce()
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", sys.stderr.getvalue())
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip() and "\u2501" not in line]
    assert lines == [
        "Compiling code for a table of this size, once on this ",
        "machine; `typicality warm-up` compiles all code in advance.",
    ]


def bar(text):
    """The letters of a bar that are full, in the last frame that has one."""
    frame = [line for line in re.split(r"[\r\n]", text) if "\u2501" in line][-1]
    colour = re.search(r"\x1b\[38;[\d;]*m(\u2501+)", frame)
    return len(colour[1])
