"""The page of xenaki2014, section by section."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from regenerating import Page, Setting
from typicality.datasets import load_s2
from typicality.exceptions import ClusteringWarning
from xenaki2014 import propositions, samples, sweeps
from xenaki2014.claims import boxed_rand, from_tables
from xenaki2014.printed import TABLES
from xenaki2014.tables import judged, sections

__all__ = ["make", "tables_at_hand"]

_FIRST = """
APCM, SAPCM and SeqSAPCM beside k-means, fuzzy and possibilistic c-means. RM, GRM and SR are per
cents: the Rand measure, the generalised one, the success rate. A row of a table is exact where m
and every printed digit come out."""

_HOW = """
## How the rows were computed

- **APCM, SAPCM, SeqSAPCM**: features stretched to [0, 10]; the start is the row farthest from the
  first one, then max-min; p = 1/2; memberships by exact roots, by bisection as in the paper where
  the verdict says so. Six printed rows are no fixed points: the iteration passes through them and
  goes on. After how many steps was found by looking; no one number gives them all.
- **k-means**: batches, then single rows (`kmeans_single_point.py`), from the same start; Iris with
  unit variances, Wine and S2 as they are. Batches alone, as in scikit-learn, give other digits.
- **FCM**: the data of k-means, m = 2, random memberships, at most 100 iterations, until the
  objective changes by less than 1e-5. The verdict says from how many starts the row comes out;
  where from none, the most frequent result is shown.
- **PCM**: the form of 1993 on the data of APCM; prototypes within 0.5 of each other are taken for
  one. The paper does not print the fuzzifier: with 3.1 the rows of a single cluster come out, and
  no others.

With features stretched to [0, 10], k-means and FCM find three clusters in Wine as well as SeqSAPCM
does (RM {wine}): their low rows in Table 4 are those of raw features. On Iris so stretched they
have {iris}, SeqSAPCM 88.59."""


def make(setting: Setting) -> Page:
    """Make the page and its figures; without S2 it lacks Table 2."""
    page = Page("xenaki2014: adaptive and sequential possibilistic c-means")
    page.say(_FIRST)
    with warnings.catch_warnings():
        # Some rows end in a cycle or with prototypes that coincide; the tables say so.
        warnings.simplefilter("ignore", ClusteringWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        _fill(page, setting, [3, 4] if setting.fast else tables_at_hand(page))
    return page


def tables_at_hand(page: Page) -> list[int]:
    """The numbers of the tables whose data are at hand."""
    try:
        load_s2()
    except FileNotFoundError as missing:
        page.lack(f"Table 2. {missing}")
        return [1, 3, 4]
    return [1, 2, 3, 4]


def _fill(page: Page, setting: Setting, numbers: list[int]) -> None:
    tables = judged(numbers, setting)
    for claim in from_tables(tables):
        page.judge(claim)
    rands = {name: boxed_rand(name) for name in ("Wine", "Iris")}
    wine, iris = (" and ".join(f"{rand:.1f}" for rand in r.values()) for r in rands.values())
    page.say(_HOW.format(wine=wine, iris=iris))
    for section in sections(tables):
        page.say(section)
    samples.report(page, setting)
    names = [TABLES[n][0].data for n in numbers if n > 1]
    sweeps.report(page, setting, setting.pick(names, ["Wine"]))
    propositions.report(page, setting)
