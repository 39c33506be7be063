"""Generated data: blobs, large files, and families of clusters of many shapes and single ones.

A draw of a family has its own number of rows, of clusters, its own widths and gaps. Label -1 is
noise. Families in `HELD_OUT` are for judging only: nothing was tuned on them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsClassifier

__all__ = [
    "CLUSTERED",
    "HELD_OUT",
    "LATTICES",
    "NULLS",
    "POWER",
    "TABLES",
    "TABLE_NULLS",
    "Family",
    "blobs",
    "file_centers",
    "fill",
    "grid_of_blobs",
    "write_file",
]

_ROWS_AT_A_TIME = 2**18

Doubles = NDArray[np.float64]
Labels = NDArray[np.int_]
Rng = np.random.Generator
Labelled = tuple[Doubles, Labels]


def blobs(n_rows: int, n_features: int, *, n_blobs: int = 8, seed: int = 0) -> Doubles:
    """Standard normal blobs with centres in a cube of side 20, the same for each seed."""
    centres = np.random.default_rng(0).uniform(-10.0, 10.0, (n_blobs, n_features))
    rows: Doubles = make_blobs(n_rows, centers=centres, random_state=seed)[0]
    return rows


def grid_of_blobs(n_rows: int, n_features: int) -> Doubles:
    """Nine normal blobs of equal size, eight standard deviations apart in two features."""
    blob = np.arange(n_rows) % 9
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    X[:, :2] += 8.0 * np.column_stack([blob % 3, blob // 3])
    return X


def file_centers(n_features: int) -> Doubles:
    """The ten centres of the clusters in the files of `write_file`."""
    return np.random.default_rng(0).uniform(0, 20, size=(10, n_features))


def write_file(path: Path, n_rows: int, n_features: int) -> None:
    """An npy file of ten normal clusters, written block by block."""
    rng, centers = np.random.default_rng(1), file_centers(n_features)
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_features)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, n_rows, _ROWS_AT_A_TIME):
            size = min(_ROWS_AT_A_TIME, n_rows - start)
            rows = centers[rng.integers(len(centers), size=size)]
            (rows + rng.normal(size=rows.shape)).tofile(stream)


def fill(X: Doubles, labels: Labels) -> Labels:
    """Rows of no cluster get the label of the nearest row that has one."""
    kept = labels >= 0
    if kept.all() or not kept.any():
        return labels
    filled: Labels = KNeighborsClassifier(1).fit(X[kept], labels[kept]).predict(X)
    return filled


@dataclass(frozen=True)
class Family:
    """A source of data sets.

    Parameters
    ----------
    name : str
        What it is.
    make : callable
        `make(n_rows, rng)` gives rows and labels, or, for single clusters, rows alone.
    fewest, most : int
        Between these numbers of rows, evenly by their logarithm, a draw has its number.
    """

    name: str
    make: Callable[[int, Rng], Labelled | Doubles]
    fewest: int = 200
    most: int = 3000

    def draw(self, seed: int, n_rows: int | None = None) -> Labelled:
        """Rows in random order and their labels; seeds of different families are unrelated."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        if n_rows is None:
            n_rows = int(np.exp(rng.uniform(np.log(self.fewest), np.log(self.most))))
        made = self.make(n_rows, rng)
        X, y = made if isinstance(made, tuple) else (made, np.zeros(len(made), int))
        order = rng.permutation(len(X))
        return X[order], y[order]


# ---- parts --------------------------------------------------------------------------------------


def _joined(parts: list[Doubles]) -> Labelled:
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _sizes(n: int, k: int, rng: Rng, *, uneven: float = 1.0) -> list[int]:
    """Sizes that add up to about n, the largest at most `uneven` times the smallest."""
    share = uneven ** rng.uniform(0, 1, k)
    return [max(8, int(size)) for size in n * share / share.sum()]


def _centers(k: int, gap: float, rng: Rng, *, d: int = 2, room: float = 1.5) -> Doubles:
    """Points at least `gap` apart, in a box with not much room."""
    side = room * gap * k ** (1 / d) * np.sqrt(2 / d)
    while True:
        for _ in range(200):
            centers = rng.uniform(0.0, side, size=(k, d))
            if k == 1 or pdist(centers).min() >= gap:
                return centers
        side *= 1.1


def _turned(X: Doubles, rng: Rng) -> Doubles:
    rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    turned: Doubles = X @ rotation
    return turned


def _polar(radius: Doubles, angle: Doubles) -> Doubles:
    X: Doubles = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X


def _disc(n: int, rng: Rng, radius: float = 1.0) -> Doubles:
    return _polar(radius * np.sqrt(rng.uniform(size=n)), rng.uniform(0, 2 * np.pi, n))


def _arc(n: int, rng: Rng, *, radius: float, width: float, begin: float, end: float) -> Doubles:
    return _polar(rng.normal(radius, width, n), rng.uniform(begin, end, n))


def _noised(clean: Labelled, share: float, rng: Rng) -> Labelled:
    X, y = clean
    n = int(share * len(X))
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n, X.shape[1]))
    return np.concatenate([X, noise]), np.append(y, np.full(n, -1))


# ---- blobs --------------------------------------------------------------------------------------


def _blobs(
    n: int,
    rng: Rng,
    *,
    k: int | None = None,
    gap: tuple[float, float] = (3.2, 7.0),
    d: int = 2,
    uneven: float = 1.0,
    widths: float = 1.0,
    stretch: float = 1.0,
    freedom: float = np.inf,
) -> Labelled:
    """Normal (or t) clusters; gaps are in units of the largest width."""
    k = int(rng.integers(2, 10)) if k is None else k
    width = widths ** rng.uniform(-1, 0, k)
    parts = []
    centers = _centers(k, rng.uniform(*gap) * width.max(), rng, d=d)
    for size, s, center in zip(_sizes(n, k, rng, uneven=uneven), width, centers, strict=True):
        Z = rng.standard_normal((size, d)) * stretch ** rng.uniform(-1, 0, d)
        if np.isfinite(freedom):
            Z /= np.sqrt(rng.chisquare(freedom, (size, 1)) / freedom)
        parts.append(center + s * _turned(Z, rng))
    return _joined(parts)


def _many(n: int, rng: Rng) -> Labelled:
    return _blobs(n, rng, k=int(rng.integers(12, 32)), gap=(3.0, 5.0))


def _pair(n: int, rng: Rng) -> Labelled:
    """Two Gaussians 3.5 to 5 standard deviations apart."""
    apart, d = rng.uniform(3.5, 5.0), int(rng.integers(1, 4))
    X, y = rng.standard_normal((n, d)), rng.integers(0, 2, n)
    X[:, 0] += apart * y
    return X, y


def _core_and_halo(n: int, rng: Rng) -> Labelled:
    """Dense small clusters beside wide sparse ones."""
    X, y = _blobs(n // 2, rng, k=2, gap=(5.0, 7.0))
    centers = X.mean(axis=0) + np.array([[14.0, 0.0], [16.5, 3.0], [14.0, 5.0]])
    small = [c + 0.3 * rng.standard_normal((max(n // 8, 10), 2)) for c in centers]
    return np.concatenate([X, *small]), np.append(y, 2 + np.repeat(np.arange(3), len(small[0])))


def _small_beside_large(n: int, rng: Rng) -> Labelled:
    sizes = [int(0.8 * n), max(20, int(0.06 * n)), max(20, int(0.06 * n))]
    centers = np.array([[0, 0], [5.5, 0], [0, 6.0]])
    parts = [
        c + s * rng.standard_normal((m, 2))
        for m, c, s in zip(sizes, centers, (1, 0.4, 0.4), strict=True)
    ]
    return _joined(parts)


def _skewed(n: int, rng: Rng) -> Labelled:
    k = int(rng.integers(2, 6))
    centers = _centers(k, rng.uniform(3.5, 7.0), rng)
    return _joined(
        [c + rng.gamma(2.0, 1.0, (m, 2)) for c, m in zip(centers, _sizes(n, k, rng), strict=True)]
    )


def _bridged(n: int, rng: Rng) -> Labelled:
    """Blobs with a thin bridge of rows between them."""
    m = n // 20
    parts = [np.array([[-4.0, 0]]), np.array([[4.0, 0]])]
    blobs = [c + rng.standard_normal(((n - m) // 2, 2)) for c in parts]
    bridge = np.column_stack([rng.uniform(-3, 3, m), rng.normal(0, 0.2, m)])
    X, y = _joined(blobs)
    return np.concatenate([X, bridge]), np.append(y, (bridge[:, 0] > 0).astype(int))


def _rounded(n: int, rng: Rng) -> Labelled:
    """Values on a coarse grid, as people type them."""
    X, y = _blobs(n, rng, gap=(4.0, 8.0))
    return np.round(X, 1), y


# ---- flat shapes --------------------------------------------------------------------------------


def _tiles(n: int, rng: Rng, *, gap: tuple[float, float] = (0.05, 0.4)) -> Labelled:
    """Uniform rectangles with gaps between them."""
    across, down = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    space = 1.0 + rng.uniform(*gap)
    places = [(i, j) for i in range(across) for j in range(down)]
    sizes = _sizes(n, len(places), rng, uneven=3.0)
    return _joined(
        [space * np.array(p) + rng.uniform(size=(m, 2)) for p, m in zip(places, sizes, strict=True)]
    )


def _discs(n: int, rng: Rng) -> Labelled:
    """Uniform discs that nearly touch."""
    k = int(rng.integers(2, 7))
    places = np.array([[i % 3, i // 3] for i in range(k)]) * rng.uniform(2.02, 2.5)
    return _joined(
        [p + _disc(m, rng) for p, m in zip(places, _sizes(n, k, rng, uneven=2.0), strict=True)]
    )


def _diamonds(n: int, rng: Rng) -> Labelled:
    """Nine diamonds whose corners touch."""
    parts = []
    for i in range(3):
        for j in range(3):
            u = rng.uniform(-1, 1, (n // 9, 2))
            X = np.column_stack([u[:, 0] + u[:, 1], u[:, 0] - u[:, 1]]) / 2
            parts.append(X + 2.0 * np.array([i, j]))
    return _joined(parts)


def _mixed_shapes(n: int, rng: Rng) -> Labelled:
    m = n // 5
    return _joined(
        [
            rng.standard_normal((m, 2)) * 0.4,
            np.array([3.0, 0]) + rng.uniform(-0.7, 0.7, (m, 2)),
            np.array([0.0, 4]) + _arc(m, rng, radius=1.0, width=0.08, begin=0, end=2 * np.pi),
            np.array([4.0, 4]) + _arc(m, rng, radius=1.2, width=0.1, begin=0, end=np.pi),
            np.array([7.0, 2]) + rng.standard_normal((m, 2)) * np.array([0.15, 1.2]),
        ]
    )


# ---- curves -------------------------------------------------------------------------------------


def _moons(n: int, rng: Rng) -> Labelled:
    width = rng.uniform(0.04, 0.16)
    upper = _arc(n // 2, rng, radius=1.0, width=width, begin=0.0, end=np.pi)
    lower = _arc(n // 2, rng, radius=1.0, width=width, begin=np.pi, end=2 * np.pi)
    return _joined([upper, lower + np.array([1.0, 0.5])])


def _rings(n: int, rng: Rng) -> Labelled:
    """Concentric rings."""
    k, width = int(rng.integers(2, 4)), rng.uniform(0.04, 0.17)
    radii = 1.0 + np.arange(k)
    sizes = (n * radii / radii.sum()).astype(int)
    whole = {"begin": 0.0, "end": 2 * np.pi, "width": width}
    return _joined([_arc(m, rng, radius=r, **whole) for m, r in zip(sizes, radii, strict=True)])


def _target(n: int, rng: Rng) -> Labelled:
    core = 0.3 * rng.standard_normal((n // 2, 2))
    ring = _arc(n - n // 2, rng, radius=2.0, width=0.15, begin=0, end=2 * np.pi)
    return _joined([core, ring])


def _spirals(n: int, rng: Rng) -> Labelled:
    arms, width = int(rng.integers(2, 4)), rng.uniform(0.03, 0.2)
    parts = []
    for arm in range(arms):
        t = np.sqrt(rng.uniform(1.0, 16.0, n // arms))
        X = _polar(t, 2 * np.pi * (t / 3 + arm / arms))
        parts.append(X + width * rng.standard_normal(X.shape))
    return _joined(parts)


def _waves(n: int, rng: Rng) -> Labelled:
    k, width = int(rng.integers(2, 5)), rng.uniform(0.08, 0.22)
    x = rng.uniform(0, 10, (k, n // k))
    gap = rng.uniform(1.2, 2.0)
    rows = [np.column_stack([a, np.sin(a) + gap * i]) for i, a in enumerate(x)]
    return _joined([X + width * rng.standard_normal(X.shape) for X in rows])


def _lines(n: int, rng: Rng) -> Labelled:
    """Parallel strokes."""
    k, gap = int(rng.integers(2, 6)), rng.uniform(0.35, 0.9)
    parts = []
    for i, m in enumerate(_sizes(n, k, rng, uneven=2.0)):
        x = rng.uniform(0, 4, m)
        parts.append(np.column_stack([x, gap * i + 0.08 * rng.standard_normal(m)]))
    return _joined(parts)


def _links(n: int, rng: Rng) -> Labelled:
    """Two linked rings in space."""
    parts = []
    for i in range(2):
        angle = rng.uniform(0, 2 * np.pi, n // 2)
        X = np.zeros((n // 2, 3))
        X[:, 0], X[:, 1 + i] = np.cos(angle) + i, np.sin(angle)
        parts.append(X + 0.08 * rng.standard_normal(X.shape))
    return _joined(parts)


def _shells(n: int, rng: Rng) -> Labelled:
    """A ball inside a sphere."""
    Z = rng.standard_normal((n, 3))
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    inner = n // 3
    radius = np.append(0.8 * rng.uniform(size=inner) ** (1 / 3), rng.normal(2.0, 0.1, n - inner))
    return Z * radius[:, None], (np.arange(n) >= inner).astype(int)


# ---- single clusters ----------------------------------------------------------------------------


def _gauss(d: int, stretch: float = 1.0) -> Callable[[int, Rng], Doubles]:
    return lambda n, rng: _turned(
        rng.standard_normal((n, d)) * stretch ** rng.uniform(-1, 0, d), rng
    )


def _student(d: int) -> Callable[[int, Rng], Doubles]:
    return lambda n, rng: rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def _cube(d: int) -> Callable[[int, Rng], Doubles]:
    return lambda n, rng: rng.uniform(size=(n, d)) * rng.uniform(0.3, 1.0, d)


def _one_arc(low: float, high: float, turn: float) -> Callable[[int, Rng], Doubles]:
    def make(n: int, rng: Rng) -> Doubles:
        width = rng.uniform(low, high)
        return _arc(n, rng, radius=1.0, width=width, begin=0, end=turn * 2 * np.pi)

    return make


def _filament(n: int, rng: Rng) -> Doubles:
    d = int(rng.integers(2, 4))
    X = rng.uniform(0.002, 0.02) * rng.standard_normal((n, d))
    X[:, 0] += rng.uniform(size=n)
    return X


def _one_spiral(n: int, rng: Rng) -> Doubles:
    t = np.sqrt(rng.uniform(1.0, 16.0, n))
    X = _polar(t, 2 * np.pi * t / 3)
    return X + rng.uniform(0.05, 0.15) * rng.standard_normal(X.shape)


def _sheet(n: int, rng: Rng) -> Doubles:
    """A bent sheet in space."""
    u, v = rng.uniform(0, 3, n), rng.uniform(0, 2, n)
    X = np.column_stack([np.sin(u), np.cos(u) + 0.3 * u, v])
    return X + 0.03 * rng.standard_normal(X.shape)


def _ell(n: int, rng: Rng) -> Doubles:
    """A uniform L."""
    X = rng.uniform(0, 2, (4 * n, 2))
    return X[(X < 0.8).any(axis=1)][:n]


def _blob_in_noise(n: int, rng: Rng) -> Labelled:
    return _noised((rng.standard_normal((n, 2)), np.zeros(n, int)), rng.uniform(0.05, 0.2), rng)


def _exponential(n: int, rng: Rng) -> Doubles:
    return rng.exponential(size=(n, int(rng.integers(2, 4))))


def _lognormal(n: int, rng: Rng) -> Doubles:
    return rng.lognormal(0.0, 0.7, (n, 2))


def _sphere(n: int, rng: Rng) -> Doubles:
    Z = rng.standard_normal((n, 3))
    return Z / np.linalg.norm(Z, axis=1)[:, None] * rng.normal(1.0, 0.05, (n, 1))


# ---- tables: four columns and more --------------------------------------------------------------


def _table(
    n: int,
    rng: Rng,
    *,
    d: int | None = None,
    gap: tuple[float, float] = (2.8, 5.0),
    freedom: float = np.inf,
    noise: int = 0,
) -> Labelled:
    """Groups with covariances of their own, in columns of different units."""
    d, k = int(rng.integers(4, 13)) if d is None else d, int(rng.integers(2, 7))
    centers = _centers(k, rng.uniform(*gap), rng, d=min(d, 4))
    centers = np.column_stack([centers, np.zeros((k, d - centers.shape[1]))])
    parts = []
    for size, center in zip(_sizes(n, k, rng, uneven=4.0), centers, strict=True):
        Z = rng.standard_normal((size, d)) * 1.5 ** rng.uniform(-1, 1, d)
        if np.isfinite(freedom):
            Z /= np.sqrt(rng.chisquare(freedom, (size, 1)) / freedom)
        parts.append(center + _turned(Z, rng))
    X, y = _joined(parts)
    X = np.column_stack([_turned(X, rng), rng.standard_normal((len(X), noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _skewed_table(n: int, rng: Rng) -> Labelled:
    X, y = _table(n, rng)
    return np.exp(X * rng.uniform(0.2, 0.7, X.shape[1])), y


def _by_size(n: int, rng: Rng) -> Labelled:
    """Groups beside a common factor that dominates all columns, as the size of animals does."""
    X, y = _table(n, rng, d=5, gap=(3.5, 7.0))
    return X + rng.uniform(2, 6) * rng.standard_normal((len(X), 1)), y


def _counts_table(n: int, rng: Rng) -> Labelled:
    """Counts whose rates differ between groups."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(4, 9))
    rates = rng.uniform(2, 30, (k, d))
    y = rng.integers(0, k, n)
    return rng.poisson(rates[y]).astype(float), y


def _answers_of_groups(n: int, rng: Rng) -> Labelled:
    """Groups that answer on scales of five."""
    X, y = _table(n, rng, d=int(rng.integers(5, 11)), gap=(4.0, 7.0))
    return np.clip(np.round(3 + 1.3 * X), 1, 5), y


def _with_flags(n: int, rng: Rng) -> Labelled:
    """Groups in numbers, and two flags that say little of them."""
    X, y = _table(n, rng, d=4, gap=(4.0, 7.0))
    return np.column_stack([X, rng.random((len(X), 2)) < 0.4 + 0.2 * (y[:, None] % 2)]), y


def _overlapping(d: int, apart: float) -> Callable[[int, Rng], Labelled]:
    """Two Gaussians that differ in the first of d columns."""

    def make(n: int, rng: Rng) -> Labelled:
        X, y = rng.standard_normal((n, d)), rng.integers(0, 2, n)
        X[:, 0] += apart * y
        return X, y

    return make


def _correlated(n: int, rng: Rng, d: int = 0) -> Doubles:
    d = d or int(rng.integers(4, 13))
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d))


def _heavy_table(n: int, rng: Rng) -> Doubles:
    return _correlated(n, rng) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def _lognormal_table(n: int, rng: Rng) -> Doubles:
    X = _correlated(n, rng, 6)
    return np.exp(X / X.std(axis=0) * rng.uniform(0.2, 1.0, 6))


def _bent_table(n: int, rng: Rng) -> Doubles:
    """One group whose columns depend on each other along a curve."""
    u, d = rng.standard_normal(n), int(rng.integers(4, 9))
    X = np.column_stack([u, u**2, *(np.tanh(u + shift) for shift in rng.normal(size=d - 2))])
    return X + 0.5 * rng.standard_normal(X.shape)


# ---- lattices: whole numbers without groups -----------------------------------------------------


def _answers(n: int, rng: Rng) -> Doubles:
    """Answers on scales of five or seven that depend on one or two common factors."""
    d, top = int(rng.integers(4, 13)), int(rng.choice([5, 7]))
    factors = rng.standard_normal((n, 2)) @ rng.uniform(0, 1, (2, d))
    X = factors + rng.standard_normal((n, d))
    return np.clip(np.round((top + 1) / 2 + rng.uniform(0.6, 1.4) * X), 1, top)


def _few_answers(n: int, rng: Rng) -> Doubles:
    return _answers(n, rng)[:, : int(rng.integers(1, 4))]


def _customers(n: int, rng: Rng) -> Doubles:
    """Two flags, ages in years and a bill with a heavy tail."""
    age = np.clip(np.round(21 + rng.gamma(2.5, 6.0, n)), 21, 79)
    bill = np.round(np.exp(rng.normal(9.5, 1.3, n)) * rng.choice([0.2, 1.0], n))
    return np.column_stack([rng.random(n) < 0.4, rng.random(n) < 0.22, age, bill]).astype(float)


def _houses(n: int, rng: Rng) -> Doubles:
    """Small whole numbers (rooms, storeys, garages) that grow with one another, and a price."""
    size = rng.standard_normal(n)
    low, top = np.array([2, 1, 1, 0, 0]), np.array([6, 4, 4, 3, 1])
    rooms = size[:, None] * rng.uniform(0.2, 0.7, 5) + 0.8 * rng.standard_normal((n, 5))
    rooms = np.clip(np.round((low + top) / 2.5 + rooms), low, top)
    price = np.round(np.exp(11 + 0.3 * size + 0.2 * rng.standard_normal(n)), -2)
    return np.column_stack([rooms, price])


def _ages(n: int, rng: Rng) -> Doubles:
    """Ages and years of service, in whole years."""
    age = np.round(rng.normal(40, 10, n))
    service = np.round(np.clip((age - 20) * rng.uniform(0, 1, n), 0, None))
    return np.column_stack([age, service])[:, : int(rng.integers(1, 3))]


def _tallies(n: int, rng: Rng) -> Doubles:
    d = int(rng.integers(2, 8))
    return rng.poisson(rng.uniform(0.5, 12, d) * rng.gamma(4, 0.25, (n, 1))).astype(float)


def _rounded_gauss(n: int, rng: Rng) -> Doubles:
    return np.round(_correlated(n, rng, int(rng.integers(2, 8))), int(rng.integers(0, 2)))


def _even_spiral(n: int, rng: Rng) -> Doubles:
    """A spiral, even in arc length."""
    t = np.linspace(1.0, 4.0, 4000)
    length = np.cumsum(np.hypot(np.gradient(t), t * 2 * np.pi / 3 * np.gradient(t)))
    t = np.interp(rng.uniform(length[0], length[-1], n), length, t)
    X = _polar(t, 2 * np.pi * t / 3)
    return X + rng.uniform(0.05, 0.15) * rng.standard_normal(X.shape)


TABLES = [
    Family("groups", _table, 150),
    Family("close groups", lambda n, rng: _table(n, rng, gap=(2.6, 3.6)), 300),
    Family("groups in 20-D", lambda n, rng: _table(n, rng, d=20, gap=(3.5, 6)), 150),
    Family("t groups", lambda n, rng: _table(n, rng, freedom=4.0, gap=(4, 7)), 150),
    Family("columns of noise", lambda n, rng: _table(n, rng, d=4, noise=6), 150),
    Family("skewed groups", _skewed_table, 150),
    Family("groups beside size", _by_size, 150),
    Family("groups of counts", _counts_table, 150),
    Family("answers of groups", _answers_of_groups, 150),
    Family("groups and flags", _with_flags, 150),
]
POWER = [
    Family(f"two Gaussians {apart} apart in {d}-D", _overlapping(d, apart))
    for d in (2, 5, 10)
    for apart in (3.0, 3.5, 4.0)
]
TABLE_NULLS = [
    Family("correlated", _correlated, 100),
    Family("heavy tails", _heavy_table, 100),
    Family("lognormal table", _lognormal_table, 100),
    Family("bent", _bent_table, 100),
    Family("box 5-D", _cube(5), 100),
    Family("even spiral", _even_spiral, 1000, 5000),
]
LATTICES = [
    Family("answers", _answers, 100),
    Family("few answers", _few_answers, 100, 6000),
    Family("customers", _customers, 300, 10_000),
    Family("houses", _houses, 200),
    Family("ages", _ages, 100, 6000),
    Family("tallies", _tallies, 100),
    Family("rounded Gaussian", _rounded_gauss, 100),
]
CLUSTERED = [
    Family("equal blobs", _blobs),
    Family("close blobs", lambda n, rng: _blobs(n, rng, gap=(2.8, 4.0))),
    Family("many blobs", _many, 600, 5000),
    Family("uneven sizes", lambda n, rng: _blobs(n, rng, uneven=15.0, gap=(3.5, 7))),
    Family("uneven widths", lambda n, rng: _blobs(n, rng, widths=6.0, gap=(2.5, 6))),
    Family("uneven both", lambda n, rng: _blobs(n, rng, uneven=8.0, widths=4.0, gap=(2.8, 6))),
    Family("stretched blobs", lambda n, rng: _blobs(n, rng, stretch=6.0, gap=(2.5, 5))),
    Family("t blobs", lambda n, rng: _blobs(n, rng, freedom=4.0, gap=(4.5, 9))),
    Family("blobs in 3-D", lambda n, rng: _blobs(n, rng, d=3, gap=(3.2, 6))),
    Family("blobs in 6-D", lambda n, rng: _blobs(n, rng, d=6, gap=(3.5, 6.5), stretch=2.0)),
    Family("blobs in 10-D", lambda n, rng: _blobs(n, rng, d=10, gap=(4, 7.5))),
    Family("pair", _pair, 300),
    Family("blobs in noise", lambda n, rng: _noised(_blobs(n, rng, gap=(4.5, 8)), 0.2, rng)),
    Family("core and halo", _core_and_halo, 300),
    Family("small beside large", _small_beside_large, 300),
    Family("skewed", _skewed),
    Family("bridged", _bridged, 300),
    Family("tiles", _tiles, 300),
    Family("discs", _discs, 300),
    Family("mixed shapes", _mixed_shapes, 300),
    Family("moons", _moons),
    Family("rings", _rings, 300),
    Family("target", _target, 300),
    Family("spirals", _spirals, 300),
    Family("waves", _waves, 300),
    Family("lines", _lines, 300),
    Family("links", _links, 300),
    Family("diamonds", _diamonds, 600),
    Family("rounded", _rounded),
    Family("shells", _shells, 400),
    Family(
        "moons in noise", lambda n, rng: _noised(_moons(n, rng), rng.uniform(0.05, 0.2), rng), 400
    ),
]

NULLS = [
    Family("Gaussian 1-D", _gauss(1), 100, 5000),
    Family("Gaussian 2-D", _gauss(2, 3.0), 100, 5000),
    Family("Gaussian 3-D", _gauss(3, 3.0), 100, 5000),
    Family("Gaussian 6-D", _gauss(6), 100, 5000),
    Family("Gaussian 10-D", _gauss(10), 100, 5000),
    Family("t 2-D", _student(2), 100, 5000),
    Family("t 4-D", _student(4), 100, 5000),
    Family("rectangle", _cube(2), 100, 5000),
    Family("box 3-D", _cube(3), 100, 5000),
    Family("disc", lambda n, rng: _disc(n, rng), 100, 5000),
    Family("thin ring", _one_arc(0.02, 0.05, 1.0), 100, 5000),
    Family("thick ring", _one_arc(0.07, 0.2, 1.0), 100, 5000),
    Family("crescent", _one_arc(0.05, 0.2, 0.6), 100, 5000),
    Family("filament", _filament, 100, 5000),
    Family("spiral", _one_spiral, 100, 5000),
    Family("bent sheet", _sheet, 100, 5000),
    Family("L", _ell, 100, 5000),
    Family("blob in noise", _blob_in_noise, 100, 5000),
    Family("exponential", _exponential, 100, 5000),
    Family("lognormal", _lognormal, 100, 5000),
    Family("sphere", _sphere, 100, 5000),
]

HELD_OUT = frozenset(
    {
        "uneven both",
        "blobs in 6-D",
        "small beside large",
        "bridged",
        "mixed shapes",
        "waves",
        "shells",
        "moons in noise",
        "t 4-D",
        "L",
        "blob in noise",
        "lognormal",
        "sphere",
        "crescent",
    }
)
