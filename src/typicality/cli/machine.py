"""What a command may use: threads, processes of Dask, a device of torch."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any

from threadpoolctl import threadpool_limits

from typicality._threads import one_blas_thread
from typicality.cli.errors import UnusableError
from typicality.cli.options import Options


@contextmanager
def within(options: Options) -> Iterator[None]:
    """A context in which fits keep to --jobs threads.

    BLAS computes in one thread: its threads would change last bits.
    """
    limit = nullcontext() if options.jobs is None else threadpool_limits(options.jobs, "openmp")
    with limit, one_blas_thread():
        yield


def workers(options: Options) -> AbstractContextManager[None]:
    """A context with the processes of Dask, if --workers asks for some."""
    wanted = options.workers
    if wanted is None:
        return nullcontext()
    if find_spec("distributed") is None:
        raise UnusableError(
            "--workers needs Dask, which is not installed: pip install 'dask[array,distributed]'."
        )
    from typicality.rows import dask

    return dask.workers(int(wanted), None) if wanted.isdigit() else dask.workers(None, wanted)


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
