"""The classes of scikit-learn that model files hold, with what their fitted attributes may be.

They follow scikit-learn 1.9. Arrays of these classes reach compiled code in one place only: the
positions of ones in the sparse matrix that `OneHotEncoder` makes.
"""

import re
from collections.abc import Callable
from itertools import chain, pairwise
from types import NoneType
from typing import Annotated, Any, ForwardRef, Literal, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from typicality._typing import Floats, Index, Places

_Floats = Annotated[Floats, "d"]
_Column = Annotated[np.ndarray, "*"]  # numbers or text
_Columns = Union[  # noqa: UP007  of a ColumnTransformer
    str, float, slice, list[str], list[float], list[bool], _Column
]
_Transformer = Union[Literal["drop", "passthrough"], BaseEstimator]  # noqa: UP007
_ANY = {
    "n_features_in_": Annotated[int, "d"],
    "feature_names_in_": Annotated[NDArray[np.object_], "d"],
}

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "sklearn.pipeline.Pipeline": {},
    "sklearn.preprocessing.FunctionTransformer": _ANY,
    "sklearn.preprocessing.StandardScaler": {
        **_ANY,
        "n_samples_seen_": float | Annotated[Floats, "d"] | Annotated[Places, "d"],
        "mean_": _Floats | None,
        "var_": _Floats | None,
        "scale_": _Floats | None,
    },
    "sklearn.preprocessing.RobustScaler": {
        **_ANY,
        "center_": _Floats | None,
        "scale_": _Floats | None,
    },
    "sklearn.preprocessing.MinMaxScaler": {
        **_ANY,
        "n_samples_seen_": int,
        **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _Floats),
    },
    "sklearn.preprocessing.MaxAbsScaler": {
        **_ANY,
        "n_samples_seen_": int,
        **dict.fromkeys(("scale_", "max_abs_"), _Floats),
    },
    "sklearn.preprocessing.QuantileTransformer": {
        **_ANY,
        "n_quantiles_": Annotated[int, "q"],
        "references_": Annotated[Floats, "q"],
        "quantiles_": Annotated[Floats, "q d"],
    },
    "sklearn.preprocessing.OneHotEncoder": {
        **_ANY,
        "categories_": list[_Column],
        "drop_idx_": Annotated[np.ndarray, "d"] | None,
        "_infrequent_enabled": bool,
        "_infrequent_indices": list[Annotated[Places, "*"] | None],
        "_default_to_infrequent_mappings": list[Annotated[Places, "*"] | None],
        "_drop_idx_after_grouping": Annotated[np.ndarray, "d"] | None,
        "_n_features_outs": list[int],
    },
    "sklearn.impute.SimpleImputer": {
        **_ANY,
        "statistics_": Annotated[np.ndarray, "d"],
        "indicator_": Union[ForwardRef("MissingIndicator"), None],  # noqa: UP007
        "_fit_dtype": np.generic,
        "_fill_dtype": np.generic,
    },
    "sklearn.impute.MissingIndicator": {
        **_ANY,
        "features_": Annotated[Places, "*", Index("d")],
        "_precomputed": bool,
        "_n_features": Annotated[int, "d"],
    },
    "sklearn.decomposition.PCA": {
        **_ANY,
        "n_components_": Annotated[int, "c"],
        "components_": Annotated[Floats, "c d"],
        "mean_": _Floats,
        **dict.fromkeys(
            ("explained_variance_", "explained_variance_ratio_", "singular_values_"),
            Annotated[Floats, "c"],
        ),
        "noise_variance_": float,
        "n_samples_": int,
        "_fit_svd_solver": str,
    },
    "sklearn.compose.ColumnTransformer": {
        **_ANY,
        "transformers_": list[tuple[str, _Transformer, _Columns]],
        "sparse_output_": bool,
        "output_indices_": dict[str, slice],
        "_columns": list[_Columns],
        "_remainder": tuple[str, _Transformer, _Columns],
        "_transformer_to_input_indices": dict[str, list[int]],
        "_transformers_feature_names_out": Annotated[NDArray[np.object_], "*"],
    },
}
# Attributes that some fits set and others do not.
OPTIONAL_ATTRIBUTES = (
    *("_infrequent_indices", "_default_to_infrequent_mappings", "sparse_output_"),
    *("output_indices_", "_transformers_feature_names_out"),
)
# Parameters that hold other objects, or could hold a function; scikit-learn checks all others.
PARAMETERS: dict[str, dict[str, Any]] = {
    "Pipeline": {"steps": list[tuple[str, Literal["passthrough"] | BaseEstimator | None]]},
    "ColumnTransformer": {
        "transformers": list[tuple[str, _Transformer, _Columns]],
        "remainder": _Transformer,
        "verbose_feature_names_out": bool | str,
    },
    "FunctionTransformer": {
        **dict.fromkeys(("func", "inverse_func", "kw_args", "inv_kw_args"), NoneType),
        "feature_names_out": Literal["one-to-one"] | None,
    },
    "OneHotEncoder": {"feature_name_combiner": Literal["concat"]},
    "SimpleImputer": {
        "strategy": Literal["mean", "median", "most_frequent", "constant"],
    },
}
# Parameters that belong to the machine: folders and processes.
NOT_SAVED = ("memory", "n_jobs")
# Templates that only put names in: a format could ask for any width or attribute.
_PLAIN_TEMPLATE = re.compile(r"([^{}]|\{(feature|transformer)_name\})*")


def _encodes_within_its_columns(encoder: Any) -> bool:
    """Whether no category leads to a column beyond those of the matrix that is made."""
    if not hasattr(encoder, "categories_"):
        return True
    categories = encoder.categories_
    nothing = [None] * len(categories)  # not of a number from the file, which sizes no list
    grouped = encoder._infrequent_enabled
    mappings = getattr(encoder, "_default_to_infrequent_mappings", ()) if grouped else nothing
    infrequent = getattr(encoder, "_infrequent_indices", ()) if grouped else nothing
    drop = encoder._drop_idx_after_grouping
    drop = nothing if drop is None else list(drop)
    dropped = nothing if encoder.drop_idx_ is None else list(encoder.drop_idx_)
    columns = (categories, mappings, infrequent, drop, dropped, encoder._n_features_outs)
    return all(len(column) == encoder.n_features_in_ for column in columns) and all(
        _encodes_within(*column) for column in zip(*columns, strict=True)
    )


def _encodes_within(
    categories: Any, mapping: Any, infrequent: Any, drop: Any, dropped: Any, n_out: int
) -> bool:
    n_codes = len(categories)
    if mapping is not None:
        if not 0 < len(mapping) == len(categories) or not _are_below(mapping, len(categories)):
            return False
        n_codes = int(mapping.max()) + 1
    return (
        _is_sorted(categories)
        and (mapping is None) == (infrequent is None)
        and (infrequent is None or _are_below(infrequent, len(categories)))
        and (drop is None or _are_below([drop], n_codes))
        and (dropped is None or _are_below([dropped], len(categories)))
        and n_out == n_codes - (drop is not None)
    )


def _is_sorted(categories: Any) -> bool:
    """Whether numbers increase, NaN last, as the search for a number takes for granted."""
    kinds = complex | int | float | np.number
    numbers: list[Any] = [entry for entry in categories.tolist() if isinstance(entry, kinds)]
    finite = [number for number in numbers if number == number]
    return (
        not any(map(np.iscomplexobj, numbers))
        and numbers[: len(finite)] == finite
        and all(low < high for low, high in pairwise(finite))
    )


def _are_below(indices: Any, length: int) -> bool:
    return all(isinstance(i, int | np.integer) and 0 <= i < length for i in indices)


def _selects_its_columns(transformer: Any) -> bool:
    """Whether each column goes somewhere, and names of columns are made by a plain template."""
    template = transformer.verbose_feature_names_out
    if isinstance(template, str) and not _PLAIN_TEMPLATE.fullmatch(template):
        return False
    if not hasattr(transformer, "transformers_"):
        return True
    selected = [*chain(*transformer._transformer_to_input_indices.values())]
    n_features = transformer.n_features_in_
    return _are_below(selected, n_features) and len({*selected}) == n_features


IS_SOUND: dict[str, Callable[[Any], bool]] = {
    "Pipeline": lambda pipeline: len(pipeline.steps) > 0,
    "OneHotEncoder": _encodes_within_its_columns,
    "ColumnTransformer": _selects_its_columns,
}
