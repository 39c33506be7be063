# ruff: noqa
"""Freeze what the library answers, and compare: `python tests/golden.py make|compare [part]`.

Every estimator on many data sets, every command on several files: labels, memberships, centres,
scores, tree arrays, warnings, errors, arrays of model files, labels.csv, run.json, page payload,
printed text. Floats are compared bit for bit; times, paths and versions are masked. Digests stand
in golden.json; with GOLDEN_VALUES=folder the values themselves are kept there too.
"""

import dataclasses
import hashlib
import json
import os
import pickle
import re
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

import typicality as t
from typicality.kernels import Gaussian

DIGESTS = Path(__file__).with_name("golden.json")
VALUES = os.environ.get("GOLDEN_VALUES")


# ---- data ----------------------------------------------------------------------------------------


def data_sets():
    rng = np.random.default_rng(7)
    blobs = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)[0]
    moons = make_moons(200, noise=0.06, random_state=0)[0]
    weights = rng.integers(0, 4, 150).astype(float)
    sets = {
        "blobs": (blobs, None),
        "weighted": (blobs, weights),
        "fractional": (blobs, rng.uniform(0.1, 3, 150)),
        "float32": (blobs.astype(np.float32), None),
        "moons": (moons, None),
        "circles": (make_circles(200, factor=0.4, noise=0.04, random_state=1)[0], None),
        "iris": (load_iris().data, None),
        "wine": (load_wine().data, None),
        "frame": (pd.DataFrame(blobs, columns=["width", "height"]), None),
        "column": (
            np.sort(np.concatenate([rng.normal(0, 1, 60), rng.normal(7, 1, 60)]))[:, None],
            None,
        ),
        "copies": (np.repeat(rng.normal(size=(12, 2)) * [3, 1], 8, axis=0), None),
        "constant column": (np.column_stack([blobs, np.full(150, 3.0)]), None),
        "one point": (np.ones((12, 2)), None),
        "noise": (rng.uniform(size=(180, 3)), None),
        "wide": (rng.normal(size=(60, 30)) + 4 * (np.arange(60) % 3)[:, None], None),
        "far away": (blobs + 1e7, None),
        "tiny": (blobs * 1e-9, None),
        "uneven": (
            np.vstack([rng.normal(0, 0.2, (120, 2)), rng.normal(5, 1.5, (60, 2)), [[30, 30]]]),
            None,
        ),
        "three rows": (np.array([[0.0, 0], [1, 0], [5, 5]]), None),
        "two rows": (np.array([[0.0, 0], [1, 0]]), None),
    }
    large = {
        "4000 x 2": (
            np.vstack(
                [make_moons(3000, noise=0.1, random_state=2)[0], rng.normal(3, 0.3, (1000, 2))]
            ),
            None,
        ),
        "3000 x 3": (make_blobs(3000, 3, centers=5, random_state=3)[0], None),
        "2500 x 6": (make_blobs(2500, 6, centers=4, random_state=4)[0].astype(np.float32), None),
    }
    return sets, large


def estimators():
    return {
        "fcm": t.FuzzyCMeans(n_clusters=3, random_state=0),
        "fcm 2": t.FuzzyCMeans(n_clusters=4, m=2.0, init="max-min"),
        "fcm random": t.FuzzyCMeans(n_clusters=3, m=1.5, init="random", n_init=3, random_state=1),
        "fcm gaussian": t.FuzzyCMeans(n_clusters=3, m=1.5, kernel="gaussian", random_state=0),
        "fcm connectivity": t.FuzzyCMeans(n_clusters=2, kernel="connectivity", random_state=0),
        "fcm local": t.FuzzyCMeans(n_clusters=3, kernel="local", random_state=0),
        "fcm few": t.FuzzyCMeans(
            n_clusters=2, m=1.01, max_iter=3, store_memberships=False, random_state=0
        ),
        "entropy": t.EntropyCMeans(n_clusters=3, random_state=0),
        "entropy lam": t.EntropyCMeans(
            n_clusters=2, lam=3.0, init="random", n_init=2, random_state=0
        ),
        "entropy annealing": t.EntropyCMeans(n_clusters=3, init="annealing", random_state=0),
        "entropy laplacian": t.EntropyCMeans(n_clusters=3, kernel="laplacian", random_state=0),
        "pcm": t.PossibilisticCMeans(n_clusters=3, random_state=0),
        "pcm 1993": t.PossibilisticCMeans(n_clusters=3, objective="1993", m=1.5, random_state=0),
        "pcm eta": t.PossibilisticCMeans(n_clusters=2, eta=1.0, random_state=0),
        "pcm each step": t.PossibilisticCMeans(
            n_clusters=2, eta_update="each_step", random_state=0
        ),
        "pcm polynomial": t.PossibilisticCMeans(n_clusters=2, kernel="polynomial", random_state=0),
        "pcm cauchy": t.PossibilisticCMeans(
            n_clusters=3, kernel="cauchy", sigma="knn", random_state=0
        ),
        "apcm": t.AdaptivePCM(),
        "apcm paper": t.AdaptivePCM(
            n_clusters=5, beta=0.3, init="paper", store_memberships="sparse"
        ),
        "apcm gaussian": t.AdaptivePCM(kernel="gaussian"),
        "sapcm": t.SparseAdaptivePCM(),
        "sapcm all": t.SparseAdaptivePCM(n_clusters=5, lam=0.02, p=0.3, assign="all", box=None),
        "sapcm bisection": t.SparseAdaptivePCM(n_clusters=4, lam=0.05, root="bisection"),
        "spcm": t.SequentialPCM(),
        "spcm lam": t.SequentialPCM(lam=0.05, store_memberships=False),
        "spcm gaussian": t.SequentialPCM(kernel="gaussian", lam=0.05),
        "ocpcm": t.OneClusterPCM(),
        "ocpcm linear": t.OneClusterPCM(kernel="linear", contamination=0.1),
        "ocpcm cauchy": t.OneClusterPCM(kernel="cauchy", sigma="scott", gamma=0.3, novelty=True),
        "ocpcm uniform": t.OneClusterPCM(weights="uniform", kernel="laplacian", sigma="knn"),
        "ocpcm local": t.OneClusterPCM(kernel="local"),
        "ocpcm connectivity": t.OneClusterPCM(kernel="connectivity"),
        "alpha": t.AlphaCutClustering(),
        "alpha 2 all": t.AlphaCutClustering(at_least=2, assign="all"),
        "alpha level": t.AlphaCutClustering(alpha=0.34, min_cluster_size=2),
        "alpha valley": t.AlphaCutClustering(alpha="valley", kernel="laplacian"),
        "alpha gaussian": t.AlphaCutClustering(kernel="gaussian"),
        "alpha rejection": t.AlphaCutClustering(
            rejection_rate=0.1, weights="uniform", kernel="cauchy", sigma="scott", assign="all"
        ),
        "alpha complete": t.AlphaCutClustering(
            labelling="complete", kernel=Gaussian(0.3), gamma=0.5
        ),
        "alpha cosine": t.AlphaCutClustering(metric="cosine"),
        "auto": t.AutoClustering(random_state=0),
        "auto 2": t.AutoClustering(at_least=2, random_state=0),
    }


def large_estimators():
    return {
        "fcm": t.FuzzyCMeans(n_clusters=5, random_state=0),
        "fcm gaussian": t.FuzzyCMeans(n_clusters=3, kernel="gaussian", random_state=0, max_iter=20),
        "pcm blocked": t.PossibilisticCMeans(
            n_clusters=3, kernel="laplacian", algorithm="blocked", random_state=0, max_iter=10
        ),
        "sapcm": t.SparseAdaptivePCM(),
        "ocpcm": t.OneClusterPCM(),
        "ocpcm truncated": t.OneClusterPCM(algorithm="truncated", sigma=0.2),
        "ocpcm nystroem": t.OneClusterPCM(algorithm="nystroem", sigma="scott", rtol=1e-3, tol=1e-2),
        "ocpcm dense": t.OneClusterPCM(algorithm="dense", sigma="scott"),
        "alpha": t.AlphaCutClustering(),
        "alpha gaussian": t.AlphaCutClustering(kernel="gaussian"),
        "auto": t.AutoClustering(random_state=0),
    }


# ---- what a model answers ------------------------------------------------------------------------


def content(value):
    """A value as plain parts that pickle alike: names of classes and of private fields are left out."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [str(v) for v in value]
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    if isinstance(value, np.generic):
        return ("scalar", value.dtype.str, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, (str, int, bool, bytes)) or value is None:
        return str(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        return [(str(k), content(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [content(v) for v in value]
    if dataclasses.is_dataclass(value):
        return [content(getattr(value, f.name)) for f in dataclasses.fields(value)]
    return ("object", type(value).__name__)


def tree_arrays(tree):
    return {
        name: getattr(tree, name)
        for name in ("pairs", "saddles", "node_alpha", "weight", "heights")
        if hasattr(tree, name)
    }


def masked(text):
    text = re.sub(r"\d+(\.\d+)?\s?(s|ms|seconds?|µs)\b", "TIME", text)
    text = re.sub(r"/tmp/[^\s'\"]*", "PATH", text)
    return text


def public(model):
    told = {}
    for name in sorted(vars(model)):
        if not name.endswith("_") or name.startswith("_"):
            continue
        value = getattr(model, name)
        if name == "tree_":
            told[name] = tree_arrays(value)
        elif name in ("plan_",):
            told[name] = masked(str(value))
        elif name == "kernel_":
            told[name] = (
                value
                if isinstance(value, str)
                else (type(value).__name__, content(getattr(value, "sigma", None)))
            )
        elif (
            isinstance(value, (np.ndarray, float, int, str, np.generic))
            or sp.issparse(value)
            or value is None
        ):
            told[name] = value
    return told


def answers(model, X, new):
    told = public(model)
    for name in (
        "predict",
        "predict_memberships",
        "transform",
        "score_samples",
        "decision_function",
        "predict_proba",
        "predict_typicality",
        "predict_log_typicality",
    ):
        if hasattr(model, name):
            told[name] = getattr(model, name)(new)
            told[name + " of training rows"] = getattr(model, name)(X)
    if hasattr(model, "score"):
        told["score"] = model.score(new)
    if hasattr(model, "labels_at"):
        told["labels_at"] = model.labels_at(0.35)
    return told


def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = t.save(model, f"{folder}/model")
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        digests = []
        for file in sorted(Path(path).rglob("*.np*")):
            loaded = np.load(file, allow_pickle=False)
            arrays = dict(loaded).values() if hasattr(loaded, "files") else [loaded]
            digests += [digest(content(np.asarray(a))) for a in arrays]
        return sorted(digests)


def heard(function):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = function()
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result, [
        f"{w.category.__name__}: {w.message}"
        for w in said
        if "numba" not in w.category.__module__.lower()
    ]


def run_fit(model, X, weight):
    from sklearn.base import clone

    model = clone(model)
    fitted, said = heard(
        lambda: model.fit(X, **({} if weight is None else {"sample_weight": weight}))
    )
    result = {"warnings": said}
    if isinstance(fitted, str):
        return result | {"error": fitted}
    X = X[:60] if isinstance(X, np.ndarray) else X.iloc[:60]
    rng = np.random.default_rng(1)
    matrix = np.asarray(X)
    new = (
        matrix[:20] + rng.normal(scale=np.std(matrix) * 0.3 + 1e-12, size=matrix[:20].shape)
    ).astype(matrix.dtype)
    if isinstance(X, pd.DataFrame):
        new = pd.DataFrame(new, columns=X.columns)
    told, more = heard(lambda: answers(model, X, new))
    result["warnings of answers"] = more
    result |= told if isinstance(told, dict) else {"error of answers": told}
    result["saved"], _ = heard(lambda: saved(model))
    return result


def pairs():
    X = make_blobs(60, centers=3, random_state=5)[0]
    K, D = rbf_kernel(X), euclidean_distances(X)
    for name, model in {
        "fcm": t.FuzzyCMeans(3, random_state=0),
        "pcm": t.PossibilisticCMeans(2, random_state=0),
        "apcm": t.AdaptivePCM(4),
        "ocpcm": t.OneClusterPCM(),
    }.items():
        yield f"precomputed/{name}", run_pair(model, "precomputed", K)
        yield f"dissimilarities/{name}", run_pair(model, "dissimilarities", D)
        yield f"not psd/{name}", run_pair(model, "dissimilarities", D**3)
    yield "precomputed/alpha", run_pair(t.AlphaCutClustering(metric="precomputed"), None, D)


def run_pair(model, kernel, M):
    if kernel:
        model.set_params(kernel=kernel)
    fitted, said = heard(lambda: model.fit(M))
    if isinstance(fitted, str):
        return {"error": fitted, "warnings": said}
    told, more = heard(lambda: answers(model, M, M[:10]))
    return {"warnings": said, "more": more} | (told if isinstance(told, dict) else {"error": told})


def compressed():
    sets, _ = data_sets()
    for name in ("blobs", "iris"):
        X = sets[name][0]
        for label, model in {
            "fcm": t.FuzzyCMeans(3, kernel="gaussian", random_state=0),
            "ocpcm": t.OneClusterPCM(),
            "pcm": t.PossibilisticCMeans(2, kernel="laplacian", random_state=0),
        }.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                small, _ = heard(lambda model=model: model.fit(X).compress(1e-2))
            if isinstance(small, str):
                yield f"compress/{name}/{label}", {"error": small}
                continue
            soft = (
                "predict_memberships" if hasattr(small, "predict_memberships") else "score_samples"
            )
            yield (
                f"compress/{name}/{label}",
                {
                    "predict": small.predict(X),
                    "soft": getattr(small, soft)(X),
                    "saved": saved(small),
                },
            )


def bad_input():
    X = make_blobs(30, centers=3, random_state=5)[0]
    nan = X.copy()
    nan[4, 1] = np.nan
    cases = {
        "nan": nan, "inf": np.where(np.isnan(nan), np.inf, nan), "one row": X[:1], "no rows": X[:0],
        "flat": X[:, 0], "text": X.astype(str).astype(object), "huge": X * 1e200, "sparse": sp.csr_array(X),
    }  # fmt: skip
    for name, model in estimators().items():
        for case, rows in cases.items():
            result, said = heard(lambda rows=rows, model=model: model.fit(rows) and None)
            yield f"bad/{case}/{name}", {"error": result, "warnings": said}
        result, _ = heard(lambda model=model: model.fit(X, sample_weight=-np.ones(30)) and None)
        yield f"bad/weights/{name}", {"error": result}


# ---- commands ------------------------------------------------------------------------------------


def files(folder):
    rng = np.random.default_rng(3)
    sets, _ = data_sets()
    paths = {}
    for name in ("blobs", "moons", "iris", "uneven"):
        X = sets[name][0]
        frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
        frame.insert(0, "name", [f"item {i}" for i in range(len(X))])
        paths[name] = folder / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    gaps = frame.copy()
    gaps.iloc[[3, 9], 1] = np.nan
    paths["gaps"] = folder / "gaps.csv"
    gaps.to_csv(paths["gaps"], index=False)
    paths["array"] = folder / "array.npy"
    np.save(paths["array"], rng.normal(size=(120, 3)))
    paths["wrong"] = folder / "wrong.csv"
    paths["wrong"].write_text("a,b\n1,2\n3\n4,5,6\n")
    return paths


MASKED_KEYS = {
    "seconds",
    "created",
    "started",
    "version",
    "versions",
    "machine",
    "path",
    "size",
    "bytes",
    "platform",
    "time",
    "memory",
    "peak",
    "folder",
    "typicality",
    "date",
    "modified",
    "sha256",
    "threads",
    "cores",
    "cpu",
}


def masked_json(value):
    if isinstance(value, dict):
        return {k: ("MASKED" if k in MASKED_KEYS else masked_json(v)) for k, v in value.items()}
    if isinstance(value, list):
        return [masked_json(v) for v in value]
    return masked(value) if isinstance(value, str) else value


def page_payload(html):
    import base64
    import zlib

    found = re.findall(
        r'<script[^>]*type="application/(?:json|octet-stream)[^"]*"[^>]*>(.*?)</script>', html, re.S
    )
    parts = []
    for text in found:
        try:
            parts.append(json.dumps(masked_json(json.loads(text)), sort_keys=True))
        except ValueError:
            raw = base64.b64decode(text)
            try:
                raw = zlib.decompress(raw, 47)
            except zlib.error:
                pass
            parts.append(raw)
    return parts


def invoke(*arguments):
    from click.testing import CliRunner

    from typicality.cli import main

    result = CliRunner().invoke(main, [str(a) for a in arguments])
    output = re.sub(r"\d+(\.\d+)? (MB|GB|kB)", "SIZE", result.output)
    if arguments[0] == "compare":
        output = re.sub(r"\s+\d+\.\d\d$", " SECONDS", output, flags=re.M)
    return {"exit": result.exit_code, "output": masked(output)}


def folder_content(folder):
    told = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".csv" or path.suffix == ".tsv":
            told[name] = path.read_bytes()
        elif name.endswith(("run.json", "results.json", "comparison.json", "validation.json")):
            told[name] = json.dumps(masked_json(json.loads(path.read_text())), sort_keys=True)
        elif path.suffix == ".html":
            told[name] = page_payload(path.read_text(encoding="utf-8"))
        elif path.is_file() and "model" not in name:
            told[name] = "there"
    return told


def commands():
    methods = [
        "auto",
        "alpha-cut",
        "sequential",
        "adaptive",
        "sparse-adaptive",
        "fcm",
        "entropy",
        "pcm",
    ]
    with tempfile.TemporaryDirectory(prefix="golden") as name:
        folder = Path(name)
        paths = files(folder)
        for data, path in paths.items():
            for method in methods:
                out = folder / f"{data}-{method}"
                count = ["--clusters", 3] if method in ("fcm", "entropy", "pcm") else []
                told = invoke(
                    "cluster",
                    path,
                    "--method",
                    method,
                    *count,
                    "--output",
                    out,
                    *(["--missing", "drop"] if data == "gaps" else []),
                )
                yield f"cluster/{data}/{method}", told | folder_content(out)
            out = folder / f"{data}-outliers"
            told = invoke(
                "outliers",
                path,
                "--rate",
                0.05,
                "--output",
                out,
                *(["--missing", "median"] if data == "gaps" else []),
            )
            yield f"outliers/{data}", told | folder_content(out)
        yield "cluster/gaps/error", invoke("cluster", paths["gaps"])
        for method in methods:
            out = folder / f"new-{method}.csv"
            told = invoke(
                "score", folder / f"blobs-{method}" / "model", paths["blobs"], "--output", out
            )
            yield f"score/{method}", told | {"file": out.read_bytes() if out.exists() else None}
        out = folder / "new-outliers.csv"
        told = invoke("score", folder / "blobs-outliers" / "model", paths["blobs"], "--output", out)
        yield "score/outliers", told | {"file": out.read_bytes() if out.exists() else None}
        out = folder / "validated"
        told = invoke("validate", paths["blobs"], "--repeats", 3, "--rates", 0.05, "--output", out)
        yield "validate", told | folder_content(out)
        yield (
            "compare",
            invoke(
                "compare",
                paths["blobs"],
                "--repeats",
                2,
                "--methods",
                "auto,alpha-cut,fuzzy-c-means,k-means,one-cluster",
                "--clusters",
                3,
            ),
        )
        yield (
            "report",
            invoke("report", folder / "blobs-alpha-cut", "--force")
            | folder_content(folder / "blobs-alpha-cut"),
        )
        for command in ("cluster", "outliers", "score", "validate", "compare", "report", "demo"):
            yield f"help/{command}", invoke(command, "--help")
        yield "help", invoke("--help")
        yield "wrong/command", invoke("clusters", "x.csv")
        yield "wrong/method", invoke("cluster", paths["blobs"], "--method", "kmeans")
        yield "wrong/file", invoke("cluster", folder / "nothing.csv")


# ---- compare -------------------------------------------------------------------------------------


def digest(value):
    return hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()[:16]


def small_fits():
    sets, _ = data_sets()
    for data, (X, weight) in sets.items():
        for name, model in estimators().items():
            yield f"fit/{data}/{name}", run_fit(model, X, weight)


def large_fits():
    _, sets = data_sets()
    for data, (X, weight) in sets.items():
        for name, model in large_estimators().items():
            yield f"large/{data}/{name}", run_fit(model, X, weight)


PARTS = {
    "small": small_fits,
    "large": large_fits,
    "pairs": pairs,
    "compress": compressed,
    "bad": bad_input,
    "cli": commands,
}


def collect(parts):
    for part in parts:
        for case, told in PARTS[part]():
            for name, value in told.items():
                # A fresh copy of every string: pickle must not see which ones are the same object.
                yield f"{case}|{name}", json.dumps(content(value), default=lambda b: b.hex())


def main():
    verb, *parts = sys.argv[1:]
    found, values = {}, {}
    for key, text in collect(parts or PARTS):
        found[key] = hashlib.sha256(text.encode()).hexdigest()[:16]
        values[key] = text
    if verb == "make":
        DIGESTS.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
        if VALUES:
            Path(VALUES, "values.pickle").write_bytes(pickle.dumps(values))
        print(len(found), "artefacts frozen")
        return
    kept = json.loads(DIGESTS.read_text())
    prefixes = {key.split("/")[0] for key in found}
    wanted = (
        kept
        if not parts
        else {k: v for k, v in kept.items() if k in found or k.split("/")[0] in prefixes}
    )
    before = pickle.loads(Path(VALUES, "values.pickle").read_bytes()) if VALUES else {}
    different = sorted(k for k in wanted.keys() | found.keys() if wanted.get(k) != found.get(k))
    for key in different:
        print("DIFFERS", key)
        if key in before or key in values:
            print("   was", before.get(key, "(absent)")[:300])
            print("   is ", values.get(key, "(absent)")[:300])
    print(f"{len(wanted)} artefacts, {len(different)} differences")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
