"""Everything that needs a GPU in one call: the tests, then the benchmarks, in about eight minutes.

`python benchmarks/gpu.py [--quick] [--no-tests] [--output FILE]` prints tables and writes them as
markdown, by default to `benchmarks/results/gpu.md`. Times are of warm runs: kernels are compiled
before. Errors are against float64 on a sample of the rows that includes the outermost ones.

A part that fails prints its error, and the others go on. The exit code is 0 if no part failed, all
tests passed and all targets are met; otherwise 1.
"""

import argparse
import math
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sklearn.base import clone

from _report import Report, Verdict, machine
from typicality import AlphaCutClustering, FuzzyCMeans, OneClusterPCM
from typicality._tensors import OnDevice
from typicality.kernels import Gaussian
from typicality.membership import Fuzzy
from typicality.rows import TensorRows
from typicality.spaces import Euclidean
from typicality.sums import Fused, KernelColumns, Tiles

_ROOT = Path(__file__).resolve().parents[1]
_TESTS = ["sums/test_device.py", "cluster/test_tensors.py", "spaces/test_torch_sweep.py"]
_SAMPLE = 1000  # rows, half of them the outermost
_TEST_SECONDS = 240
_LATEST_START = 420  # seconds; parts that would begin later are left out
_FIT_SECONDS = {2: 2.0, 8: 2.4, 32: 3.6, 64: 5.5}  # of OneClusterPCM, by the number of features
_SWEEP_MS, _SWEEP_RATIO = 2.0, 2.0  # at most, m = 2; at least, over torch.compile
_BLOCK = 4096  # rows of a block of the kernel matrix, by plain torch


def milliseconds(run: Callable[[], object], repeats: int = 3) -> float:
    run()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times))


def drawn(n: int, d: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(n, d, generator=generator, device="cuda")


def run_tests(report: Report) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider"]
    command += ["-p", "no:benchmark"]  # a plugin that warns of xdist
    tests = [str(_ROOT / "tests" / name) for name in _TESTS]
    done = subprocess.run(
        [*command, "-n", "8", *tests],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TEST_SECONDS,
        check=False,
    )
    *details, last = done.stdout.strip().splitlines() or [""]
    report.line(f"Tests that need a GPU: {last}")
    for line in details:
        if line.startswith(("FAILED", "ERROR", "E  ")):
            report.line(line[:300])
    if done.returncode:
        raise RuntimeError(f"pytest ended with {done.returncode}")


def exact_sums(
    X: torch.Tensor, places: torch.Tensor, W: torch.Tensor, sigma: float
) -> torch.Tensor:
    sums = []
    for some in places.split(100):
        sqdist = torch.zeros(len(some), len(X), dtype=torch.float64, device="cuda")
        for column in X.T.double():
            sqdist += (column[some, None] - column).square()
        sums.append(torch.exp(-sqdist / (2.0 * sigma**2)) @ W)
    return torch.cat(sums)


def seconds_on_cpu(run: Callable[[], object]) -> float:
    """After a run that compiles."""
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def show_products(n: int, report: Report) -> None:
    rows = []
    for d in (2, 8, 32, 64):
        X, sigma = drawn(n, d), math.sqrt(d / 2)  # half the median distance
        W = torch.rand(n, 1, dtype=torch.float64, device="cuda")
        W /= W.sum()
        columns = KernelColumns(Gaussian(sigma), X.cpu().numpy())
        operator = Fused(columns, X, "cuda", 7e-7)
        places = X.norm(dim=1).argsort()[torch.arange(n - _SAMPLE // 2, n, device="cuda")]
        places = torch.cat([places, torch.arange(_SAMPLE // 2, device="cuda")])
        ours = W.sum(dim=0) - operator.complement_of(W)[places]
        error = float((ours - exact_sums(X, places, W, sigma)).abs().max())
        taken = milliseconds(partial(operator.complement_of, W))
        rows.append([str(d), f"{taken:.0f}", f"{error:.1e}"])
    heads = ["features", "fused, ms", "largest error"]
    report.table(f"A product with the kernel matrix, n = {n:,} (promise 7e-7)", heads, rows)


def plain_product(X: torch.Tensor, w: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    """Scaled rows, so that a kernel value is exp(-sqdist / 2), a block at a time, in float32."""
    return torch.cat(
        [
            torch.exp(x @ X.T - (norm[:, None] + norms)) @ w
            for x, norm in zip(X.split(_BLOCK), norms.split(_BLOCK), strict=True)
        ]
    )


@torch.compile(dynamic=False)
def _compiled_block(
    x: torch.Tensor, norm: torch.Tensor, X: torch.Tensor, w: torch.Tensor, norms: torch.Tensor
) -> torch.Tensor:
    return (torch.exp(x @ X.T - (norm[:, None] + norms)) * w).sum(dim=1)


def compiled_product(X: torch.Tensor, w: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    blocks = zip(X.split(_BLOCK), norms.split(_BLOCK), strict=True)
    return torch.cat([_compiled_block(x, norm, X, w, norms) for x, norm in blocks])


def show_other_products(n: int, report: Report) -> None:
    n = n // _BLOCK * _BLOCK
    rows = []
    for d in (2, 8, 32, 64):
        X, sigma = drawn(n, d), math.sqrt(d / 2)
        w = torch.rand(n, device="cuda", dtype=torch.float64)
        w /= w.sum()
        host = KernelColumns(Gaussian(sigma), X.cpu().numpy())
        scaled, single = X / sigma, w.float()
        norms = 0.5 * scaled.square().sum(dim=1)
        times = {
            "fused": milliseconds(partial(Fused(host, X, "cuda", 7e-7).complement_of, w[:, None])),
            "torch": milliseconds(partial(plain_product, scaled, single, norms)),
            "torch.compile": milliseconds(partial(compiled_product, scaled, single, norms)),
        }
        on_cpu = partial(Tiles(host, single=True).complement, w[:, None].cpu().numpy())
        times["compiled, 16 cores"] = 1e3 * seconds_on_cpu(on_cpu)
        in_double = milliseconds(partial(Fused(host, X, "cuda", 1e-9).complement_of, w[:, None]))
        rows.append([str(d), *(f"{value:.3g}" for value in (*times.values(), in_double))])
    title = f"The same product of {n:,} rows, in single precision by all but the last, ms"
    report.table(title, ["features", *times, "fused, double"], rows)


def show_fits(n: int, report: Report) -> None:
    rows, verdicts = [], []
    for d, most in _FIT_SECONDS.items():
        X = drawn(n, d)
        model = OneClusterPCM(max_iter=10, tol=0.0, max_samples=None)
        seconds = 1e-3 * milliseconds(partial(model.fit, X), 1)
        scores = 1e-3 * milliseconds(partial(model.score_samples, X[:100_000]), 1)
        rows.append([f"{n:,} x {d}", f"{seconds:.2f}", f"{most:.1f}", f"{scores:.3f}"])
        target = f"OneClusterPCM, {n:,} x {d}, ten iterations, in {most} s"
        verdicts.append(Verdict(target, f"{seconds:.2f} s", (seconds <= most,)))
    heads = ["rows", "fit, s", "at most, s", "scores of 100,000 rows, s"]
    report.table("OneClusterPCM, ten iterations, max_samples=None", heads, rows)
    report.verdicts(verdicts)


def show_kernel_fuzzy(n: int, report: Report) -> None:
    X = drawn(n, 16) + 3.0 * torch.randint(0, 10, (n, 1), device="cuda")
    model = FuzzyCMeans(
        n_clusters=10, kernel="gaussian", m=1.3, max_iter=10, tol=0.0, n_init=1, random_state=0
    )
    seconds = 1e-3 * milliseconds(lambda: model.fit(X), 1)
    report.line(f"Kernel fuzzy c-means, {n:,} x 16, c = 10, ten iterations: {seconds:.2f} s.")


def array_form(X: torch.Tensor, centers: torch.Tensor, m: float) -> tuple[torch.Tensor, ...]:
    """The sums of a sweep by the array form of `Fuzzy`, in float32, as torch can compile it."""
    norms = X.square().sum(dim=1, keepdim=True) + centers.square().sum(dim=1)
    sqdist = torch.addmm(norms, X, centers.T, alpha=-2.0).clamp(min=0.0)
    low = sqdist.amin(dim=1, keepdim=True)
    ratio = torch.exp((low.log() - sqdist.log()) / (m - 1.0))
    ratio = torch.where(sqdist <= low, 1.0, ratio)
    pull = (ratio / ratio.sum(dim=1, keepdim=True)) ** m
    return pull.T @ X, pull.sum(dim=0), (pull * sqdist).sum(dim=0)


def show_sweep(n: int, m: float, report: Report) -> None:
    X, c, rule = drawn(n, 16), 20, Fuzzy(m)
    start = X[:c].double().cpu().numpy()

    def on_gpu(tensor: torch.Tensor) -> Euclidean:
        return Euclidean(TensorRows(OnDevice(tensor), None, "cuda"))

    some, space = X[: n // 5], on_gpu(X)
    exact, ours = (
        rows.sweep(rule, rows.at(start)).prototypes
        for rows in (on_gpu(some.double()), on_gpu(some))
    )
    off = np.abs(ours.centers - exact.centers).max()
    prototypes, centers = space.at(start), torch.as_tensor(start, device="cuda").float()
    compiled = torch.compile(array_form, dynamic=False)
    times = {
        "fused": milliseconds(lambda: space.fold(rule, prototypes), 9),
        "torch.compile of the array form": milliseconds(lambda: compiled(X, centers, m), 9),
        "array form": milliseconds(lambda: array_form(X, centers, m)),
    }
    report.table(
        f"A sweep of fuzzy c-means, m = {m:g}, {n:,} x 16, c = 20, float32",
        ["by", "ms"],
        [[name, f"{value:.2f}"] for name, value in times.items()],
    )
    report.line(f"Centres of the fused sweep are off by {off:.1e} from those of float64.")
    fused, by_torch, _ = times.values()
    ratio = by_torch / fused
    target = f"fused sweep, m = {m:g}, {_SWEEP_RATIO:g} times torch.compile"
    verdicts = [Verdict(target, f"{ratio:.2f} times", (ratio >= _SWEEP_RATIO,))]
    if m == 2.0:
        target = f"fused sweep, m = 2, in {_SWEEP_MS:g} ms"
        verdicts.append(Verdict(target, f"{fused:.2f} ms", (fused <= _SWEEP_MS * n / 1e7,)))
    report.verdicts(verdicts)


def show_alpha_cut(n: int, report: Report) -> None:
    """Rows in five clusters; the time, and labels of a tenth beside the CPU."""
    model = AlphaCutClustering()
    X = drawn(n, 8) + 8.0 * torch.eye(8, device="cuda")[torch.arange(n, device="cuda") % 5]
    few = X[: n // 10]
    there = model.fit(few).labels_.cpu().numpy()
    here, host = clone(model), few.cpu().numpy()
    on_cpu = seconds_on_cpu(lambda: here.fit(host))
    differ = float((here.labels_ != there).mean())
    start = time.perf_counter()
    model.fit(few)
    on_gpu = time.perf_counter() - start
    report.line(
        f"{model}, {len(few):,} x 8: {on_gpu:.1f} s, and {on_cpu:.1f} s from an array "
        f"on the CPU; {differ:.2%} of the labels differ."
    )
    start = time.perf_counter()
    model.fit(X)
    report.line(f"{model}, {n:,} x 8: {time.perf_counter() - start:.1f} s.")


def show_agreement(report: Report) -> None:
    """Twenty data sets: normal, heavy tails and clusters, in 1 to 40 dimensions."""
    worst_label, worst_score, worst_typicality, n_sets = 0.0, 0.0, 0.0, 0
    for d in (1, 2, 3, 5, 8, 20, 40):
        for kind in ("normal", "heavy tails", "clusters")[: 2 if d == 40 else 3]:
            rng = np.random.default_rng(d)
            X = (
                rng.standard_t(3, (4000, d))
                if kind == "heavy tails"
                else rng.normal(size=(4000, d))
            )
            X = X + 6.0 * rng.integers(0, 4, (4000, 1)) if kind == "clusters" else X
            tensor = torch.as_tensor(X).cuda()
            here = OneClusterPCM(rtol=0.0).fit(X)
            there = OneClusterPCM().fit(tensor)
            labels = there.predict(tensor).cpu().numpy() != here.predict(X)
            scores = there.score_samples(tensor).cpu().numpy() - here.score_samples(X)
            typicality = there.typicality_.cpu().numpy() - here.typicality_
            worst_label = max(worst_label, float(labels.mean()))
            worst_score = max(worst_score, float(np.abs(scores).max()))
            worst_typicality = max(worst_typicality, float(np.abs(typicality).max()))
            n_sets += 1
    report.line(
        f"GPU and CPU on {n_sets} data sets of 4,000 rows: labels differ for at most "
        f"{worst_label:.2%} of the rows, scores by at most {worst_score:.1e}, typicalities by at "
        f"most {worst_typicality:.1e}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--no-tests", action="store_true", help="benchmarks alone")
    parser.add_argument("--output", type=Path, default=_ROOT / "benchmarks" / "results" / "gpu.md")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch sees no GPU: nothing was tested or measured.")
    warnings.simplefilter("ignore")
    n = 100_000 if options.quick else 1_000_000
    report = Report()
    report.line(torch.cuda.get_device_name())
    for line in machine("torch", "triton"):
        report.line(line)
    parts: dict[str, Callable[[], None]] = {
        "tests": lambda: run_tests(report),
        "sweep, m = 2": lambda: show_sweep(10 * n, 2.0, report),
        "sweep, m = 1.5": lambda: show_sweep(10 * n, 1.5, report),
        "fits": lambda: show_fits(n, report),
        "products": lambda: show_products(n, report),
        "agreement": lambda: show_agreement(report),
        "kernel c-means": lambda: show_kernel_fuzzy(n // 10, report),
        "alpha-cuts": lambda: show_alpha_cut(n // 4, report),
        "products beside others": lambda: show_other_products(n // 10, report),
    }
    if options.no_tests:
        del parts["tests"]
    failed = run_parts(parts, report, options.output)
    sys.exit(1 if failed or report.missed else 0)


def run_parts(parts: dict[str, Callable[[], None]], report: Report, output: Path) -> list[str]:
    """Run all parts; the names of those that failed or were left out."""
    failed, begin = [], time.perf_counter()
    for name, part in parts.items():
        start = time.perf_counter() - begin
        try:
            if start > _LATEST_START:
                raise TimeoutError(f"{start:.0f} s are over: left out")
            part()
        except Exception as error:  # the other parts are worth their time
            traceback.print_exc()
            report.line(f"FAILED {name}: {type(error).__name__}: {error}")
            failed.append(name)
        torch.cuda.empty_cache()
        report.line(f"({name}: {time.perf_counter() - begin - start:.0f} s)")
        report.write(output)
    return failed


if __name__ == "__main__":
    main()
