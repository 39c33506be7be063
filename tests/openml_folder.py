"""The folder that scikit-learn's ``fetch_openml`` leaves behind, made without a network."""

import gzip
import hashlib
import json

import numpy as np


def keep_as_openml_would(data_home, data_id, *, X, classes):
    """Write the four files that ``fetch_openml(data_id=data_id, data_home=data_home)`` reads.

    ``classes`` are the names of the classes of the rows; values that are not a number are missing.
    """
    columns = [f"c{number}" for number in range(X.shape[1])]
    values = np.where(np.isnan(X), "?", X.astype(str))
    table = "\n".join(",".join([*row, name]) for row, name in zip(values, classes, strict=True))
    names = sorted(set(classes))
    attributes = [f"@attribute {column} numeric" for column in columns]
    attributes.append(f"@attribute class {{{','.join(names)}}}")
    arff = "\n".join(["@relation kept", *attributes, "@data", table, ""])
    place = f"data/v1/download/{data_id}/kept.arff"
    description = {
        "id": str(data_id),
        "name": "kept",
        "version": "1",
        "description": "A table of a test.",
        "format": "ARFF",
        "status": "active",
        "url": f"https://www.openml.org/{place}",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    qualities = [{"name": "NumberOfInstances", "value": str(float(len(X)))}]
    api = "api/v1/json/data"
    _keep(data_home, f"{api}/{data_id}", json.dumps({"data_set_description": description}))
    _keep(data_home, f"{api}/features/{data_id}", json.dumps(_features(columns, names, X)))
    _keep(
        data_home,
        f"{api}/qualities/{data_id}",
        json.dumps({"data_qualities": {"quality": qualities}}),
    )
    _keep(data_home, place, arff)


def _features(columns, names, X):
    missing = np.isnan(X).sum(axis=0)
    features = [
        _feature(index, column, n_missing, data_type="numeric", is_target="false")
        for index, (column, n_missing) in enumerate(zip(columns, missing, strict=True))
    ]
    target = _feature(len(columns), "class", 0, data_type="nominal", is_target="true")
    return {"data_features": {"feature": [*features, target | {"nominal_value": names}]}}


def _feature(index, name, n_missing, **more):
    return {
        "index": str(index),
        "name": name,
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": str(n_missing),
    } | more


def _keep(data_home, path, text):
    file = data_home / "openml" / "openml.org" / f"{path}.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text.encode()))
