"""``python -m typicality``: the command line."""

from typicality.cli import main

if __name__ == "__main__":
    main(prog_name="typicality")
