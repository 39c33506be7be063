"""Stability of outlier detection and of clusterings, by splitting the rows and fitting again."""
