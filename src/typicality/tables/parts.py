"""Several files with the same columns as one table."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import types

from typicality._words import shown, shown_path
from typicality.exceptions import TableError
from typicality.tables.arrow import ArrowTable
from typicality.tables.base import Block, TableFile
from typicality.tables.cells import is_numeric
from typicality.tables.delimited import DelimitedFile
from typicality.tables.sniffing import TextSettings, refuse_duplicates

JOINED_FORMATS = ("csv", "tsv", "ndjson", "parquet", "arrow", "npy")


class JoinedTable(TableFile):
    """Several files as one table, one after the other.

    Rows are counted over all files; errors name the file, and the line or row in it.

    Parameters
    ----------
    parts : sequence of TableFile
        The tables, in order, with the same columns in the same order.
    sizes : sequence of int
        The bytes of each file.
    **options : dict
        What every :class:`TableFile` takes.
    """

    def __init__(self, parts: Sequence[TableFile], sizes: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self._parts, self._sizes = list(parts), list(sizes)
        first = self._parts[0]
        self.names, self.delimiter = first.names, getattr(first, "delimiter", "")
        self.decimal, self.decimal_is_given = first.decimal, first.decimal_is_given
        self.decimals_differ = any(part.decimals_differ for part in self._parts)
        self._note()

    def _read(self) -> Iterator[Block]:
        n_before, read, total = 0, 0, max(sum(self._sizes), 1)
        digest = hashlib.sha256()
        for part, size in zip(self._parts, self._sizes, strict=True):
            part.decimal = self.decimal
            n_rows = 0
            for block in part._read():
                self.fraction_read = (read + part.fraction_read * size) / total
                n_rows += block.n_rows
                block.first_row, block.is_part = block.first_row + n_before, True
                yield block
            digest.update(part._digest.digest())
            n_before, read = n_before + n_rows, read + size
        self._digest = digest
        self._note()

    def settings(self) -> dict[str, Any]:
        found = self._parts[0].settings()
        return found | ({"decimal": self.decimal, "encoding": None} if found else {})

    def _note(self) -> None:
        """Take over what was found out about the files."""
        encodings = {part.encoding for part in self._parts}
        self.encoding = encodings.pop() if len(encodings) == 1 else None
        found = (sentence for part in self._parts for sentence in part.assumed)
        self.assumed = list(dict.fromkeys([*self.assumed, *found]))


def join_tables(
    paths: Sequence[Path],
    open_one: Callable[..., TableFile],
    text: TextSettings,
    **options: Any,
) -> TableFile:
    """Open several files of one format as one table.

    Parameters
    ----------
    paths : sequence of Path
        The files, in order.
    open_one : callable
        Opens one of them, by its path, the settings for text files, and `name` and `format`.
    text : TextSettings
        The settings for text files.
    **options : dict
        What every :class:`TableFile` takes.

    Raises
    ------
    TableError
        A file has other columns, or is written in another way; the message names it.
    """
    format = options["format"]
    filled = [path for path in paths if path.stat().st_size > 0]
    if not filled:
        raise TableError(f"{options['name']}: all files are empty. Choose files with rows.")
    parts: list[TableFile] = []
    for path in filled:
        part = open_one(path, text, name=shown_path(path), format=format)
        parts.append(part)
        if isinstance(part, DelimitedFile):  # the first file decides how all are written
            text = part.settings_for_others(text)
    if format in ("parquet", "arrow"):
        _unify_types(parts)
    else:
        for part in parts[1:]:
            _require_alike(parts[0], part)
    joined = JoinedTable(parts, [path.stat().st_size for path in filled], **options)
    n_empty = len(paths) - len(filled)
    if n_empty:
        empty = next(path for path in paths if path not in filled)
        more = f" and {n_empty - 1:,} more" if n_empty > 1 else ""
        joined.assumed.append(f"empty files skipped: {shown_path(empty)}{more}")
    return joined


def _require_alike(first: TableFile, part: TableFile) -> None:
    for name in sorted(set(first.names) ^ set(part.names)):
        lacking = part if name in first.names else first
        raise _unlike(lacking.name, name, "is missing")
    for here, there in zip(part.names, first.names, strict=True):
        if here != there:
            raise _unlike(part.name, here, f"is where the others have {shown(there)}")
    if part.decimal != first.decimal:
        commas, points = (part, first) if part.decimal == "," else (first, part)
        raise TableError(
            f"{commas.name} seems to have decimal commas, and {points.name} does not. If "
            "all files have decimal commas, set decimal=','; if none has, set decimal='.'."
        )


def _unify_types(parts: Sequence[Any]) -> None:
    """Let all parts have the columns of the first, in types that hold the values of all."""
    tables: Sequence[ArrowTable] = parts
    first = tables[0]
    for part in tables:
        refuse_duplicates(part.schema.names, part.name)
    common = dict(zip(first.schema.names, first.schema.types, strict=True))
    for part in tables[1:]:
        schema = part.schema
        for name in sorted(set(common) ^ set(schema.names)):
            raise _unlike((part if name in common else first).name, name, "is missing")
        for name, before in common.items():
            here = schema.field(name).type
            common[name] = _common_type(before, here)
            if common[name] is None:
                raise _unlike(part.name, name, f"is of type {here}, not {before}")
    joined = pa.schema(list(common.items()))
    for part in tables:
        part.read_as(joined)


def _common_type(one: Any, other: Any) -> Any:
    """The type that holds the values of two; None where only text could."""
    kinds = {one, other} - {pa.null()} or {pa.null()}
    if len(kinds) == 1:
        return kinds.pop()
    if all(map(types.is_integer, kinds)) and pa.uint64() not in kinds:
        return pa.int64()
    if all(map(is_numeric, kinds)):
        return pa.float64()
    return pa.large_string() if kinds == {pa.string(), pa.large_string()} else None


def _unlike(source: str, column: str, what: str) -> TableError:
    return TableError(
        f"{source} differs from the other files: column {shown(column)} {what}. Write "
        "all files with the same columns and types.",
        column=column,
    )
