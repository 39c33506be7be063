"""What was typed can be typed again."""

import json
from dataclasses import asdict
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from typicality.cli.main import _COMMANDS, main
from typicality.cli.options import Options, command, command_line, table_options


@command
@table_options
def tell(options):
    click.echo(json.dumps([command_line(), asdict(options)]))


def told(*arguments):
    done = CliRunner().invoke(tell, list(arguments))
    assert done.exit_code == 0, done.output
    words, choice = json.loads(done.stdout)
    return words[2:], Options(**choice)


@pytest.mark.parametrize(
    "arguments",
    [
        ("rows.csv", "--columns", "a,b", "--missing", "drop"),
        ("my file's $rows.csv", "--no-header", "--delimiter", ";"),
        ("rows.csv", "-c", '"size, in cm",weight'),
        ("rows.csv", "-c", '"the ""x"", in cm"', "--ignore", '"""y"" of it"'),
        ("-",),
    ],
    ids=" ".join,
)
def test_the_words_of_a_table_mean_the_same_again(arguments):
    words, choice = told(*arguments)
    assert told(*words) == (words, choice)


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_command_has_at_most_thirty_options(name):
    command = main.get_command(click.Context(main), name)
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert len(options) <= 31  # with --debug, which every command has, as --help
    assert all(each.help for each in options)


def test_a_file_that_begins_like_an_option_is_no_option_again():
    words, choice = told("--", "-rows.csv")
    _, again = told(*words)
    assert Path(again.file) == Path(choice.file)
