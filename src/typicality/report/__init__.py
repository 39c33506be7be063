"""HTML reports of fitted models, each in one file."""

from typicality.report._report import Report

__all__ = ["Report"]
