"""Columns: what they are, and whether another table has the same ones."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.training.columns import Column, _refuse_other_columns, columns_of, conformed

KINDS = [
    (pl.Series([1, 2], dtype=pl.UInt8), "number"),
    (pl.Series([1.5, None]), "number"),
    (pl.Series([Decimal("1.5"), None]), "number"),
    (pl.Series([timedelta(hours=1), None]), "number"),
    (pl.Series([time(1, 2), None]), "number"),
    (pl.Series(["a", None]), "text"),
    (pl.Series(["a", "b"], dtype=pl.Categorical), "text"),
    (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), "text"),
    (pl.Series([None, None]), "text"),
    (pl.Series(["", " "]), "text"),
    (pl.Series([True, None]), "boolean"),
    (pl.Series([date(2020, 1, 1), None]), "date"),
    (pl.Series([datetime(2020, 1, 1), None], dtype=pl.Datetime("ns", "UTC")), "date"),
    (pl.Series(["2020-01-01", "2020/02/29 17:30", "", None]), "date"),
    (pl.Series(["2020-01-01", "2020-02-30"]), "text"),
    (pl.Series(["1", " 2.5", "1e3", ""]), "number"),
    (pl.Series(["1", "2", "?"]), "text"),
]
TYPES = {"number": pl.Float64, "text": pl.String, "boolean": pl.Boolean, "date": pl.Datetime("us")}


@pytest.mark.parametrize(("series", "kind"), KINDS)
def test_every_type_has_a_kind_and_conforms_to_it(series, kind):
    frame = pl.DataFrame({"c": series})
    (column,) = columns_of(frame)
    assert column.kind == kind
    result = conformed(frame, [column])
    assert result.schema == {"c": TYPES[kind]}
    gaps = (
        series.is_null()
        if kind == "text" or series.dtype != pl.String
        else series.str.strip_chars().fill_null("") == ""
    )
    assert result["c"].is_null().to_list() == gaps.to_list()


@pytest.mark.parametrize(("series", "kind"), KINDS)
def test_conforming_twice_changes_nothing(series, kind):
    frame = pl.DataFrame({"c": series})
    once = conformed(frame, columns_of(frame))
    assert conformed(once, columns_of(frame)).equals(once)


@pytest.mark.parametrize(("series", "kind"), KINDS)
def test_a_block_without_values_conforms_whatever_its_type(series, kind):
    column = Column("c", kind)
    for empty in (series.clear(), pl.Series([None, None]), pl.Series([None], dtype=pl.String)):
        assert conformed(pl.DataFrame({"c": empty}), [column]).schema == {"c": TYPES[kind]}


def test_values():
    frame = pl.DataFrame(
        {
            "duration": [timedelta(hours=1)],
            "time": [time(1, 0)],
            "zone": pl.Series([datetime(2020, 1, 1, 12)]).dt.replace_time_zone("America/New_York"),
            "spelled": ["2020-02-29T17:30:00.5Z"],
        }
    )
    row = conformed(frame, columns_of(frame)).row(0)
    assert row == (3600.0, 3600.0, datetime(2020, 1, 1, 17), datetime(2020, 2, 29, 17, 30, 0, 500_000))


def test_gaps_and_distinct_values_are_counted():
    frame = pl.DataFrame({"x": [1.0, float("nan"), None, 1.0, 2.0], "t": ["a", None, None, "b", "b"], "e": [None] * 5})
    assert [(c.n_missing, c.n_distinct) for c in columns_of(frame)] == [(2, 2), (2, 2), (5, 0)]


@given(st.permutations(["a", "b", "c", "ill", "case"]))
def test_the_order_of_columns_does_not_matter(order):
    columns = [Column("c", "text"), Column("a", "number"), Column("b", "boolean")]
    row = {"a": 1, "b": True, "c": "x", "ill": "no", "case": 7}
    result = conformed(pl.DataFrame([{name: row[name] for name in order}]), columns, ignored=("ill", "case"))
    assert result.rows(named=True) == [{"c": "x", "a": 1.0, "b": True}]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("7", "number", 7.0),
        (True, "number", 1.0),
        (7, "text", "7"),
        ("TRUE", "boolean", True),
        (0, "boolean", False),
        ("2020-01-01", "date", datetime(2020, 1, 1)),
        (date(2020, 1, 1), "date", datetime(2020, 1, 1)),
        (float("inf"), "number", None),
        (float("nan"), "number", None),
        (-1e39, "number", None),
        (3e38, "number", 3e38),
        (" ", "number", None),
        (" ", "text", " "),
    ],
)
def test_other_types_are_read_as_the_kind_of_the_training_table(value, kind, expected):
    assert conformed(pl.DataFrame({"c": [value]}), [Column("c", kind)])["c"].to_list() == [expected]


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ([1, 2, "?"], "number", "row 103 has '?'"),
        (["true", "maybe"], "boolean", "row 102 has 'maybe'"),
        ([0, 2], "boolean", "row 102 has 2"),
        (["2020-01-01", "01.02.2020"], "date", "row 102 has '01.02.2020'"),
        ([1.5], "text", "is of type Float64"),
        ([1.5], "date", "is of type Float64"),
        ([date(2020, 1, 1)], "number", "is of type Date"),
        ([True], "text", "is of type Boolean"),
        ([[1]], "number", "is of type List"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_row(values, kind, said):
    values = [str(v) for v in values] if "?" in values else values
    with pytest.raises(InvalidSampleError, match="column 'age' must contain") as caught:
        conformed(pl.DataFrame({"age": values}), [Column("age", kind)], first_row=101)
    assert said in str(caught.value)


def test_missing_columns_are_all_named_with_what_was_perhaps_meant():
    columns = [Column("age", "number"), Column("income", "number"), Column("zip", "text")]
    with pytest.raises(InvalidSampleError) as caught:
        conformed(pl.DataFrame({"Age": [1], "incme": [1], "other": [1]}), columns)
    assert "'age' (did you mean 'Age'?), 'income' (did you mean 'incme'?), 'zip'; the model" in str(caught.value)


def test_unknown_columns_are_named():
    frame = pl.DataFrame({"age": [1], "x": [1], **{f"y{i}": [1] for i in range(10)}})
    with pytest.raises(InvalidSampleError, match=r"does not know: 'x', .*'y8' and 1 more; .* with --drop"):
        conformed(frame, [Column("age", "number")])
    with pytest.raises(InvalidSampleError, match="a column that the model does not know: 'x'; leave it out"):
        conformed(frame.select("age", "x"), [Column("age", "number")])


@pytest.mark.parametrize("series", [pl.Series([[1]]), pl.Series([{"a": 1}]), pl.Series([b"x"]), pl.Series([object()])])
def test_nested_and_binary_columns_are_refused_by_name(series):
    with pytest.raises(InvalidSampleError, match=r"'odd' \(.*--drop"):
        columns_of(pl.DataFrame({"fine": [1], "odd": series}))


def test_pandas_frames_conform_as_polars_ones_do():
    values = {
        "number": [1.5, None, 2.0],
        "text": ["a", None, "b"],
        "boolean": [True, None, False],
        "date": [datetime(2020, 1, 1), None, datetime(2020, 2, 1, 12)],
    }
    expected = pl.DataFrame(values)
    frame = pd.DataFrame(values)
    frame["date"] = pd.to_datetime(frame["date"])
    columns = columns_of(expected)
    assert conformed(frame, columns).equals(conformed(expected, columns))
    frame["text"] = frame["text"].astype("category")
    frame["number"] = frame["number"].astype("Float64")
    assert conformed(frame, columns).equals(conformed(expected, columns))


def test_a_pandas_frame_with_two_columns_of_a_name_is_refused():
    with pytest.raises(InvalidSampleError, match="two columns named 'a'"):
        conformed(pd.DataFrame(np.zeros((1, 2)), columns=["a", "a"]), [Column("a", "number")])


def test_a_column_that_was_empty_is_not_needed_and_not_looked_at():
    training = pl.DataFrame({"x": [1.0, 2.0], "e": pl.Series([None, None], dtype=pl.Float64), "n": [None, None]})
    columns = columns_of(training)
    assert [column.is_empty for column in columns] == [False, True, True]
    for frame in (
        pl.DataFrame({"x": [3.0]}),
        pl.DataFrame({"e": ["surprise"], "x": [3.0]}),
        pl.DataFrame({"e": [[1, 2]], "x": [3.0]}),
        pd.DataFrame({"n": ["surprise"], "x": [3.0]}),
    ):
        assert conformed(frame, columns).rows() == [(3.0, None, None)]
    assert conformed(training, columns).schema == conformed(training[:0], columns).schema
    with pytest.raises(InvalidSampleError, match="lacks the column 'x'"):
        conformed(pl.DataFrame({"e": [None]}), columns)


def test_a_column_of_which_nothing_is_known_is_needed():
    with pytest.raises(InvalidSampleError, match="lacks the column 'x'"):
        conformed(pl.DataFrame({"y": [1.0]}), [Column("x", "number")], ignored=["y"])


def test_the_names_of_many_columns_are_compared_in_linear_time():
    counted = []

    class Name(str):
        __slots__ = ()

        def __hash__(self):
            counted.append(self)
            return super().__hash__()

        __eq__ = str.__eq__

    n = 500
    _refuse_other_columns([f"c{i}" for i in range(n)], [Name(f"c{i}") for i in range(n)], ())
    assert len(counted) <= 5 * n


def test_numbers_of_few_rows_become_what_those_of_many_do():
    values = [1.5, None, float("nan"), float("inf"), -3.5e38, 3.39e38]
    many = conformed(pl.DataFrame({"a": values * 10}), [Column("a", "number")])
    few = conformed(pl.DataFrame({"a": values}), [Column("a", "number")])
    assert few["a"].to_list() == many["a"].to_list()[:6] == [1.5, None, None, None, None, 3.39e38]
    one = [
        conformed(pl.DataFrame({"a": pl.Series([value], dtype=pl.Float64)}), [Column("a", "number")])
        for value in values
    ]
    assert [each["a"][0] for each in one] == few["a"].to_list()
