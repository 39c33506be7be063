"""Random partitions for hypothesis: labels, crisp and soft memberships, typicalities."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

degrees = st.floats(0, 1, width=32)


def labels(n_rows):
    return arrays(np.int64, n_rows, elements=st.integers(-1, 3))


def typicalities(n_rows):
    """Rows that need not sum to one; rows of zeros among them."""
    return st.integers(1, 4).flatmap(
        lambda c: arrays(np.float64, (n_rows, c), elements=st.just(0.0) | degrees)
    )


def memberships(n_rows):
    """Rows that sum to one."""
    return st.integers(1, 4).flatmap(
        lambda c: arrays(np.float64, (n_rows, c), elements=st.floats(0.01, 1)).map(
            lambda u: u / u.sum(axis=1, keepdims=True)
        )
    )


def crisp_memberships(n_rows):
    return arrays(np.int64, n_rows, elements=st.integers(0, 2)).map(lambda k: np.eye(3)[k])


def partitions(n_rows):
    return st.one_of(
        labels(n_rows), typicalities(n_rows), memberships(n_rows), crisp_memberships(n_rows)
    )


@st.composite
def two_partitions(draw, *, most=9, kind=partitions):
    """Two partitions of the same rows, two of them at least."""
    n_rows = draw(st.integers(2, most))
    return draw(kind(n_rows)), draw(kind(n_rows))
