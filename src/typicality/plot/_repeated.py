"""What results of validation give to draw."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from typicality._checks import check_results

Doubles = NDArray[np.float64]


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
