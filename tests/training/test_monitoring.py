"""What a file says about the promises: exact limits, labels as they are spelled, one row of each group."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import headrank as hr
from headrank.exceptions import InvalidSampleError
from headrank.training.drift import Drift
from headrank.training.goal import Goal
from headrank.training.monitoring import Batch, LabelledPart, Limits, labelled_part, labels_of, rate_limits


@given(st.integers(1, 60), st.data())
def test_limits_of_rates_are_exact(n, data):
    k = data.draw(st.integers(0, n))
    limits = rate_limits(k, n, risk=0.1, most=0.3)
    assert limits.low <= k / n == limits.estimate <= limits.high
    if k:
        assert binom.sf(k - 1, n, limits.low) == pytest.approx(0.05, rel=1e-6)
    if k < n:
        assert binom.cdf(k, n, limits.high) == pytest.approx(0.05, rel=1e-6)
    assert limits.verdict == ("broken" if limits.low > 0.3 else "kept" if limits.high <= 0.3 else "open")
    assert rate_limits(k, n, risk=0.1, most=None).verdict is None


@pytest.mark.parametrize(
    ("values", "positive", "expected"),
    [
        (["yes", "no", None, "", "YES "], "yes", [1, 0, None, None, 1]),
        (["1", "0", "1.0", "-1"], "1", [1, 0, 1, 0]),
        (["True", "false"], "true", [1, 0]),
        (["2", "1", "3", "2.0"], "2", [1, 0, 0, 1]),
        (["bad", "good", "Bad"], "bad", [1, 0, 0]),
    ],
)
def test_labels_as_they_are_spelled(values, positive, expected):
    y, known = labels_of(pl.Series(values, dtype=pl.String), positive, "column 'y'")
    assert known.tolist() == [each is not None for each in expected]
    assert y.tolist() == [bool(each) for each in expected]


@pytest.mark.parametrize(("value", "positive"), [("1", "yes"), ("yes", "1"), ("t", "true"), ("0.0", "y")])
def test_labels_spelled_in_another_way_are_refused(value, positive):
    with pytest.raises(InvalidSampleError, match=f"has '{value}', but in training '{positive}' was positive"):
        labels_of(pl.Series([value]), positive, "column 'y'")


def measured(y, scores, units=None, *, goal=Goal(max_fpr=0.2), by_query=False, low=0.0, threshold=None):  # noqa: B008
    reference = SimpleNamespace(low=low)
    return labelled_part(
        y, scores, units, goal=goal, by_query=by_query, threshold=threshold, reference=reference, risk=0.05
    )


def test_the_measure_is_that_of_interval():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    scores = rng.normal(size=500) + y
    found = measured(y, scores, threshold=1.0)
    interval = hr.interval(y, scores, measure="pauc@0.2", confidence=0.95)
    assert (found.measure.low, found.measure.estimate, found.measure.high) == (
        interval.low, interval.estimate, interval.high,
    )  # fmt: skip
    assert found.false_positive_rate.estimate == np.mean(scores[~y] >= 1.0)
    assert found.false_positive_rate.promised == 0.2
    assert (found.n_rows, found.n_pos) == (500, y.sum())
    assert measured(y, scores, low=interval.low).measure.verdict == "kept"
    assert measured(y, scores, low=interval.estimate).measure.verdict == "open"
    assert measured(y, scores, low=interval.high + 1e-6).measure.verdict == "broken"


def test_one_class_has_no_measure():
    found = measured(np.zeros(20, dtype=bool), np.arange(20.0), threshold=15.0)
    assert found.measure is None
    assert found.false_positive_rate.estimate == 0.25
    assert measured(np.ones(20, dtype=bool), np.arange(20.0), threshold=15.0).false_positive_rate is None


def test_queries_and_groups():
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(60), 5)
    y = rng.random(300) < 0.4
    scores = rng.normal(size=300) + y
    by_query = measured(y, scores, units, goal=Goal(top=0.3), by_query=True)
    expected = hr.interval(y, scores, measure="locauc@0.3", qid=units, confidence=0.95)
    assert by_query.measure.estimate == pytest.approx(expected.estimate)
    assert by_query.n_rows == 300
    assert measured(y, scores, units).n_rows == 60
    constant = units < 30  # every query has one class
    assert measured(constant, scores, units, by_query=True).measure is None


def test_the_worst_verdict_counts():
    kept, unsettled, broken = (Limits(0.1, 0.2, 0.3, 0.5, verdict) for verdict in ("kept", "open", "broken"))
    drift = Drift(10, 10, 1, (), 0.05)
    assert Batch("a", 10, 10, kept, drift, None).verdict == "kept"
    assert Batch("a", 10, 10, kept, drift, LabelledPart(10, 2, unsettled, None)).verdict == "open"
    assert Batch("a", 10, 10, kept, drift, LabelledPart(10, 2, unsettled, broken)).verdict == "broken"
    assert Batch("a", 10, 10, None, drift, None).verdict is None
