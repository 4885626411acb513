"""Promises that were once too large: over queries, of a selection, of one range."""

import numpy as np
import pytest

import headrank as hr
from headrank.measures import EnrichmentFactor, StandardizedPartialAUC


def _queries(found, n_rows):
    """Queries of one positive each, in first place where ``found`` says so, else in last place."""
    positive = np.array([np.arange(n_rows) == (0 if first else n_rows - 1) for first in found])
    scores = np.tile(np.arange(n_rows, 0, -1.0), (len(found), 1))
    return positive.ravel().astype(int), scores.ravel(), np.repeat(np.arange(len(found)), n_rows)


@pytest.mark.parametrize(
    ("measure", "found", "unseen"),
    [(EnrichmentFactor(0.05), False, 20.0), (StandardizedPartialAUC(min_fpr=0.8, max_fpr=1.0), True, -4.0)],
    ids=str,
)
def test_a_bound_over_queries_uses_the_values_a_measure_can_take_not_those_seen(measure, found, unseen):
    # A query in twenty has the value `unseen`, all others 0 or 1. With probability 0.95 ** 20 = 36 % no such query is
    # in the sample; an interval made then must reach as far as the truth, or there must be none.
    y, scores, qid = _queries([found] * 20, n_rows=20)
    truth = 0.95 * float(found) + 0.05 * unseen
    try:
        interval = hr.interval(y, scores, measure=measure, qid=qid)
    except ValueError:
        return
    assert truth in interval


def test_rivals_are_told_apart_allowing_for_all_scorers_that_were_in_the_running():
    # A thousand scorers that know nothing; the best and the worst of them on these rows are handed in.
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 200)
    scores = rng.standard_normal((1000, y.size))
    aucs = scores.argsort(axis=1).argsort(axis=1)[:, :200].sum(axis=1)
    selection = hr.select({"best": scores[aucs.argmax()], "worst": scores[aucs.argmin()]}, y, n_scorers=1000)
    assert selection.not_told_apart == ("worst",)


def test_the_interval_of_a_selection_does_not_promise_all_ranges():
    # It holds for all scorers at once, of one measure: the union bound was not over ranges.
    selection = hr.select({"a": [4, 3, 2, 1, 0], "b": [4, 3, 2, 0, 1]}, [1, 1, 0, 1, 0], measure="pauc@0.5")
    assert "simultaneously for all ranges" not in str(selection.interval)
