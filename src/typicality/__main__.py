"""``python -m typicality``: the command line."""

import sys
from importlib.util import find_spec

_NEEDED = ("click", "rich", "pyarrow")  # the extra "cli"


def run() -> None:
    """Run the command line; an interrupt during imports also prints one line."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"Error: The command line needs {' and '.join(missing)}. Install what is missing with: "
            'pip install "typicality[cli]"\n'
        )
        sys.exit(1)
    try:
        from typicality.cli import main

        main(prog_name="typicality")
    except KeyboardInterrupt:
        sys.stderr.write("Error: Interrupted; nothing was written.\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
