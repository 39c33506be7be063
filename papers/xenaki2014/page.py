"""The page of xenaki2014, section by section."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from regenerating import Page, Setting
from typicality.datasets import load_s2
from typicality.exceptions import ClusteringWarning
from xenaki2014 import choices, propositions, samples, sweeps
from xenaki2014.claims import boxed_rand, from_tables
from xenaki2014.printed import TABLES
from xenaki2014.tables import judged, sections

__all__ = ["make", "tables_at_hand"]

_FIRST = """
The paper compares APCM, SAPCM and SeqSAPCM with k-means, fuzzy (FCM) and possibilistic c-means
(PCM). RM, GRM and SR are the Rand measure, the generalised Rand measure and the success rate, in
per cent; m is the number of clusters. A line of a table is exact if m and every printed digit
agree."""

_HOW = """
## How the rows of the tables were computed

- **APCM, SAPCM, SeqSAPCM**: Features are scaled to [0, 10]. The first initial prototype is the data
  row farthest from the first data row; the others follow by max-min. p = 1/2. Memberships are
  exact roots, or roots by bisection, as in the paper, if the verdict says so. Six printed lines are
  not fixed points: the iteration passes through them and goes on. The number of steps was found by
  search, and differs between these lines.
- **k-means**: Batch updates, then updates by single rows (`kmeans_single_point.py`), from the same
  start. Iris is scaled to unit variances; Wine and S2 are not scaled. Batch updates alone, as in
  scikit-learn, give other digits.
- **FCM**: The data are those of k-means, and the fuzzifier is 2. The initial memberships are
  random. The iteration stops after 100 iterations, or when the objective changes by less than 1e-5.
  The verdict counts the starts that give the printed line. If no start does, the most frequent
  result is shown.
- **PCM**: The form of 1993, on the data of APCM, with the fuzzifier 3.2. The start and η come from
  FCM with the fuzzifier 2 on the same data, from a max-min start. Prototypes within 0.5 of each
  other are taken as one. The paper prints neither the fuzzifier nor these rules. With this reading
  the number of clusters is right in all lines of Tables 2 to 4; the measures of four lines differ.

On features scaled to [0, 10], k-means and FCM find three clusters in Wine as well as SeqSAPCM does
(RM {wine}). Their low values in Table 4 come from raw features. On Iris, scaled in the same way,
they have {iris}; SeqSAPCM has 88.59."""


_FIGURE_2 = """## Figure 2

S2: 5,000 rows in 15 clusters, with the true labels."""


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
    if 2 in numbers:
        page.say(_FIGURE_2)
        page.show(setting.save(samples.picture_of_s2(), "figure_2"), "Fig. 2: S2")
    names = setting.pick([TABLES[n][0].data for n in numbers if n > 1], ["Wine"])
    sweeps.report(page, setting, names)
    choices.report(page, setting, names)
    propositions.report(page, setting)
