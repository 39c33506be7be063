"""Models in every configuration, for files to keep."""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from instances import ADAPTIVE, AUTOMATIC, CUTTERS, DETECTORS, ESTIMATORS, KERNEL_ESTIMATORS
from typicality import (
    AdaptivePCM,
    AlphaCutClustering,
    AutoClustering,
    FuzzyCMeans,
    OneClusterPCM,
    PossibilisticCMeans,
)
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
from typicality.preprocessing import ColumnScaler, MixedColumns, SphereEmbedding
from ways import WAYS, summed_by

RNG = np.random.default_rng(7)
ROWS = np.vstack([RNG.normal(3.0, 0.5, (30, 2)), RNG.normal(6.0, 0.5, (20, 2)), [[9.0, 1.0]]])
NEW = RNG.uniform(0.5, 9.0, (40, 2))
SQDIST = np.sum((ROWS[:, None] - ROWS) ** 2, axis=-1)
WEIGHT = RNG.integers(0, 3, len(ROWS)).astype(float)
HOLES = np.where(RNG.uniform(size=ROWS.shape) < 0.1, np.nan, ROWS)
FRAME = pd.DataFrame(
    {
        "a": HOLES[:, 0],
        "b": ROWS[:, 1],
        "c": ROWS[:, 0],
        "colour": RNG.choice(["red", "größer", "blue"], len(ROWS)),
        "size": RNG.integers(0, 4, len(ROWS)),
        "flag": ROWS[:, 0] > 4,
        "gaps": [None if i % 7 == 0 else f"g{i % 2}" for i in range(len(ROWS))],
        "empty": 0.0,
    }
)
# name: model, rows, new rows, how to fit
CONFIGURATIONS = {
    **{
        f"{i:02d}-{type(model).__name__}": (model, ROWS, NEW, {})
        for i, model in enumerate(
            [*ESTIMATORS, *KERNEL_ESTIMATORS, *DETECTORS, *CUTTERS, *ADAPTIVE, *AUTOMATIC]
        )
    },
    **{f"{way}-OneClusterPCM": (OneClusterPCM(sigma=3.0), ROWS, NEW, {}) for way in WAYS},
    "blocked-FuzzyCMeans": (FuzzyCMeans(2, kernel="gaussian", sigma=3.0), ROWS, NEW, {}),
    "truncated-AlphaCutClustering": (AlphaCutClustering(sigma=3.0), ROWS, NEW, {}),
    "sparse": (FuzzyCMeans(2, kernel="cosine"), csr_array(ROWS), NEW, {}),
    "kernel-chi2": (FuzzyCMeans(2, kernel="chi2"), ROWS, NEW, {}),
    **{
        f"object-{type(kernel).__name__}": (OneClusterPCM(kernel=kernel), ROWS, NEW, {})
        for kernel in (
            *(Linear(), Gaussian(np.float64(0.7)), Laplacian(1.3), Cauchy(2), Cosine()),
            *(Polynomial(2, gamma=0.5), LocalGaussian(ROWS, 20)),
        )
    },
    "precomputed": (FuzzyCMeans(2, kernel="precomputed"), np.exp(-SQDIST), None, {}),
    "dissimilarities": (OneClusterPCM(kernel="dissimilarities"), np.sqrt(SQDIST), None, {}),
    "distances": (
        AlphaCutClustering(kernel="dissimilarities"),
        np.sqrt(SQDIST),
        np.sqrt(SQDIST)[:7] + 0.1,
        {},
    ),
    "float32": (OneClusterPCM(), ROWS.astype(np.float32), NEW.astype(np.float32), {}),
    **{
        f"weights-{type(model).__name__}": (model, ROWS, NEW, {"sample_weight": WEIGHT})
        for model in (AlphaCutClustering(assign="all"), AdaptivePCM())
    },
    "sphere": (make_pipeline(SphereEmbedding(), AlphaCutClustering()), ROWS, NEW, {}),
    "automatic-mixture": (
        AutoClustering(random_state=0),
        np.hstack([ROWS, ROWS[::-1] + RNG.normal(size=ROWS.shape)]),
        np.hstack([NEW, NEW]),
        {},
    ),
    "scaler": (ColumnScaler(missing="median"), ROWS, NEW, {}),
    "pipeline": (
        Pipeline([("columns", ColumnScaler()), ("model", AlphaCutClustering(sigma=0.4))]),
        ROWS,
        NEW,
        {},
    ),
    "parameters": (
        PossibilisticCMeans(
            2,
            init=np.array([[1.0, 2.0], [3.0, 4.0]]),
            random_state=np.random.RandomState(3),
            tol=np.float64(1e-6),
            max_iter=np.int32(40),
        ),
        ROWS,
        NEW,
        {},
    ),
    **{
        f"before-{type(transformer).__name__}": (
            make_pipeline(transformer, FuzzyCMeans(2)),
            ROWS,
            NEW,
            {},
        )
        for transformer in [
            *(StandardScaler(), RobustScaler(), MinMaxScaler((-1, 1), clip=True), MaxAbsScaler()),
            QuantileTransformer(n_quantiles=9, output_distribution="normal", random_state=0),
            *(SimpleImputer(), PCA(0.9, whiten=True), FunctionTransformer()),
        ]
    },
    "frame": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("n", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
                    ("o", OneHotEncoder(drop="first"), ["colour"]),
                    ("f", OneHotEncoder(min_frequency=20), ["size"]),
                    ("p", "passthrough", slice("c", "c")),
                    ("d", "drop", ["empty"]),
                    ("m", OneHotEncoder(handle_unknown="ignore"), ["gaps"]),
                ],
                sparse_threshold=0,
                transformer_weights={"n": 0.5},
            ),
            FuzzyCMeans(2),
        ),
        FRAME,
        FRAME[::-1],
        {},
    ),
    "compressed-fourier": (OneClusterPCM(sigma=8.0), ROWS, NEW, {}),
    "compressed-set": (FuzzyCMeans(2, kernel=Cauchy(30.0)), ROWS, NEW, {}),
    "mixed-columns": (
        make_pipeline(MixedColumns(mismatch={"colour": 0.3}), OneClusterPCM(kernel=Mixed(2))),
        FRAME[["b", "colour", "c", "flag"]],
        FRAME[["b", "colour", "c", "flag"]].assign(colour="new"),
        {},
    ),
}


@cache
def fitted(name):
    """The model of a configuration, fitted once."""
    model, rows, _, how = CONFIGURATIONS[name]
    way = {"compressed-fourier": "nufft"}.get(name, name.partition("-")[0])
    with summed_by(way) if way in WAYS else nullcontext():
        model = clone(model).fit(rows, **how)
    return model.compress(1e-2) if name.startswith("compressed") else model
