"""The lines of a text file, many at once: unpacked, as UTF-8, and hashed on the way."""

import codecs
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from typicality.exceptions import TableError
from typicality.tables import base

LONGEST_LINE = 2**24  # bytes
LEGACY = "cp1252"  # Latin-1 as Windows writes it
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


class HashedFile(io.FileIO):
    """A file that is hashed as it is read, and knows how much of it was read.

    Attributes
    ----------
    codec : str or None
        How it is compressed.
    contents : stream
        What it holds, unpacked.
    digest : hash object
        The hash of the bytes that were read.
    fraction_read : float
        The part of the bytes that was read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._size = os.fstat(self.fileno()).st_size
        start = super().read(4) or b""
        self.seek(0)
        found = (codec for magic, codec in _PACKED.items() if start.startswith(magic))
        self.codec = next(found, None)
        # Kept as long as the file, which it closes when it goes.
        self.contents: Any = self
        if self.codec:
            self.contents = pa.CompressedInputStream(pa.PythonFile(self, "r"), self.codec)
        self.digest = hashlib.sha256()

    @property
    def fraction_read(self) -> float:
        return self.tell() / self._size if self._size else 1.0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size) or b""
        self.digest.update(data)
        return data


class TextBlock(NamedTuple):
    """Whole lines of a file as UTF-8, and where they are.

    `n_before` is the number of lines before them, `fraction_read` how much of the file was read
    with them, and `is_last` whether nothing follows. `encoding` is that of the file, as far as it
    is known by then.
    """

    data: bytes
    n_before: int
    fraction_read: float
    is_last: bool
    encoding: str = "utf-8"


def text_blocks(file: HashedFile, name: str, encoding: str | None = "utf-8") -> Iterator[TextBlock]:
    """The lines of a file, some megabytes at a time; an error where it is not text.

    A byte order mark of UTF-16 overrules the encoding. Where that is None, text that is not UTF-8
    is taken for :data:`LEGACY`, if all letters before it are ASCII.
    """
    pieces = filter(None, _pieces(file.contents, name, encoding or "utf-8"))
    found, is_ascii = "utf-8", True
    n_before, rest, piece = 0, b"", next(pieces, b"")
    while piece:
        fraction = min(file.fraction_read, 1.0)
        following = next(pieces, b"")
        # A carriage return at the very end may be the first half of an end of line.
        cut = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1 if following else len(piece)
        rest += piece[:cut]
        if cut:
            try:
                is_ascii = len(rest.decode(found)) == len(rest) and is_ascii
            except UnicodeDecodeError as error:
                if encoding is not None or not is_ascii or not is_legacy(rest):
                    raise _not_utf8(error, n_before, name) from error
                found = LEGACY
            if found == LEGACY:
                rest = rest.decode(LEGACY).encode()
            # Several times as quick as `rest.count`, which stops at each of them.
            n_lines = int(np.count_nonzero(np.frombuffer(rest, np.uint8) == ord("\n")))
            if b"\r" in rest:
                n_lines += rest.count(b"\r") - rest.count(b"\r\n")
            data = rest if n_before else rest.removeprefix(codecs.BOM_UTF8)
            yield TextBlock(data, n_before, fraction, not following, found)
            n_before, rest = n_before + n_lines, b""
        rest += piece[cut:]
        if len(rest) > LONGEST_LINE:
            raise line_too_long(name)
        piece = following


def _pieces(stream: Any, name: str, encoding: str) -> Iterator[bytes]:
    """The bytes of a stream as UTF-8, with a byte order mark where it has one."""
    start = stream.read(4)
    piece = start + stream.read(max(0, base.BLOCK_BYTES - len(start)))
    if is_utf16(start):
        encoding = "utf-16"
    if encoding == "utf-8":
        while piece:
            yield piece
            piece = stream.read(base.BLOCK_BYTES)
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while piece:
            yield decoder.decode(piece).encode()
            piece = stream.read(base.BLOCK_BYTES)
        yield decoder.decode(b"", True).encode()
    except UnicodeError as error:
        reason = getattr(error, "reason", str(error))
        if is_utf16(start):
            raise TableError(
                f"{name} begins like UTF-16 text, but is not: {reason}. Save it with the "
                "encoding UTF-8."
            ) from error
        raise TableError(
            f"{name} is not text in the encoding {encoding}: {reason}. Name another encoding, e.g. "
            "encoding='latin-1'."
        ) from error


def is_utf16(start: bytes) -> bool:
    """Whether a text begins with a byte order mark of UTF-16."""
    return start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def is_legacy(data: bytes) -> bool:
    """Whether text that is not UTF-8 may be :data:`LEGACY`: no letter in it is one of UTF-8."""
    try:
        data.decode(LEGACY)
    except UnicodeDecodeError:
        return False
    return data.decode(errors="ignore").isascii()


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


def _not_utf8(error: UnicodeDecodeError, n_before: int, name: str) -> TableError:
    before, byte = error.object[: error.start], error.object[error.start]
    line = n_before + len((before + b"?").splitlines())
    at = error.start - max(before.rfind(b"\n"), before.rfind(b"\r"))
    return TableError(
        f"{name}, line {line}: byte {at} of the line is 0x{byte:02x}, which is not "
        "UTF-8. Save the file with the encoding UTF-8 (in a spreadsheet: 'CSV UTF-8'), or name the "
        "encoding of a csv file, e.g. encoding='cp1252'.",
        line=line,
    )


def line_too_long(name: str) -> TableError:
    """An error about a line that no table has."""
    return TableError(
        f"{name} is not a table: it has a line longer than {LONGEST_LINE // 2**20} "
        "megabytes. Choose a file with one row per line."
    )
