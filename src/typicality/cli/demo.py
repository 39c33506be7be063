"""`typicality demo`: a first look, on a real data set."""

import click

from typicality.cli.options import command


@command
@click.option(
    "--output", "-o", default="typicality-demo", metavar="DIR", help="The folder for everything."
)
@click.option("--force", is_flag=True, help="Replace what an earlier demo has left there.")
def demo(output: str, force: bool) -> None:
    """Take a first look, on a real data set.

    Writes Fisher's Iris as a csv file, runs `typicality cluster` on it, and ends with the path of
    the report.
    """
    from typicality.cli.first_look import show

    show(output, force=force)
