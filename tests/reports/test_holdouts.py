"""What the report says of groups, times and given holdouts."""

import json

import numpy as np
import pytest

import headrank as hr
from headrank.reports import render_brief, render_html, render_json, render_text, summarize
from headrank.reports.by_period import fall_p_value
from reports.made_up import html_of, result_of, summary_of, timed


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("top", "if new rows are drawn like these"),
        ("queries", "if new queries are drawn like these"),
        ("grouped", "for new patients"),
        ("timed", "if the next period is like the last"),
        ("given_holdout", "if new rows are drawn like those of later.csv"),
    ],
)
def test_the_first_sentence_names_its_assumption(name, said):
    summary = summary_of(name)
    assert summary.assumption == said
    assert f"with 95 % confidence, {said})." in summary.answer.sentences[0]
    assert said in html_of(name).split("</h1>")[1].split("</b>")[0]  # in bold, right below the headline


def test_groups_are_measured_on_all_their_rows_too():
    made, part = result_of("grouped"), summary_of("grouped").all_rows
    assert (part.n_rows, part.n_groups, part.group) == (2000, 400, "patient")
    rows = made.winner.all_rows.sample
    for each, measure in zip(part.measures, (made.goal.measure, made.goal.headline), strict=True):
        assert each.estimate == measure(rows.positive, rows.scores)
        paid = 1 - (1 - made.confidence) / 3
        interval = hr.interval(
            rows.positive, rows.scores, measure=measure, method="bootstrap", clusters=made.groups,
            confidence=paid, n_replicates=1000, random_state=0,
        )  # fmt: skip
        assert (each.low, each.high) == (interval.low, interval.high)
        assert each.high - each.low > hr.interval(
            rows.positive, rows.scores, measure=measure, method="bootstrap", confidence=paid, random_state=0
        ).width  # fmt: skip
    sentences = " ".join(summary_of("grouped").answer.sentences)
    assert "count one row per patient and hold for any number of them" in sentences
    assert "cluster bootstrap: asymptotic" in sentences
    assert part.words in render_text(summary_of("grouped")).replace("\n", " ")
    assert summary_of("top").all_rows is None


def test_periods_divide_the_holdout_and_their_limits_hold_together():
    made, part = result_of("timed"), summary_of("timed").periods
    assert len(part.periods) == 5
    assert sum(each.n_rows for each in part.periods) == made.y.size
    assert sum(each.n_pos for each in part.periods) == made.y.sum()
    assert part.periods[0].first == "2024-03-01"
    assert [each.last < later.first for each, later in zip(part.periods, part.periods[1:], strict=False)] == [True] * 4
    rows = (made.times >= np.datetime64(part.periods[1].first)) & (made.times <= np.datetime64(part.periods[1].last))
    paid = 1 - (1 - made.confidence) / 3 / 5
    alone = hr.interval(made.y[rows], made.winner.scores[rows], measure=made.goal.measure, confidence=paid)
    assert (part.periods[1].low, part.periods[1].estimate, part.periods[1].high) == (
        alone.low,
        alone.estimate,
        alone.high,
    )


def test_a_fall_is_said_first_and_its_absence_beside_the_table():
    falling, steady = summary_of("timed"), summary_of("timed_top")
    assert falling.periods.falls
    assert "falls over the holdout, from 0." in falling.answer.sentences[-1]
    assert not steady.periods.falls
    assert "is not significant" in steady.periods.words
    assert not any("over the holdout" in each for each in steady.answer.sentences)
    for text in (render_brief(falling), render_text(falling)):
        assert "By period\n---------" in text
    assert "2024-03-01 to 2024-03-1" in render_html(falling)


def test_few_rows_have_no_periods():
    assert summarize(timed(n=100)).periods is None


def test_the_p_value_of_a_fall_is_that_of_a_weighted_line():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    values, errors = rng.random(4), rng.random(4) + 0.1
    design = np.c_[np.ones(4), np.arange(4)] / errors[:, None]
    covariance = np.linalg.inv(design.T @ design)
    slope = (covariance @ design.T @ (values / errors))[1]
    assert fall_p_value(values, errors) == pytest.approx(norm.cdf(slope / covariance[1, 1] ** 0.5))


def test_the_result_has_where_the_holdout_came_from():
    result = json.loads(render_json(summary_of("given_holdout")))
    assert result["data"]["holdout"]["test_sha256"] == "ab" * 32
    assert result["split"].startswith("The holdout is later.csv; the models were trained on all rows of credit.csv.")
    assert "ab" * 32 in html_of("given_holdout")
    assert "ab" * 32 in render_text(summary_of("given_holdout"))
    assert "part</b> assigns the folds" in html_of("given_holdout")
    assert json.loads(render_json(summary_of("timed")))["periods"]["falls"] is True
