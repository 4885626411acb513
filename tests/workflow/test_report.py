"""hr.report: the same numbers as the library, for scores from anywhere."""

import json

import numpy as np
import pytest

import headrank as hr
from headrank.datasets import Binormal
from headrank.exceptions import InvalidSampleError

Y, SCORES = Binormal(separation=2.0, positive_rate=0.1).sample_scores(1500, random_state=0)


def test_the_numbers_are_those_of_the_library():
    report = hr.report(Y, SCORES, top=0.1, positive_name="fraud")
    answer = report.summary.answer
    bound = hr.interval(Y, SCORES, measure="p@0.1", side="lower")
    assert (answer.estimate, answer.bound.low) == (bound.estimate, bound.low)  # one scorer: no selection to pay for
    assert str(report).startswith(
        f"The scorer finds {round(150 * bound.estimate)} of {Y.sum()} frauds in the first 150"
    )
    threshold = hr.threshold_at(Y, SCORES, top=0.1)
    assert report.summary.threshold.value == threshold.value
    for row in report.summary.measures.rows:
        interval = hr.interval(Y, SCORES, measure=row.measure)
        assert (row.low, row.estimate, row.high) == (interval.low, interval.estimate, interval.high)
    assert [row.measure for row in report.summary.measures.rows] == ["auc", "locauc@0.1", "p@0.1", "r@0.1"]


def test_of_several_scorers_the_best_is_certified_and_pays():
    noise = np.random.default_rng(1).normal(size=Y.size)
    report = hr.report(Y, {"old": SCORES + 2 * noise, "new": SCORES}, fpr=(0.01, 0.1))
    assert report.summary.picked == "new"
    chosen = hr.select({"old": SCORES + 2 * noise, "new": SCORES}, Y, measure="pauc@0.01:0.1")
    by_name = {each.name: each for each in report.summary.entrants}
    assert by_name["new"].low == chosen.intervals["new"].low
    paid = hr.interval(Y, SCORES, measure="tpr@fpr=0.1", confidence=0.975, side="lower")
    assert report.summary.answer.bound.low == paid.low
    assert "“new” finds" in str(report)


def test_files_text_json_and_notebooks(tmp_path):
    report = hr.report(Y, SCORES, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert report.html == hr.report(Y, SCORES).html  # same input, same bytes
    assert len(report.html) < 200_000
    numbers = json.loads(report.json)
    assert numbers["data"]["holdout"]["kind"] == "scores"
    assert numbers["goal"]["max_fpr"] == 0.05
    assert "Drivers" not in report.text
    assert "What drives the score" not in report.text + report.html
    assert "the holdout" not in report.text
    assert "holdout" not in report.html.replace(report.html.split("<body>")[0], "")
    assert report._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert repr(report).startswith("<Report: With ")


def test_queries_groups_measures_and_labels():
    qid = np.arange(Y.size) % 50
    report = hr.report(np.where(Y, "bad", "good"), SCORES, top=0.2, qid=qid, pos_label="bad")
    assert "of a query's results are bad results, on average over" in str(report)
    assert report.summary.confusion is None
    halves = np.where(np.arange(Y.size) % 2, "a", "b")
    rows = hr.report(Y, SCORES, measures=["ks", "auc", "ks"], groups=halves).summary.measures.rows
    assert [(row.group, row.measure) for row in rows] == [(g, m) for g in ("", "a", "b") for m in ("ks", "auc")]
    half = halves == "a"
    assert rows[3].low == hr.interval(Y[half], SCORES[half]).low
    one_class = hr.report(Y, SCORES, groups=np.where(Y, "p", halves)).summary.measures.rows
    assert {row.group for row in one_class} == {""}  # groups of one class are not measured


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"fpr": 0.1, "top": 0.1}, TypeError, "one of fpr and top"),
        ({"fpr": (0.1,)}, TypeError, "pair of rates"),
        ({"fpr": "0:0.1"}, TypeError, "pair of rates"),
        ({"top": 0.0}, ValueError, "top"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"positive_name": "a/b/c"}, ValueError, "noun"),
        ({"scores": {}}, ValueError, "at least one scorer"),
        ({"scores": SCORES[:-1]}, ValueError, "1,?499"),
        ({"scores": np.full(Y.size, np.nan)}, ValueError, "finite|NaN|nan"),
        ({"y": np.ones(Y.size)}, ValueError, "class"),
        ({"groups": ["a"]}, InvalidSampleError, "one value per row"),
        ({"measures": ["no such"]}, ValueError, "no such"),
    ],
)
def test_what_is_wrong_is_refused(arguments, error, words):
    given = {"y": Y, "scores": SCORES} | arguments
    with pytest.raises(error, match=words):
        hr.report(**given)
