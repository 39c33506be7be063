"""The page: what was measured, the tables, the figures, the verdicts."""

from filippone2010 import connections, figure_1, figure_2, figure_3, figure_4, figure_5
from filippone2010.claims import Found, all_claims
from regenerating import Page, Setting

_PREFACE = """
1-PCM is `OneClusterPCM`, KDE the same with `weights="uniform"`, 1-SVM is scikit-learn's
`OneClassSVM`; all with Gaussian kernels. Stability is the Jaccard index of the outliers that
detectors of two halves of the rows see in the second half (Table II). The paper prints figures and
no tables. `PYTHONPATH=papers python -m filippone2010` makes this page.
"""

_FIGURE_1 = """## Figure 1

Four discs of 30 rows, a banana of 60, a ring of 80, 30 outliers; the shapes and where they lie are
our choice. At width 2 the discs are no peaks of their own; at 1 all shapes are, but hang together;
at 0.5 the cut encloses the six shapes apart.
"""

_FIGURE_2 = """## Figure 2

400 rows of a standard Gaussian, 20 outliers on the right, 10 on the left.
"""

_FIGURE_3 = """## Figure 3: stability on the synthetic set

{n_repeats} splits, the same for all methods. As in the paper, 1-PCM and KDE reject as many rows as
`predict` of 1-SVM. Means of 1-SVM / 1-PCM / KDE by nu:
"""

_REJECTED = """The share of the rows that 1-SVM, and so all three methods, reject:
"""

_NOMINAL = """With few rows to reject, 1-SVM rejects far more than nu. Where every method rejects
the nominal rate, by rank in its own half, the means are:
"""

_BY_RANK = """The second half is judged by a threshold of the first, as in the paper. A threshold
that rests on two rows is uncertain itself; where as many rows are rejected on both sides
(`transfer="rank"`, {n_repeats} splits) what is left is the order of the rows:
"""

_FIGURE_4 = """## Figure 4: the multiplier of eta

Stability of 1-PCM less that of KDE, sigma 1, {n_repeats} splits; means below. At gamma 0.01 and
less most of the weight is on few rows, and the order is that of distances to them: that is no
density, but it is stable.
"""

_FIGURE_5 = """## Figure 5: real sets

Breast (683 rows), Ionosphere (351) and Iris, raw features; malignant, bad and virginica are the
outliers. Stability as above, {n_splits} splits:
"""

_ACCURACY = """Accuracy: trained on n rows of the normal class, all others are judged; Jaccard index
with the truth, {n_draws} draws. As in the paper, 1-PCM and KDE reject the share of their training
rows that `predict` of the one-class SVM rejects. At small n that is far above nu, for the reason
above: a training row on the margin is rejected or not by the tolerance of the solver.
"""


def measure(setting: Setting) -> Found:
    """All numbers of the page."""
    return Found(
        figure_1.measure(setting),
        connections.measure(setting),
        figure_3.measure(setting),
        figure_4.measure(setting),
        figure_5.measure(setting),
    )


def make(setting: Setting) -> Page:
    """Measure everything, draw the figures, write the page."""
    return write(measure(setting), setting)


def write(found: Found, setting: Setting) -> Page:
    """The page of numbers that were measured."""
    page = Page("filippone2010, Possibilistic c-means in kernel-induced spaces")
    page.say(_PREFACE)
    for claim in all_claims(found):
        page.judge(claim)
    for words in found.real.lacking:
        page.lack(words)
    page.say(_FIGURE_1)
    page.show(figure_1.picture(found.draws, setting), "Typicalities at three widths; six clusters")
    page.say(_FIGURE_2)
    page.show(figure_2.picture(setting), "A Gaussian and outliers on both sides")
    _write_stability(page, found, setting)
    page.say(_FIGURE_4.format(n_repeats=len(found.gammas.kde.scores)))
    page.show(figure_4.picture(found.gammas, setting), "Differences of stability over gamma")
    page.say(figure_4.table(found.gammas))
    _write_real_sets(page, found.real, setting)
    return page


def _write_stability(page: Page, found: Found, setting: Setting) -> None:
    stability = found.stability
    one, other = (
        next(iter(next(iter(by.values())).values()))
        for by in (stability.by_decision, stability.by_rank)
    )
    page.say(_FIGURE_3.format(n_repeats=len(one.scores)))
    page.say(figure_3.table(stability.by_decision, stability.rates))
    page.show(figure_3.picture(stability, setting), "Box plots of stability for three widths")
    page.say(_REJECTED)
    page.say(figure_3.table_of_rejected(stability))
    page.say(_NOMINAL)
    page.say(figure_3.table(stability.nominal, stability.rates))
    page.say(_BY_RANK.format(n_repeats=len(other.scores)))
    page.say(figure_3.table(stability.by_rank, stability.rates))


def _write_real_sets(page: Page, real: figure_5.RealSets, setting: Setting) -> None:
    one = next(iter(real.found.values()))
    stability, accuracy = next(iter(one.stability.values())), next(iter(one.accuracy.values()))
    page.say(_FIGURE_5.format(n_splits=len(stability.scores)))
    page.say(figure_5.stability_table(real))
    page.say(_ACCURACY.format(n_draws=len(accuracy.scores)))
    for on_set in real.found.values():
        page.say(figure_5.accuracy_table(on_set))
    page.show(figure_5.picture(real, setting), "Box plots of stability and accuracy on real sets")
