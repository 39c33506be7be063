"""Scores, p-values, reasons and checks of rows."""
