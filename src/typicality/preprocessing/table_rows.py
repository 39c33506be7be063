"""The rows of a table as a fitted step takes them: numbers, ranks and categories by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._cached import cached_property
from typicality._typing import Doubles, Places
from typicality.preprocessing.mixed import ranks_of
from typicality.tables import Block, categories_of, rows_of


def column_names(scaler: Any) -> list[str]:
    """The columns that the step of a model knows; a scaler of arrays then forgets them."""
    names = [str(name) for name in scaler.feature_names_in_]
    if not hasattr(scaler, "kinds_"):
        del scaler.feature_names_in_  # rows are arrays, their columns taken by name
    return names


@dataclass(eq=False)
class ModelRows:
    """Rows of a table as a run takes them, of a block or of a whole file: numbers and texts.

    Parameters
    ----------
    names : list of str
        The columns of numbers, ranks included.
    X : array of shape (n, d)
        Their values.
    texts : dict of str to list of str
        The cells of ranks and categories; empty where they are missing.
    kept : array of bool
        Which rows of the block or file these are: those that take part.
    block : Block, optional
        The block they are from.
    """

    names: list[str]
    X: Doubles
    texts: dict[str, list[str]]
    kept: NDArray[np.bool_]
    block: Block | None = None

    @classmethod
    def of(
        cls, block: Block, scaler: Any, every: Sequence[str], signs: Mapping[str, str]
    ) -> "ModelRows":
        """Read the columns of a model, all of them given by name."""
        kept = np.ones(block.n_rows, dtype=bool)
        if not hasattr(scaler, "kinds_"):
            return cls(list(every), rows_of(block, every, signs=signs), {}, kept, block)
        kinds = dict(zip(every, scaler.kinds_, strict=True))
        known = dict(zip(every, map(tuple, scaler.categories_), strict=True))
        texts = {
            name: categories_of(
                block, name, known[name] if kind == "rank" else None, known=known[name]
            )
            for name, kind in kinds.items()
            if kind in ("rank", "category")
        }
        names = [name for name in every if kinds[name] in ("number", "rank")]
        numbers = [name for name in names if kinds[name] == "number"]
        X = np.empty((block.n_rows, len(names)))
        if numbers:
            X[:, [name in numbers for name in names]] = rows_of(block, numbers, signs=signs)
        for j, name in enumerate(names):
            if kinds[name] == "rank":
                X[:, j] = ranks_of(texts[name], known[name])
        return cls(names, X, texts, kept, block)

    @property
    def categories(self) -> dict[str, list[str]]:
        """The cells of categories, without ranks."""
        return {name: cells for name, cells in self.texts.items() if name not in self.names}

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Where numbers and categories are missing, shape (n, d + k)."""
        absent = [np.array([not cell for cell in cells]) for cells in self.categories.values()]
        return np.column_stack([np.isnan(self.X), *absent])

    def taking_part(self, missing: str) -> "ModelRows":
        """All rows but those without any value, or with "drop" only complete rows."""
        left_out = np.any if missing == "drop" else np.all
        kept: NDArray[np.bool_] = ~left_out(self.missing, axis=1)
        return self if kept.all() else replace(self.take(kept), kept=kept, block=self.block)

    def take(self, which: Places | NDArray[np.bool_] | slice) -> "ModelRows":
        """Some of the rows, as a table of their own."""
        X, texts = self.X[which], {}
        if self.texts:
            places = np.arange(len(self.X))[which].tolist()
            texts = {name: [cells[i] for i in places] for name, cells in self.texts.items()}
        return ModelRows(self.names, X, texts, np.ones(len(X), dtype=bool))

    def scaled(self, scaler: Any) -> Doubles:
        """The rows as the model takes them."""
        if not hasattr(scaler, "kinds_"):
            return np.asarray(scaler.transform(self.X))
        cells = (np.array(self.texts[name], dtype=object) for name in scaler._layout.names)
        return np.asarray(scaler._joined(self.X, cells))

    def shown(self, at: Places) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The numbers of some rows, words for ranks; and their categories."""
        words = {name: [cells[i] for i in at.tolist()] for name, cells in self.texts.items()}
        numbers = {
            name: words.pop(name, None) or self.X[at, j].tolist()
            for j, name in enumerate(self.names)
        }
        return numbers, words

    def for_scaler(self) -> Any:
        """The rows as the step of a model is fitted on them: an array, or a table with texts."""
        if not self.texts:
            return self.X
        import pyarrow as pa

        columns = dict(zip(self.names, self.X.T, strict=True)) | self.texts
        return pa.table(
            {
                name: pa.array([cell or None for cell in values], pa.string())
                if name in self.texts
                else pa.array(values)
                for name, values in columns.items()
            }
        )


def joined(parts: Sequence[ModelRows]) -> ModelRows:
    """The rows of several blocks."""
    names, X = parts[0].names, np.concatenate([part.X for part in parts])
    texts = {name: [c for part in parts for c in part.texts[name]] for name in parts[0].texts}
    return ModelRows(names, X, texts, np.ones(len(X), dtype=bool))
