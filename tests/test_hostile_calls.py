"""Whatever is passed to a public function, an error says in our words what is wrong, not in another library's."""

import re

import numpy as np
import pandas as pd
import pytest

import headrank as hr
from hostile_calls import CALLS, X, Y, call, is_ours, raised_in
from hostile_values import VALUES, N

FITS = ("LinearRanker", "LinearRankerCV", "KernelRanker", "FPRBudgetClassifier", "TopFractionClassifier", "path")
ONCE_FOREIGN = [
    *((name, "y", value) for name in FITS for value in ("frame with dates", "empty frame", "bytes array")),
    *(("LinearRankerCV surrogates", "random_state", value) for value in ("-1", "10**400")),
    *(
        (name, "random_state", "-1")
        for name in ("FPRBudgetClassifier", "interval by bootstrap", "compare by bootstrap")
    ),
    ("compare by bootstrap", "random_state", "row matrix"),  # a crash
    *((name, "path", value) for name in ("save", "load", "export_json") for value in ("bytes", "floats")),
    *(("from_cv_results", "X", value) for value in ("nan", "0-d array", "StringArray", "sparse")),
    *(("from_cv_results", "y", value) for value in ("nan", "frame without rows")),
    ("FPRBudgetClassifier", "X", "StringArray"),
    *(("from_predictions", "top", value) for value in ("0-d array", "Fraction")),
    ("LinearRanker", "y", "bytes objects"),
    ("TopFractionClassifier", "estimator", "empty list"),
    ("TopFractionClassifier", "qid", "one class"),
]
"""Calls that ended with another library's message."""


@pytest.mark.parametrize("name", [name for name in CALLS if name != "load"])
def test_calls_succeed_as_they_are(name):
    assert call(name, {}) is None


@pytest.mark.parametrize(("name", "argument", "value"), ONCE_FOREIGN)
def test_no_error_is_foreign_again(name, argument, value):
    error = call(name, {argument: value})
    assert error is None or is_ours(error), (raised_in(error), error)


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_ours(name):
    rng = np.random.default_rng(list(CALLS).index(name))
    arguments = list(CALLS[name][1])
    for value in rng.choice(list(VALUES), 8, replace=False):
        hostile = {str(rng.choice(arguments)): str(value)}
        error = call(name, hostile)
        assert error is None or is_ours(error), (hostile, raised_in(error), error)


@pytest.mark.parametrize("kind", ["frame with text", "polars frame"])
def test_text_in_a_data_frame_names_its_column(kind):
    column = "'town'" if kind == "frame with text" else "'b'"
    with pytest.raises(ValueError, match=f"column {column} contains 'x' in row 0"):
        hr.LinearRanker().fit(VALUES[kind](), Y)


def test_numbers_beyond_float_are_refused():
    with pytest.raises(ValueError, match="fits a float"):
        hr.PartialAUC(max_fpr=10**400)
    with pytest.raises(TypeError, match="n_neg must be a number, got '3'"):
        hr.RocCurve.head_from_scores(Y, X[:, 0], n_neg="3")


def test_kernels_that_overflow_are_refused():
    with pytest.raises(ValueError, match="features must lie within"):
        hr.KernelRanker("auc").fit(X * 1e154, Y)
    with pytest.raises(ValueError, match="scale the features first"):
        hr.KernelRanker("auc", kernel="poly", degree=9, gamma=1.0).fit(X * 1e60, Y)


@pytest.mark.parametrize(
    ("name", "argument", "value", "words"),
    [
        ("LinearRankerCV surrogates", "random_state", "-1", r"a whole number from 0 to 2\*\*32 - 1 .*, got -1"),
        ("compare by bootstrap", "random_state", "-1", "a whole number of at least 0 or a numpy Generator, got -1"),
        ("save", "path", "bytes", "path must be a str or a pathlib.Path, got a bytes"),
        ("KernelRanker", "y", "frame with dates", r"one label per row, but has shape \(40, 2\); pass one column"),
        ("LinearRanker", "y", "masked", "y has 1 masked values; drop or fill these rows"),
        ("LinearRanker", "y", "bytes array", r"contains bytes_; convert them first, bytes with decode\(\)"),
        ("TopFractionClassifier", "qid", "one class", "at least 2 queries with .*, got 1; add rows, or set cv=None"),
        ("TopFractionClassifier", "estimator", "empty list", r"must be a scikit-learn estimator .*, got \[\]"),
    ],
)
def test_errors_say_what_was_needed_what_came_and_what_to_do(name, argument, value, words):
    assert re.search(words, str(call(name, {argument: value})))


def test_missing_labels_are_counted():
    y = pd.Series(["a", pd.NA] * (N // 2), dtype=object)
    with pytest.raises(ValueError, match="y has 20 missing values"):
        hr.LinearRanker().fit(X, y)
