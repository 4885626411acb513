"""Suspicions: said when there is reason, and not otherwise."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from headrank.bounds.sample_curves import SampleCurves
from headrank.labels import check_binary
from headrank.training import data_warnings as look
from headrank.training.columns import columns_of
from headrank.training.features import Features, sparse_features
from headrank.training.result import ModelResult

N = 100


def in_columns(**columns):
    frame = pl.DataFrame(columns)
    return look.in_columns(frame, columns_of(frame))


def test_a_decent_table_raises_no_suspicion():
    rng = np.random.default_rng(0)
    assert (
        in_columns(x=rng.normal(size=N), c=rng.integers(0, 9, N), t=["a", "b"] * 50, g=[None, 1.0, 2.0, 3.0] * 25) == []
    )


def test_empty_and_constant_columns_are_named():
    empty, constant = in_columns(e=pl.Series([None] * N, dtype=pl.Float64), **{f"c{i}": [7] * N for i in range(12)})
    assert empty == "There are no values in the column 'e'; not used."
    assert constant.startswith("All rows have the same value in the columns 'c0', 'c1',")
    assert constant.endswith("'c9' and 2 more; not used.")


def test_infinite_numbers_are_counted_and_nan_is_not():
    (said,) = in_columns(x=[np.inf, -np.inf, np.nan, 1e39] + [1.0, 2.0] * 48)
    assert said.startswith("3 infinite")
    assert "the column 'x'" in said


@pytest.mark.parametrize(
    ("values", "is_id"),
    [
        (list(range(N)), True),
        ([f"case {i}" for i in range(N)], True),
        ([float(i) for i in range(N)], False),
        ([*range(N - 1), 0], False),
        ([*range(N - 1), None], False),
    ],
)
def test_columns_of_distinct_whole_numbers_or_texts_look_like_ids(values, is_id):
    said = in_columns(c=values)
    assert ["look" in each and "'c'" in each and "--id" in each for each in said] == [True] * is_id


@pytest.mark.parametrize(
    "value",
    [
        "29.2.2024",
        "02/29/2024",
        "2/29/24",
        "29-02-24 17:30",
        "2024-02-29T17:30:00+01:00",
        "29 Feb 2024",
        "Feb 29, 2024",
    ],
)
def test_dates_of_another_kind_are_said_to_be_used_as_text(value):
    (said,) = in_columns(d=[value, "1.3.2023", None, " "] * 25)
    assert said == (
        "The column 'd' looks like dates, but not as YYYY-MM-DD, and is used as text. Write dates as YYYY-MM-DD."
    )


@pytest.mark.parametrize("value", ["10.0.0.1", "1.2.3.4-5", "2024-02-29", "7", "flat 3", "29", "a-1-2", ""])
def test_other_texts_do_not_look_like_dates(value):
    assert in_columns(d=[value, "b", "b", "c"] * 25) == []
    assert not any("dates" in said for said in in_columns(d=[value] * 100))


def test_dates_of_another_kind_that_are_all_distinct_are_no_ids():
    (said,) = in_columns(d=[f"{1 + i % 28}.{1 + i // 28}.2024" for i in range(N)])
    assert "looks like dates" in said


def test_few_rows_are_no_ids():
    assert in_columns(c=list(range(19))) == []


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_on_both_sides_are_counted(sparse):
    X = np.arange(200, dtype=float).reshape(100, 2)
    X[50:53] = X[:3]
    rows = csr_array(X) if sparse else pl.DataFrame(X)
    train, holdout = np.arange(50), np.arange(50, 100)
    (said,) = look.of_repeated_rows(look.row_keys(rows), train, holdout)
    assert said.startswith("3 of 50 holdout rows (6.0%)")
    other = rows[:50] if sparse else rows.head(50)
    assert look.of_repeated_rows(look.row_keys(other), np.arange(25), np.arange(25, 50)) == []


def test_one_repeated_row_in_a_hundred_is_no_reason():
    keys = np.arange(300)
    keys[100] = 0
    assert look.of_repeated_rows(keys, np.arange(100), np.arange(100, 200)) == []
    keys[101] = 0
    assert len(look.of_repeated_rows(keys, np.arange(100), np.arange(100, 200))) == 1


def test_few_positives_say_how_many_it_takes():
    (said,) = look.of_few(20, 1000, 67, None, 0.95)
    assert "only 20 positives among 1,000 rows" in said
    assert "±0.23" in said
    assert "at least 410 positives in the holdout, or 1,374 in the table" in said
    assert look.of_few(30, 1000, 100, None, 0.95) == []


def test_as_many_positives_as_asked_for_are_enough():
    needed = look.positives_needed(0.05, 0.9)
    assert look.half_width(needed, 0.9) <= 0.05 < look.half_width(needed - 10, 0.9)


def test_few_queries():
    (said,) = look.of_few(500, 1000, 1000, 29, 0.95)
    assert "29 queries with both classes" in said
    assert look.of_few(5, 1000, 10, 30, 0.95) == []


def model(y, scores, **others):
    return ModelResult("ranker", None, SampleCurves(check_binary(y, np.asarray(scores, dtype=float))), **others)


def test_families_that_were_left_out_are_named():
    y = np.arange(4) < 2
    over = "not finished within 6 s"
    left_out = {"kernel": over, "linear": "X has infinities", "extra trees": over}
    assert look.of_models([model(y, y), model(y, y, left_out=left_out)]) == [
        "The ranker was trained without kernel and extra trees: not finished within 6 s.",
        "The ranker was trained without linear: X has infinities.",
    ]


def leaky(sparse):
    rng = np.random.default_rng(0)
    y = np.arange(N) < 30
    X = rng.normal(size=(N, 3)).astype(np.float32)
    X[:, 1] = np.where(y, np.nan, X[:, 1])  # missing for all positives: downwards
    X[:, 2] += 10 * y
    if sparse:
        X[:, 1] = np.where(y, -9, X[:, 1])
        return y, sparse_features(csr_array(X), csr_array(X))
    return y, Features((("table", None),), X, X, ("age", "closed_year", "paid"), ("age", "closed", "paid"))


@pytest.mark.parametrize(("sparse", "names"), [(False, ("closed", "paid")), (True, ("feature 1", "feature 2"))])
def test_perfection_names_the_columns_that_give_it_away(sparse, names):
    y, features = leaky(sparse)
    (said,) = look.of_perfection(model(y, y), features)
    assert all(f"'{name}' (AUC 1.0000)" in said for name in names)
    assert "'age'" not in said
    assert "feature 0" not in said
    assert "--drop" in said


def test_perfection_without_a_culprit():
    y, features = leaky(False)
    harmless = dataclasses.replace(features, holdout=features.holdout[:, :1], names=("age",), origins=("age",))
    (said,) = look.of_perfection(model(y, y), harmless)
    assert "No column suffices alone." in said


def test_good_is_not_perfect():
    y, features = leaky(False)
    scores = y.astype(float)
    scores[0] = -1
    assert look.of_perfection(model(y, scores), features) == []


def test_many_rows_are_looked_at_in_part_and_still_name_the_culprit():
    y = np.arange(50_000) < 100
    X = np.column_stack([y, np.arange(50_000) % 7]).astype(np.float32)
    features = Features((("table", None),), X, X, ("a", "b"), ("a", "b"))
    (said,) = look.of_perfection(model(y, y), features)
    assert "'a' (AUC 1.0000)" in said
    assert "'b'" not in said


def test_collapsed_models_are_named():
    said = look.of_models([model([1], [0.0], collapsed=True), model([1], [0.0])])
    assert len(said) == 1
    assert said[0].startswith("The ranker learned nothing")
