"""The lines of a text file, many at once: unpacked, as UTF-8, and hashed on the way."""

import codecs
import hashlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from typicality.exceptions import TableError
from typicality.tables import base

LONGEST_LINE = 2**24  # bytes
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")


class HashedFile(io.RawIOBase):
    """A file that is hashed as it is read, and knows how much of it was read."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._size = os.stat(path).st_size
        self._n_read = 0
        self.digest = hashlib.sha256()

    @property
    def fraction_read(self) -> float:
        """The part of the bytes that was read."""
        return self._n_read / self._size if self._size else 1.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._file.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:n_bytes])
        self._n_read += n_bytes
        return n_bytes

    def close(self) -> None:
        self._file.close()
        super().close()


def opened(path: Path, file: io.RawIOBase | None = None) -> Any:
    """A stream of the bytes of a file, unpacked where it is compressed."""
    with open(path, "rb") as plain:
        start = plain.read(4)
    codec = next((codec for magic, codec in _PACKED.items() if start.startswith(magic)), None)
    file = file or HashedFile(path)
    return file if codec is None else pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)


def encoding_of(start: bytes) -> str:
    """The encoding of a text, by the byte order mark that it begins with."""
    return next((name for mark, name in _ENCODINGS.items() if start.startswith(mark)), "utf-8")


class Lines:
    """Whole lines of a text file, a block of some megabytes at a time or one by one.

    Attributes
    ----------
    number : int
        How many lines were handed out. Who takes a block adds the number of its lines.
    fraction_read : float
        How much of the file the blocks up to this one are.
    file : HashedFile
        Where they come from.
    """

    def __init__(self, path: Path, name: str, encoding: str = "utf-8") -> None:
        self.file = HashedFile(path)
        self.number, self.fraction_read = 0, 1.0
        self._name, self._encoding = name, encoding
        self._stream = opened(path, self.file)  # kept: when it goes, it closes the file
        self._blocks = self._cut(filter(None, self._pieces(self._stream, encoding)))
        self._block, self._at = b"", 0

    def take(self) -> bytes:
        """The next block, or what is left of one; nothing at the end of the file."""
        try:
            rest = self._block[self._at :] or next(self._blocks, b"")
        except UnicodeDecodeError as error:
            raise self._undecodable(error) from error
        self._block, self._at = b"", 0
        return rest

    def __iter__(self) -> Iterator[str]:
        while block := self.take():
            self._block = block
            while self._at < len(self._block):
                line = _LINE.match(self._block, self._at)
                assert line is not None
                self._at = line.end()
                self.number += 1
                yield line[0].decode()

    @staticmethod
    def _pieces(stream: Any, encoding: str) -> Iterator[bytes]:
        if encoding == "utf-8-sig":
            stream.read(len(codecs.BOM_UTF8))
        decoder = codecs.getincrementaldecoder(encoding)() if encoding == "utf-16" else None
        while piece := stream.read(base.BLOCK_BYTES):
            yield piece if decoder is None else decoder.decode(piece).encode()
        if decoder is not None:
            yield decoder.decode(b"", True).encode()

    def _cut(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Blocks that end where a line ends."""
        rest, piece = b"", next(pieces, b"")
        while piece:
            self.fraction_read = min(self.file.fraction_read, 1.0)
            following = next(pieces, b"")
            # A carriage return at the very end may be the first half of an end of line.
            cut = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, -1)) + 1
            cut = cut if following else len(piece)
            if cut:
                block, rest = rest + piece[:cut], piece[cut:]
                block.decode()  # an error where it is not UTF-8
                yield block
            else:
                rest += piece
            if len(rest) > LONGEST_LINE:
                raise line_too_long(self._name)
            piece = following

    def _undecodable(self, error: UnicodeDecodeError) -> TableError:
        if self._encoding == "utf-16":
            return TableError(
                f"{self._name} is not UTF-16 text, though it begins so: {error.reason}. Save it "
                "with the encoding UTF-8."
            )
        before, byte = error.object[: error.start], error.object[error.start]
        line = self.number + len((before + b"?").splitlines())
        at = error.start - max(before.rfind(b"\n"), before.rfind(b"\r"))
        if line == 1 and self._encoding == "utf-8-sig":
            at += len(codecs.BOM_UTF8)
        return TableError(
            f"{self._name}, line {line}: byte {at} of the line is 0x{byte:02x}, which is not "
            "UTF-8. Save the file with the encoding UTF-8 (in a spreadsheet: 'CSV UTF-8').",
            line=line,
        )


def line_too_long(name: str) -> TableError:
    """An error about a line that no table has."""
    return TableError(
        f"{name} is not a table: it has a line longer than {LONGEST_LINE // 2**20} megabytes. "
        "Choose a file with one row a line."
    )
