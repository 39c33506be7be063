"""Warnings on a page: what was observed, for a reader who has not made the run."""

import pytest

from typicality.report.notices import for_readers


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "All memberships are about 1/4: the prototypes have collapsed onto the centre of the "
            "data, and the labels mean little. m=2.5 is too fuzzy for so many dimensions: if m is "
            "above 1.13, prototypes near the mean of the data collapse onto it. Try m=1.07.",
            "All memberships are about 1/4: the centres have collapsed onto the centre of the "
            "data, and the labels mean little.",
        ),
        (
            "The rows look like one cluster, but the evidence for more is close to the threshold "
            "(evidence_=0.95; 1 or more means several clusters). Use at_least=2 to see the best "
            "split. (On the command line: --at-least.)",
            "The rows look like one cluster, but the evidence for more is close to the threshold.",
        ),
        (
            "Not converged after max_iter=5 iterations: centres moved by 0.1, more than tol=1e-4. "
            "Increase max_iter.",
            "The computation was stopped after 5 steps, before the result had settled.",
        ),
        (
            "Constant: column 'size'. A constant feature does not influence the clusters. Drop "
            "it, or check how it was made.",
            "Constant: column 'size'. A constant column does not influence the clusters.",
        ),
    ],
)
def test_readers_are_told_what_was_observed(text, told):
    assert for_readers([text, text]) == [told]
