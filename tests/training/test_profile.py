"""Profiles of the holdout: bins and counts as by hand, no rows among them, and small however wide the table is."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from headrank.model_io import load, save
from headrank.training import profile as module
from headrank.training.columns import Column, columns_of, conformed
from headrank.training.outputs import table_model
from headrank.training.profile import Profile, matrix_profile, reference_rows, score_profile, table_profile
from reference import two_samples as slow
from training.tables import messy_frame

SMALL = st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=30)
WORDS = st.lists(st.none() | st.sampled_from(["a", "b", "c", "x" * 61]), min_size=1, max_size=40)


def one_column(kind, train, holdout, dtype):
    frames = [pl.DataFrame({"n": pl.Series(values, dtype=dtype)}) for values in (train, holdout)]
    (found,) = table_profile(*frames, [Column("n", kind, 0, 1)]).columns()
    return found


@given(SMALL, SMALL)
def test_numbers_are_counted_between_cuts(train, holdout):
    found = one_column("number", train, holdout, pl.Float64)
    expected = slow.bins_of_numbers(found.cuts.tolist(), holdout)
    assert found.counts.tolist() == [expected.count(i) for i in range(found.n_bins)]
    present = [each for each in train if each is not None]
    if present:
        assert found.cuts[-1] == max(present)
        assert found.cuts[0] == np.nextafter(min(present), -np.inf)
        assert set(found.cuts[1:]) <= set(map(float, present))
    assert np.all(np.diff(found.cuts) > 0)


@given(WORDS, WORDS)
def test_text_is_counted_by_frequent_categories(train, holdout):
    found = one_column("text", train, holdout, pl.String)
    frequent = {each for each in train if each is not None and train.count(each) >= 5 and len(each) <= 60}
    assert set(found.categories) == frequent  # a value of few rows, or a long one, may identify a row
    assert found.complete == (frequent == set(train) - {None})
    expected = slow.bins_of_text(list(found.categories), holdout)
    assert found.counts.tolist() == [expected.count(i) for i in range(found.n_bins)]


def test_many_rows_are_counted_like_few():
    rng = np.random.default_rng(0)
    words = [None if k == 9 else f"w{k}" for k in rng.integers(0, 12, 5000)] + ["rare"]
    long, short = (one_column("text", words, words[:n], pl.String) for n in (5001, 1900))
    assert long.categories == short.categories
    assert not long.complete
    assert long.counts.tolist() == [
        slow.bins_of_text(list(long.categories), words).count(i) for i in range(long.n_bins)
    ]
    again = one_column("text", words[:1900], words[:1900], pl.String)
    assert sorted(again.categories) == sorted(long.categories)


def test_a_table_of_all_kinds_is_profiled():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    raw = messy_frame(rng, y)
    columns = columns_of(raw)
    table = conformed(raw, columns)
    profile = table_profile(table[:300], table[300:], columns)
    assert [each.name for each in profile.columns()] == [each.name for each in columns if not each.is_empty]
    for each in profile.columns():
        assert each.counts.sum() == profile.n_rows == 100
        assert each.counts[-1] == table[300:][each.name].null_count()
    street = next(each for each in profile.columns() if each.name == "street")
    assert not street.complete


def test_a_sparse_matrix_is_profiled_like_a_dense_one():
    rng = np.random.default_rng(1)
    dense = np.round(rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.4), 1)
    dense[:, 4] = 0
    train, holdout = csr_array(dense[:200]), csr_array(dense[200:])
    profile = matrix_profile(train, holdout)
    assert profile.features.tolist() == [0, 1, 2, 3, 5]  # a feature that does not occur in training is not used
    frame = pl.DataFrame(dense, schema=[f"feature {j}" for j in range(6)], orient="row")
    expected = table_profile(frame[:200], frame[200:], [Column(name, "number", 0, 9) for name in frame.columns])
    by_name = {each.name: each for each in expected.columns()}
    for each in profile.columns():
        assert each.cuts.tolist() == by_name[each.name].cuts.tolist()
        assert each.counts.tolist() == by_name[each.name].counts.tolist()


def wide_table(kind, width):
    values = np.random.default_rng(2).integers(0, 30, (400, width)).astype(float)
    frame = pl.DataFrame(values, schema=[f"g{j}" for j in range(width)])
    frame = frame if kind == "number" else frame.cast(pl.String)
    return table_profile(frame[:300], frame[300:], [Column(name, kind, 0, 3) for name in frame.columns])


def wide_matrix(width):
    rng = np.random.default_rng(3)
    places = rng.integers(0, 2_000_000_000, width)
    matrix = csr_array((np.ones(width), (rng.integers(0, 100, width), places)), shape=(100, 2_000_000_000))
    return matrix_profile(matrix[:70], matrix[70:])


@pytest.mark.parametrize("kind", ["number", "text", "matrix"])
def test_a_wide_table_has_few_columns_and_few_numbers_of_each(kind, monkeypatch):
    monkeypatch.setattr(module, "_MOST_COLUMNS", 200)
    monkeypatch.setattr(module, "_MOST_NUMBERS", 1000)
    profile = wide_matrix(400) if kind == "matrix" else wide_table(kind, 210)
    assert len(profile.columns()) == 200
    assert max(each.n_bins for each in profile.columns()) <= 5 + 2
    narrow = wide_table("text", 5) if kind == "matrix" else wide_table(kind, 5)
    assert min(each.n_bins for each in narrow.columns()) > 15


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["number", "text", "matrix"])
def test_a_very_wide_table_has_a_small_profile(kind):
    profile = wide_matrix(40_000) if kind == "matrix" else wide_table(kind, 20_100)
    assert len(profile.columns()) == 20_000
    assert profile.cuts.nbytes + profile.counts.nbytes + len(profile.described) < 4e6


def test_scores_are_kept_at_fixed_ranks():
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 50, 1000).astype(float)
    interval = type("Interval", (), {"low": 0.1, "estimate": 0.2, "high": 0.3, "confidence": 0.95})
    found = score_profile(scores, top=0.03, threshold=45.0, n_models=3, interval=interval)
    assert {1, 10, 30, 500} <= set(found.ranks.tolist())
    assert found.values.tolist() == [sorted(scores, reverse=True)[rank - 1] for rank in found.ranks]
    assert found.n_flagged == np.count_nonzero(scores >= 45)
    assert score_profile(scores[:1], top=None, threshold=None, n_models=1, interval=interval).ranks.tolist() == [1]


def test_one_row_of_each_group_is_counted():
    groups = np.repeat(np.arange(30) + 5, 4)
    drawn = reference_rows(np.zeros(120, dtype=bool), groups, 0)
    assert sorted(groups[drawn]) == list(range(5, 35))
    assert reference_rows(np.zeros(120, dtype=bool), None, 0) is None


def test_the_profile_of_a_training_is_that_of_its_holdout(messy):
    profile = messy.result.profile
    assert profile.n_rows == profile.scores.n_rows == messy.result.y.size
    assert profile.scores.low == messy.result.selection.interval.low
    assert profile.scores.n_models == len(messy.result.models)
    assert profile.scores.values.max() == messy.result.winner.scores.max()
    flagged = messy.result.threshold.flags(messy.result.winner.scores)
    assert profile.scores.n_flagged == int(flagged.sum())


def test_with_queries_one_row_of_each_is_counted(sparse):
    profile = sparse.result.profile
    assert profile.n_rows == profile.scores.n_rows == np.unique(sparse.result.qid).size
    assert all(each.counts.sum() == profile.n_rows for each in profile.columns())


def test_a_profile_is_saved_with_the_model_and_has_no_rows(messy, tmp_path):
    save(table_model(messy.result, keep_scores=False), tmp_path / "model")
    loaded, profile = load(tmp_path / "model").profile, messy.result.profile
    assert loaded.described == profile.described
    assert np.array_equal(loaded.counts, profile.counts)
    assert np.array_equal(loaded.scores.values, profile.scores.values)
    streets = messy.features["street"].unique().to_list()
    assert sum(street in profile.described for street in streets) < 10  # only those of five rows or more


def test_a_profile_that_does_not_fit_together_is_refused():
    good = table_profile(*(pl.DataFrame({"a": [1.0, 2.0]}),) * 2, [Column("a", "number", 0, 2)])
    with pytest.raises(ValueError, match="counts, expected"):
        Profile(n_rows=2, described=good.described, cuts=good.cuts, counts=good.counts[1:])
    with pytest.raises(ValueError, match="2 features, expected 1"):
        Profile(**vars(good) | {"features": np.array([1, 2])})


def test_dates_are_counted_by_time():
    start = datetime(2024, 1, 1)
    days = pl.Series([start + timedelta(days=k) for k in range(100)])
    found = one_column("date", days, days[:50], pl.Datetime("us"))
    assert found.cuts[-1] == (start + timedelta(days=99) - datetime(1970, 1, 1)).total_seconds() * 1e6
    assert found.counts[:-1].sum() == 50
