"""Columns are called by their names, with the values that a table has for them."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from headrank.training.column_values import ColumnValues
from headrank.training.encoding import CATEGORIES, TableEncoder
from headrank.training.features import OccurringFeatures


def table():
    n = 2 * CATEGORIES
    start = datetime(2022, 2, 7)
    return pl.DataFrame(
        {
            "opened": [None, *(start + timedelta(days=i) for i in range(n - 1))],
            "account": 1_700_000_000.0 + 1000.0 * np.arange(n),
            "branch": [None, "north", *["south"] * (n - 2)],
            "size": [None, 2.5, *np.arange(n - 2.0)],
            "note": [None, *(f"letter {i} of {i * i}" for i in range(n - 1))],
            "called": [None, *(start + timedelta(hours=7 * i) for i in range(n - 1))],
            "all one": np.ones(n),
        },
        schema_overrides={"opened": pl.Datetime, "called": pl.Datetime},
    )


@pytest.fixture(scope="module")
def encoded():
    encoder = TableEncoder().fit(table())
    return ColumnValues.of(encoder), encoder.transform(table()), encoder


def said(encoded, i):
    columns, X, _ = encoded
    return [columns.text(column, X[i]) for column in range(len(columns.columns))]


def test_values_are_those_of_the_table(encoded):
    assert said(encoded, 1) == [
        "opened = 2022-02-07",
        "account = 1700001000",
        "branch = north",
        "size = 2.5",
        "the text of note",
        "called = 2022-02-07 at 0 h",
    ]
    assert said(encoded, 4)[-1] == "called = 2022-02-07 at 21 h"


def test_missing_values_are_called_so(encoded):
    assert said(encoded, 0) == [
        "opened is missing",
        "account = 1700000000",
        "branch is missing",
        "size is missing",
        "note is missing",
        "called is missing",
    ]


def test_a_category_that_was_not_seen_in_training(encoded):
    columns, _, encoder = encoded
    X = encoder.transform(table().with_columns(branch=pl.lit("west")))
    assert columns.text(columns.columns.index("branch"), X[1]) == "branch = a value not seen in training"


def test_columns_and_features_are_in_the_order_of_the_encoder(encoded):
    columns, X, encoder = encoded
    assert columns.columns == ("opened", "account", "branch", "size", "note", "called")
    assert [columns.columns[place] for place in columns.of_feature] == encoder.origins_.tolist()
    assert len(columns.feature_names) == X.shape[1]
    assert columns.feature_names[:4] == ("the year of opened", "the month of opened", "the day of opened", "opened")
    assert {"account", "branch = north", "branch = south", "branch is missing", "size"} < set(columns.feature_names)
    of_text = columns.of_feature == columns.columns.index("note")
    assert set(np.array(columns.feature_names)[of_text]) == {""}


def test_features_of_a_sparse_matrix_are_columns():
    X = csr_array(np.array([[0.0, 2.0], [0.0, 1.25]]))
    columns = ColumnValues.of(OccurringFeatures().fit(X))
    assert columns.columns == columns.feature_names == ("feature 1",)
    assert columns.text(0, np.array([1.25])) == "feature 1 = 1.25"
