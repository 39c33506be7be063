"""run.json: all it takes to repeat a run, and what came out of it."""

import json
import platform
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from typicality import __version__
from typicality.cli.options import TableChoice
from typicality.cli.preparing import PreparedRows
from typicality.cli.run import Run
from typicality.exceptions import ModelFileError
from typicality.fitted import chosen_method

RECORD_FORMAT = 1
_REQUIRED = {
    "command",
    "data",
    "estimator",
    "preparation",
    "results",
    "seed",
    "versions",
    "warnings",
}
_REQUIRED_DATA = {
    *("columns", "columns_left_out", "delimiter", "file", "fingerprint", "format", "header"),
    *("missing", "n_rows", "n_rows_left_out", "path"),
}
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "finufft")


def record_of(run: Run) -> dict[str, Any]:
    """A run as run.json has it."""
    return {
        "format": RECORD_FORMAT,
        "made_by": f"typicality {__version__}",
        "command": shlex.join(run.command),
        "arguments": list(run.command),
        "method": run.method,
        "seed": run.run_choice.seed,
        "data": data_of(run.prepared, run.table_choice),
        "preparation": _parameters(run.fitted.pipeline["columns"]),
        "estimator": _parameters(run.model),
        "machine": {"jobs": run.run_choice.jobs, "memory": run.run_choice.memory},
        "versions": versions(),
        "results": _results(run),
        "warnings": list(run.fitted.warnings),
        "seconds": {"fit": round(run.fitted.seconds, 3), "all": round(run.seconds, 3)},
    }


def data_of(prepared: PreparedRows, choice: TableChoice) -> dict[str, Any]:
    """The file, its columns and what became of missing values."""
    table, numeric = prepared.table, prepared.numeric
    return {
        "file": table.name,
        "path": str(Path(choice.file).resolve()) if choice.file != "-" else None,
        "format": table.format,
        "delimiter": choice.delimiter,
        "header": choice.header,
        "fingerprint": numeric.fingerprint,
        "n_rows": prepared.n_rows,
        "n_rows_left_out": prepared.n_dropped,
        "columns": list(numeric.names),
        "columns_left_out": [column._asdict() for column in numeric.left_out],
        "missing": choice.missing,
        "n_missing": dict(zip(numeric.names, as_json(numeric.n_missing), strict=True)),
    }


def _parameters(estimator: Any) -> dict[str, Any]:
    parameters = as_json(estimator.get_params(deep=False))
    return {"class": type(estimator).__name__, "parameters": parameters}


def _results(run: Run) -> dict[str, Any]:
    model = chosen_method(run.model)
    plan = model.plan_
    shared = {
        "sigma": getattr(model, "sigma_", None),
        "n_iter": model.n_iter_,
        "status": model.status_,
        "plan": {"method": plan.method, "reason": plan.reason},
        "typical_rows": [asdict(row) for row in run.notes.typical],
        "atypical_rows": [asdict(row) for row in run.notes.atypical],
    }
    if run.finds_outliers:
        found = {"n_outliers": run.n_nowhere, "threshold": model.offset_}
    else:
        found = {
            "n_clusters": len(run.sizes),
            "sizes": run.sizes,
            "n_nowhere": run.n_nowhere,
            "alpha": getattr(model, "alpha_", None),
        }
        if model is not run.model:
            found |= {
                "chosen": type(model).__name__,
                "explanation": run.model.explanation_,
                "agreement": run.model.agreement_,
            }
    results: dict[str, Any] = as_json(found | shared)
    return results


def versions() -> dict[str, str]:
    """The versions of Python, typicality and the packages that results depend on."""
    found = {"python": platform.python_version(), "typicality": __version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # at hand without being installed
            continue
    return found


def read_record(path: Path) -> dict[str, Any]:
    """The record of a run, of a format that is known.

    Raises
    ------
    ModelFileError
        The file is no such record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{path} cannot be read ({error}); run `typicality cluster` again to write it anew."
        ) from error
    if not _is_record(record):
        raise ModelFileError(
            f"{path} is no record of a run that typicality {__version__} can read; write it anew "
            "with the command that made it."
        )
    return record


def _is_record(record: Any) -> TypeGuard[dict[str, Any]]:
    """Whether it is of the format that is written here, with all that is read again."""
    if not isinstance(record, dict) or record.get("format") != RECORD_FORMAT:
        return False
    data = record.get("data")
    if not record.keys() >= _REQUIRED or not isinstance(data, dict):
        return False
    return data.keys() >= _REQUIRED_DATA


def as_json(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, numbers that are not finite and objects as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if np.isfinite(value) else str(value)
        case np.generic() | np.ndarray():
            return as_json(value.tolist())
        case Mapping():
            return {str(key): as_json(entry) for key, entry in value.items()}
        case list() | tuple():
            return [as_json(entry) for entry in value]
    return repr(value)
