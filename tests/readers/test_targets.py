"""Targets: the positives are those that a reader of the table would take for them, or the column is refused."""

import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.readers.targets import target_of


def found(values, pos_label=None, dtype=None):
    return target_of(pl.Series("ill", values, dtype=dtype), pos_label=pos_label, where="column 'ill' of t.csv")


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([1, 0], "1"),
        ([1, -1], "1"),
        ([1.0, 0.0], "1"),
        ([True, False], "true"),
        (["yes", "no"], "yes"),
        (["Y", "N"], "Y"),
        (["TRUE", "False"], "TRUE"),
        (["t", "f"], "t"),
        ([" Yes", "no "], " Yes"),
    ],
)
def test_columns_that_speak_for_themselves(values, positive):
    target = found([*values, values[0]])
    assert target.y.tolist() == [True, False, True]
    assert target.positive == positive


def test_case_does_not_make_a_class():
    assert found(["yes", "No", "YES", "no"]).y.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([2, 1], "2"),
        ([2, 1], 2),
        ([2.0, 1.0], "2"),
        ([2.5, 1.0], "2.50"),
        ([True, False], "True"),
        ([False, True], "false"),
        ([0, 1], "0"),
        (["good", "bad"], "good"),
        ([datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)], "2024-02-29"),
    ],
)
def test_the_positive_value_can_be_given_as_it_is_printed(values, label):
    assert found(values, label).y.tolist() == [True, False]


@pytest.mark.parametrize(("values", "label"), [(["a", "b", "c", "a"], "a"), ([2.0, 0.0, 1.0, 2.0], "2")])
def test_one_named_value_stands_against_all_the_others(values, label):
    target = found(values, label)
    assert (target.y.tolist(), target.positive) == ([True, False, False, True], label)


def test_categories_are_text():
    assert found(["a", "b"], "a", dtype=pl.Categorical).positive == "a"


@given(st.sets(st.integers(-5, 5), min_size=2, max_size=2).map(sorted), st.lists(st.booleans(), min_size=1))
def test_numbers_are_told_apart_like_their_printed_forms(pair, choice):
    low, high = pair
    values = [low, high, *(high if high_one else low for high_one in choice)]
    by_text = found([str(value) for value in values], str(high))
    by_number = found(values, str(high))
    assert by_number.y.tolist() == by_text.y.tolist() == [value == high for value in values]
    assert by_number.positive == by_text.positive == str(high)


@pytest.mark.parametrize(
    ("values", "label", "message"),
    [
        ([0, None, 1], None, "has 1 missing values in 3 rows, the first in row 2; drop or fill them"),
        ([0.0, float("nan"), 1.0], None, "has 1 missing values in 3 rows, the first in row 2"),
        (
            [None, None],
            None,
            "has 2 missing values in 2 rows, the first in row 1; all are: check that it is the right column",
        ),
        (["good", "bad"], None, "its values are 'good', 'bad', .* --positive VALUE"),
        ([1, 2], None, "its values are 1, 2, .* --positive VALUE"),
        ([0, 1, 2], None, "has 3 distinct values, 0, 1, 2; expected two: .*--positive VALUE, and all others"),
        (["yes", "no", "maybe"], None, "has 3 distinct values"),
        (["good", "bad"], "god", "pos_label='god' does not occur in it; did you mean 'good'.*'good', 'bad'"),
        ([1, 2], "yes", "pos_label='yes' does not occur"),
        (["1", "2"], 1, "pos_label=1 does not occur"),
    ],
)
def test_unusable_targets_are_refused_with_their_values_and_a_remedy(values, label, message):
    with pytest.raises(InvalidSampleError, match=rf"column 'ill' of t\.csv .*{message}"):
        found(values, label)


@pytest.mark.parametrize(
    ("values", "label"),
    [([0, 0], None), ([1, 1], None), ([True], None), (["yes"], None), (["n"], None), (["a", "a"], "a"), ([7], None)],
)
def test_one_class_is_refused(values, label):
    with pytest.raises(OneClassError, match=r"column 'ill' of .* both classes are needed"):
        found(values, label)
