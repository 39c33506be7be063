"""`typicality cluster`: the groups in a file."""

from typing import Any

import click

from typicality.cli.options import RunChoice, TableChoice, command, run_options, table_options

__all__ = ["cluster"]


@command
@table_options
@run_options
@click.option("--report/--no-report", default=True, help="Whether to write report.html.")
def cluster(table: TableChoice, run: RunChoice, **options: Any) -> None:
    """Find the groups in FILE, and how typical each row is."""
