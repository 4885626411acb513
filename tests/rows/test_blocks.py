"""Blocks hold what was cut, whatever the cut, and refuse what differs between blocks by name."""

import gc
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cuts import borders, cut
from headrank import Blocks
from headrank.rows import files, on_disk, pool

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).round(2) + np.array([0, 5, 1e6])
Y = (RNG.random(60) < 0.3).astype(int)
WEIGHTS = RNG.integers(0, 4, 60).astype(float)
QID = np.sort(RNG.integers(0, 5, 60))


def frame(part=slice(None)):
    columns = {f"f{j}": X[part, j] for j in range(3)}
    return pl.DataFrame({"fraud": Y[part], **columns, "w": WEIGHTS[part], "q": QID[part]})


@settings(max_examples=40, deadline=None)
@given(borders(60), st.sampled_from([np.asarray, sparse.csr_array]), st.integers(1, 3))
def test_any_cut_holds_the_same_rows(at, form, n_jobs):
    blocks = Blocks.from_arrays(
        [form(part) for part in cut(X, at)], cut(Y, at), sample_weight=cut(WEIGHTS, at), qid=cut(QID, at), n_jobs=n_jobs
    )
    assert blocks.shape == X.shape
    assert (blocks.n_blocks, blocks.size) == (len(at) - 1, X.size)
    assert (blocks.y == Y).all()
    assert (blocks.sample_weight == WEIGHTS).all()
    assert (blocks.qid == QID).all()
    assert (blocks.ends()[0] == X.min(axis=0)).all()
    mean = np.average(X, axis=0, weights=WEIGHTS)
    expected = np.average((X - mean) ** 2, axis=0, weights=WEIGHTS)
    # A sparse matrix has its squares added up, and loses digits of a feature far from 0.
    tol = [1e-9, 1e-9, 1e-9] if form is np.asarray else [1e-9, 1e-9, 0.1]
    assert (np.abs(blocks.variances() - expected) <= tol * expected).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 20), st.integers(1, 3))
def test_results_are_merged_in_their_order_and_few_exist_at_a_time(n_blocks, n_jobs):
    alive, most = 0, 0

    def made(block):
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        return block.X[:, 0].tolist()

    def merge(one, other):
        nonlocal alive
        alive -= 1
        return one + other

    blocks = Blocks.from_arrays([np.full((1, 1), float(k)) for k in range(n_blocks)], n_jobs=n_jobs)
    assert blocks.reduce(made, merge) == list(range(n_blocks))
    assert most <= n_blocks.bit_length() + n_jobs + 1


@settings(max_examples=20, deadline=None)
@given(borders(60), st.booleans())
def test_labels_are_counted_where_they_are(at, known):
    blocks = Blocks.from_arrays(cut(X, at), cut(Y, at), qid=cut(QID, at))
    if known:
        assert blocks.n_rows == 60  # the first pass
    counts = blocks.label_counts
    assert [counts.counts[counts.y == label].sum() for label in (0, 1)] == np.bincount(Y).tolist()
    assert (counts.n_rows, counts.weighted, counts.queried) == (60, False, True)


def test_a_variance_that_is_only_rounding_is_zero():
    far = np.array([[0.1, 1e9], [0.1, 1e9 + 1]] * 50)
    blocks = Blocks.from_arrays([far[:1], far[1:]])
    assert blocks.variances(np.array([0.0, 1e9])) == pytest.approx([0.0, 0.25], rel=1e-8, abs=0)


@pytest.mark.parametrize("rows_per_block", [None, 7])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_hold_the_rows_in_the_order_of_their_names(kind, rows_per_block, tmp_path):
    for number, part in enumerate((slice(0, 20), slice(20, 20), slice(20, 60))):
        getattr(frame(part), f"write_{kind}")(tmp_path / f"day{number}.{kind}")
    options = {} if kind == "csv" else {"rows_per_block": rows_per_block}
    make = getattr(Blocks, f"from_{kind}")
    blocks = make(tmp_path / f"day*.{kind}", target="fraud", sample_weight="w", qid="q", **options)
    assert blocks.feature_names == ("f0", "f1", "f2")
    np.testing.assert_array_equal(blocks.columns(np.arange(3)), X)
    assert (blocks.y == Y).all()
    assert (blocks.sample_weight == WEIGHTS).all()
    assert (blocks.qid == QID).all()
    assert make(tmp_path, features=["f2"], **options).scores(np.array([2.0])) == pytest.approx(2 * X[:, 2])


def test_npy_files_with_labels(tmp_path):
    for name, values in (("X", X), ("y", Y), ("w", WEIGHTS), ("q", QID)):
        for number, part in enumerate(cut(values, [0, 10, 60])):
            np.save(tmp_path / f"{name}{number}.npy", part)
    paths = [str(tmp_path / f"{name}?.npy") for name in "Xywq"]
    blocks = Blocks.from_npy(*paths[:2], sample_weight=paths[2], qid=paths[3], rows_per_block=20)
    assert blocks.n_blocks == 4
    assert (blocks.y == Y).all()
    assert (blocks.sample_weight == WEIGHTS).all()
    assert (blocks.qid == QID).all()
    assert (blocks.columns(np.arange(3)) == X).all()


def test_float32_stays_float32(tmp_path):
    pl.DataFrame({"a": pl.Series([1.5, 2.5], dtype=pl.Float32), "b": [True, False]}).write_parquet(
        tmp_path / "a.parquet"
    )
    assert Blocks.from_parquet(tmp_path / "a.parquet").dtype == np.float32
    assert Blocks.from_arrays([X.astype(np.float32), X]).dtype == np.float64


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (frame().drop("f1"), r"two\.parquet has no column 'f1'"),
        (
            frame().with_columns(pl.col("f1").cast(pl.Int64)),
            r"column 'f1' of .*two\.parquet is Int64, in .*one.* Float64",
        ),
        (frame().with_columns(fraud=pl.col("fraud").cast(pl.String)), r"column 'fraud' of .*two\.parquet is String"),
        (frame().with_columns(fraud=pl.lit(None, pl.Int64)), r"column 'fraud' of .*two\.parquet has 60 missing values"),
        (frame().with_columns(f2=pl.lit(float("nan"))), r"column 'f2' of .*two\.parquet has 60 missing or infinite"),
        (
            frame().with_columns(f2=pl.lit(None, pl.Float64)),
            r"column 'f2' of .*two\.parquet has 60 missing or infinite",
        ),
    ],
    ids=["absent", "other type", "other target", "no labels", "NaN", "null"],
)
def test_a_file_that_differs_is_refused_by_name(other, says, tmp_path):
    frame().write_parquet(tmp_path / "one.parquet")
    other.write_parquet(tmp_path / "two.parquet")
    with pytest.raises(ValueError, match=says):
        _ = (blocks := Blocks.from_parquet(tmp_path, target="fraud")).y, blocks.ends()


def test_text_is_no_feature(tmp_path):
    frame().with_columns(city=pl.lit("Bath")).write_parquet(tmp_path / "one.parquet")
    with pytest.raises(
        ValueError, match=r"column 'city' of .*one\.parquet is String, not a number; encode it, or name"
    ):
        Blocks.from_parquet(tmp_path, target="fraud")


def test_labels_and_queries_of_csv_files_keep_their_type(tmp_path):
    """As floats, large numbers of queries would be rounded, and be the same query."""
    large = 2**60 + QID
    for number, part in enumerate(cut(np.arange(60), [0, 20, 60])):
        rows = pl.DataFrame(X[part], schema=["a", "b", "c"])
        rows.with_columns(fraud=Y[part], q=large[part]).write_csv(tmp_path / f"{number}.csv")
    blocks = Blocks.from_csv(tmp_path, target="fraud", qid="q")
    assert (blocks.qid == large).all()
    assert blocks.y.dtype.kind == "i"


def test_a_folder_whose_name_is_a_pattern(tmp_path):
    folder = tmp_path / "days[1]*"
    folder.mkdir()
    frame().write_parquet(folder / "one.parquet")
    assert Blocks.from_parquet(folder, target="fraud").n_rows == 60


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"features": "f0"}, r"features must be a sequence, got 'f0'; for a single value pass \['f0'\]"),
        ({"features": ["f0", "fraud"]}, "column 'fraud' is named twice"),
        ({"features": ["f0", "f0"]}, "column 'f0' is named twice"),
        ({"sample_weight": "fraud"}, "column 'fraud' is named twice"),
    ],
)
def test_a_column_has_one_role(options, says, tmp_path):
    frame().write_parquet(tmp_path / "one.parquet")
    with pytest.raises((TypeError, ValueError), match=says):
        Blocks.from_parquet(tmp_path, target="fraud", **options)


def test_a_file_of_another_format_is_refused_by_name(tmp_path):
    (tmp_path / "one.parquet").write_text("a,b")
    with pytest.raises(ValueError, match=r"one\.parquet cannot be read as Parquet"):
        Blocks.from_parquet(tmp_path)


@pytest.mark.parametrize("change", ["longer", "replaced"])
def test_a_file_that_changes_is_refused_by_name(change, tmp_path):
    file = tmp_path / "one.parquet"
    frame().write_parquet(file)
    blocks = Blocks.from_parquet(file, target="fraud", memory=0)
    blocks.scores(np.ones(5))
    if change == "longer":
        frame(slice(0, 50)).write_parquet(file)
    else:
        os.utime(file, ns=(1, 1))
    with pytest.raises(ValueError, match=r"one\.parquet was changed while it was read"):
        blocks.scores(np.ones(5))


@pytest.mark.parametrize(("memory", "n_read"), [(0, 6), (480, 5), (960, 4), (1e6, 3)])
def test_blocks_that_fit_stay_in_memory(memory, n_read, tmp_path, monkeypatch):
    """Three blocks of 20 rows, 480 bytes each, and two passes."""
    read, names = files._load_parquet, []

    def counting(file, *others, **options):
        names.append(file.path)
        return read(file, *others, **options)

    monkeypatch.setattr(files, "_load_parquet", counting)
    frame().write_parquet(tmp_path / "one.parquet")
    features = ["f0", "f1", "f2"]
    blocks = Blocks.from_parquet(tmp_path, features=features, rows_per_block=20, memory=memory, n_jobs=1)
    for _ in range(2):
        assert blocks.scores(np.ones(3)) == pytest.approx(X.sum(axis=1))
    assert len(names) == n_read
    with pytest.raises(ValueError, match="memory must be a number of bytes, at least 0"):
        Blocks.from_parquet(tmp_path, memory=-1)


def test_no_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches .*\*\.parquet"):
        Blocks.from_parquet(tmp_path / "*.parquet")
    with pytest.raises(TypeError, match="a path, a pattern or a list of paths, got None"):
        Blocks.from_npy(None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((X,), "X must be a list with one array for each block"),
        (([],), "no blocks"),
        (([X, X[:, :2]],), "block 1 of X has 2 features, block 0 has 3"),
        (([X, [["a", "b", "c"]]],), "block 1 of X must be a 2-D array of numbers"),
        (([sparse.coo_array(X)],), "CSR matrix, got coo_array"),
        (([X, X], [Y]), "y must have one array for each of the 2 blocks of X, got 1"),
        (([pd.DataFrame(X), pd.DataFrame(X)[[2, 1, 0]]],), r"block 1 of X has the columns \('2', '1', '0'\), block 0"),
        (([X], [Y[:5]]), r"y of block 0 must have one value for each of its 60 rows, got shape \(5,\)"),
    ],
    ids=str,
)
def test_other_arrays_are_refused(arguments, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Blocks.from_arrays(*arguments)


def test_data_frames_give_the_names_of_their_columns():
    assert Blocks.from_arrays([pd.DataFrame(X, columns=list("abc"))] * 2).feature_names == ("a", "b", "c")


def test_labels_that_are_text_in_some_blocks_only():
    with pytest.raises(ValueError, match="y is numbers in the first block, but not in block 1"):
        _ = Blocks.from_arrays([X, X], [Y, Y.astype(str)]).y


def test_entries_of_a_sparse_block_that_add_up():
    twice = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert Blocks.from_arrays([twice]).ends()[1].tolist() == [3.0, 3.0]
    assert twice.nnz == 3


@pytest.mark.parametrize("rows", [[5, 3], [-1, 2], [3, 60], [0.5], [True, False]], ids=str)
def test_rows_to_take_are_checked(rows):
    blocks = Blocks.from_arrays([X[:20], X[20:]])
    with pytest.raises(ValueError, match="rows must"):
        blocks.take(np.array(rows))
    assert (blocks.take(np.array([0, 19, 20, 59])) == X[[0, 19, 20, 59]]).all()


@pytest.mark.parametrize("memory", [0.0, 60 * 5 * 8.0])
def test_copies_are_mapped_and_removed_with_the_blocks(memory, tmp_path):
    files, copies = tmp_path / "files", tmp_path / "copies"
    files.mkdir()
    copies.mkdir()
    for number in range(3):
        frame().write_parquet(files / f"{number}.parquet")
    plain = Blocks.from_parquet(files, target="fraud")
    copied = Blocks.from_parquet(files, target="fraud", memory=memory, folder=copies)
    w = np.arange(1.0, plain.n_features + 1)
    for _ in range(2):
        np.testing.assert_array_equal(copied.scores(w), plain.scores(w))
    assert len(list(copies.rglob("*.npy"))) == (3 if memory == 0 else 2)
    for file in files.iterdir():
        file.unlink()
    if not memory:
        assert copied.combine(np.ones(180)).shape == (plain.n_features,)  # the files are not read any more
    del copied
    gc.collect()
    assert not any(copies.iterdir())
    frame().write_parquet(files / "one.parquet")
    with pytest.raises(NotADirectoryError, match="folder must be an existing folder"):
        Blocks.from_parquet(files, target="fraud", folder=tmp_path / "absent")


def copied_blocks(folder, *, cached, monkeypatch, n_jobs=2):
    """Six blocks of 30 rows, of whose copies the system is to keep so many in its cache."""
    monkeypatch.setattr(pool, "free_memory", lambda: cached * 30 * 3 * 8 / pool._CACHED)
    for number in range(3):
        frame().write_parquet(folder / f"{number}.parquet")
    options = {"target": "fraud", "features": ["f0", "f1", "f2"], "rows_per_block": 30}
    plain = Blocks.from_parquet(folder, **options)
    return plain, Blocks.from_parquet(folder, memory=0, folder=folder, n_jobs=n_jobs, **options)


@pytest.mark.parametrize("direct", [True, False], ids=["past the cache", "where the system cannot"])
@pytest.mark.parametrize("cached", [0, 2, 6])
def test_copies_beyond_the_cache_hold_the_same_rows(cached, direct, tmp_path, monkeypatch):
    if not direct:
        monkeypatch.delattr(on_disk.os, "O_DIRECT", raising=False)
    read, past_cache = [], on_disk._read_past_cache
    monkeypatch.setattr(on_disk, "_read_past_cache", lambda *given: read.append(given[0]) or past_cache(*given))
    plain, copied = copied_blocks(tmp_path, cached=cached, monkeypatch=monkeypatch)
    w, coef = np.arange(1.0, 4.0), np.arange(180.0)
    assert copied.n_rows == 180
    for _ in range(3):
        np.testing.assert_array_equal(copied.scores(w), plain.scores(w))
        np.testing.assert_array_equal(copied.combine(coef), plain.combine(coef))
    assert len(set(read)) == 6 - cached
    assert len(read) == 6 * len(set(read))
    assert copied.load(5).X.flags.f_contiguous == plain.load(5).X.flags.f_contiguous


@pytest.mark.parametrize("cached", [11, 12])
def test_files_leave_the_cache_once_their_rows_are_copied_if_it_cannot_hold_both(cached, tmp_path, monkeypatch):
    left, leave = [], pool.leave_cache
    monkeypatch.setattr(pool, "leave_cache", lambda path: left.append(str(path)) or leave(path))
    _, copied = copied_blocks(tmp_path, cached=cached, monkeypatch=monkeypatch)
    for _ in range(2):
        assert copied.scores(np.ones(3)).size == 180
    assert sorted(left) == ([str(tmp_path / f"{number}.parquet") for number in range(3)] if cached == 11 else [])
    on_disk.leave_cache(tmp_path / "absent")  # it is only advice


def test_memory_of_a_block_is_used_again_but_not_before_its_views_are_gone(tmp_path, monkeypatch):
    plain, copied = copied_blocks(tmp_path, cached=0, monkeypatch=monkeypatch, n_jobs=1)
    assert copied.n_rows == 180
    views = copied.map(lambda block: block.X[1:, :2].T)
    for _ in range(2):
        assert (copied.scores(np.ones(3)) == plain.scores(np.ones(3))).all()
    for number, view in enumerate(views):
        np.testing.assert_array_equal(view, plain.load(number).X[1:, :2].T)
    if not isinstance(copied.load(0).X, np.memmap):  # the system can read past its cache
        unused = copied._pool._buffers
        n = len(unused)
        del views, view
        gc.collect()
        assert len(unused) == n + 6
        with pytest.raises(ValueError, match="read-only"):
            copied.load(0).X[0] = 0.0


def test_headers_are_parsed_once_and_not_in_threads(tmp_path, monkeypatch):
    """Python 3.11 may fail to parse literals in several threads."""
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    plain, copied = copied_blocks(tmp_path, cached=6, monkeypatch=monkeypatch)
    stored = Blocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy", rows_per_block=7, n_jobs=2)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("parsed again"))
    for _ in range(2):
        np.testing.assert_array_equal(copied.scores(np.ones(3)), plain.scores(np.ones(3)))
    np.testing.assert_allclose(stored.scores(np.ones(3)), X @ np.ones(3), rtol=1e-12)
    assert (stored.y == Y).all()


def test_a_copy_that_is_gone_is_missed_by_name(tmp_path, monkeypatch):
    _, copied = copied_blocks(tmp_path, cached=0, monkeypatch=monkeypatch)
    assert copied.n_rows == 180
    next(tmp_path.rglob("3.npy")).unlink()
    with pytest.raises(FileNotFoundError, match=r"3\.npy"):
        copied.scores(np.ones(3))


@pytest.mark.parametrize("error", [None, BlockingIOError, OSError])
def test_a_mapped_copy_that_has_left_the_cache_is_read_at_once(error, tmp_path, monkeypatch):
    def probe(*_):
        if error is not None:
            raise error

    monkeypatch.setattr(on_disk.os, "preadv", probe, raising=False)
    monkeypatch.setattr(on_disk.os, "RWF_NOWAIT", 8, raising=False)
    filled, fill = [], on_disk._fill_cache
    monkeypatch.setattr(on_disk, "_fill_cache", lambda path: filled.append(fill(path)))
    plain, copied = copied_blocks(tmp_path, cached=6, monkeypatch=monkeypatch)
    assert copied.n_rows == 180
    assert (copied.scores(np.ones(3)) == plain.scores(np.ones(3))).all()
    sizes = [path.stat().st_size for path in tmp_path.rglob("*.npy")]
    assert sorted(filled) == (sorted(sizes) if error is BlockingIOError else [0] * 6)
