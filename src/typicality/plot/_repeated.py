"""What results of validation give to draw."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from typicality._typing import Doubles
from typicality.plot._axes import check_values


def parts_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results of the same settings as arguments of displays: scores by name, and the names."""
    checked = check_results(results)
    one = next(iter(checked.values()))
    settings = shared_settings(checked)
    if settings is None:
        settings = (", ".join(str(result.settings[0]) for result in checked.values()),)
    return {
        "scores": {name: result.scores for name, result in checked.items()},
        "settings": settings,
        "setting_name": one.setting_name,
        "score_name": one.score_name,
    }


def shared_settings(results: Mapping[Any, Any]) -> tuple[Any, ...] | None:
    """The settings of all results; None where each has one of its own."""
    settings = {tuple(result.settings) for result in results.values()}
    return settings.pop() if len(settings) == 1 else None


def known_columns(scores: Doubles) -> list[Doubles]:
    """The scores of each setting, without the repetitions that say nothing (NaN)."""
    return [column[~np.isnan(column)] for column in scores.T]


def of_columns(measure: Callable[[Doubles], Any], scores: Doubles) -> Doubles:
    """A measure of the scores of each setting; NaN where no repetition says anything."""
    columns = known_columns(scores)
    return np.array([measure(column) if len(column) else np.nan for column in columns])


def check_results(results: Any) -> dict[Any, Any]:
    """Results of validation by name, or by a number; settings that were not found are the same."""
    if not isinstance(results, Mapping) or not results:
        raise ValueError(
            "results must be a mapping from names to results of typicality.validation, e.g. "
            f"{{'1-PCM': outlier_stability(...)}}; got {results!r}."
        )
    for name, result in results.items():
        if not (hasattr(result, "scores") and hasattr(result, "settings")):
            raise ValueError(f"results[{name!r}] is no result of typicality.validation: {result!r}")
    kinds = {(result.setting_name, tuple(result.settings)) for result in results.values()}
    found = all(getattr(result, "setting_is_found", False) for result in results.values())
    if len(kinds) > 1 and not found:
        told = " and ".join(sorted(f"{name} {settings}" for name, settings in kinds))
        raise ValueError(f"results differ in their settings: {told}. Compute all for the same.")
    return dict(results)


def check_repeated_scores(scores: Any, n_settings: int) -> dict[str, Doubles]:
    """For each of one name or more, a column of scores for each setting; NaN says nothing."""
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError(
            "scores must be a mapping from names to arrays of shape (n_repeats, n_settings); got "
            f"{scores!r}."
        )
    arrays = {str(name): np.asarray(s, dtype=np.float64) for name, s in scores.items()}
    for name, array in arrays.items():
        if array.ndim != 2 or array.shape[1] != n_settings or len(array) == 0:
            raise ValueError(
                f"scores[{name!r}] has shape {array.shape}, expected (n_repeats, {n_settings}): a "
                "column for each setting."
            )
        if np.isnan(array).all():
            raise ValueError(f"scores[{name!r}] are all NaN: there is nothing to draw.")
        check_values(array[~np.isnan(array)], name=f"scores[{name!r}]")
    return arrays
