"""Fused kernels under Triton's interpreter, against float64: `python -m sums.interpreted`.

Prints one line of JSON: what was computed, and the error relative to its bound. Triton decides when
it is imported whether it interprets, so this is a process of its own.
"""

import json
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch

from instances import sums_of
from typicality.kernels import Gaussian
from typicality.membership import Fuzzy
from typicality.spaces import torch_sweep
from typicality.spaces.euclidean import Centroids
from typicality.sums import KernelColumns, fused

N_ROWS = 150  # two blocks of the larger tiles, the second in part


def gaussian_sums(d: int, *, double: bool) -> float:
    """The largest error of sums at rows and at points, relative to the bound of each."""
    rng = np.random.default_rng(d)
    X = torch.as_tensor(rng.standard_t(4, size=(N_ROWS, d)) + 10.0)
    W = torch.as_tensor(rng.random((N_ROWS, 2)))
    W /= W.sum(dim=0)
    sigma = 0.5 * float(torch.cdist(X, X).median())
    exact = torch.exp(-torch.cdist(X, X).square() / (2 * sigma**2)) @ W
    rows = fused.GaussianRows(X, sigma)
    layout = rows.layout(double=double)
    bound = fused._relative_error(rows.reach, exact, W.amax(dim=0), layout, d) * exact + 1e-13
    sums = rows.over_pairs(W, layout), rows.at(rows.points, W, layout)
    return max(float(((ours - exact).abs() / bound).max()) for ours in sums)


def fused_operator(rtol: float) -> float:
    """The largest error of products and of sums at points, in units of the promise."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(N_ROWS, 3)), rng.random((N_ROWS, 2))
    kernel = Gaussian(0.7)
    points = np.vstack([X[:5], 3.0 * rng.normal(size=(20, 3)), X[:1] + 1e3])
    operator = fused.Fused(KernelColumns(kernel, X), X, "cpu", rtol)
    sums = operator.expansion(W)
    pairs = [
        (operator.complement(W), (1.0 - kernel(X, X)) @ W),
        (sums.at(points), kernel(points, X) @ W),
        (sums.at(points, complement=True), (1.0 - kernel(points, X)) @ W),
    ]
    return max(float((np.abs(a - b) / W.sum(axis=0)).max()) for a, b in pairs) / (rtol + 1e-14)


def sweep(d: int, c: int, m: float, *, weighted: bool) -> float:
    """The largest error of the sums of a sweep, in units of 2e-5 of the largest.

    A half of the prototypes coincide with rows.
    """
    rng = np.random.default_rng(d)
    X = (rng.normal(size=(N_ROWS, d)) + 3.0).astype(np.float32).astype(np.float64)
    weight = rng.integers(0, 3, N_ROWS).astype(float) if weighted else None
    at = Centroids.at(X[:c] + 0.1 * (np.arange(c)[:, None] < c / 2), X[0])
    exact = sums_of(Fuzzy(m), at, X, weight)
    given = None if weight is None else torch.as_tensor(weight, dtype=torch.float32)
    tensor = torch.as_tensor(X, dtype=torch.float32)
    ours = torch_sweep._fused(Fuzzy(m), tensor, given, at.origin, at.offsets)
    pairs = [(ours.sums, exact.sums), (ours.mass, exact.mass), (ours.within, exact.within)]
    pairs.append((np.array([ours.objective]), np.array([exact.objective])))
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs) / 2e-5


def main() -> None:
    errors = {}
    for d in (2, 8, 9, 33, 65):
        errors[f"sums of {d} features"] = gaussian_sums(d, double=False)
    errors["sums in double precision"] = gaussian_sums(3, double=True)
    for rtol in (1e-6, 1e-9):
        errors[f"operator, rtol={rtol}"] = fused_operator(rtol)
    for m in (2.0, 1.05, 1.5, 3.0, 20.0):
        errors[f"sweep, m = {m}"] = sweep(3, 2, m, weighted=False)
        errors[f"sweep with weights, m = {m}"] = sweep(5, 17, m, weighted=True)
    sys.stdout.write(json.dumps(errors))


if __name__ == "__main__":
    main()
