"""What a command may use: memory, threads, a device of torch."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from threadpoolctl import threadpool_limits

from typicality._threads import one_blas_thread
from typicality.cli.errors import UnusableError, WrongUseError
from typicality.cli.options import Options
from typicality.tables.reading import default_memory

TEXT_BYTES = 2**29  # of texts kept; of few bytes in all, the share below
_TEXT_SHARE = 4
# What rows take from the file to the results, beyond their numbers and by method: bytes of a row
# while there are few; of many, a constant and bytes of a row (benchmarks/memory_limits.py measures
# the peak of the process). Outliers are reckoned as if all rows were fitted, for --max-rows.
_OF_ROWS = {
    "alpha-cut": (16_000, 140_000_000, 3500),
    "auto": (16_000, 140_000_000, 3500),  # alpha-cut on all rows, where there are few columns
    "outliers": (2500, 0, 2500),
    "kernel": (2500, 0, 2500),
    "prototypes": (550, 0, 550),
}
_COPIES = 6  # of the numbers: in the file's order, scaled, and as parts of both
# Bytes of address space that a few rows take: libraries, compiled code, and a gigabyte that the
# allocator of Arrow reserves; and what each thread reserves.
_LEAST_SPACE, _SPACE_OF_A_THREAD = 2_100_000_000, 70_000_000
_LEAST_STEP = 2**23  # bytes for a step, where rows leave no more


@contextmanager
def within(options: Options) -> Iterator[None]:
    """A context in which fits keep to --jobs threads and to --memory gigabytes a step.

    Both settings are scikit-learn's, which the whole library reads: its `working_memory` in MiB,
    and the threads of its pools. BLAS computes in one thread: its threads would change last bits.
    scikit-learn is loaded only if there is something to set.
    """
    memory = options.memory
    if memory is None and options.jobs is None:
        with one_blas_thread():
            yield
        return
    from sklearn import config_context

    settings = {} if memory is None else {"working_memory": memory * 1e9 / 2**20}
    with config_context(**settings), threadpool_limits(options.jobs, "openmp"), one_blas_thread():
        yield


def bytes_of_rows(kind: str, n_rows: int, n_columns: int) -> int:
    """What rows take from the file to the results, by a kind of method, a key of `_OF_ROWS`."""
    few, constant, many = _OF_ROWS[kind]
    return min(few * n_rows, constant + many * n_rows) + 8 * _COPIES * n_columns * n_rows


def memory_of(options: Options) -> int:
    """The bytes that rows may take: those of --memory, or half of the machine."""
    return default_memory() if options.memory is None else int(options.memory * 1e9)


def keep_within(memory: int | None, needed: int) -> int:
    """Let a step use what rows leave of the memory; returns the bytes that texts may take.

    The setting ends with the context of :func:`within`.
    """
    if memory is None:
        return TEXT_BYTES
    spare = memory - needed
    text_bytes = min(TEXT_BYTES, spare // _TEXT_SHARE)
    from sklearn import set_config

    set_config(working_memory=max(_LEAST_STEP, spare - text_bytes) / 2**20)
    return text_bytes


def rows_that_fit(kind: str, n_columns: int, memory: int) -> int:
    """How many rows take at most so many bytes, by a kind of method."""
    few, constant, many = _OF_ROWS[kind]
    numbers = 8 * _COPIES * n_columns
    return max(0, memory // (few + numbers), (memory - constant) // (many + numbers))


def _address_space() -> float:
    """The bytes that the process may address; infinity where there is no limit."""
    try:
        resource = import_module("resource")
        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, OSError, AttributeError):  # not on this system
        return math.inf
    return math.inf if allowed == resource.RLIM_INFINITY else float(allowed)


def refuse_without_space(kind: str, name: str, n_rows: int, n_columns: int) -> None:
    """An error where a limit of the address space is too low: a compiler does not survive that."""
    allowed = _address_space()
    if allowed == math.inf:
        return
    from typicality._compat import effective_n_threads

    needed = _LEAST_SPACE + _SPACE_OF_A_THREAD * effective_n_threads()
    needed += bytes_of_rows(kind, n_rows, n_columns)
    if needed > allowed:
        kilobytes = math.ceil(1.02 * needed / 2**20) * 1024
        raise UnusableError(
            f"{name}: the address space of the process is limited to {allowed / 1e9:.2f} "
            f"GB, and these rows take about {needed / 1e9:.2f} GB. Raise the limit, e.g. "
            f"with `ulimit -v {kilobytes}`, choose fewer columns with --columns, or fit on "
            "fewer rows."
        )


def require_dask(options: Options) -> None:
    """Refuse --workers and --scheduler where these make no sense, or Dask is not installed."""
    if not options.uses_dask:
        return
    if options.workers is not None and options.scheduler is not None:
        raise WrongUseError(
            "--workers starts processes on this machine, --scheduler uses those of "
            "another; give only one of them."
        )
    if find_spec("distributed") is None:
        name = "--workers" if options.scheduler is None else "--scheduler"
        raise UnusableError(
            f"{name} needs Dask, which is not installed: pip install 'dask[array,distributed]'."
        )


def device_of(name: str | None) -> str | None:
    """The device of torch that --device names, e.g. "cuda"; None for arrays on the CPU.

    Raises
    ------
    UnusableError
        torch is not installed, or has no such device.
    """
    if name is None or (name == "auto" and find_spec("torch") is None):
        return None
    try:
        import torch
    except ImportError as error:
        raise UnusableError(
            f"--device {name} needs torch, which is not installed: pip install torch."
        ) from error
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return "cuda" if n_gpus else None
    kind, _, number = name.partition(":")
    if kind == "cuda" and int(number or 0) >= n_gpus:
        gpus = "no GPU" if n_gpus == 0 else f"{n_gpus} GPU(s), counted from 0"
        raise UnusableError(
            f"--device {name}: torch {torch.__version__} finds {gpus} on this machine. Choose "
            "--device cpu, or install a torch for your GPU and its driver."
        )
    return name


def on_device(estimator: Any, X: Any, name: str | None) -> Any:
    """Fit on a device of torch, or on the CPU; the fitted model has arrays of NumPy."""
    device = device_of(name)
    if device is None:
        return estimator.fit(X)
    from typicality._tensors import tensor_of

    return estimator.fit(tensor_of(X, device))._host()
