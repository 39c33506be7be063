"""Compiled code: when it is loaded, what is kept on disk, and how a rule or a kernel enters."""

import os
import shutil
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import typicality
from processes import python
from typicality.compiled import arithmetic, jit
from typicality.compiled.pair_sums import sum_pairs
from typicality.compiled.sweep import fold_rows
from typicality.kernels import Stationary
from typicality.kernels.stationary import CompiledKernel, SinglePrecision
from typicality.membership.base import Array, CompiledRule, NearestPrototype, labels
from typicality.spaces import Euclidean
from typicality.sums import KernelColumns, Tiles

pytestmark = pytest.mark.xdist_group("compiled")  # long: it begins first

# ---- when it is loaded --------------------------------------------------------------------------


def test_indices_are_checked_where_numba_is_asked_to(tmp_path):
    code = """
import json, numpy as np
from typicality.compiled import arithmetic, jit
read = jit.cached(**jit.REORDERED)(lambda values, place: values[place])
try:
    read(np.ones(3), 3)
except IndexError as error:
    print(json.dumps(str(error)))
"""
    asked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(code, **asked) == "index is out of bounds"


# ---- what is kept on disk -----------------------------------------------------------------------


@pytest.fixture
def copy_of_the_package(tmp_path):
    source = os.path.dirname(typicality.__file__)
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(source, tmp_path / "typicality", ignore=ignored)


def double(x):
    """Compiled by the tests below."""
    return 2 * x


def test_a_change_of_what_cached_code_calls_compiles_it_again(copy_of_the_package, tmp_path):
    code = (
        "import json, numpy as np\nfrom typicality.compiled.sweep import fold_rows\n"
        "from typicality.compiled import small\nsmall._LONGEST = -1.0\n"
        "from typicality.spaces import Euclidean\nfrom typicality.membership import Hard\n"
        "X = np.arange(6.0).reshape(3, 2)\n"
        "u = Euclidean(X).at(X[:1]).memberships(Hard(), X)\nstats = fold_rows.on_disk.stats\n"
        "print(json.dumps([sum(stats.cache_hits.values()), u.ravel().tolist()]))"
    )
    folders = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(code, **folders) == [0, [1.0, 1.0, 1.0]]
    assert python(code, **folders) == [1, [1.0, 1.0, 1.0]]
    rule = copy_of_the_package / "membership" / "hard.py"
    rule.write_text(rule.read_text().replace("1 if first else 0", "3 if first else 0"))
    assert python(code, **folders) == [0, [3.0, 3.0, 3.0]]


def in_memory_only(loop, form_class):
    """Whether a loop was compiled for a form and not cached, for a change here goes unnoticed."""
    kept, compiled = (
        [types[0].instance_class for types in dispatcher.signatures]
        for dispatcher in (loop.on_disk, loop.in_memory)
    )
    return form_class in compiled and form_class not in kept


# ---- how a rule enters: one class and its compiled form -----------------------------------------


@dataclass(frozen=True)
class Lorentzian(NearestPrototype):
    """A rule for this test: u = 1 / (1 + d / s)."""

    s: float

    def memberships(self, sqdist: Array) -> Array:
        return 1.0 / (1.0 + sqdist / self.s)

    def weights(self, memberships: Array) -> Array:
        return memberships**2

    def objective(self, memberships: Array, sqdist: Array) -> Array:
        return (memberships**2 * sqdist + self.s * (1.0 - memberships) ** 2).sum(axis=-1)

    @property
    def compiled_form(self):
        return LorentzianForm(self.s)


class LorentzianForm(NamedTuple):
    s: float

    @staticmethod
    def functions():
        from typicality.compiled.arithmetic import clear

        def memberships(form, sqdist, low, total, out):
            for k in range(out.shape[0]):
                for r in range(out.shape[1]):
                    out[k, r] = 1.0 / (1.0 + sqdist[k, r] / form.s)

        def pull(form, sqdist, low, total, out, value):
            clear(value)
            for k in range(out.shape[0]):
                for r in range(out.shape[1]):
                    value[r] += out[k, r] * sqdist[k, r]
                    out[k, r] *= out[k, r]

        return CompiledRule(memberships, pull)


class LorentzianArrays(Lorentzian):
    compiled_form = None


@pytest.mark.usefixtures("compiling")
def test_a_rule_is_one_class_and_its_compiled_form(rng):
    X = rng.normal(size=(3000, 3))
    space = Euclidean(X)
    fast = slow = space.at(X[:4])
    for _ in range(5):
        one = space.sweep(Lorentzian(0.7), fast)
        other = space.sweep(LorentzianArrays(0.7), slow)
        assert_allclose(one.objective, other.objective, rtol=1e-12)
        fast, slow = one.prototypes, other.prototypes
    assert_allclose(fast.centers, slow.centers, atol=1e-11)
    rule = Lorentzian(0.7)
    assert_allclose(fast.memberships(rule, X), rule.memberships(fast.sqdist(X)), rtol=1e-13)
    assert_array_equal(fast.labels(rule, X), labels(rule, fast.sqdist(X)))
    assert in_memory_only(fold_rows, LorentzianForm)


# ---- how a kernel enters: one class and its compiled form ---------------------------------------


@dataclass(frozen=True)
class Student(Stationary):
    """A kernel for this test: (1 + |x - y|^2 / sigma^2)^-2."""

    metric: ClassVar[str] = "sqeuclidean"

    sigma: float = 1.0

    def log_profile(self, distance, out=None):
        values = np.log1p(np.divide(distance, self.sigma**2, out=out), out=out)
        return np.multiply(values, -2.0, out=out)

    def support_radius(self, rtol):
        return self.sigma * np.sqrt(rtol**-0.5 - 1.0) if rtol > 0 else np.inf

    @property
    def compiled_form(self):
        return StudentForm(self.sigma**-2) if type(self) is Student else None

    def single_precision(self, n_features):
        return SinglePrecision(1.0 / self.sigma, 1.5, lowest=0.0)


class StudentForm(NamedTuple):
    scale: float

    @staticmethod
    def functions():
        from typicality.compiled.arithmetic import ONE_32, UNIT_32

        def part(form, difference):
            return difference * difference

        def profile(form, distance):
            return (1.0 + form.scale * distance) ** -2

        def complement(form, distance):
            relative = form.scale * distance
            return relative * (2.0 + relative) / ((1.0 + relative) * (1.0 + relative))

        def profile_32(form, distance):
            return UNIT_32 / ((ONE_32 + distance) * (ONE_32 + distance))

        def complement_32(form, distance):
            return UNIT_32 - UNIT_32 / ((ONE_32 + distance) * (ONE_32 + distance))

        def log_profile(form, distance):
            return -2.0 * np.log1p(form.scale * distance)

        def ratio(form, distance, nearest):
            return ((1.0 + form.scale * nearest) / (1.0 + form.scale * distance)) ** 2

        def distance_at(form, share):
            return ((1.0 - share) ** -0.5 - 1.0) / form.scale

        return CompiledKernel(
            part, profile, complement, profile_32, complement_32, log_profile, ratio, distance_at
        )


@pytest.mark.parametrize("single", [False, True])
def test_a_kernel_is_one_class_and_its_compiled_form(rng, single):
    X, points = rng.normal(size=(3000, 2)), rng.normal(size=(50, 2))
    W = rng.random((3000, 2))
    kernel = Student(0.3)
    tiles = Tiles(KernelColumns(kernel, X), rtol=1e-9, single=single)
    rtol = 1e-5 if single else 1e-7
    assert_allclose(tiles.complement(W), 0.5 * kernel.sqdist(X, X) @ W, rtol=rtol)
    assert_allclose(tiles.expansion(W).at(points), kernel(points, X) @ W, rtol=rtol)
    assert in_memory_only(sum_pairs, StudentForm)


# ---- arithmetic ---------------------------------------------------------------------------------


@numba.njit(**jit.REORDERED)
def _logarithms(x, out):
    for i in range(x.size):
        out[i] = arithmetic.log2(x[i])


@numba.njit(**jit.REORDERED)
def _powers(x, lowest, out):
    for i in range(x.size):
        out[i] = arithmetic.exp2(x[i], lowest)


def test_log2_is_within_its_stated_error(rng):
    x = np.concatenate([rng.uniform(0.5, 2, 200_000), np.exp2(rng.uniform(-1000, 1000, 50_000))])
    found = np.empty_like(x)
    _logarithms(x, found)
    exact = np.log2(x.astype(np.longdouble))
    assert (np.abs(found - exact) <= 2.5e-16 + np.spacing(np.abs(found)) / 2).all()


def test_exp2_is_within_its_stated_error(rng):
    x = np.concatenate([rng.uniform(-1, 1, 200_000), rng.uniform(-1009, 999, 50_000)])
    found = np.empty_like(x)
    _powers(x, -1009.0, found)
    assert np.abs(found / np.exp2(x.astype(np.longdouble)) - 1).max() <= 4e-16
