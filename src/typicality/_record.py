"""The record of a run of the command line, run.json: how a model was made, and what was found."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typicality.exceptions import ModelFileError

MODEL, RECORD = "model", "run.json"
MODEL_FILES = ("model.json", "model.skops")  # what the folder of a model holds
RECORD_FORMAT = 2
_LARGEST = 2**26  # bytes


def read_record(path: Path) -> dict[str, Any]:
    """The record of a run, of a format that is known, as it was written.

    Raises
    ------
    ModelFileError
        The file is no such record.
    """
    found = read_json(path)
    if found.get("format") != RECORD_FORMAT or found.pop("checksum", None) != checksum(found):
        raise ModelFileError(
            f"{path.name} is not a record that this version of typicality can read, or was changed "
            "after the run; make the run again"
        )
    return found


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON, with a checksum."""
    document = {**record, "checksum": checksum(record)}
    text = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
    # Names of files may hold bytes that are no text; they are kept as they are.
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def checksum(record: Mapping[str, Any]) -> int:
    """A number that is another one where a record has another content."""
    return zlib.crc32(json.dumps(record, sort_keys=True).encode())


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of JSON that may come from anybody."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise ValueError("it is not a regular file, or larger than any record")
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(f"{path.name} cannot be read ({reason})") from error
    return found
