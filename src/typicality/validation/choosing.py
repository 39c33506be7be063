"""Which of several settings is chosen, given their scores on the same splits."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata

from typicality._typing import Doubles, Places

_ROUNDING = 1e-9


class Choice(NamedTuple):
    """The setting that is chosen, and all that count as equally stable."""

    chosen: int
    tied: Places


def choose(
    scores: Doubles, means: Doubles, *, tolerance: float, n_clusters: Doubles | None = None
) -> Choice:
    """The most stable setting; among equally stable ones that with most clusters, then the first.

    Parameters
    ----------
    scores : array of shape (n_repeats, n_settings)
        Scores on the same splits; NaN where a split says nothing.
    means : array of shape (n_settings,)
        Their means; NaN for settings that say nothing, which are chosen only if all do.
    tolerance : float
        How far behind the best a setting may be; or one standard error of the difference.
    n_clusters : array of shape (n_settings,), optional
        How many clusters each setting has.

    Returns
    -------
    Choice
    """
    said = np.flatnonzero(~np.isnan(means))
    if len(said) == 0:
        return Choice(0, np.arange(len(means)))
    best = said[np.argmax(means[said])]
    allowed = [max(tolerance, _error(scores[:, best] - scores[:, j])) for j in said]
    # With one bad split of many the mean is behind by one standard error exactly: a tie.
    tied = said[means[best] - means[said] <= np.array(allowed) + _ROUNDING]
    most = tied if n_clusters is None else tied[n_clusters[tied] == n_clusters[tied].max()]
    return Choice(int(most[0]), tied)


def _error(differences: Doubles) -> float:
    """The standard error of the mean difference; 0 where there is no telling."""
    known = differences[~np.isnan(differences)]
    return float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


def results_table(
    settings: Sequence[Mapping[str, Any]], scores: Doubles, means: Doubles
) -> dict[str, Any]:
    """The scores of all settings in the form of scikit-learn's `cv_results_`.

    Parameters
    ----------
    settings : sequence of mapping of str to value
        The parameters of each setting.
    scores : array of shape (n_repeats, n_settings)
        The scores.
    means : array of shape (n_settings,)
        Their means.

    Returns
    -------
    dict
    """
    known = ~np.isnan(means)
    deviations = np.full(len(means), np.nan)
    deviations[known] = np.nanstd(scores[:, known], axis=0)
    return {
        **_parameter_columns(settings),
        "params": list(settings),
        **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": deviations,
        "rank_test_score": rankdata(-np.where(known, means, -np.inf), method="min").astype(int),
    }


def _parameter_columns(settings: Sequence[Mapping[str, Any]]) -> dict[str, MaskedArray[Any, Any]]:
    """A column for each parameter, masked where a setting does not name it."""
    columns = {}
    for name in sorted({name for setting in settings for name in setting}):
        column = MaskedArray(np.empty(len(settings), dtype=object), mask=True)
        for i, setting in enumerate(settings):
            if name in setting:
                column[i] = setting[name]
        columns[f"param_{name}"] = column
    return columns
