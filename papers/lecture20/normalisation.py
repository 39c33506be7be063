"""The factor of the Gaussian in d dimensions: what is printed does not integrate to one."""

import numpy as np
from numpy.typing import NDArray

from lecture20.mixture import converged
from lecture20.sample import rows
from regenerating import Claim, Page, Setting, Verdict, markdown_table

__all__ = ["integral", "printed_factor", "report", "right_factor"]

_COVARIANCE = np.array([[1.0, 0.6], [0.6, 2.0]])
_EXTENT, _N_POINTS = 10.0, 401  # standard deviations: beyond is nothing that counts

_TEXT = """## The Gaussian in d dimensions

The notes print the factor 1 / (2 π |Σ|)^(1/2); it is 1 / ((2 π)^(d/2) |Σ|^(1/2)). The integrals
over the whole space, by sums over a grid:"""

_CONSEQUENCE = """
The printed one is too large by (2 π)^((d - 1) / 2), which is {three:.2f} in three dimensions and
{ten:,.0f} in ten. The factor is the same for all components, so that responsibilities (eq. 20.1)
and clusters do not feel it; densities and likelihoods do. On the rows above the log-likelihood
comes out at {printed:.1f} where it is {right:.1f}."""


def right_factor(covariance: NDArray[np.float64]) -> float:
    """One over (2 pi)^(d/2) |Sigma|^(1/2)."""
    return float((2 * np.pi) ** (-len(covariance) / 2) / np.sqrt(np.linalg.det(covariance)))


def printed_factor(covariance: NDArray[np.float64]) -> float:
    """One over (2 pi |Sigma|)^(1/2), as the notes have it."""
    return float((2 * np.pi * np.linalg.det(covariance)) ** -0.5)


def integral(factor: float, covariance: NDArray[np.float64]) -> float:
    """Over the whole space, by the trapezoidal rule on a grid, which is good to the last digits."""
    end = _EXTENT * np.sqrt(np.linalg.eigvalsh(covariance)[-1])
    side = np.linspace(-end, end, _N_POINTS)
    points = np.stack(np.meshgrid(*[side] * len(covariance)), axis=-1)
    exponents = np.einsum("...i,ij,...j", points, np.linalg.inv(covariance), points)
    return float(factor * np.exp(-exponents / 2).sum() * (side[1] - side[0]) ** len(covariance))


def report(page: Page, setting: Setting) -> None:
    """The integrals, and what follows for likelihoods."""
    spaces = _COVARIANCE[:1, :1], _COVARIANCE
    integrals = {
        name: tuple(integral(factor(covariance), covariance) for covariance in spaces)
        for name, factor in (("as printed", printed_factor), ("corrected", right_factor))
    }
    page.say(_TEXT)
    lines = [(name, f"{one:.6f}", f"{two:.6f}") for name, (one, two) in integrals.items()]
    page.say(markdown_table(("factor", "d = 1", "d = 2"), lines))
    X, _ = rows()
    right = converged(X).score(X) * len(X)
    excess = (2 * np.pi) ** np.array([1.0, 4.5])
    printed = right + len(X) * np.log(2 * np.pi) / 2
    page.say(_CONSEQUENCE.format(three=excess[0], ten=excess[1], printed=printed, right=right))
    page.judge(_claim(integrals["as printed"][1], integrals["corrected"][1]))


def _claim(printed: float, right: float) -> Claim:
    holds = abs(printed - 1) < 1e-6
    evidence = (
        f"in the plane this density integrates to {printed:.4f}; with (2 π)^(d/2), to {right:.4f}"
    )
    words = "the Gaussian in more than one dimension has the factor 1 / (2 π |Σ|)^(1/2)"
    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Claim("section 20.2, Gaussian", words, verdict, evidence)
