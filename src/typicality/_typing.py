"""Names for the arrays that most modules speak of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]  # float64 or float32, as the user gave it
Doubles = NDArray[np.float64]
Labels = NDArray[np.int32]  # clusters of rows; -1 for rows in none
Places = NDArray[np.intp]  # positions of rows or nodes
