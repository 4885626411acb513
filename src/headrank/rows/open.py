"""The dispatcher: the storage for a matrix. The only place that checks its type."""

from typing import Any

import numpy as np

from headrank.rows.dense import DenseRows
from headrank.rows.mixed import condensed
from headrank.rows.protocol import Rows, StoredRows
from headrank.rows.sparse import SparseRows


def open_rows(X: Any) -> StoredRows:
    """Wrap a float array, in memory or mapped by ``np.load(path, mmap_mode="r")``, or a CSR matrix.

    What is a storage already, such as `Blocks`, is returned.

    >>> open_rows(np.eye(3)).scores(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    if getattr(X, "format", None) == "csr" and X.dtype in (np.float32, np.float64):
        return SparseRows(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64):
        return DenseRows(X)
    if isinstance(X, StoredRows):
        return X
    kind = f"{type(X).__name__} of dtype {getattr(X, 'dtype', None)} and shape {getattr(X, 'shape', None)}"
    raise TypeError(f"expected a 2-D float32 or float64 array or CSR matrix, got {kind}")


def open_for_many_passes(X: Any) -> Rows:
    """Wrap X as `open_rows` does; an array with many nearly empty columns is copied to a smaller storage.

    See `condensed`.
    """
    rows = open_rows(X)
    return condensed(rows) if isinstance(rows, DenseRows) else rows


def is_distributed(X: Any) -> bool:
    """Whether X is a Dask collection, told without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")
