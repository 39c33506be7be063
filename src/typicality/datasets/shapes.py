"""Shapes that no centre describes: rectangles, rings, discs, bananas, crescents."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from typicality._typing import Doubles

Labelled = tuple[Doubles, NDArray[np.int_]]
Seed = int | np.random.RandomState | None

SIDE = 10.0
RECTANGLE = (2.0, 0.62)
RECTANGLE_CORNERS = ((1.0, 1.5), (7.0, 1.5))
RING_CENTER, RING_RADIUS, RING_WIDTH = (5.0, 6.6), 2.0, 0.62

DISC_CENTERS, DISC_RADIUS = ((1.2, 1.2), (8.8, 1.2), (1.2, 8.8), (8.8, 8.8)), 0.8
BANANA_CENTER, BANANA_RADIUS, BANANA_WIDTH = (6.4, 5.0), 1.4, 0.5
SMALL_RING_CENTER, SMALL_RING_RADIUS, SMALL_RING_WIDTH = (3.0, 5.0), 1.2, 0.4

FULL_TURN, RIGHT_HALF = (0.0, 2 * np.pi), (-np.pi / 2, np.pi / 2)

MIDDLE = (0.5, 0.5)
CRESCENT_RADIUS = 0.27
CRESCENT_OVERLAP = 0.03


# ---- what all generators share ------------------------------------------------------------------


def labelled(parts: list[Doubles], labels: list[int]) -> Labelled:
    """The parts one after the other, each with its label."""
    return np.concatenate(parts), np.repeat(labels, [len(part) for part in parts])


def check_counts(**counts: Any) -> None:
    """Whole numbers of rows, not all of them zero."""
    for name, count in counts.items():
        if type(count) is bool or not isinstance(count, Integral) or int(count) < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more, got {count!r}.")
    if not any(counts.values()):
        raise ValueError(f"No rows were requested: set {' or '.join(counts)} to more than 0.")


def check_sizes(**sizes: Any) -> None:
    """Lengths, or zero."""
    for name, size in sizes.items():
        if not isinstance(size, Real) or not 0 <= float(size) < np.inf:
            raise ValueError(f"{name} must be a finite number, 0 or more, got {size!r}.")


# ---- shapes -------------------------------------------------------------------------------------


def make_dense_regions(
    n_rectangle: int = 100,
    n_ring: int = 300,
    n_noise: int = 1000,
    *,
    random_state: Seed = None,
) -> Labelled:
    """Two rectangles and a ring, in uniform noise of lower density.

    Rows are uniform within each shape. The rectangles are 2 x 0.62, the ring has the mean radius 2
    and the width 0.62, and the noise is in the square [0, 10] x [0, 10].

    Implements :cite:`filippone2007`, Fig. 1. Differs from the paper: the positions of the shapes
    are our choice. The shapes are at least 2.5 apart, and at least 1 from the sides of the square.

    Parameters
    ----------
    n_rectangle : int, default=100
        Rows in each rectangle.
    n_ring : int, default=300
        Rows in the ring.
    n_noise : int, default=1000
        Noise rows in the square.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (2 * n_rectangle + n_ring + n_noise, 2)
        The rows.
    y : array of shape (2 * n_rectangle + n_ring + n_noise,)
        0 and 1 for the rectangles, 2 for the ring, -1 for noise.
    """
    check_counts(n_rectangle=n_rectangle, n_ring=n_ring, n_noise=n_noise)
    rng = check_random_state(random_state)
    regions = [
        corner + rng.uniform(size=(n_rectangle, 2)) * RECTANGLE for corner in RECTANGLE_CORNERS
    ]
    ring = RING_CENTER + _annulus(n_ring, _ring_radii(RING_RADIUS, RING_WIDTH), rng)
    noise = rng.uniform(0.0, SIDE, size=(n_noise, 2))
    return labelled([*regions, ring, noise], [0, 1, 2, -1])


def make_discs_banana_ring(
    n_disc: int = 30,
    n_banana: int = 60,
    n_ring: int = 80,
    n_noise: int = 30,
    *,
    random_state: Seed = None,
) -> Labelled:
    r"""Four discs, a banana and a ring, with different densities, in uniform noise.

    Rows are uniform within each shape. The discs have the radius 0.8 and are near the corners of
    the square [0, 10] x [0, 10]. The ring has the mean radius 1.2 and the width 0.4. The banana is
    half of a ring with mean radius 1.4 and width 0.5. The noise is in the whole square. If
    :class:`~typicality.OneClusterPCM` with :math:`\sigma = 0.5` rejects the least typical tenth of
    the rows, the remaining region has six components.

    Implements :cite:`filippone2010`, Fig. 1. The paper gives only the numbers of rows; shapes and
    positions are our choice. The shapes are at least 2 apart, and at least 0.4 from the sides of
    the square. About four of 30 noise rows fall into a shape; they have the label -1, too.

    Parameters
    ----------
    n_disc : int, default=30
        Rows in each disc.
    n_banana : int, default=60
        Rows in the banana.
    n_ring : int, default=80
        Rows in the ring.
    n_noise : int, default=30
        Noise rows in the square, the outliers of the paper.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (4 * n_disc + n_banana + n_ring + n_noise, 2)
        The rows.
    y : array of shape (4 * n_disc + n_banana + n_ring + n_noise,)
        0 to 3 for the discs, 4 for the banana, 5 for the ring, -1 for noise.
    """
    check_counts(n_disc=n_disc, n_banana=n_banana, n_ring=n_ring, n_noise=n_noise)
    rng = check_random_state(random_state)
    discs = [center + _annulus(n_disc, (0.0, DISC_RADIUS), rng) for center in DISC_CENTERS]
    banana_radii = _ring_radii(BANANA_RADIUS, BANANA_WIDTH)
    banana = BANANA_CENTER + _annulus(n_banana, banana_radii, rng, angles=RIGHT_HALF)
    ring_radii = _ring_radii(SMALL_RING_RADIUS, SMALL_RING_WIDTH)
    ring = SMALL_RING_CENTER + _annulus(n_ring, ring_radii, rng)
    noise = rng.uniform(0.0, SIDE, size=(n_noise, 2))
    return labelled([*discs, banana, ring, noise], [0, 1, 2, 3, 4, 5, -1])


def make_ball_and_ring(
    n_ball: int = 100,
    n_ring: int = 200,
    *,
    ball_radius: float = 0.1,
    ring_radius: float = 0.4,
    ring_width: float = 0.1,
    random_state: Seed = None,
) -> Labelled:
    r"""A ball inside a ring; methods with centres in the input space cannot separate them.

    Rows are uniform within each shape. Both shapes have the centre (0.5, 0.5). Kernel fuzzy c-means
    with m = 2 and the kernel :math:`e^{-10 |x-y|^2}` (:math:`\sigma = 0.2236`) separates them.

    Implements :cite:`miyamoto2003`, Figs. 1 and 2. The paper gives no sizes. With the default
    sizes, kernel fuzzy c-means finds the two shapes from all initial prototypes. If the ball is
    wider or has few rows, both shapes can be cut in halves.

    Parameters
    ----------
    n_ball, n_ring : int, default=100, 200
        Rows in the ball and in the ring.
    ball_radius : float, default=0.1
        Radius of the ball.
    ring_radius : float, default=0.4
        Mean radius of the ring.
    ring_width : float, default=0.1
        Outer minus inner radius of the ring. The ball must fit inside.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (n_ball + n_ring, 2)
        The rows.
    y : array of shape (n_ball + n_ring,)
        0 for the ball, 1 for the ring.
    """
    check_counts(n_ball=n_ball, n_ring=n_ring)
    check_sizes(ball_radius=ball_radius, ring_radius=ring_radius, ring_width=ring_width)
    inner, outer = _ring_radii(ring_radius, ring_width)
    if inner < ball_radius:
        raise ValueError(
            f"The ball does not fit inside the ring: ball_radius={ball_radius} is more than the "
            f"inner radius ring_radius - ring_width / 2 = {inner:g}."
        )
    rng = check_random_state(random_state)
    ball = MIDDLE + _annulus(n_ball, (0.0, ball_radius), rng)
    ring = MIDDLE + _annulus(n_ring, (inner, outer), rng)
    return labelled([ball, ring], [0, 1])


def make_crescents(
    n_samples: int = 200, *, noise: float = 0.01, random_state: Seed = None
) -> Labelled:
    r"""Two crescents, each with a tip between the tips of the other.

    The crescents are half circles of radius 0.27 in the unit square, with normal noise. One is open
    below and one above. Each reaches 0.03 beyond the line between the tips of the other.
    Entropy-regularised fuzzy c-means with :math:`\lambda = 15` and the kernel :math:`e^{-50
    |x-y|^2}` (:math:`\sigma = 0.1`) separates them in most draws. In the other draws, a wrong
    partition has a lower objective.

    Implements :cite:`miyamoto2003`, Figs. 3 to 5. The paper gives no sizes.

    Parameters
    ----------
    n_samples : int, default=200
        The number of rows. If it is odd, the first crescent has one row more.
    noise : float, default=0.01
        Standard deviation of the noise.
    random_state : int, RandomState instance or None, default=None
        The seed or generator. Pass an int for reproducible data.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        0 for the crescent that is open below, 1 for the other.
    """
    check_counts(n_samples=n_samples)
    check_sizes(noise=noise)
    rng = check_random_state(random_state)
    offset = np.array([CRESCENT_RADIUS, CRESCENT_OVERLAP]) / 2
    upper = _half_circle(n_samples - n_samples // 2, rng) - offset
    lower = offset - _half_circle(n_samples // 2, rng)
    X, y = labelled([MIDDLE + upper, MIDDLE + lower], [0, 1])
    return X + noise * rng.normal(size=X.shape), y


def _half_circle(n_rows: int, rng: np.random.RandomState) -> Doubles:
    angle = rng.uniform(0.0, np.pi, size=n_rows)
    return CRESCENT_RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])


def _annulus(
    n_rows: int,
    radii: tuple[float, float],
    rng: np.random.RandomState,
    *,
    angles: tuple[float, float] = FULL_TURN,
) -> Doubles:
    """Points between two circles around zero; uniform by area, so squared radii are uniform."""
    inner, outer = radii
    radius = np.sqrt(rng.uniform(inner**2, outer**2, size=n_rows))
    angle = rng.uniform(*angles, size=n_rows)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _ring_radii(mean_radius: float, width: float) -> tuple[float, float]:
    return mean_radius - width / 2, mean_radius + width / 2
