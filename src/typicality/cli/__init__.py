"""The command `typicality`: one file a command, loaded when it is called.

Files named after a command hold only its options; what it does stands in plain modules beside them,
which are imported when the command runs: ``--help`` loads neither scikit-learn nor NumPy.
"""

from typicality.cli.group import main

__all__ = ["main"]
