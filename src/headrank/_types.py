"""Array types for the signatures."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.floating[Any]]
Counts: TypeAlias = npt.NDArray[Any]
"""Rows per distinct score: integers without weights, float64 with them."""
BoolVector: TypeAlias = npt.NDArray[np.bool_]
IntVector: TypeAlias = npt.NDArray[np.intp]
ArrayLike: TypeAlias = Any
"""Anything NumPy can read: lists, arrays, pandas, polars and pyarrow columns."""
