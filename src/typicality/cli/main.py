"""The group of commands; a command is imported when it is called or listed."""

from importlib import import_module
from typing import Any

import click

from typicality import __version__
from typicality._words import one_line
from typicality.cli.errors import failure, in_words

TYPED = "typicality.typed"  # a key of the context of click: the words after `typicality`
# In the order of a first acquaintance, which is how --help lists them.
_COMMANDS = (
    "demo",
    "cluster",
    "outliers",
    "score",
    "explain",
    "compare",
    "report",
    "warm-up",
)


class LazyGroup(click.Group):
    """A group whose command NAME is the object NAME of the module ``typicality.cli.NAME``.

    A hyphen in NAME is an underscore there.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        try:
            name = cmd_name.replace("-", "_")
            command: click.Command = getattr(import_module(f"typicality.cli.{name}"), name)
        except KeyboardInterrupt as error:
            raise failure(*in_words(error)) from error
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:  # what was typed, or found by a pattern of the shell
            error.message = one_line(error.message)  # type: ignore[misc]
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from typicality.cli.parameters import near_name

        ctx.meta[TYPED] = args
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            instead = near_name(args[0], _COMMANDS)
            raise click.UsageError(f"There is no command {args[0]!r}; {instead}", ctx) from error


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="For the options of a command, use for example: typicality cluster --help",
)
@click.version_option(__version__, "--version", message="typicality %(version)s")
def main() -> None:
    """Find clusters and outliers in a file, and how typical each row is.

    Files may be csv, tsv, ndjson, json, parquet, arrow, npy or spreadsheets; - is standard input.
    """
