"""In which features rows are unusual: the result of `explain`."""

from typing import Any, NamedTuple

import numpy as np

from typicality._typing import Doubles, Floats
from typicality.geometry.typical_rows import TypicalRows, reason_text, telling_features


class Reasons(NamedTuple):
    """The features in which rows are unusual, and by how much; the result of `explain`.

    Parameters
    ----------
    features : list of str
        The names of the features.
    values : array of shape (n_samples, n_features)
        The values of the rows.
    expected : array of shape (n_samples, n_features)
        The mean of the nearest typical rows, for each row.
    deviations : array of shape (n_samples, n_features)
        Robust z-scores: values minus expected values, divided by the spread of the feature (IQR /
        1.349).

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
        """The most unusual features of each row, with values and deviations, as text.

        Features with a deviation below 0.5, or below half of the largest deviation of the row, are
        left out.

        Parameters
        ----------
        at_most : int, default=3
            The largest number of features per row.

        Returns
        -------
        words : list of str
            One text per row. It is empty if the row is unusual in no single feature.
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
