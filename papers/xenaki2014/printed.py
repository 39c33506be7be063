"""Tables 1 to 4 of xenaki2014 as they are printed."""

from typing import NamedTuple


class Row(NamedTuple):
    """A row of a table: the method with its parameters, and what came out, in per cent."""

    data: str
    method: str
    lam: float | None
    beta: float | None
    m_ini: int | None
    m_final: int
    rm: float
    grm: float | None  # not printed for k-means
    sr: float

    @property
    def setting(self) -> str:
        """The method and its parameters, in words."""
        names = {"λ": self.lam, "β": self.beta, "m": self.m_ini}
        given = [f"{name} {value:g}" for name, value in names.items() if value is not None]
        return f"{self.method} ({', '.join(given)})"

    @property
    def result(self) -> tuple[int, float, float | None, float]:
        """What came out."""
        return self.m_final, self.rm, self.grm, self.sr


def _rows(data: str, text: str) -> list[Row]:
    return [Row(data, line.split()[0], *map(_number, line.split()[1:])) for line in _lines(text)]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _number(word: str) -> float | int | None:
    if word == "-":
        return None
    return float(word) if "." in word else int(word)


# The paper prints one row for APCM with beta from .1 to .5 and m_ini from 5 to 12: its corners.
THREE_GAUSSIANS = _rows(
    "three Gaussians",
    """
    k-means   -    -    3   3  93.62 -     95.36
    k-means   -    -    5   5  80.82 -     62.00
    k-means   -    -    12  12 71.97 -     28.27
    FCM       -    -    3   3  93.62 79.10 95.36
    FCM       -    -    5   5  81.36 67.81 63.00
    FCM       -    -    12  12 71.72 59.51 29.00
    PCM       -    -    5   1  35.48 35.48 45.45
    PCM       -    -    20  2  74.32 51.67 72.09
    APCM      -    0.1  3   2  74.32 73.81 72.09
    APCM      -    0.1  5   2  74.32 73.81 72.09
    APCM      -    0.1  12  2  74.32 73.81 72.09
    APCM      -    0.5  5   2  74.32 73.81 72.09
    APCM      -    0.5  12  2  74.32 73.81 72.09
    SAPCM     0.3  0.1  3   2  74.32 73.94 72.09
    SAPCM     0.3  0.1  5   3  93.39 90.27 95.18
    SAPCM     0.3  0.5  5   2  74.32 74.16 72.09
    SAPCM     0.3  0.1  12  2  74.32 74.16 72.09
    SeqSAPCM  0.28 -    -   3  93.51 90.03 95.27
    """,
)

S2 = _rows(
    "S2",
    """
    k-means   -    -    15  15 97.24 -     81.68
    k-means   -    -    20  20 98.23 -     84.84
    k-means   -    -    25  25 97.61 -     78.48
    FCM       -    -    15  15 99.23 80.09 97.00
    FCM       -    -    20  20 98.40 75.36 87.50
    FCM       -    -    25  25 97.46 71.30 75.02
    PCM       -    -    15  3  62.05 20.43 20.40
    PCM       -    -    25  6  78.67 22.02 39.22
    APCM      -    0.1  10  10 93.28 90.98 67.16
    APCM      -    0.1  20  14 98.38 95.71 91.18
    APCM      -    0.1  25  15 99.23 96.88 97.00
    SAPCM     0.1  0.1  10  10 93.28 91.07 67.22
    SAPCM     0.1  0.1  20  14 98.39 95.84 91.18
    SAPCM     0.1  0.1  25  15 99.24 96.94 97.04
    SeqSAPCM  0.1  -    -   15 99.23 96.94 97.02
    """,
)

IRIS = _rows(
    "Iris",
    """
    k-means   -    -    2   2  77.63 -     66.67
    k-means   -    -    3   3  83.22 -     83.33
    k-means   -    -    10  10 72.84 -     36.00
    FCM       -    -    2   2  77.63 69.15 66.67
    FCM       -    -    3   3  83.68 71.56 84.00
    FCM       -    -    10  10 75.97 59.96 37.33
    PCM       -    -    2   1  32.89 32.89 33.33
    PCM       -    -    3   2  77.63 50.45 66.67
    PCM       -    -    10  2  77.63 51.99 66.67
    APCM      -    0.2  2   2  77.63 77.63 66.67
    APCM      -    0.2  5   3  78.20 77.66 72.00
    APCM      -    0.3  5   3  89.23 87.78 90.67
    APCM      -    0.3  10  5  83.02 78.06 68.00
    SAPCM     0.1  0.1  2   2  77.63 77.63 66.67
    SAPCM     0.1  0.1  5   4  83.57 82.70 78.67
    SAPCM     0.1  0.2  5   3  88.59 88.69 90.00
    SAPCM     0.1  0.2  10  4  83.57 82.72 78.67
    SeqSAPCM  0.15 -    -   3  88.59 88.73 90.00
    """,
)

WINE = _rows(
    "Wine",
    """
    k-means   -    -    3   3  68.55 -     51.69
    k-means   -    -    5   5  69.66 -     56.74
    k-means   -    -    8   8  69.56 -     40.45
    FCM       -    -    3   3  71.05 64.91 68.54
    FCM       -    -    5   5  71.68 65.37 54.49
    FCM       -    -    8   8  70.15 63.40 35.96
    PCM       -    -    3   1  33.80 33.80 39.89
    PCM       -    -    15  1  33.80 33.80 39.89
    APCM      -    0.2  2   2  68.33 68.42 60.11
    APCM      -    0.2  5   2  68.33 68.42 60.11
    APCM      -    0.1  5   3  92.42 91.61 94.38
    APCM      -    0.1  8   4  89.94 87.72 87.08
    SAPCM     0.01 0.1  2   2  67.72 67.91 60.11
    SAPCM     0.01 0.1  5   3  67.70 65.01 60.11
    SAPCM     0.01 0.05 5   3  93.18 92.75 94.94
    SAPCM     0.01 0.05 8   4  89.27 87.77 86.52
    SeqSAPCM  0.08 -    -   3  93.31 91.25 94.94
    """,
)

TABLES = {1: THREE_GAUSSIANS, 2: S2, 3: IRIS, 4: WINE}
