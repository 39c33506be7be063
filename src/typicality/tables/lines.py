"""Text files: unpacked, decoded, and read some megabytes of whole lines at a time."""

import codecs
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from typicality._words import counted
from typicality.exceptions import Remedy, TableError
from typicality.tables import base

LEGACY = "cp1252"  # Latin-1 as Windows writes it
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_LONGEST_LINE = 2**25  # letters; no row of a table has as many
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNUSED = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that are no letters of it
_FIRST_ESCAPE = 0xDC00  # of the letters that stand for bytes that are not text


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Any, BinaryIO]]:
    """The contents of a file as a stream of bytes, unpacked; and the file itself."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        if path.suffix.lower() == ".zip":
            try:
                yield _only_file_of(file, path.name), file
            except (BadZipFile, zlib.error) as error:
                raise OSError(str(error)) from error
            return
        codec = next((c for magic, c in _PACKED.items() if start.startswith(magic)), None)
        yield (pa.CompressedInputStream(pa.PythonFile(file, "r"), codec) if codec else file), file


def _only_file_of(file: BinaryIO, name: str) -> Any:
    """The file in an archive of one file; macOS adds files of its own."""
    archive = ZipFile(file)
    names = [n for n in archive.namelist() if not n.endswith("/") and not n.startswith("__MACOSX/")]
    if len(names) != 1:
        raise TableError(
            f"{name} is an archive of {counted(len(names), 'file')}, and one is needed. Unpack it, "
            "and name a file."
        )
    try:
        return archive.open(names[0])
    except RuntimeError as error:  # it needs a password
        raise OSError(str(error)) from error


class TextFile:
    """The lines of a text file, from :func:`open_text`.

    Attributes
    ----------
    source : str
        The name of the file in messages.
    line : int
        The number of the next line, from 1.
    """

    def __init__(self, stream: TextIO, file: BinaryIO, source: str, encoding: str) -> None:
        self._stream, self._file, self.source, self._encoding = stream, file, source, encoding
        self._size = max(1, os.fstat(file.fileno()).st_size)
        self.line = 1

    @property
    def fraction_read(self) -> float:
        """The fraction of the file that was read."""
        return min(1.0, self._file.tell() / self._size)

    def next_lines(self, size: int | None = None) -> str:
        """Whole lines of some megabytes, or of `size` letters; one line if `size` is 0.

        Empty at the end of the file.
        """
        text = ""
        try:
            text = self._stream.read(base.BLOCK_BYTES if size is None else size)
            text += self._stream.readline(_LONGEST_LINE) if text or size == 0 else ""
            self._require_text(text)
            text.encode()
        except UnicodeEncodeError as error:
            before = text[: error.start]
            begin = max(before.rfind("\n"), before.rfind("\r")) + 1
            at = len(before[begin:].encode(self._encoding)) + 1
            byte = ord(text[error.start]) - _FIRST_ESCAPE
            what = f"byte {at} of the line is 0x{byte:02x}"
            raise self._not_text(what, self.line + n_breaks(before)) from error
        except UnicodeError as error:
            raise self._not_text(getattr(error, "reason", str(error))) from error
        if len(text) >= _LONGEST_LINE:
            raise TableError(
                f"a line has more than {_LONGEST_LINE:,} letters. Choose a file with one row on "
                "each line.",
                source=self.source,
                line=self.line + n_breaks(text),
            )
        self.line += n_breaks(text)
        return text

    def _require_text(self, text: str) -> None:
        if "\0" in text:
            raise TableError(
                "this is not text: the line has bytes of value zero.",
                source=self.source,
                line=self.line + n_breaks(text[: text.index("\0")]),
                remedy=Remedy("format", None, "Choose a csv file, or name the format with {}."),
            )

    def _not_text(self, reason: str, line: int | None = None) -> TableError:
        other = LEGACY if self._encoding == "utf-8" else "latin-1"
        words = "Save the file with the encoding UTF-8, or name its encoding, e.g. with {}."
        return TableError(
            f"this is not text in the encoding {self._encoding}: {reason}.",
            source=self.source,
            line=line,
            remedy=Remedy("encoding", other, words),
        )


@contextmanager
def open_text(path: Path, source: str, encoding: str) -> Iterator[TextFile]:
    """The lines of a file; reading raises an error where they are not text in the encoding."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    # Bytes that are not text become letters of their own, which are found in all lines read.
    how: Any = {"encoding": codec, "errors": "surrogateescape", "newline": ""}
    with unpacked(path) as (contents, file), io.TextIOWrapper(contents, **how) as stream:
        yield TextFile(stream, file, source, encoding)


def n_breaks(text: str) -> int:
    """The number of line breaks in a text."""
    n_feeds = text.count("\n")
    return n_feeds + text.count("\r") - text.count("\r\n") if "\r" in text else n_feeds


def encoding_of(start: bytes, given: str | None) -> str:
    """The encoding of a text that begins with some bytes.

    A byte order mark of UTF-16 overrules the given encoding. By default, the encoding is UTF-8; or
    cp1252, if the bytes are not UTF-8 and no letter in them is one of UTF-8.
    """
    if start.startswith(_UTF16):
        return "utf-16"
    if given is not None:
        return given
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last letter may be cut off
        return "utf-8"
    except UnicodeDecodeError:
        is_legacy = start.decode(errors="ignore").isascii() and _UNUSED.isdisjoint(start)
        return LEGACY if is_legacy else "utf-8"


def normal_encoding(name: str) -> str:
    """The name of an encoding as Python has it; UTF-8 with and without a mark are one."""
    try:
        normal = codecs.lookup(name).name
        "a".encode(normal)  # some are no encodings of text
    except (LookupError, ValueError):
        raise TableError(
            f"encoding is {name!r}, which is unknown: pass the name of an encoding, e.g. "
            "'utf-8', 'cp1252' or 'utf-16'."
        ) from None
    return "utf-8" if normal in ("utf-8-sig", "ascii") else normal
