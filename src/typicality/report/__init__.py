"""One self-contained page about a fitted model and its rows."""

from typicality.report._report import Report

__all__ = ["Report"]
