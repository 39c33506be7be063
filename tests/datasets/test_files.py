"""Loaders: a folder of yours, or what scikit-learn keeps of OpenML; no network either way."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from openml_folder import keep_as_openml_would
from typicality.datasets import files, load_breast_cancer_original, load_ionosphere, load_s2

LOADERS = {
    files.S2: load_s2,
    files.BREAST_CANCER: load_breast_cancer_original,
    files.IONOSPHERE: load_ionosphere,
}
ON_OPENML = [files.BREAST_CANCER, files.IONOSPHERE]
every_set = pytest.mark.parametrize("known", LOADERS, ids=lambda known: known.name)
openml_set = pytest.mark.parametrize("known", ON_OPENML, ids=lambda known: known.name)

pytestmark = pytest.mark.usefixtures("no_network")


def table_like(known):
    """Rows of the shape of a set, with labels from 0, all of which occur."""
    rng = np.random.default_rng(5)
    y = np.arange(known.n_rows) % len(known.labels)
    return rng.integers(1, 11, size=known.shape) + rng.choice([0, 0.125], size=known.shape), y


def lines_of(known):
    X, y = table_like(known)
    labels = y + known.labels.start
    rows = [",".join([*row, str(label)]) for row, label in zip(X.astype(str), labels, strict=True)]
    return [known.header, *rows]


@pytest.fixture
def folder(tmp_path):
    """A folder with files of the form of all sets."""
    for known in LOADERS:
        (tmp_path / known.file).write_text("\n".join(lines_of(known)))
    return tmp_path


@pytest.fixture
def without_folder(monkeypatch):
    monkeypatch.delenv("TYPICALITY_DATA", raising=False)


@every_set
def test_a_set_is_read_from_the_folder_of_the_environment(known, folder, monkeypatch):
    monkeypatch.setenv("TYPICALITY_DATA", str(folder))
    X, y = LOADERS[known]()
    expected_X, expected_y = table_like(known)
    assert_array_equal(X, expected_X)
    assert_array_equal(y, expected_y)
    assert (X.dtype, y.dtype) == (np.float64, np.int_)


@every_set
def test_a_folder_given_goes_before_that_of_the_environment(known, folder, monkeypatch):
    monkeypatch.setenv("TYPICALITY_DATA", "/nowhere")
    assert LOADERS[known](folder)[0].shape == known.shape


S2_LINES = lines_of(files.S2)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["x,y", "1,2"],
        S2_LINES[:1],
        S2_LINES[:-1],
        [*S2_LINES, "1,2,3"],
        [*S2_LINES[:-1], "1,2,16"],
        [*S2_LINES[:-1], "1,2,nan"],
        [*S2_LINES[:-1], "1,inf,3"],
        [*S2_LINES[:-1], "1,2"],
        [*S2_LINES[:-1], "1,2,three"],
        ["f0,f1", *["1,2"] * 5000],
        ["f0,f1,label", *["1,2"] * 5000],
    ],
    ids=lambda lines: f"{len(lines)} lines, {''.join(lines[-1:])!r}",
)
def test_another_file_of_that_name_is_refused(folder, lines):
    (folder / "s2.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="is not the file of S2 that load_s2 expects"):
        load_s2(folder)


def test_loader_reads_files_with_the_marks_of_editors(folder):
    text = "\ufeff" + "\r\n".join(S2_LINES) + "\r\n\r\n"
    (folder / "s2.csv").write_text(text, encoding="utf-8", newline="")
    assert_array_equal(load_s2(folder)[0], table_like(files.S2)[0])


@every_set
def test_a_file_that_is_no_text_is_refused(known, folder):
    (folder / known.file).write_bytes(b"\xff\xfe\x00\x01")
    message = (
        f"is not the file of {known.name} that {known.loader} expects: a line "
        f"'{known.columns[0]},.*,label', then {known.n_rows} lines of "
        f"{len(known.columns)} numbers and a label from {known.labels[0]} to "
        f"{known.labels[-1]}. Get the file again."
    )
    with pytest.raises(ValueError, match=message.replace("(Original)", r"\(Original\)")):
        LOADERS[known](folder)


@every_set
@pytest.mark.parametrize("value", ["", None])
def test_without_a_folder_the_error_says_how_to_name_one(value, known, tmp_path, without_folder):
    elsewhere = {"data_home": tmp_path} if known.openml else {}
    with pytest.raises(FileNotFoundError, match="no folder to look in is named") as caught:
        LOADERS[known](value, **elsewhere)
    assert "set the environment variable TYPICALITY_DATA to it, or pass folder" in str(caught.value)


@every_set
def test_a_folder_without_the_file_is_named(known, tmp_path):
    elsewhere = {"data_home": tmp_path} if known.openml else {}
    with pytest.raises(FileNotFoundError, match=rf"not in the folder '{re.escape(str(tmp_path))}'"):
        LOADERS[known](tmp_path, **elsewhere)


@openml_set
def test_where_neither_way_is_open_one_error_says_both(known, tmp_path, without_folder):
    with pytest.raises(FileNotFoundError) as caught:
        LOADERS[known](data_home=tmp_path)
    words = str(caught.value)
    assert words.startswith(f"{known.file} is not part of typicality: no folder to look in")
    assert "and OpenML could not be reached (<urlopen error no network here>)" in words
    assert "or go online once: the set then stays in scikit-learn's cache" in words


def test_of_s2_the_error_says_that_there_is_one_way_only(without_folder):
    with pytest.raises(FileNotFoundError, match="OpenML, as far as we know, does not have it"):
        load_s2()


def names_of(known, y):
    return np.array(known.openml.classes)[y]


@openml_set
def test_what_scikit_learn_keeps_is_read_as_the_file_is(known, folder, tmp_path, without_folder):
    X, y = table_like(known)
    data_home = tmp_path / "kept"
    keep_as_openml_would(data_home, known.openml.data_id, X=X, classes=names_of(known, y))
    from_folder, from_openml = LOADERS[known](folder), LOADERS[known](data_home=data_home)
    for ours, theirs in zip(from_folder, from_openml, strict=True):
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@openml_set
def test_a_folder_without_the_file_leads_to_openml(known, tmp_path):
    X, y = table_like(known)
    keep_as_openml_would(tmp_path, known.openml.data_id, X=X, classes=names_of(known, y))
    assert_array_equal(LOADERS[known](tmp_path, data_home=tmp_path)[0], X)


@openml_set
@pytest.mark.parametrize("wrong", ["rows", "features", "classes"])
def test_another_set_on_openml_is_refused(known, wrong, tmp_path, without_folder):
    X, y = table_like(known)
    names = names_of(known, y)
    rows, classes = {
        "rows": (X[:-1], names[:-1]),
        "features": (X[:, :-1], names),
        "classes": (X, np.where(y == 0, "other", names)),
    }[wrong]
    keep_as_openml_would(tmp_path, known.openml.data_id, X=rows, classes=classes)
    message = (
        f"Data set {known.openml.data_id} of OpenML is not the version of {re.escape(known.name)}"
    )
    with pytest.raises(ValueError, match=message):
        LOADERS[known](data_home=tmp_path)


def test_rows_with_missing_values_are_left_out(tmp_path, without_folder):
    known = files.BREAST_CANCER
    X, y = table_like(known)
    places = np.linspace(0, known.n_rows, 16).astype(int)
    more_X = np.insert(X, places, [5, 1, 1, 1, 2, np.nan, 3, 1, 1], axis=0)
    more_y = np.insert(y, places, 1)
    keep_as_openml_would(tmp_path, 15, X=more_X, classes=names_of(known, more_y))
    assert len(more_X) == 699
    assert_array_equal(load_breast_cancer_original(data_home=tmp_path)[0], X)
    assert_array_equal(load_breast_cancer_original(data_home=tmp_path)[1], y)


def test_the_699_rows_of_breast_cancer_give_the_683_of_the_file(breast_cancer, data_file, tmp_path):
    table = np.genfromtxt(
        data_file("breast_cancer_wisconsin_original_699.csv"), delimiter=",", skip_header=1
    )
    X, y = table[:, 1:-1], table[:, -1].astype(int)  # the first column is the patient's number
    keep_as_openml_would(tmp_path, 15, X=X, classes=names_of(files.BREAST_CANCER, y))
    fetched = load_breast_cancer_original(tmp_path, data_home=tmp_path)
    assert len(X) == 699
    assert_array_equal(fetched[0], breast_cancer[0])
    assert_array_equal(fetched[1], breast_cancer[1])


def test_ionosphere_is_the_same_either_way(ionosphere, tmp_path):
    X, y = ionosphere
    keep_as_openml_would(tmp_path, 59, X=X, classes=names_of(files.IONOSPHERE, y))
    fetched = load_ionosphere(tmp_path, data_home=tmp_path)
    assert_array_equal(fetched[0], X)
    assert_array_equal(fetched[1], y)


def test_the_real_sets_are_those_of_the_paper(breast_cancer, ionosphere):
    assert_array_equal(np.bincount(breast_cancer[1]), [444, 239])
    assert_array_equal(np.unique(breast_cancer[0]), np.arange(1, 11))
    assert_array_equal(np.bincount(ionosphere[1]), [225, 126])
    assert_array_equal([ionosphere[0].min(), ionosphere[0].max()], [-1, 1])
    assert np.all(ionosphere[0][:, 1] == 0)
    assert len(np.unique(ionosphere[0], axis=0)) == 350
