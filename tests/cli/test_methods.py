"""Methods and parameters by name, judged before a file is read."""

import pytest

import typicality
from typicality.cli.methods import METHODS, build_estimator, option_for, parse_parameters

WRONG = {
    "number is missing": (
        ["-m", "fcm"],
        "--method fcm must be told how many clusters there are, say by --clusters 3; auto, "
        "alpha-cut and sequential find the number themselves.",
    ),
    "number means nothing": (
        ["-k", "3"],
        "--method auto finds the number of clusters itself and takes no --clusters; leave it "
        "out, or take --method fcm, entropy or pcm for a given number.",
    ),
    "option of another method": (
        ["-m", "sequential", "--alpha", "0.5"],
        "--alpha means nothing to --method sequential; it belongs to alpha-cut.",
    ),
    "option of another method than the automatic one": (
        ["--min-cluster-size", "5"],
        "--min-cluster-size means nothing to --method auto; it belongs to alpha-cut.",
    ),
    "assign": (
        ["-m", "fcm", "-k", "2", "--assign", "all"],
        "--assign means nothing to --method fcm; it belongs to alpha-cut, sequential, "
        "sparse-adaptive.",
    ),
    "unknown parameter": (
        ["-m", "alpha-cut", "--param", "max_itr=3"],
        "There is no parameter 'max_itr'; did you mean 'max_iter'?",
    ),
    "far from any parameter": (
        ["-m", "alpha-cut", "--param", "zzz=3"],
        "There is no parameter 'zzz'; there are algorithm, alpha, assign, at_least, criterion, "
        "gamma, kernel, labelling, max_iter, metric, min_cluster_size, n_neighbors, "
        "rejection_rate, rtol, sigma, tol, weights.",
    ),
    "no value": (
        ["--param", "tol"],
        "--param 'tol' is not of the form NAME=VALUE; write, say, --param tol=1e-6.",
    ),
    "bad value": (
        ["-m", "alpha-cut", "--param", "tol=much"],
        "The 'tol' parameter of AlphaCutClustering must be a float in the range [0.0, inf). Got "
        "'much' instead.",
    ),
    "given twice": (
        ["-m", "alpha-cut", "--sigma", "1", "--param", "sigma=2"],
        "sigma has an option of its own; use --sigma alone.",
    ),
    "seed": (
        ["-m", "fcm", "-k", "2", "--param", "random_state=2"],
        "random_state has an option of its own; use --seed alone.",
    ),
    "memberships": (
        ["-m", "fcm", "-k", "2", "--param", "store_memberships=False"],
        "store_memberships cannot be changed: labels.csv needs memberships.",
    ),
    "matrices": (
        ["-m", "fcm", "-k", "2", "--kernel", "precomputed"],
        "The kernel 'precomputed' needs a square matrix instead of rows, which the command line "
        "does not read; use the estimator from Python.",
    ),
    "distances": (
        ["-m", "alpha-cut", "--param", "metric=precomputed"],
        "The metric 'precomputed' needs a square matrix instead of rows, which the command line "
        "does not read; use the estimator from Python.",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use(run, options, message):
    done = run("cluster", "file-that-is-not-there.csv", *options)
    assert done.exit_code == 2
    assert done.stderr.endswith(f"\nError: {message}\n")


def test_unknown_command(run):
    done = run("clutser")
    assert done.exit_code == 2
    assert "There is no command 'clutser'; did you mean 'cluster'?" in done.stderr
    done = run("zzz")
    message = (
        "There is no command 'zzz'; there are demo, cluster, outliers, validate, score, compare "
        "and report."
    )
    assert message in done.stderr


def test_values_are_literals_or_text():
    texts = ["a=1", "b=0.5", "c=True", "d=None", "e=auto", "f=[1, 2]", "g=x=y"]
    parsed = parse_parameters(texts)
    assert parsed == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": None,
        "e": "auto",
        "f": [1, 2],
        "g": "x=y",
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_method_names_an_estimator(method):
    clusters = 3 if METHODS[method].number == "exact" else None
    model = build_estimator(method, clusters=clusters, seed=7, options={}, parameters={})
    assert type(model) is getattr(typicality, METHODS[method].estimator)
    expected = type(model)().get_params()
    expected |= {"n_clusters": 3} if clusters else {}
    expected |= {"random_state": 7} if "random_state" in expected else {}
    assert model.get_params() == expected


def test_options_are_named_where_there_is_one():
    assert option_for("n_clusters") == "--clusters"
    assert option_for("tol") == "--param tol=VALUE"
