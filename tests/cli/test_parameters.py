"""Methods and parameters by name, judged before a file is read."""

import pytest

import typicality
from typicality._estimators import CLUSTERING_METHODS
from typicality.cli.options import Options
from typicality.cli.parameters import configure, parse_value

WRONG = {  # and what the message names
    "number is missing": (["-m", "fcm"], ["--method fcm", "--clusters"]),
    "number means nothing": (["-k", "3"], ["--method auto", "--clusters"]),
    "option of another method": (
        ["-m", "sequential", "--at-least", "2"],
        ["--at-least", "--method sequential", "alpha-cut"],
    ),
    "unknown parameter": (
        ["-m", "alpha-cut", "--param", "max_itr=3"],
        ["'max_itr'", "did you mean 'max_iter'?"],
    ),
    "no value": (["--param", "tol"], ["--param 'tol'", "NAME=VALUE"]),
    "bad value": (
        ["-m", "alpha-cut", "--param", "tol=much"],
        ["'tol' parameter of AlphaCutClustering", "'much'"],
    ),
    "seed": (
        ["-m", "fcm", "-k", "2", "--param", "random_state=2"],
        ["The option --seed sets random_state"],
    ),
    "matrices": (
        ["-m", "fcm", "-k", "2", "--param", "kernel=precomputed"],
        ["kernel 'precomputed'"],
    ),
    "distances": (
        ["-m", "alpha-cut", "--param", "kernel=dissimilarities"],
        ["kernel 'dissimilarities'"],
    ),
    "categories": (
        ["-m", "alpha-cut", "--categorical", "auto", "--param", "kernel=laplacian"],
        ["'laplacian' compares only numbers"],
    ),
}


@pytest.mark.parametrize(("options", "named"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_refused_before_a_file_is_read(run, options, named):
    done = run("cluster", "file-that-is-not-there.csv", *options)
    assert done.exit_code == 2
    message = done.stderr.splitlines()[-1]
    assert message.startswith("Error: ")
    assert [name for name in named if name not in message] == []


def test_unknown_command_is_answered_with_a_near_one_or_all(run):
    done = run("clutser")
    assert done.exit_code == 2
    assert "'clutser'; did you mean 'cluster'?" in done.stderr
    done = run("zzz")
    assert "demo, cluster, outliers, score, explain, compare, report and warm-up" in done.stderr


def test_values_are_literals_or_text():
    values = {"1": 1, "0.5": 0.5, "True": True, "None": None, "auto": "auto", "x=y": "x=y"}
    assert {text: parse_value(text) for text in values} == values
    assert parse_value("[1, 2]") == [1, 2]


def test_a_value_that_is_a_name_stays_text():
    options = Options(param=("objective=1993", "eta=0.5", "kernel=gaussian"))
    model = configure(typicality.PossibilisticCMeans(), {}, options)
    assert (model.objective, model.eta, model.kernel) == ("1993", 0.5, "gaussian")


@pytest.mark.parametrize("method", CLUSTERING_METHODS)
def test_every_method_gets_its_number_and_seed(method):
    clusters = 3 if CLUSTERING_METHODS[method].number == "given" else None
    estimator = getattr(typicality, CLUSTERING_METHODS[method].name)()
    model = configure(estimator, {"n_clusters": clusters, "sigma": None}, Options(seed=7))
    expected = type(model)().get_params()
    expected |= {"n_clusters": 3} if clusters else {}
    expected |= {"random_state": 7} if "random_state" in expected else {}
    assert model.get_params() == expected
