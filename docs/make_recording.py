"""Write what the commands of recorded pages print into these pages: python docs/make_recording.py.

The pages are first_minutes.md and messy_files.md.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = [DOCS / "first_minutes.md", DOCS / "messy_files.md"]
_SCRIPT = DOCS / "messy_files.py"  # one of the pages runs it
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_SECONDS = re.compile(r"\b\d+(\.\d+)? s\b")


def recorded(page: str, folder: Path) -> str:
    """The page with every command run again, in a folder of its own."""
    shutil.copy(_SCRIPT, folder)
    return _BLOCK.sub(lambda block: _session(block[0], folder), page)


def without_seconds(page: str) -> str:
    """The page but for what differs from machine to machine; lines may break elsewhere then."""
    return " ".join(_SECONDS.sub("N s", page).split())


def _session(block: str, folder: Path) -> str:
    command = block.splitlines()[0]  # one in each block: demos print commands, too
    return f"{command}\n{_printed(command.removeprefix('$ '), folder)}"


def _printed(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,  # some commands are there to show what a mistake leads to
    )
    return done.stdout.replace(str(folder), "/home/you")


def main() -> None:
    """Write the pages again."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(recorded(page.read_text(), Path(folder).resolve()))


if __name__ == "__main__":
    main()
