"""The table of estimators, and all that reads it."""

from importlib import import_module

import pytest

import typicality
from typicality import cluster
from typicality._estimators import CLUSTERING_METHODS, ESTIMATORS
from typicality.persistence._schema import ALLOWED

PUBLIC = [info.name for info in ESTIMATORS.values() if info.method]


def test_table_names_every_public_estimator():
    classes = [name for name in typicality.__all__ if isinstance(getattr(typicality, name), type)]
    assert sorted(classes) == sorted(PUBLIC) == sorted({*cluster.__all__} - {"Reasons"})


@pytest.mark.parametrize("info", ESTIMATORS.values(), ids=lambda info: info.name)
def test_table_agrees_with_the_parameters_of_an_estimator(info):
    parameters = getattr(import_module(info.module), info.name)().get_params()
    assert ("n_clusters" in parameters) == (info.number in ("given", "start"))


def test_model_files_know_every_estimator():
    ours = {path.split(".")[-1] for path in ALLOWED["BaseEstimator"] if "sklearn." not in path}
    assert ours == ESTIMATORS.keys() | {"ColumnScaler", "MixedColumns"}


def test_meanings_fit_on_a_line_of_help():
    assert [i.name for i in CLUSTERING_METHODS.values() if len(i.meaning) > 62] == []
