"""Numbers and categories: the step that makes rows of them, and the kernel of those rows."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sklearn_checks import (
    FOR_ALL,
    FOR_TRANSFORMERS,
    needs_names_of_polars,
    parametrize_with_checks,
    skip_unsound,
)
from typicality import FuzzyCMeans, OneClusterPCM
from typicality.bandwidth import bandwidth
from typicality.exceptions import FeatureWarning
from typicality.kernels import Mixed
from typicality.preprocessing import ColumnScaler, MixedColumns

STEPS = [MixedColumns(), MixedColumns(missing="median", mismatch="balanced", scale="standard")]
MIXED = pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
LEFT_OUT = pytest.mark.filterwarnings("ignore:Columns left out")


@LEFT_OUT
@MIXED
@parametrize_with_checks(STEPS[:1])
def test_step_passes_a_scikit_learn_check(estimator, check):
    skip_unsound(check)
    check(estimator)


@LEFT_OUT
@MIXED
@pytest.mark.parametrize("check", [*FOR_ALL, *FOR_TRANSFORMERS], ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", STEPS, ids=str)
def test_step_passes_a_check_outside_the_suite(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.fixture(name="table")
def frame(rng):
    n = 120
    return pd.DataFrame(
        {
            "island": rng.choice(["north", "south", "west"], n, p=[0.6, 0.3, 0.1]),
            "mass": rng.normal(4000.0, 500.0, n),
            "ringed": rng.choice([True, False], n),
            "length": rng.normal(40.0, 5.0, n),
        }
    )


def product_kernel(numbers, categories, sigma, worth):
    """The kernel by its definition, pair by pair."""
    n = len(numbers)
    K = np.empty((n, n))
    columns = [(categories[name].to_list(), factor) for name, factor in worth.items()]
    for i in range(n):
        for j in range(n):
            K[i, j] = np.exp(-np.sum((numbers[i] - numbers[j]) ** 2) / (2 * sigma**2))
            for cells, factor in columns:
                K[i, j] *= 1.0 if cells[i] == cells[j] else factor
    return K


@pytest.mark.parametrize("worth", [{"island": 0.5, "ringed": 0.5}, {"island": 0.2, "ringed": 0.9}])
def test_the_kernel_of_the_rows_is_the_product_kernel(table, worth):
    step = MixedColumns(mismatch=worth).fit(table)
    rows = step.transform(table)
    numbers = ColumnScaler().fit_transform(table[["mass", "length"]])
    assert step.n_numeric_ == 2
    expected = product_kernel(numbers, table, 0.8, worth)
    assert_allclose(Mixed(2, sigma=0.8)(rows, rows), expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_estimator_takes_sigma_from_the_numbers(table, rng, weighted):
    weight = rng.integers(0, 4, len(table)).astype(float) if weighted else None
    model = make_pipeline(MixedColumns(mismatch=0.3), OneClusterPCM(kernel=Mixed(2)))
    model.fit(table, oneclusterpcm__sample_weight=weight)
    numbers = ColumnScaler().fit_transform(table[["mass", "length"]])
    sigma = model[-1].sigma_
    assert sigma == bandwidth("auto", numbers, weight)
    K = product_kernel(numbers, table, sigma, {"island": 0.3, "ringed": 0.3})
    peer = OneClusterPCM(kernel="precomputed").fit(K, sample_weight=weight)
    assert_allclose(model[-1].typicality_, peer.typicality_, rtol=1e-6)
    assert_allclose(model[:-1].transform(table).shape, (120, 2 + 3 + 2))
    assert_allclose(
        model[-1].predict_typicality(model[0].transform(table)), peer.typicality_, rtol=1e-6
    )


def test_an_unseen_category_differs_from_all_others_alike(table):
    step = MixedColumns().fit(table)
    new = pd.concat([table.iloc[[0]]] * 4).assign(island=["north", "south", "west", "moon"])
    assert_allclose(pdist(step.transform(new), "sqeuclidean"), -2 * np.log(0.5), rtol=1e-12)


def test_rows_of_categories_only_need_no_sigma(table):
    rows = MixedColumns().fit_transform(table[["island", "ringed"]])
    model = OneClusterPCM(kernel=Mixed(0)).fit(rows)
    K = product_kernel(np.zeros((len(table), 1)), table, 1.0, {"island": 0.5, "ringed": 0.5})
    peer = OneClusterPCM(kernel="precomputed").fit(K)
    assert model.sigma_ == 1.0
    assert_allclose(model.typicality_, peer.typicality_, rtol=1e-6)


def test_balanced_columns_add_the_same_mean_squared_difference(table):
    step = MixedColumns(mismatch="balanced", scale="standard").fit(table)
    rows = step.transform(table)
    variances = [rows[:, some].var(axis=0).sum() for some in ([0], [1], [2, 3, 4], [5, 6])]
    assert_allclose(variances, 1.0, rtol=1e-9)


@pytest.mark.parametrize("kind", ["polars", "array"])
def test_tables_of_all_kinds_give_the_same_rows(table, kind):
    expected = MixedColumns().fit_transform(table)
    columns = {name: table[name].to_list() for name in table}
    other = {"polars": pl.DataFrame(columns), "array": table.to_numpy(dtype=object)}[kind]
    step = MixedColumns().fit(other)
    assert_array_equal(step.transform(other), expected)
    assert_array_equal(step.transform(other[:5]), expected[:5])


@pytest.mark.parametrize("kind", ["pandas", pytest.param("polars", marks=needs_names_of_polars)])
def test_ordered_categories_count_by_rank(kind):
    sizes, order = ["small", "large", "medium", "small"], ["small", "medium", "large"]
    frame = {
        "pandas": pd.DataFrame({"size": pd.Categorical(sizes, order, ordered=True)}),
        "polars": pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(order))}),
    }[kind]
    step = MixedColumns(scale="none").fit(frame)
    assert_array_equal(step.transform(frame).ravel(), [0, 2, 1, 0])
    with pytest.raises(ValueError, match=r"'huge' in row 1 .* small, medium, large"):
        step.transform(pd.DataFrame({"size": ["small", "huge"]}))


def test_numbers_can_be_categories(table):
    table["code"] = np.arange(120) % 4
    step = MixedColumns(categorical=["island", "ringed", "code"]).fit(table)
    assert step.kinds_ == ["category", "number", "category", "number", "category"]
    gaps = table.assign(code=table["code"].astype(float))
    assert_array_equal(step.transform(gaps), step.transform(table))
    with pytest.raises(ValueError, match="'island' of X holds more than numbers"):
        MixedColumns(categorical=["ringed"]).fit(table)
    with pytest.raises(ValueError, match="categorical names 'sea'"):
        MixedColumns(categorical=["sea"]).fit(table)


def test_columns_of_many_categories_stay_out_with_a_reason(table):
    table["name"] = [f"row {i % 13}" for i in range(120)]
    table["same"] = "x"
    with pytest.warns(
        FeatureWarning, match="'name', it has 13 categories in 120 rows, more than 12"
    ):
        step = MixedColumns().fit(table)
    assert set(step.left_out_) == {"name", "same"}
    assert step.transform(table).shape == (120, 7)
    with pytest.warns(FeatureWarning, match="'same', all its values are equal"):
        assert MixedColumns(max_categories=13).fit_transform(table).shape == (120, 20)
    with pytest.raises(ValueError, match="No column of X can be used: 'name'"):
        MixedColumns().fit(table[["name"]])


def test_missing_values_are_refused_or_count_as_a_category(table):
    gaps = table.copy()
    gaps.loc[7, "island"], gaps.loc[9, "mass"] = None, np.nan
    with pytest.raises(
        ValueError, match=r"Column 'island' of X has 1 missing value.*first in row 7"
    ):
        MixedColumns().fit(gaps)
    with pytest.raises(ValueError, match=r"Column 'mass' of X has 1 missing value.*first in row 9"):
        MixedColumns().fit(gaps.assign(island=table["island"]))
    step = MixedColumns(missing="median").fit(gaps)
    names = list(step.get_feature_names_out())
    rows = step.transform(gaps)
    assert rows[7, names.index("island=")] > 0
    assert rows[9, 0] == 0.0


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: Mixed(-1), "n_numeric must be a whole number"),
        (
            lambda: OneClusterPCM(kernel=Mixed(3)).fit(np.eye(4)[:, :2]),
            "fewer than the n_numeric=3",
        ),
    ],
)
def test_wrong_uses_are_explained(problem, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        problem()


def test_orders_can_be_given_by_name(table):
    table["size"] = np.array(["small", "large", "medium"])[np.arange(120) % 3]
    order = {"size": ["small", "medium", "large"]}
    step = MixedColumns(ordered=order, scale="none", log="all").fit(table)
    assert step.kinds_[-1] == "rank"
    assert_array_equal(step.transform(table)[:3, 2], [0, 2, 1])
    assert step.scaler_.log_unit_[2] == 0.0 < step.scaler_.log_unit_[0]
    with pytest.raises(ValueError, match="ordered names 'sizes'"):
        MixedColumns(ordered={"sizes": ["small"]}).fit(table)
    with pytest.raises(ValueError, match="must list different categories"):
        MixedColumns(ordered={"size": ["small", "small"]}).fit(table)
    with pytest.raises(ValueError, match=r"'large' in row 1 .* small, medium"):
        MixedColumns(ordered={"size": ["small", "medium"]}).fit(table)


def test_a_column_without_any_known_category_gives_a_warning(table):
    step = MixedColumns().fit(table)
    with pytest.warns(FeatureWarning, match="known category in 'island'") as caught:
        step.transform(table.assign(island="moon"))
    assert caught[0].message.fields["columns"] == ["island"]


def test_columns_of_one_name_are_refused_in_a_sentence(table):
    twice = table[["mass", "length"]].set_axis(["mass", "mass"], axis=1)
    for estimator in (MixedColumns(), ColumnScaler(), FuzzyCMeans(2)):
        with pytest.raises(ValueError, match="X has several columns called 'mass'"):
            estimator.fit(twice)
