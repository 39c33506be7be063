"""Saving and loading: the loaded model gives the same numbers, to the last bit."""

import os

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from instances import EVERY
from typicality import AlphaCutClustering, AutoClustering, FuzzyCMeans, OneClusterPCM, load, save
from typicality import trusted_types as trusted
from typicality._record import MODEL_FILES
from typicality.exceptions import ModelFileError
from typicality.kernels import (
    Cauchy,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    LocalGaussian,
    Mixed,
    Polynomial,
)
from typicality.preprocessing import ColumnScaler, MixedColumns, PlaceScaler
from ways import WAYS, summed_by

pytestmark = [
    pytest.mark.filterwarnings("ignore::typicality.exceptions.ClusteringWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

RNG = np.random.default_rng(7)
ROWS = np.vstack([RNG.normal(3.0, 0.5, (30, 2)), RNG.normal(6.0, 0.5, (20, 2)), [[9.0, 1.0]]])
NEW = RNG.uniform(0.5, 9.0, (40, 2))
SQDIST = np.sum((ROWS[:, None] - ROWS) ** 2, axis=-1)
FRAME = pd.DataFrame(
    {
        "a": np.where(np.arange(51) % 9 == 0, np.nan, ROWS[:, 0]),
        "b": ROWS[:, 1],
        "colour": RNG.choice(["red", "größer", "blue"], 51),
        "gaps": [None if i % 7 == 0 else f"g{i % 2}" for i in range(51)],
    }
)
KERNELS = [Linear(), Gaussian(np.float64(0.7)), Laplacian(1.3), Cauchy(2), Cosine()]
KERNELS += [Polynomial(2, gamma=0.5), LocalGaussian(ROWS, 20)]
TRANSFORMERS = [
    *(StandardScaler(), RobustScaler(), MinMaxScaler((-1, 1), clip=True), MaxAbsScaler()),
    QuantileTransformer(n_quantiles=9, output_distribution="normal", random_state=0),
    *(PowerTransformer(), SimpleImputer(), KNNImputer(), PCA(0.9, whiten=True)),
    *(TruncatedSVD(1, random_state=0), FunctionTransformer(), FunctionTransformer(np.log1p)),
    *(ColumnScaler(), PlaceScaler()),
]
IN_COLUMNS = ColumnTransformer(
    [
        ("n", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
        ("o", OneHotEncoder(drop="first"), ["colour"]),
        ("g", OneHotEncoder(handle_unknown="ignore"), ["gaps"]),
    ],
    sparse_threshold=0,
)
# name: model, rows, new rows
CONFIGURATIONS = {
    **{f"{i:02d}-{type(model).__name__}": (model, ROWS, NEW) for i, model in enumerate(EVERY)},
    **{f"{way}-OneClusterPCM": (OneClusterPCM(sigma=3.0), ROWS, NEW) for way in WAYS},
    "truncated-AlphaCutClustering": (AlphaCutClustering(sigma=3.0), ROWS, NEW),
    **{f"kernel-{k}": (OneClusterPCM(kernel=k), ROWS, NEW) for k in KERNELS},
    "kernel-chi2": (FuzzyCMeans(2, kernel="chi2"), ROWS, NEW),
    "sparse": (FuzzyCMeans(2, kernel="cosine"), csr_array(ROWS), NEW),
    "sparse-centres": (FuzzyCMeans(2), csr_array(ROWS), NEW),
    "sparse-density": (OneClusterPCM(), csr_array(ROWS), csr_array(NEW)),
    "precomputed": (FuzzyCMeans(2, kernel="precomputed"), np.exp(-SQDIST), np.exp(-SQDIST)),
    "distances": (AlphaCutClustering(kernel="dissimilarities"), SQDIST**0.5, SQDIST[:7] + 0.1),
    "float32": (OneClusterPCM(), ROWS.astype(np.float32), NEW.astype(np.float32)),
    "mixture": (
        AutoClustering(random_state=0),
        np.hstack([ROWS, ROWS[::-1] + RNG.normal(size=ROWS.shape)]),
        np.hstack([NEW, NEW]),
    ),
    "random-state": (FuzzyCMeans(2, random_state=np.random.RandomState(3)), ROWS, NEW),
    "compressed-fourier": (OneClusterPCM(sigma=8.0), ROWS, NEW),
    "compressed-set": (FuzzyCMeans(2, kernel=Cauchy(30.0)), ROWS, NEW),
    **{f"after-{t}": (make_pipeline(t, FuzzyCMeans(2)), ROWS, NEW) for t in TRANSFORMERS},
    "frame": (make_pipeline(IN_COLUMNS, FuzzyCMeans(2)), FRAME, FRAME[::-1]),
    "mixed-columns": (
        make_pipeline(MixedColumns(), OneClusterPCM(kernel=Mixed(1))),
        FRAME[["b", "colour"]],
        FRAME[["b", "colour"]].assign(colour="new"),
    ),
}
ANSWERS = ("predict", "predict_memberships", "predict_typicality", "score_samples", "transform")


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def fitted(request):
    """A model in every configuration, with its rows and new rows."""
    model, rows, new = CONFIGURATIONS[request.param]
    way = {"compressed-fourier": "nufft"}.get(request.param, request.param.partition("-")[0])
    with summed_by(way if way in WAYS else "dense"):
        model = clone(model).fit(rows)
    compressed = request.param.startswith("compressed")
    return model.compress(1e-2) if compressed else model, rows, new


def bits(model, *tables):
    asked = [getattr(model, answer) for answer in ANSWERS if hasattr(model, answer)]
    found = [np.asarray(method(X)) for method in asked for X in tables]
    return [(each.dtype, each.shape, each.tobytes()) for each in found]


def test_a_loaded_model_gives_the_same_bits(fitted, tmp_path):
    model, rows, new = fitted
    folder = save(model, tmp_path / "model")
    again = load(folder)
    assert type(again) is type(model)
    assert vars(again).keys() == vars(model).keys()
    assert bits(again, rows, new) == bits(model, rows, new)
    twice = save(model, tmp_path / "again")
    assert [(twice / f).read_bytes() for f in MODEL_FILES] == [
        (folder / f).read_bytes() for f in MODEL_FILES
    ]


def test_skops_needs_no_more_than_the_trusted_types(fitted):
    model, rows, new = fitted
    again = skops.io.loads(skops.io.dumps(model), trusted=trusted())
    assert bits(again, rows, new) == bits(model, rows, new)


def test_transformers_of_another_scikit_learn_are_warned_of(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.5.2")
        folder = save(make_pipeline(StandardScaler(), FuzzyCMeans(2)).fit(ROWS), tmp_path / "m")
    with pytest.warns(InconsistentVersionWarning) as caught:
        load(folder)
    named = {warning.message.estimator_name for warning in caught}
    assert named == {"Pipeline", "StandardScaler"}


class OwnKernel(Gaussian):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FuzzyCMeans(2, kernel=rbf_kernel), r"holds sklearn\.metrics\.pairwise\.rbf_kernel"),
        (FuzzyCMeans(2, kernel=lambda X, Y: X @ Y.T), "<lambda>"),
        (make_pipeline(OneClusterPCM(kernel=OwnKernel(1.0))), "OwnKernel"),
        (FunctionTransformer(pd.isna), "isna"),
        (FuzzyCMeans, "FuzzyCMeans is not an estimator"),
        ({}, "dict is not an estimator"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_said_before_anything_is_written(tmp_path, model, message):
    with pytest.raises(ModelFileError, match=f"This model cannot be saved: .*{message}"):
        save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_an_older_model_is_replaced_only_when_asked(tmp_path):
    save(FuzzyCMeans(2), tmp_path / "m")
    with pytest.raises(FileExistsError, match="exists already"):
        save(FuzzyCMeans(3), tmp_path / "m")
    assert save(FuzzyCMeans(3), tmp_path / "m", overwrite=True) == tmp_path / "m"
    assert load(tmp_path / "m").n_clusters == 3
    (tmp_path / "m" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="typicality has not written"):
        save(FuzzyCMeans(4), tmp_path / "m", overwrite=True)
