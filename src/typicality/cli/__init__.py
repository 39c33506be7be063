"""The command `typicality`: a file for each command holds its options, work and words.

What a command needs is imported when it runs: ``--help`` loads neither scikit-learn nor NumPy.
"""

from typicality.cli.main import main

__all__ = ["main"]
