"""The page of miyamoto2003, section by section."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from miyamoto2003 import figures, functions, geometries, ordinary, sensitivity, successes
from regenerating import Page, Setting
from typicality.exceptions import ClusteringWarning

__all__ = ["make"]

_FIRST = """
Two clusters by fuzzy c-means in the space of the kernel exp(-c |x - y|^2), in the standard form
(exponent m) and the entropy form (λ). The paper prints no sizes of its data sets; ours are those of
`typicality.datasets`. A draw is *separated* where no row is on the wrong side. The paper's protocol
is ten random starts, of which the lowest objective is kept."""

_SECTIONS = (figures, ordinary, successes, geometries, sensitivity, functions)


def make(setting: Setting) -> Page:
    """Make the page and its figures."""
    page = Page("miyamoto2003: fuzzy c-means with kernels")
    page.say(_FIRST)
    with warnings.catch_warnings():
        # Where prototypes coincide the tables say so; at the brink of that iterations are slow.
        warnings.simplefilter("ignore", ClusteringWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for section in _SECTIONS:
            section.report(page, setting)
    return page
