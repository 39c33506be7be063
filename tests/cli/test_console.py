"""What is printed, and how."""

import io
import json
import sys
import threading

import pytest

from typicality.cli.console import Terminal, percentages, rich_table, shown_apart


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


@pytest.mark.parametrize("quiet", [{"quiet": True}, {"quiet": True, "as_json": True}])
def test_quiet_terminal_prints_nothing(attach, quiet):
    attach()
    terminal = Terminal(**quiet)
    terminal.say("words")
    terminal.say_path("words ", "path")
    terminal.warn(["words"])
    with terminal.doing("words") as tell, terminal.doing("words", 2) as count:
        tell(words="more")
        count(1)
    assert sys.stdout.getvalue() + sys.stderr.getvalue() == ""


def test_no_progress_where_nobody_watches(capsys):
    with Terminal().doing("Reading") as tell, Terminal().doing("Judging", 2) as count:
        tell(words="more")
        count(1)
    assert capsys.readouterr() == ("", "")


def test_a_file_of_messages_gets_a_line_each_minute(monkeypatch):
    class Stream(io.StringIO):
        def write(self, text):
            super().write(text)
            if "Judging" in text:
                written.set()

    written, n_before = threading.Event(), threading.active_count()
    monkeypatch.setattr(sys, "stderr", Stream())
    monkeypatch.setattr("typicality.cli.console._MINUTE", 0.01)
    with Terminal().doing("Reading", 2) as tell:
        tell(1, "Judging")
        assert written.wait(60)
    assert "Judging: 50 %, " in sys.stderr.getvalue()
    assert threading.active_count() == n_before


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
