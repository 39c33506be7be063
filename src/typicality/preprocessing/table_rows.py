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
    """The rows of a block as a model knows them: numbers, ranks and categories.

    Parameters
    ----------
    names : list of str
        The columns of numbers, ranks included.
    X : array of shape (n, d)
        Their values.
    texts : dict of str to list of str
        The cells of ranks and categories; empty where they are missing.
    layout : CategoryColumns or None
        The categories among the columns of the model, where there are some.
    """

    names: list[str]
    X: Doubles
    texts: dict[str, list[str]]
    layout: Any = None

    @classmethod
    def of(
        cls, block: Block, scaler: Any, every: Sequence[str], signs: Mapping[str, str]
    ) -> "ModelRows":
        """Read the columns of a model, all of them given by name."""
        if not hasattr(scaler, "kinds_"):
            return cls(list(every), rows_of(block, every, signs=signs), {})
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
        return cls(names, X, texts, scaler._layout)

    @property
    def every_name(self) -> list[str]:
        """The columns of `missing`."""
        return [*self.names, *(() if self.layout is None else self.layout.names)]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Where numbers and categories are missing, shape (n, d + k)."""
        names = () if self.layout is None else self.layout.names
        absent = [np.array([not text for text in self.texts[name]]) for name in names]
        return np.column_stack([np.isnan(self.X), *absent])

    def take(self, which: Places | NDArray[np.bool_] | slice) -> "ModelRows":
        """Some of the rows."""
        if not self.texts:
            return replace(self, X=self.X[which])
        places = np.arange(len(self.X))[which].tolist()
        texts = {name: [cells[i] for i in places] for name, cells in self.texts.items()}
        return replace(self, X=self.X[which], texts=texts)

    def scaled(self, scaler: Any) -> Doubles:
        """The rows as the model takes them."""
        if self.layout is None:
            return np.asarray(scaler.transform(self.X))
        cells = (np.array(self.texts[name], dtype=object) for name in self.layout.names)
        return np.asarray(scaler._joined(self.X, cells))

    def shown(self, at: Places) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The numbers of some rows, words for ranks; and their categories."""
        names = () if self.layout is None else self.layout.names
        numbers = {
            name: [self.texts[name][i] for i in at.tolist()]
            if name in self.texts
            else self.X[at, j].tolist()
            for j, name in enumerate(self.names)
        }
        return numbers, {name: [self.texts[name][i] for i in at.tolist()] for name in names}


def take_part(missing: NDArray[np.bool_], how: str) -> NDArray[np.bool_]:
    """Which rows take part: all but those without any value, or with "drop" only complete rows."""
    return np.asarray(~(missing.any(axis=1) if how == "drop" else missing.all(axis=1)))


def joined(parts: Sequence[ModelRows]) -> ModelRows:
    """The rows of several blocks."""
    first = parts[0]
    texts = {name: [cell for part in parts for cell in part.texts[name]] for name in first.texts}
    return replace(first, X=np.concatenate([part.X for part in parts]), texts=texts)


def arrow_table(columns: Mapping[str, Any], texts: Mapping[str, Any]) -> Any:
    """Columns of numbers and of text as the step for numbers and categories takes them."""
    import pyarrow as pa

    made = {name: pa.array(values) for name, values in columns.items() if name not in texts}
    return pa.table(made | {name: pa.array(cells, pa.string()) for name, cells in texts.items()})
