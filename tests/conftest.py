"""Shared data."""

import os

import numpy as np
import pytest
from hypothesis import settings

from typicality.datasets import load_s2

settings.register_profile("typicality", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("typicality")


@pytest.fixture
def rng():
    return np.random.default_rng(20261115)


@pytest.fixture
def blobs(rng):
    """Three round clusters of 60 points in the plane, and their labels."""
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    labels = np.repeat(np.arange(3), 60)
    return centers[labels] + rng.normal(scale=0.6, size=(180, 2)), labels


@pytest.fixture
def many_dimensions():
    """Ten blobs in fifty dimensions: the standard case of centre collapse at m = 2."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 100)
    return rng.normal(scale=1.0, size=(10, 50))[labels] + rng.normal(
        scale=1.0, size=(1000, 50)
    ), labels


@pytest.fixture(scope="session")
def s2():
    """The set S2, which the project does not ship."""
    try:
        return load_s2()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def pytest_report_header():
    """Say which folder of real data is in use."""
    return f"TYPICALITY_DATA: {os.environ.get('TYPICALITY_DATA', 'not set')}"
