"""Options as they are typed."""

import json
from dataclasses import asdict

import click
import pytest
from click.testing import CliRunner

from typicality.cli.main import _COMMANDS, main
from typicality.cli.options import command, quoted, table_options


@command
@table_options
def tell(options):
    click.echo(json.dumps(asdict(options)))


@pytest.mark.parametrize(
    "names", [["a", "b"], ["size, in cm", "weight"], ['the "x"', '"y" of it']], ids=str
)
def test_names_with_commas_and_quotation_marks_are_quoted(names):
    done = CliRunner().invoke(tell, ["rows.csv", "-c", ",".join(map(quoted, names))])
    assert json.loads(done.stdout)["columns"] == names


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_command_has_at_most_thirty_options(name):
    command = main.get_command(click.Context(main), name)
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert len(options) <= 31  # with --debug, which every command has, as --help
    assert all(each.help for each in options)
