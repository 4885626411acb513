"""Rows that are awkward to compute with: how they are stored, how large their numbers are, what comes with them."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

SIZES = {
    "plain": lambda X: X,
    "huge": lambda X: X * 1e300,
    "large": lambda X: X * 1e120,
    "tiny": lambda X: X * 1e-300,
    "small": lambda X: X * 1e-120,
    "mixed": lambda X: X * np.logspace(-20, 20, X.shape[1]),
    "torn": lambda X: X * np.logspace(-300, 300, X.shape[1]),
    "unix seconds": lambda X: 1.7e9 + np.rint(X * 1e5),
    "days": lambda X: 1.7e9 + np.rint(X),
    "far": lambda X: 1e15 + np.rint(X * 10),
    "constant": lambda X: X * (np.arange(X.shape[1]) > 0) + 3e5,
    "digits": lambda X: np.rint(np.clip(X * 3, -9, 9)),
    "bits": lambda X: (X > 0).astype(float),
    "one row": lambda X: X * np.where(np.arange(X.shape[0]) == 0, 1e12, 1.0)[:, None],
}


def _doubled(X):
    """CSR with each entry in two halves, unsorted, and zeros that are stored."""
    n, d = X.shape
    data = np.concatenate([X / 2, X - X / 2, np.zeros((n, 1))], axis=1)
    columns = np.tile(np.concatenate([np.arange(d)[::-1], np.arange(d)[::-1], [0]]), n)
    data[:, : 2 * d] = data[:, : 2 * d].reshape(n, 2, d)[:, :, ::-1].reshape(n, -1)
    return sparse.csr_matrix((data.ravel(), columns, np.arange(n + 1) * (2 * d + 1)), shape=(n, d))


def _unsorted(X):
    n, d = X.shape
    columns = np.tile(np.arange(d)[::-1], n)
    return sparse.csr_matrix((X[:, ::-1].ravel(), columns, np.arange(n + 1) * d), shape=(n, d))


STORES = {
    "array": lambda X: X,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "object": lambda X: X.astype(object),
    "integers": lambda X: np.rint(X).astype(np.int64),
    "bool": lambda X: X > 0,
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csr32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "doubled": _doubled,
    "doubled32": lambda X: _doubled(X).astype(np.float32),
    "unsorted": _unsorted,
}


class Rows(NamedTuple):
    """Rows with all that comes with them."""

    size: str
    store: str
    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    queries: np.ndarray | None


def random_rows(rng: np.random.Generator, sizes: Any = tuple(SIZES), stores: Any = tuple(STORES)) -> Rows:
    """A dozen rows of some size in some storage, with weights and queries or without."""
    n, d = int(rng.integers(8, 25)), int(rng.integers(1, 5))
    y = np.concatenate([[0, 1], rng.permutation(np.arange(n - 2) % 3 == 0)])
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    size, store = str(rng.choice(sizes)), str(rng.choice(stores))
    with np.errstate(all="ignore"):
        X = SIZES[size](X)
        if store == "integers" and np.abs(X).max() > 2**62:
            X = X / np.abs(X).max() * 2.0**61
        X = STORES[store](X)
    factor = rng.choice([1.0, 1.0, 1e-100, 1e100, 0.1])
    weights = None
    if rng.random() < 0.4:
        weights = rng.integers(0, 4, n) * factor
        weights[:6] = factor  # of both classes, and the common measure of all weights
    queries = rng.integers(0, 3, n) if rng.random() < 0.3 else None
    return Rows(size, store, X, y, weights, queries)
