"""The page of lecture20, section by section."""

from threadpoolctl import threadpool_limits

from lecture20 import exponent, fuzzy, mixture, normalisation, rand
from regenerating import Page, Setting

__all__ = ["make"]

_FIRST = """
Fuzzy c-means, Gaussian mixtures by EM, the Rand index and measures of pairs, as the notes teach
them, on one draw of three Gaussian clusters (`typicality.datasets.make_three_gaussians`). The notes
print no numbers; their formulas are what is checked. Three are misprinted: the exponent of
the memberships, the factor of the Gaussian, the derivative with respect to a mean. The range that
the notes give for the adjusted Rand index is wrong, too."""

_SECTIONS = (fuzzy, exponent, mixture, normalisation, rand)


def make(setting: Setting) -> Page:
    """Make the page and its figures."""
    page = Page("lecture20: fuzzy c-means, mixtures, the Rand index")
    page.say(_FIRST)
    with threadpool_limits(1):  # the rows are few: threads would only wait for each other
        for section in _SECTIONS:
            section.report(page, setting)
    return page
