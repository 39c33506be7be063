"""Files of rows larger than memory, a limit of memory that the system enforces, and peaks of it."""

import os
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "CLUSTERS",
    "FEATURES",
    "MemoryLimit",
    "blocks_of",
    "centers",
    "read_block",
    "resident_peak",
    "write_file",
]

FEATURES, CLUSTERS = 8, 10
_ROWS_AT_A_TIME = 2**18
_CGROUPS = Path("/sys/fs/cgroup")


def centers(n_features: int = FEATURES) -> Any:
    """The centers of the clusters in the files."""
    return np.random.default_rng(0).uniform(0, 20, size=(CLUSTERS, n_features))


def write_file(path: Path, n_rows: int, n_features: int = FEATURES) -> None:
    """An npy file of normal clusters about the centers, written block by block."""
    rng, middles = np.random.default_rng(1), centers(n_features)
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_rows, n_features)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, n_rows, _ROWS_AT_A_TIME):
            size = min(_ROWS_AT_A_TIME, n_rows - start)
            rows = middles[rng.integers(CLUSTERS, size=size)]
            (rows + rng.normal(size=rows.shape)).tofile(stream)


def read_block(path: Path, start: int, n_rows: int) -> Any:
    """Some rows of the file."""
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        np.lib.format.read_array_header_1_0(file)
        file.seek(8 * FEATURES * start, os.SEEK_CUR)
        return np.fromfile(file, np.float64, n_rows * FEATURES).reshape(-1, FEATURES)


def blocks_of(path: Path, n_rows: int, block: int) -> Any:
    """The first rows of the file as a Dask array; workers read their blocks."""
    import dask
    import dask.array as da

    read = dask.delayed(read_block, pure=True)
    sizes = [min(block, n_rows - start) for start in range(0, n_rows, block)]
    parts = [
        da.from_delayed(read(path, start * block, size), (size, FEATURES), np.float64)
        for start, size in enumerate(sizes)
    ]
    return da.concatenate(parts)


def resident_peak() -> int:
    """The largest resident memory of this process so far, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


class MemoryLimit:
    """A memory cgroup of version 1 or 2, where the user may make one; else nothing is enforced.

    Parameters
    ----------
    n_bytes : float, optional
        The limit, for all processes in the group together; none if left out.
    """

    def __init__(self, n_bytes: float | None) -> None:
        self._group: Path | None = None
        if n_bytes is None:
            return
        first = (_CGROUPS / "memory").is_dir()
        name, limit = f"typicality-{os.getpid()}", "memory.max"
        group = _CGROUPS / name
        if first:
            group, limit = _CGROUPS / "memory" / name, "memory.limit_in_bytes"
        try:
            if not first:
                (_CGROUPS / "cgroup.subtree_control").write_text("+memory")
            group.mkdir()
            self._group = group
            (group / limit).write_text(str(int(n_bytes)))
        except OSError:
            self.remove()

    @property
    def enforced(self) -> bool:
        return self._group is not None

    def enter(self) -> None:
        """Put this process into the group."""
        if self._group is not None:
            (self._group / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self) -> None:
        if self._group is not None:
            self._group.rmdir()
        self._group = None
