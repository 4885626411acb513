"""The holdout split in two, as an example of a promise: its numbers, its words, and when there is none."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import headrank as hr
from headrank.reports import render_html, render_json, render_text, summarize
from headrank.reports.example_list import example_lists_of
from headrank.training.goal import Goal
from headrank.training.holdout_scores import holdout_scores_of
from reports.made_up import result_of, summary_of, three, training_result


def separated(n_pos=120, n_neg=2400, separation=3.0, seed=0, goal=None):
    """A holdout on which three scorers separate the classes well."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_pos + n_neg) < n_pos)
    scores = rng.normal(size=y.size) + separation * y
    return training_result(goal or Goal(max_fpr=0.05), y, three(y, scores, (0.0, 0.3, 0.6)))


def test_one_half_is_certified_from_the_other_with_the_winners_share_of_the_risk():
    result = separated()
    part, rows = example_lists_of(result), holdout_scores_of(result)
    assert part.n_neg + part.n_new < rows.scores.size
    order = np.random.default_rng([result.provenance.random_state, 3]).permutation(rows.scores.size)
    old, new = order[: order.size // 2], order[order.size // 2 :]
    expected = hr.certify_list(rows.positive[old], rows.scores[old], rows.scores[new], confidence=1 - 0.05 * rows.share)
    truth = np.cumsum(rows.positive[new][expected.order])
    assert [each.k for each in part.lists] == [10, 20, 50, 100]
    for each in part.lists:
        assert each.at_least == expected.at_least(each.k)
        assert each.found == truth[each.k - 1]
    assert part.lists[-1].at_least > 10
    assert part.kept == bool(np.all(truth >= expected.promised))
    assert f"({part.n_neg:,} negatives)" in part.words
    assert "the selection among 3 models accounted for" in part.words
    assert "not a test of the assumption" in part.outcome
    assert example_lists_of(result) == part


def test_it_is_in_every_form_of_the_report():
    summary = summarize(separated())
    text, page = render_text(summary), render_html(summary)
    for each in summary.example_lists.lists:
        assert [f"{each.k}", f"{each.at_least}", f"{each.likely:.1f}", f"{each.found}"] in map(
            str.split, text.splitlines()
        )
    for words in ("What is promised of a new list", "promised positive", "truly positive"):
        assert words in text
        assert words in page
    assert json.loads(render_json(summary))["example_lists"]["lists"][0]["k"] == 10


@pytest.mark.slow
def test_it_is_kept_in_nearly_all_splits():
    kept = [example_lists_of(separated(n_pos=60, n_neg=300, seed=seed)).kept for seed in range(40)]
    assert kept.count(False) <= binom.ppf(1 - 1e-6, 40, 0.05)


def test_nothing_promised_says_why():
    part = example_lists_of(separated(n_pos=40, n_neg=60, separation=0.0))
    assert part.lists[-1].at_least == 0
    assert "No list with a precision of 0.5 can be promised" in part.outcome
    assert "kept" not in part.outcome


def test_a_broken_promise_is_called_one():
    for seed in range(400):
        part = example_lists_of(replace(separated(n_pos=60, n_neg=300, seed=seed), confidence=0.3))
        if not part.kept:
            break
    assert "the promise was broken for" in part.outcome
    assert "up to 70 % of all lists" in part.outcome


@pytest.mark.parametrize("name", ["queries", "grouped", "timed", "top"])
def test_other_holdouts(name):
    part = summary_of(name).example_lists
    assert (part is None) == (result_of(name).qid is not None)
    if part is not None:
        assert part.n_new >= 20


def test_few_rows_and_one_class_have_no_example():
    assert example_lists_of(separated(n_pos=10, n_neg=20)) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert example_lists_of(separated(n_pos=300, n_neg=30, goal=Goal(top=0.2))) is not None
