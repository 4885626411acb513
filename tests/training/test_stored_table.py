"""A stored table: kinds of columns, rows and scores are those of the whole table, however it is cut into parts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cuts import borders
from headrank.exceptions import InvalidSampleError
from headrank.training.columns import columns_of, conformed
from headrank.training.encoding import TableEncoder
from headrank.training.stored_sample import training_sample
from headrank.training.stored_table import StoredRows, conformed_rows
from stored import FramePart, stored_table
from training.tables import messy_frame

N = 40
RNG = np.random.default_rng(0)
Y = RNG.random(N) < 0.4
FRAME = messy_frame(RNG, Y)

VALUES = st.sampled_from(["", "  ", "1", "2.5", "2024-02-29", "red", None])


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=8), st.data())
def test_the_kind_of_text_is_that_of_the_whole_column(values, data):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.String)})
    found = stored_table(frame, data.draw(borders(frame.height))).columns()[0]
    whole = columns_of(frame)[0]
    assert (found.name, found.kind, found.n_missing) == (whole.name, whole.kind, whole.n_missing)
    assert found.n_distinct == min(whole.n_distinct, 2)


@settings(max_examples=20, deadline=None)
@given(borders(N))
def test_all_kinds_of_columns(at):
    found = stored_table(FRAME, at).columns()
    for mine, its in zip(found, columns_of(FRAME), strict=True):
        assert (mine.name, mine.kind, mine.n_missing) == (its.name, its.kind, its.n_missing)
        assert mine.n_distinct == min(its.n_distinct, 2)
        assert mine.is_empty == its.is_empty


@settings(max_examples=20, deadline=None)
@given(borders(N), st.sets(st.integers(0, N - 1)))
def test_rows_are_taken_in_order(at, rows):
    rows = np.array(sorted(rows), dtype=np.intp)
    assert stored_table(FRAME, at).take(rows).equals(FRAME[rows])


@settings(max_examples=10, deadline=None)
@given(borders(N), st.permutations(range(12)), st.integers(1, 3))
def test_features_and_scores_are_those_in_memory(at, places, n_jobs):
    columns = columns_of(FRAME)
    encoder = TableEncoder().fit(conformed(FRAME, columns))
    rows = np.sort(RNG.choice(N, 12, replace=False))
    stored = StoredRows(stored_table(FRAME, at, n_jobs=n_jobs), rows, columns, encoder)
    features = encoder.transform(conformed(FRAME, columns)[rows])
    assert stored.shape == features.shape
    places = np.array(places)
    assert_array_equal(stored[places], features[places])
    assert_array_equal(stored.part(np.array([2, 5]))[np.array([1, 0])], features[[5, 2]])

    class Model:
        def decision_function(self, X):
            assert X.dtype == np.float64
            return np.nansum(X, axis=1)

    assert_array_equal(stored.scores(Model()), np.nansum(features.astype(float), axis=1))


def test_numbers_in_one_file_and_text_in_another_are_text():
    parts = [pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": ["1", "b"]})]
    table = stored_table(pl.DataFrame({"x": [0]}), [0, 1]).joined(stored_table(parts[0], [0, 2]))
    assert table.columns()[0].kind == "number"
    mixed = stored_table(parts[0], [0, 2]).joined(stored_table(parts[1], [0, 2]))
    assert mixed.columns()[0].kind == "text"
    assert mixed.take(np.arange(4))["x"].to_list() == ["1", "2", "1", "b"]
    assert conformed_rows(FramePart(parts[0], "a", 1), np.arange(2), mixed.columns())["x"].to_list() == ["1", "2"]


def test_refusals_name_the_file_and_the_row():
    part = FramePart(pl.DataFrame({"x": ["1", "b"]}), "b.parquet", 101)
    columns = columns_of(pl.DataFrame({"x": [1.0]}))
    with pytest.raises(InvalidSampleError, match=r"b\.parquet: column 'x' must contain numbers.*row 102 has 'b'"):
        conformed_rows(part, np.arange(2), columns)
    with pytest.raises(InvalidSampleError, match=r"part 0 has 'x' \(List\(Int64\)\); convert it, or leave it out"):
        stored_table(pl.DataFrame({"x": [[1]]}), [0, 1]).columns()


@pytest.mark.parametrize(("n", "n_pos", "width"), [(50_000, 200, 3000), (40_000, 20_000, 2000), (100, 10, 1)])
@pytest.mark.parametrize("flipped", [False, True])
def test_the_sample_keeps_the_ratio_of_the_classes(n, n_pos, width, flipped):
    y = (np.arange(n) < n_pos) != flipped
    places, weights = training_sample(y, None, width, 0)
    assert places.size == min(n, 30_000_000 // width)
    assert (np.diff(places) > 0).all()
    counted = np.ones(places.size) if weights is None else weights
    assert counted[y[places]].sum() / counted.sum() == pytest.approx(y.mean(), rel=0.01)
    rare = min(n_pos, n - n_pos)
    assert min(y[places].sum(), (~y[places]).sum()) >= min(rare, 10_000, 15_000_000 // width) * 0.99


def test_queries_are_sampled_whole():
    queries = np.repeat(np.arange(2000), 20)
    places, weights = training_sample(np.arange(40_000) % 5 == 0, queries, 10_000, 0)
    assert weights is None
    _, sizes = np.unique(queries[places], return_counts=True)
    assert set(sizes) == {20}
    assert 2980 <= places.size <= 3000
