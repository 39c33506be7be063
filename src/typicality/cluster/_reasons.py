"""In which features rows are unusual: the result of `explain`."""

from typing import Any, NamedTuple

import numpy as np

from typicality._typing import Doubles, Floats
from typicality.geometry.typical_rows import TypicalRows, reason_text, telling_features


class Reasons(NamedTuple):
    """In which features rows are unusual, and by how much.

    Parameters
    ----------
    features : list of str
        The names of the features.
    values : array of shape (n_samples, n_features)
        The rows.
    expected : array of shape (n_samples, n_features)
        The mean of the nearest typical rows.
    deviations : array of shape (n_samples, n_features)
        Values minus what was expected, in units of the spread of the feature (IQR / 1.349): a
        robust z-score.

    Examples
    --------
    >>> import numpy as np
    >>> from typicality import OneClusterPCM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[7] = [0.0, 9.0, 0.0]
    >>> reasons = OneClusterPCM().fit(X).explain(X[7:9])
    >>> reasons.features[np.abs(reasons.deviations[0]).argmax()]
    'feature 1'
    >>> reasons.words(at_most=1)[0]
    'feature 1 9 (+7.4)'
    """

    features: list[str]
    values: Floats
    expected: Doubles
    deviations: Doubles

    def words(self, at_most: int = 3) -> list[str]:
        """For each row the most unusual features with values and deviations, as text.

        Deviations below half a spread are left out; so is a feature whose deviation is less than
        half of the largest one.

        Parameters
        ----------
        at_most : int, default=3
            How many features are named for a row.

        Returns
        -------
        words : list of str
            Empty for rows that are unusual in no single feature.
        """
        return [
            "; ".join(
                reason_text(self.features[j], self.values[i, j], self.deviations[i, j])
                for j in columns
            )
            for i, columns in enumerate(telling_features(self.deviations, at_most))
        ]


def reasons_for(model: Any, rows: Floats, typical: TypicalRows) -> Reasons:
    """Compare rows with typical ones."""
    known = getattr(model, "feature_names_in_", None)
    names = [f"feature {j}" for j in range(rows.shape[1])] if known is None else known
    deviations = typical.deviations(rows)
    expected = np.asarray(rows - deviations * typical.scale)
    return Reasons([str(name) for name in names], rows, expected, deviations)
