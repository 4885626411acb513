"""Every storage of rows answers the same two questions, and neither copies nor changes what it holds."""

import tracemalloc
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from headrank.rows import (
    Blocks,
    DenseRows,
    MixedRows,
    ScaledRows,
    SparseRows,
    SubsetRows,
    open_for_many_passes,
    open_rows,
    shifted,
)

N_ROWS, N_FEATURES = 40_000, 12  # more rows than one block of the float32 product
RNG = np.random.default_rng(0)
FILLED = np.array(
    [0.3, 0, 0.01, 0.02, 0.01, 1, 0.01, 0.04, 0.01, 0.3, 0.01, 0.02]
)  # of each column, if stored sparsely
X = RNG.normal(size=(N_ROWS, N_FEATURES)) * (RNG.random((N_ROWS, N_FEATURES)) < FILLED)
SCALE = RNG.uniform(0.1, 10, N_FEATURES)


def mapped(dtype):
    def save(folder):
        np.save(folder / "rows.npy", X.astype(dtype))
        return np.load(folder / "rows.npy", mmap_mode="r")

    return save


STORAGES = {
    "dense": lambda _: X.copy(),
    "dense float32": lambda _: X.astype(np.float32),
    "dense Fortran": lambda _: np.asfortranarray(X),
    "dense Fortran float32": lambda _: np.asfortranarray(X, dtype=np.float32),
    "dense view": lambda _: np.repeat(X, 2, axis=0)[::2],
    "CSR": lambda _: sparse.csr_matrix(X),
    "CSR float32": lambda _: sparse.csr_array(X, dtype=np.float32),
    "mapped": mapped(np.float64),
    "mapped float32": mapped(np.float32),
}
CONDENSED = {f"condensed {name}": STORAGES[name] for name in ("dense", "dense Fortran float32", "mapped float32")}
BORDERS = [0, 1, 700, 700, 20_000, N_ROWS]  # a block of one row, an empty one, and one larger than a pass takes at once


def in_blocks(form, **options):
    return lambda _: Blocks.from_arrays([form(X[i:j]) for i, j in pairwise(BORDERS)], **options)


def mapped_blocks(folder):
    for number, (start, stop) in enumerate(pairwise(BORDERS)):
        np.save(folder / f"{number}.npy", X[start:stop])
    return Blocks.from_npy(folder / "*.npy", rows_per_block=7000)


BLOCKED = {
    "blocks": in_blocks(np.asarray),
    "blocks float32": in_blocks(lambda part: part.astype(np.float32)),
    "blocks CSR": in_blocks(sparse.csr_matrix),
    "blocks in threads": in_blocks(np.asfortranarray, n_jobs=3),
    "blocks mapped": mapped_blocks,
}

SHIFT = np.where(np.arange(N_FEATURES) % 5 == 2, 3.0, 0.0)
KEPT = RNG.permutation(N_ROWS)[: 4 * N_ROWS // 5]  # in no order, as a splitter may give them
WRAPPED = {
    "": (lambda rows: rows, X),
    "scaled": (lambda rows: ScaledRows(rows, SCALE), X / SCALE),
    "shifted": (lambda rows: shifted(rows, SHIFT), X - SHIFT),
    "scaled after a shift": (lambda rows: ScaledRows(shifted(rows, SHIFT), SCALE), (X - SHIFT) / SCALE),
    "subset": (lambda rows: SubsetRows(rows, KEPT, N_ROWS), X[KEPT]),
    "subset of scaled": (lambda rows: SubsetRows(ScaledRows(rows, SCALE), KEPT, N_ROWS), (X / SCALE)[KEPT]),
}


class Stored:
    """A storage, what it should hold, and how exact it can be."""

    def __init__(self, name, wrapped, folder):
        self.source = (STORAGES | CONDENSED | BLOCKED)[name](folder)
        self.inner = (open_for_many_passes if name in CONDENSED else open_rows)(self.source)
        wrap, self.X = WRAPPED[wrapped]
        self.rows, self.n_rows = wrap(self.inner), len(self.X)
        self.tol = 1e-5 if "float32" in name else 1e-12


CASES = [
    (name, wrapped)
    for name in STORAGES | CONDENSED | BLOCKED
    for wrapped in WRAPPED
    if name not in CONDENSED or "shift" not in wrapped  # rows are shifted as they are stored, never as a copy
]


@pytest.fixture(params=CASES, ids=str)
def stored(request, tmp_path):
    return Stored(*request.param, tmp_path)


@pytest.fixture(params=[(name, wrapped) for name in STORAGES for wrapped in WRAPPED], ids=str)
def shared(request, tmp_path):
    return Stored(*request.param, tmp_path)


def assert_close(actual, expected, tol, size):
    """Close relative to the sum of the sizes of the terms: cancellation is nobody's fault."""
    assert actual.dtype == np.float64
    assert actual.shape == expected.shape
    assert (np.abs(actual - expected) <= tol * (size + 1e-30)).all()


def test_scores(stored):
    weights = np.random.default_rng(1).normal(size=N_FEATURES)
    assert stored.rows.n_features == N_FEATURES
    assert_close(stored.rows.scores(weights), stored.X @ weights, stored.tol, np.abs(stored.X) @ np.abs(weights))


@pytest.mark.parametrize("shape", [(), (1,), (4,)])
def test_combine(stored, shape):
    coef = np.random.default_rng(2).normal(size=(*shape, stored.n_rows)) / N_ROWS
    assert_close(stored.rows.combine(coef), coef @ stored.X, stored.tol, np.abs(coef) @ np.abs(stored.X))


def test_moments(stored):
    coef = np.random.default_rng(4).random(stored.n_rows)
    coef[::3] = 0
    first, second = stored.rows.moments(coef)
    assert_close(first, coef @ stored.X, stored.tol, coef @ np.abs(stored.X))
    assert_close(second, stored.X.T @ (coef[:, None] * stored.X), stored.tol, np.abs(stored.X).T @ np.abs(stored.X))


def test_the_two_questions_are_transposes_of_each_other(stored):
    rng = np.random.default_rng(3)
    weights, coef = rng.normal(size=N_FEATURES), rng.normal(size=stored.n_rows)
    one, other = coef @ stored.rows.scores(weights), stored.rows.combine(coef) @ weights
    assert one == pytest.approx(other, rel=1e-9 if stored.tol < 1e-9 else 1e-4)


def test_nothing_is_copied_or_changed(shared):
    held = shared.inner.X
    arrays = (held.data, held.indices, held.indptr) if sparse.issparse(held) else (held,)
    before = [array.copy() for array in arrays]
    if sparse.issparse(shared.source):
        assert held is shared.source
    elif isinstance(shared.source, np.ndarray):
        assert np.shares_memory(held, shared.source)
    else:
        assert isinstance(held, np.memmap)
        assert not held.flags.writeable
    weights, coef = np.ones(N_FEATURES), np.full(shared.n_rows, 1 / N_ROWS)
    shared.rows.scores(weights)  # once, so that one-time allocations are over
    shared.rows.combine(coef)
    tracemalloc.start()
    try:
        shared.rows.scores(weights)
        shared.rows.combine(coef)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    vector = 8 * N_ROWS
    assert peak < min(3 * vector, sum(array.nbytes for array in arrays))
    assert all((array == copy).all() for array, copy in zip(arrays, before, strict=True))
    assert (weights == 1).all()
    assert (coef == 1 / N_ROWS).all()


def test_a_subset_of_a_subset_and_an_empty_one():
    rows = SubsetRows(SubsetRows(open_rows(X), KEPT, N_ROWS), np.array([5, 2]), KEPT.size)
    np.testing.assert_allclose(rows.scores(np.ones(N_FEATURES)), X[KEPT][[5, 2]].sum(1))
    np.testing.assert_allclose(rows.combine(np.array([1.0, -2.0])), X[KEPT[5]] - 2 * X[KEPT[2]])
    none = SubsetRows(open_rows(X), np.empty(0, dtype=int), N_ROWS)
    assert none.scores(np.ones(N_FEATURES)).shape == (0,)
    assert (none.combine(np.empty(0)) == 0).all()


def test_opening_picks_the_storage(tmp_path):
    assert isinstance(open_rows(X), DenseRows)
    assert isinstance(open_rows(sparse.csr_array(X)), SparseRows)
    assert isinstance(open_rows(mapped(np.float64)(tmp_path)), DenseRows)


@pytest.mark.parametrize("storage", CONDENSED)
def test_nearly_empty_columns_are_stored_as_sparse(storage, tmp_path):
    rows = open_for_many_passes(CONDENSED[storage](tmp_path))
    assert isinstance(rows, MixedRows)
    assert list(rows.dense_columns) == list(np.flatnonzero(FILLED > 0.1))
    assert rows.sparse.X.nnz == np.count_nonzero(X[:, FILLED < 0.1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_a_filled_column_become_sparse(dtype):
    some = np.zeros((100, 2), dtype=dtype)
    some[3] = 1, 2
    rows = open_for_many_passes(some)
    assert isinstance(rows, SparseRows)
    assert rows.scores(np.array([1.0, 10.0]))[3] == 21
    assert rows.moments(np.ones(100))[1].tolist() == [[1, 2], [2, 4]]


def test_rows_are_condensed_only_to_half_their_size():
    for n_dense, kind in ((6, DenseRows), (5, MixedRows)):
        some = np.zeros((1000, 12))
        some[:, :n_dense] = 1
        some[::100, n_dense:] = 1
        assert isinstance(open_for_many_passes(some), kind)


@pytest.mark.parametrize(
    ("refused", "named"),
    [
        (np.ones((3, 2), dtype=int), "int64"),
        (np.ones((3, 2), dtype=bool), "bool"),
        (np.ones((3, 2), dtype=np.float16), "float16"),
        (np.array([["a"]], dtype=object), "object"),
        ([[1.0, 2.0]], "list"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (sparse.coo_array(np.eye(2)), "coo"),
        (sparse.csr_array(np.eye(2, dtype=int)), "int64"),
        (None, "None"),
        ("rows.npy", "str"),
    ],
    ids=str,
)
def test_other_things_are_refused(refused, named):
    with pytest.raises(TypeError, match="2-D float32 or float64 array or CSR matrix") as error:
        open_rows(refused)
    assert error.match(f"(?i){named}")


@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_float32_sums_keep_their_digits(storage):
    """Half a million equal rows: a running float32 sum is wrong in the third digit, sums by blocks are not."""
    rows = open_rows(storage(np.full((500_000, 2), 0.1, dtype=np.float32)))
    assert rows.combine(np.full(500_000, 2e-6)) == pytest.approx([0.1, 0.1], rel=3e-5)


def test_many_features_are_shifted_in_blocks(monkeypatch):
    monkeypatch.setattr(import_module("headrank.rows.shifted"), "_BLOCK_COLUMNS", 2)
    few, coef, shift = X[:50], np.arange(50.0), np.arange(float(N_FEATURES))
    moved = few - shift
    np.testing.assert_allclose(shifted(DenseRows(few), shift).moments(coef)[1], moved.T @ np.diag(coef) @ moved)


def one_row_each(part):
    return Blocks.from_arrays([part[:1], part[:0], part[1:]])


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix, one_row_each])
def test_ends_and_columns(form):
    some = np.array([[1.0, 0.0, -5.0], [3.0, 0.0, -4.0], [2.0, 7.0, 0.0]])
    rows = open_rows(form(some))
    low, high = rows.ends()
    assert (low == some.min(axis=0)).all()
    assert (high == some.max(axis=0)).all()
    assert (rows.columns(np.array([2, 0])) == some[:, [2, 0]]).all()
