"""Loaders read a file of a folder; scikit-learn fetches what OpenML has."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from typicality.datasets import files, load_breast_cancer_original, load_s2

S2_LINES = ["f0,f1,label", *(f"{i},{2 * i},{1 + i % 15}" for i in range(5000))]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "s2.csv").write_text("\n".join(S2_LINES))
    return tmp_path


@pytest.fixture
def without_folder(monkeypatch):
    monkeypatch.delenv("TYPICALITY_DATA", raising=False)


def test_a_set_is_read_from_the_folder_of_the_environment(folder, monkeypatch):
    monkeypatch.setenv("TYPICALITY_DATA", str(folder))
    X, y = load_s2()
    assert_array_equal(X, np.column_stack([np.arange(5000), 2 * np.arange(5000)]))
    assert_array_equal(y, np.arange(5000) % 15)


@pytest.mark.parametrize("lines", [S2_LINES[:-1], ["x,label", *["1,2"] * 5000]])
def test_another_file_of_that_name_is_refused(folder, lines):
    (folder / "s2.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="5000 rows of 2 features were expected"):
        load_s2(folder)


def test_missing_file_is_named_with_the_variable(without_folder):
    with pytest.raises(FileNotFoundError, match=r"s2\.csv .*TYPICALITY_DATA"):
        load_s2()


def test_complete_rows_are_fetched_where_there_is_no_file(without_folder, monkeypatch):
    X = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    found = Bunch(data=X, target=np.array(["malignant", "benign", "benign"]))
    monkeypatch.setattr(files, "fetch_openml", lambda **options: found)
    rows, labels = load_breast_cancer_original()
    assert_array_equal(rows, X[[0, 2]])
    assert_array_equal(labels, [1, 0])


def test_the_real_sets_are_those_of_the_paper(breast_cancer, ionosphere):
    assert_array_equal(np.bincount(breast_cancer[1]), [444, 239])
    assert_array_equal(np.unique(breast_cancer[0]), np.arange(1, 11))
    assert_array_equal(np.bincount(ionosphere[1]), [225, 126])
    assert_array_equal([ionosphere[0].min(), ionosphere[0].max()], [-1, 1])
    assert np.all(ionosphere[0][:, 1] == 0)
    assert len(np.unique(ionosphere[0], axis=0)) == 350
