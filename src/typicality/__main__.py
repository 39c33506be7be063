"""``python -m typicality``: the command line."""

import sys


def run() -> None:
    """Run the command line; an interrupt during imports also prints one line."""
    try:
        from typicality.cli import main

        main(prog_name="typicality")
    except KeyboardInterrupt:
        sys.stderr.write("Error: Interrupted; nothing was written.\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
