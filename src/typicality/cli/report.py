"""`typicality report`: the page of a run, drawn anew."""

import click

from typicality.cli.options import command


@command
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("file", metavar="[FILE]", required=False)
@click.option(
    "--output",
    "-o",
    type=click.Path(),
    metavar="OUT.html",
    help="The file to write. [default: report.html in the folder of the run]",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def report(model: str, file: str | None, output: str | None, force: bool, quiet: bool) -> None:
    """Draw the report of a run anew.

    MODEL is the folder that `typicality cluster` or `typicality outliers` has written.

    The rows are read from the file the run was made from, or from FILE where that has moved.
    """
    from typicality.cli.reporting import report_on_run

    report_on_run(model, file, output=output, force=force, quiet=quiet)
