"""Features: every kind of column becomes finite-or-NaN numbers, the same for a row wherever it stands."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.pipeline import Pipeline

from headrank.exceptions import InvalidSampleError
from headrank.training.columns import columns_of, conformed
from headrank.training.features import (
    Matrix,
    OccurringFeatures,
    blocks,
    linear_features,
    scores_of,
    sparse_features,
    table_features,
)
from headrank.training.handover import Handover
from training.tables import messy_frame


def made(frame, n_train=None):
    table = conformed(frame, columns_of(frame))
    n_train = frame.height * 2 // 3 if n_train is None else n_train
    return table_features(Handover((table[:n_train], table[n_train:])), random_state=0)


def same_features(one, other):
    """Equal but for rounding: embeddings of text are products of matrices."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.fixture(scope="module")
def messy_features():
    rng = np.random.default_rng(2)
    frame = messy_frame(rng, rng.random(300) < 0.3)
    return frame, made(frame)


def test_every_kind_of_column_becomes_numbers(messy_features):
    frame, features = messy_features
    assert features.train.dtype == features.holdout.dtype == np.float32
    assert features.train.shape == (200, len(features.names))
    assert not np.isinf(features.train).any()
    assert set(features.origins) == set(frame.columns) - {"constant", "empty"}
    assert {"flag_yes", "flag_no", "size", "since_month", "day_month", "member"} <= set(features.names)


def test_the_steps_make_of_the_table_what_the_matrices_hold(messy_features):
    frame, features = messy_features
    table = conformed(frame, columns_of(frame))
    again = Pipeline(list(features.steps)).transform(table[200:])
    assert again.dtype == np.float64
    assert same_features(again, features.holdout)
    by_row = np.vstack([Pipeline(list(features.steps)).transform(table[i : i + 1]) for i in range(200, 210)])
    assert same_features(by_row, again[:10])


def test_linear_features_are_bounded_without_gaps_and_know_what_was_missing(messy_features):
    _, features = messy_features
    linear = linear_features(features)
    assert np.isfinite(linear.train).all()
    assert np.abs(linear.train).max() <= 3
    assert linear.train.shape[1] == len(linear.names)
    gaps = np.isnan(features.train[:, features.names.index("gaps")])
    assert 0 < gaps.sum() < gaps.size
    assert np.array_equal(linear.train[:, linear.names.index("gaps is missing")], gaps)
    assert np.all(linear.train[gaps, linear.names.index("gaps")] == 0)
    assert "size is missing" not in linear.names
    assert same_features(Pipeline(list(linear.steps)).transform(features.train), linear.train)


def test_what_was_never_seen_is_as_good_as_nothing():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=150),
            "flag": ["yes", "no", "no"] * 40 + ["maybe"] * 30,
            "gap": [1.5, 2.5, 3.5] * 40 + [None] * 30,  # complete in training
            "late": [None] * 120 + ["a", "b"] * 15,  # empty in training
            "still": ["same"] * 120 + ["other"] * 30,  # constant in training
        }
    )
    features = made(frame, 120)
    assert set(features.origins) == {"x", "flag", "gap"}
    flags = [i for i, origin in enumerate(features.origins) if origin == "flag"]
    assert not features.holdout[:, flags].any()
    linear = linear_features(features)
    assert np.isfinite(Pipeline(list(linear.steps)).transform(features.holdout)).all()


def test_a_hundred_thousand_categories():
    frame = pl.DataFrame({"code": [f"c{i}" for i in range(100_000)], "x": np.arange(100_000) % 7})
    features = made(frame, 99_000)
    assert features.train.shape == (99_000, 31)
    assert np.isfinite(features.holdout).all()


@pytest.mark.parametrize("n_distinct", [41, 60])
def test_text_with_few_letters_is_embedded_without_a_word(n_distinct):
    frame = pl.DataFrame({"code": [chr(0x4E00 + i % n_distinct) for i in range(300)]})
    assert np.isfinite(made(frame).train).all()


def test_the_same_rows_give_the_same_numbers():
    rng = np.random.default_rng(3)
    frame = messy_frame(rng, rng.random(200) < 0.3)
    assert same_features(made(frame).train, made(frame).train)


def test_names_are_the_same_every_time_also_where_columns_would_share_one():
    frame = pl.DataFrame({"a": ["b", "c"] * 30, "a_b": np.arange(60.0) % 7})
    names = made(frame).names
    assert names == made(frame).names == ("a_b (of 'a')", "a_c", "a_b (of 'a_b')")


def test_a_table_that_says_nothing_is_refused():
    with pytest.raises(InvalidSampleError, match="no column can be used"):
        made(pl.DataFrame({"a": [1] * 30, "b": [None] * 30}))


def test_sparse_features_stay_sparse():
    X = csr_array(np.diag([1.0, -4.0, 0.0]))
    features = sparse_features(X[:2], X[2:])
    assert features.is_sparse
    assert features.names == ("feature 0", "feature 1")  # the third does not occur in training
    assert features.holdout.shape == (1, 2)
    linear = linear_features(features)
    assert linear.train.toarray().tolist() == [[1, 0], [0, -1]]


@given(st.data(), st.integers(1, 6), st.integers(1, 6), st.integers(1, 8))
def test_features_that_occur_are_the_columns_that_are_not_empty(data, n_rows, n_features, other_width):
    numbers = st.sampled_from([0.0, 0.0, 1.0, -2.0])
    X = data.draw(arrays(np.float64, (n_rows, n_features), elements=numbers))
    other = data.draw(arrays(np.float64, (3, other_width), elements=numbers))
    step = OccurringFeatures().fit(csr_array(X))
    occur = np.flatnonzero(X.any(axis=0))
    assert step.numbers_.tolist() == occur.tolist()
    wide = np.zeros((3, max(n_features, other_width)))
    wide[:, :other_width] = other
    assert np.array_equal(step.transform(csr_array(other)).toarray(), wide[:, occur])


def test_matrix_takes_frames_arrays_and_sparse_matrices():
    expected = [[1.0, np.nan], [0.0, 2.0]]
    for X in (
        pl.DataFrame({"a": [1, 0], "b": [None, 2.0]}, schema={"a": pl.Float32, "b": pl.Float32}),
        np.array([[1, -np.inf], [0, 2]], dtype=np.float32),
        csr_array(np.array([[1, np.nan], [0, 2]])),
    ):
        before = X.copy() if isinstance(X, np.ndarray) else None
        result = Matrix().transform(X)
        assert result.dtype == np.float64
        assert np.array_equal(result, expected, equal_nan=True)
        assert before is None or np.array_equal(X, before)


def test_scores_come_in_blocks():
    class Sum:
        def decision_function(self, X):
            sizes.append(X.shape[0])
            assert X.dtype == np.float64
            return X.sum(axis=1)

    sizes = []
    X = np.arange(14, dtype=np.float32).reshape(7, 2)
    assert np.array_equal(scores_of(Sum(), X, rows_at_a_time=3), X.sum(axis=1))
    assert sizes == [3, 3, 1]
    assert list(blocks(0)) == []


def test_large_numbers_that_are_close_together_stay_apart():
    rng = np.random.default_rng(0)
    seconds = 1_700_000_000 + rng.permutation(300)
    gaps = [None if k % 7 == 0 else -3e10 + k for k in range(300)]
    frame = pl.DataFrame({"seconds": seconds, "x": rng.normal(size=300), "gaps": gaps})
    features = made(frame, 200)
    for name in ("seconds", "gaps"):
        j = features.origins.index(name)
        values = np.concatenate([features.train[:, j], features.holdout[:, j]])
        expected = frame[name].cast(pl.Float64).to_numpy()
        assert np.array_equal(np.isnan(values), np.isnan(expected))
        known = ~np.isnan(values)
        differences = values[known].astype(np.float64) - values[known][0]
        assert np.array_equal(differences, expected[known] - expected[known][0])
    again = Pipeline(list(features.steps)).transform(conformed(frame, columns_of(frame))[200:])
    assert same_features(again, features.holdout)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, 3.0, 1e30],  # small but for one
        [1.0, 2.0, 1.7e9, 1.8e9],  # small and large
        [1e9, 2e9, 3e9, 4e9],  # far apart
        [3.0, 3e38, 3.1e38, 3.2e38],
    ],
)
def test_numbers_that_single_precision_tells_apart_stay_as_they_are(values):
    features = made(pl.DataFrame({"x": values * 30}), 80)
    assert np.array_equal(features.train[:, 0], np.tile(np.float32(values), 20))


def test_numbers_beyond_single_precision_after_all_are_gaps():
    frame = pl.DataFrame({"x": [*(-1.5e37 - 1e30 * k for k in range(90)), 3.39999e38]})
    features = made(frame, 90)
    table = conformed(frame, columns_of(frame))
    assert np.isnan(features.holdout[-1, 0])
    assert np.isnan(Pipeline(list(features.steps)).transform(table)[-1, 0])


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%d %b %Y"])
def test_dates_of_another_kind_are_text(form):
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 3, 1), eager=True).cast(pl.Datetime)
    frame = pl.DataFrame({"d": days.dt.strftime(form), "x": np.arange(60.0) % 7})
    features = made(frame, 40)
    assert not any(name.startswith(("d_year", "d_month", "d_total")) for name in features.names)
    assert np.isfinite(features.holdout).all()
    other = conformed(pl.DataFrame({"d": ["2023/31/12 or so"], "x": [1.0]}), columns_of(frame))
    assert np.isfinite(Pipeline(list(features.steps)).transform(other)).all()
