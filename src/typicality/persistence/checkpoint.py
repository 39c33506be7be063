"""A file from which a fit that was killed goes on, to the same result bit for bit.

A fit is a deterministic sequence of runs of the loop and of fits inside it, and all other work
follows from their results. So the file holds these results, in order, and the last state of the run
that is under way. A resumed fit does its other work again, takes what is finished from the file,
and continues the last run.

The file is a line with the hash of all that follows, a line of JSON, and a file of safetensors.
Nothing in it is code: models in it are read as those of model files are, and the state of a run is
judged by the annotations of its classes.
"""

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as arrays_of_bytes
from safetensors.numpy import save as bytes_of_arrays
from sklearn.exceptions import ConvergenceWarning

from typicality import exceptions
from typicality._cached import cached_property
from typicality._files import atomic_file
from typicality._words import shown_path
from typicality.cluster._callbacks import KEEPER, State
from typicality.cluster._estimator import OF_ROWS
from typicality.exceptions import ClusteringWarning, ModelFileError, warn
from typicality.persistence._arrays import ArrayReader, ArrayWriter
from typicality.persistence._objects import Writer, read_model
from typicality.persistence._schema import Context, fits
from typicality.solve.picard import PicardResult, Status, picard
from typicality.solve.step import ClusterState, Step

_FORMAT = b"typicality checkpoint 1 "  # how the file begins; the hash of what follows comes next
_EVERY = 5.0  # seconds from one writing to the next, at the least
_SHARE = 20  # and so many times as long as the last writing took
_DAMAGED = "it is damaged. Delete the file to start again"
_OTHER = {
    "versions": "another version of typicality or of its libraries wrote it",
    "rows": "it was made for other rows: from another file, or with other options",
    "parameters": "it was made with other parameters",
}
# Warnings that a fit gives, by name; a fit with others is done again.
_WARNINGS: dict[str, type[Warning]] = {
    kind.__name__: kind
    for kind in (*vars(exceptions).values(), ConvergenceWarning, UserWarning, RuntimeWarning)
    if isinstance(kind, type) and issubclass(kind, Warning)
}
_Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # a document and its arrays


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of the loop: where it began, how it ended (None: it has not), and how far it came.

    The lists may be longer than `n_iter` says, while the next step is taken. The state of a run in
    a file is a dictionary of arrays until the state that the run began with is known.
    """

    start: str
    status: Status | None
    residuals: list[float]
    objectives: list[float]
    n_iter: int
    state: Any

    @cached_property
    def content(self) -> _Content:
        arrays = ArrayWriter()
        paths = (np.array(path[: self.n_iter]) for path in (self.residuals, self.objectives))
        document = {
            "start": self.start,
            "status": self.status,
            "paths": [arrays.put(path, "path") for path in paths],
            "state": {name: arrays.put(a, name) for name, a in _arrays_of(self.state).items()},
        }
        return document, arrays.arrays

    @classmethod
    def read(cls, document: Any, arrays: dict[str, NDArray[Any]]) -> "_Run":
        reader = ArrayReader(arrays)
        residuals, objectives = map(reader.get, document["paths"])
        same = residuals.ndim == 1 and residuals.shape == objectives.shape and len(residuals) > 0
        if not (same and residuals.dtype == objectives.dtype == np.float64):
            raise ValueError("the path of a run must have two lists of numbers")
        status = None if document["status"] is None else Status(document["status"])
        state = {name: reader.get(array) for name, array in document["state"].items()}
        reader.require_all_used()
        paths = residuals.tolist(), objectives.tolist()
        return cls(str(document["start"]), status, *paths, len(residuals), state)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A finished fit: what it was of, the fitted model, and its warnings, by name and text."""

    start: str
    model: Any
    warnings: list[tuple[str, str]]

    @cached_property
    def content(self) -> _Content:
        writer = Writer()
        writer.add(self.model, type(self.model).__name__)
        document = {"start": self.start, "objects": writer.objects, "warnings": self.warnings}
        return document, writer.arrays.arrays

    @classmethod
    def read(cls, document: Any, arrays: dict[str, NDArray[Any]]) -> "_Fit":
        told = [(name, str(text)) for name, text in document["warnings"] if name in _WARNINGS]
        return cls(str(document["start"]), read_model(document["objects"], arrays), told)


class Checkpoint:
    """What a fit has done so far, in a file.

    Parameters
    ----------
    path : path
        The file: one that an earlier fit has left, or a new one.

    Raises
    ------
    ModelFileError
        The file is no checkpoint, or it is damaged. It is left as it is.
    FileNotFoundError
        There is no folder for it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._key: dict[str, str] = {}
        self._done: list[_Run | _Fit] = []
        self._running: _Run | None = None
        self._written, self._took = time.monotonic(), 0.0
        self._before: dict[str, str] | None = None  # the key in the file
        self._ahead: list[_Run | _Fit] = []  # entries of the file that the fit has not come to
        if self.path.exists() or self.path.is_symlink():
            try:
                self._before, self._ahead = _read(self.path)
            except ModelFileError as error:
                raise self._refusal(f"{error}. Choose another name for the checkpoint") from error
        elif not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(
                f"The folder {shown_path(self.path.parent)} does not exist; make it first."
            )

    @property
    def resumes(self) -> bool:
        """Whether the fit goes on from an earlier one."""
        return self._before is not None

    def belongs_to(self, *, versions: str, rows: str, parameters: str) -> None:
        """Require that the file, if there is one, was made by the same fit.

        Each argument is a text that differs between fits which differ in this respect.

        Raises
        ------
        ModelFileError
            It was made by another fit; the file is left as it is.
        """
        self._key = {"versions": versions, "rows": rows, "parameters": parameters}
        before = self._key if self._before is None else self._before
        for name, meaning in _OTHER.items():
            if before.get(name) != self._key[name]:
                raise self._refusal(f"{meaning}. Choose another name, or delete the file")

    @contextmanager
    def following(self) -> Iterator[None]:
        """A context in which fits are kept in the file; an interrupt brings it up to date."""
        token = KEEPER.set(self)
        try:
            yield
        except (KeyboardInterrupt, SystemExit) as error:
            with suppress(OSError):
                self._write()
            if isinstance(error, KeyboardInterrupt) and self.path.exists():
                words = f"Interrupted; the same command continues from {shown_path(self.path)}."
                raise KeyboardInterrupt(words) from error
            raise
        finally:
            KEEPER.reset(token)

    def remove(self) -> None:
        """Delete the file: all is done."""
        self.path.unlink(missing_ok=True)

    # ---- what fits call --------------------------------------------------------------------------

    def run(
        self,
        step: Step,
        state: State,
        *,
        tol: float,
        max_iter: int,
        callback: Callable[[int, State], bool] | None = None,
    ) -> PicardResult[State]:
        """Repeat `step` as `picard` does, from where the file says that this run was."""
        before = self._known_run(state, tol=tol, max_iter=max_iter)
        residuals, objectives = list(before.residuals), list(before.objectives)
        if before.status is not None:
            self._done.append(before)
            return PicardResult(before.state, before.status, tuple(residuals), tuple(objectives))

        def noted(state: State) -> tuple[State, float, float]:
            following, residual, objective = step(state)
            residuals.append(residual)
            objectives.append(objective)
            return following, residual, objective

        def keep(_: int, state: State) -> bool:
            n_iter = len(residuals)
            stopped = callback is not None and callback(n_iter, state)
            if not stopped and residuals[-1] >= tol:  # else the run ends, and is kept as finished
                self._running = _Run(before.start, None, residuals, objectives, n_iter, state)
                self._write_now_and_then()
            return stopped

        rest = max_iter - len(residuals)
        result = picard(noted, before.state, tol=tol, max_iter=rest, callback=keep)
        paths, n_iter = (residuals, objectives), len(residuals)
        self._running = None
        self._done.append(_Run(before.start, result.status, *paths, n_iter, result.state))
        self._write_now_and_then()
        return replace(result, residuals=tuple(residuals), objectives=tuple(objectives))

    def learn(self, model: Any, rows: Any, weight: Any, learn: Callable[[], None]) -> None:
        """Let a model learn from rows, or take what it has learned from the file."""
        arrays = [rows] if weight is None else [rows, weight]
        if not all(isinstance(array, np.ndarray) for array in arrays):
            learn()
            return
        words = f"{type(model).__name__} {model.get_params(deep=False)} {digest_of(*arrays)}"
        start, place = _hash(words), len(self._done)
        known = self._ahead[0] if self._ahead else None
        if isinstance(known, _Fit) and known.start == start:
            self._adopt(known, model, rows)
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learn()
        told = [(each.category.__name__, str(each.message)) for each in caught]
        fit = _Fit(start, model, told)
        is_known = all(_WARNINGS.get(each.category.__name__) is each.category for each in caught)
        with suppress(ModelFileError):  # a model that no file holds is fitted again
            if is_known and fit.content:
                self._done[place:] = [fit]
        for each in caught:
            warn(str(each.message), each.category)
        self._write_now_and_then()

    def _adopt(self, known: _Fit, model: Any, rows: NDArray[Any]) -> None:
        """Take over the attributes and the warnings of a model from the file."""
        found = known.model
        values = (getattr(found, name) for name in OF_ROWS if hasattr(found, name))
        if (
            type(found) is not type(model)
            or found.n_features_in_ != rows.shape[1]
            or any(value.shape[0] != len(rows) for value in values)
        ):
            raise self._refusal(_DAMAGED)
        # With its parameters: attributes share a kernel with them, and a file keeps it once.
        model.__dict__ |= vars(found)
        self._done.append(self._ahead.pop(0))
        for name, text in known.warnings:
            warn(text, _WARNINGS[name])

    # ---- writing ---------------------------------------------------------------------------------

    def _write_now_and_then(self) -> None:
        began = time.monotonic()
        if began - self._written < max(_EVERY, _SHARE * self._took):
            return
        try:
            self._write()
        except OSError as error:
            warn(
                f"The checkpoint {shown_path(self.path)} could not be written "
                f"({error.strerror or error}). The fit continues, but cannot be resumed from "
                "this point.",
                ClusteringWarning,
            )
        self._written = time.monotonic()
        self._took = self._written - began

    def _write(self) -> None:
        under_way = [] if self._running is None else [self._running]
        entries = [*self._done, *under_way]
        if self._ahead or not entries:  # the file knows more, or there is nothing to know
            return
        contents = [entry.content for entry in entries]
        document = {"key": self._key, "entries": [text for text, _ in contents]}
        numbers = {
            f"{place} {name}": array
            for place, (_, arrays) in enumerate(contents)
            for name, array in arrays.items()
        }
        content = json.dumps(document).encode("ascii") + b"\n" + bytes_of_arrays(numbers)
        with atomic_file(self.path, overwrite=True, binary=True) as stream:
            stream.write(_FORMAT + hashlib.sha256(content).hexdigest().encode("ascii") + b"\n")
            stream.write(content)

    # ---- reading ---------------------------------------------------------------------------------

    def _known_run(self, start: State, *, tol: float, max_iter: int) -> _Run:
        """What the file says of the run that begins at a state; else its beginning."""
        digest = _digest(start, tol, max_iter)
        if not self._ahead:
            return _Run(digest, None, [], [], 0, start)
        known = self._ahead.pop(0)
        under_way = isinstance(known, _Run) and known.status is None
        if not isinstance(known, _Run) or known.start != digest or (under_way and self._ahead):
            raise self._refusal(
                "this fit differs from the one that was killed, which may happen on another "
                "machine. Delete the file to start again"
            )
        if known.n_iter > max_iter or not _fits_start(known.state, start):
            raise self._refusal(_DAMAGED)
        return replace(known, state=_restored(known.state, start))

    def _refusal(self, why: str) -> ModelFileError:
        return ModelFileError(f"The checkpoint {shown_path(self.path)} cannot be used: {why}.")


def _read(path: Path) -> tuple[dict[str, str], list[_Run | _Fit]]:
    """What a checkpoint belongs to, and its entries; states are judged when they are used."""
    if not path.is_file():
        raise ModelFileError("it is not a regular file")
    with open(path, "rb") as stream:
        if stream.read(len(_FORMAT)) != _FORMAT:
            raise ModelFileError(
                "it was not written by typicality, or was written by another version"
            )
        digest, _, content = stream.read().partition(b"\n")
    if digest != hashlib.sha256(content).hexdigest().encode("ascii"):
        raise ModelFileError("it is damaged")
    text, _, numbers = content.partition(b"\n")
    try:
        document, arrays = json.loads(text), arrays_of_bytes(numbers)
        of_entry: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in arrays.items():
            place, _, name = name.partition(" ")
            of_entry.setdefault(place, {})[name] = array
        return dict(document["key"]), [
            (_Fit if "objects" in entry else _Run).read(entry, of_entry.get(str(place), {}))
            for place, entry in enumerate(document["entries"])
        ]
    except Exception as error:  # whatever a file of somebody else makes happen
        raise ModelFileError("it is damaged") from error


# ---- the state of a run --------------------------------------------------------------------------


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def digest_of(*arrays: NDArray[Any]) -> str:
    """A hash of arrays: their types, shapes and numbers."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode("ascii"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _digest(state: State, tol: float, max_iter: int) -> str:
    """A hash of the beginning of a run."""
    rule: Any = state.rule
    plain = [
        (field.name, getattr(rule, field.name))
        for field in fields(rule)
        if field.name not in _arrays_in(rule)
    ]
    kinds = type(state.prototypes).__name__, type(rule).__name__
    return _hash(f"{kinds} {plain} {tol} {max_iter} {digest_of(*_arrays_of(state).values())}")


def _arrays_in(part: Any) -> dict[str, NDArray[Any]]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def _arrays_of(state: State) -> dict[str, NDArray[Any]]:
    """The arrays of a state; all else of it is as in the state that the run began with."""
    return {
        f"{part}.{name}": array
        for part in ("prototypes", "rule")
        for name, array in _arrays_in(getattr(state, part)).items()
    }


def _restored(arrays: dict[str, NDArray[Any]], start: State) -> State:
    """The state that arrays describe."""

    def part(name: str) -> Any:
        before = getattr(start, name)
        return replace(before, **{key: arrays[f"{name}.{key}"] for key in _arrays_in(before)})

    return ClusterState(part("prototypes"), part("rule"))


def _fits_start(arrays: dict[str, NDArray[Any]], start: State) -> bool:
    """Whether arrays are those of a state of this run: some of its clusters, with all its rows."""
    hints = {
        f"{name}.{key}": hint
        for name in ("prototypes", "rule")
        for key, hint in get_type_hints(type(getattr(start, name)), include_extras=True).items()
    }
    sizes = Context({}, {})
    known = _arrays_of(start)
    if not all(fits(array, hints[name], sizes) for name, array in known.items()):
        return False
    n_clusters = sizes.sizes.pop("c")
    parts = known.keys()
    return (
        parts <= arrays.keys() <= known.keys()
        and all(arrays[name].dtype == known[name].dtype for name in parts)
        and all(fits(array, hints[name], sizes) for name, array in arrays.items())
        and sizes.sizes["c"] <= n_clusters
    )
