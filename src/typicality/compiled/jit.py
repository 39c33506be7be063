"""How functions are compiled, and how their machine code is kept on disk.

Numba discards cached code when the source file of the cached function changes. It does not look at
the files that the function calls. So the name of every cached function here, which is part of the
name of its files in the cache, gets a fingerprint of all sources that compiled code can depend on.
After any change of these files the code is compiled again. (A free variable with the fingerprint
would be part of numba's key too, but numba reads the whole index of a function before it compares
keys, and cannot read one with a form that was renamed.)
"""

from contextlib import suppress
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from types import FunctionType

from numba import njit
from numba.core.caching import FunctionCache
from numba.extending import overload

from typicality.compiled import small

# Sums may be reordered (vector lanes) and products fused.
REORDERED = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
# Inlined, so that a loop is one function: a process that compiles would otherwise link to copies of
# the helpers that were optimised on their own, and round differently from one that finds the loop
# in the cache.
INLINED = {**REORDERED, "forceinline": True}
# For code that relies on the order of operations, like range reduction.
EXACT = {"fastmath": {"contract"}, "error_model": "numpy", "forceinline": True}

inlined = njit(**INLINED)
exact = njit(**EXACT)

_PACKAGE = Path(__file__).parents[1]


@cache
def fingerprint():
    """A number that changes with the sources of compiled code, of the rules and of the kernels."""
    digest = sha256()
    for folder in ("compiled", "membership", "kernels"):
        for path in sorted(_PACKAGE.joinpath(folder).glob("*.py")):
            digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:6])


class ForgivingCache(FunctionCache):
    """Compiled code on disk; a file that cannot be read or written is as good as none."""

    def load_overload(self, sig, target_context):
        """The compiled code for some types of arguments; None where there is none."""
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # damaged: whatever the unpickler makes of it
            with suppress(Exception):
                self.flush()  # so that the next process finds what this one compiles
        if found is None:
            small.announce()
        return found

    def save_overload(self, sig, data):
        """Keep the compiled code, if that is possible."""
        with suppress(Exception):
            super().save_overload(sig, data)


def cached(**options):
    """Compile, and keep the result on disk where there is a folder that can be written to."""

    def compiled(function):
        try:
            stamped = FunctionType(function.__code__, function.__globals__)
            stamped.__qualname__ = f"{function.__qualname__}_{fingerprint():012x}"
            dispatcher = njit(nogil=True, **options)(stamped)
            dispatcher._cache = ForgivingCache(stamped)
            return dispatcher
        except (RuntimeError, OSError):  # no such folder, or a package without its sources
            return njit(nogil=True, **options)(function)

    return compiled


class Loop:
    """A loop that is compiled for each type of its first argument, a compiled form.

    The result is kept on disk for the forms of this package only. The fingerprint does not cover
    other sources, and a process that cannot import them could not read the index of the cache.
    """

    def __init__(self, function):
        self.on_disk = cached(**REORDERED)(function)
        self.in_memory = njit(nogil=True, **REORDERED)(function)

    def __call__(self, form, *arguments):
        """Run the loop."""
        ours = type(form).__module__.startswith("typicality.")
        return (self.on_disk if ours else self.in_memory)(form, *arguments)


def of_form(options, *, by_precision=False):
    """Let compiled code call the function of that name of the form it is given.

    The decorated function only documents the arguments. With `by_precision`, the form has a second
    function, `<name>_32`, for an argument in single precision.
    """

    def declared(documented):
        @wraps(documented)
        def stub(*arguments):
            refuse_to_interpret()

        @overload(stub, jit_options=options, strict=False)
        def choose(form, *arguments):
            single = by_precision and arguments[0].bitwidth == 32
            return getattr(functions_of(form.instance_class), stub.__name__ + "_32" * single)

        return stub

    return declared


def refuse_to_interpret():
    """Numba was told not to compile, and the loops mean nothing to the interpreter."""
    raise RuntimeError(
        "typicality cannot run without compilation: unset the environment variable "
        "NUMBA_DISABLE_JIT."
    )


@cache
def functions_of(form_class):
    """The compiled functions of a rule or a kernel, made once."""
    return form_class.functions()
