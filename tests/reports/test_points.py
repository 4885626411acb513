"""Operating points, the table at the threshold, gains and precision-recall: compared with counting row by row."""

from dataclasses import replace

import numpy as np
import pytest

import headrank as hr
from headrank.bounds.band.gains import gains_limits
from headrank.bounds.band.precision import precision_limits
from headrank.reports import render_html, summarize
from headrank.reports.answer import confidence_per_model
from headrank.reports.geometry import chart_drawing
from headrank.training.goal import Goal
from reports.made_up import RESULTS, html_of, result_of, summary_of, training_result

ROWS = [name for name in RESULTS if not name.startswith("queries")]
REPRESENTATIVE = [
    name for name in ROWS if name != "grouped"
]  # one row per group, drawn by class: no share of positives


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_points_count_rows(name):
    made, points = result_of(name), summary_of(name).points.points
    y, scores = made.y, made.winner.scores
    order = np.argsort(-scores, kind="stable")
    assert [each.n_cases for each in points] == sorted({each.n_cases for each in points})
    for each in points:
        n, kth = each.n_cases, scores[order[each.n_cases - 1]]
        sure, tied = y[scores > kth].sum(), scores == kth
        found = sure + y[tied].sum() * (n - np.count_nonzero(scores > kth)) / np.count_nonzero(tied)
        assert each.found == pytest.approx(found)
        assert each.n_false == pytest.approx(n - found)
        assert (each.precision, each.recall) == (pytest.approx(found / n), pytest.approx(found / y.sum()))
        assert each.fpr == pytest.approx((n - found) / (~y).sum())
        assert each.at_least <= found
        share = y.mean()
        tpr, fpr = found / y.sum(), (n - found) / (~y).sum()
        assert each.lift == pytest.approx(found / n / share)
        assert each.npv == (None if n == y.size else pytest.approx(((~y).sum() - n + found) / (y.size - n)))
        assert each.lr_positive == (None if fpr == 0 else pytest.approx(tpr / fpr))
        assert each.lr_negative == (None if fpr == 1 else pytest.approx((1 - tpr) / (1 - fpr)))
        # The printed score makes the same cut, ties included.
        assert np.count_nonzero(scores >= float(each.score)) == np.count_nonzero(scores >= kth)
        assert each.tied == (np.count_nonzero(scores >= kth) > n)


@pytest.mark.parametrize("name", ["top", "fpr", "one_model", "ties"])
def test_the_limits_of_the_points_are_those_of_the_measure(name):
    made = result_of(name)
    curve = hr.RocCurve.from_scores(made.y, made.winner.scores)
    limits = gains_limits(curve, confidence=1 - (1 - made.confidence) / len(made.models))
    for each in summary_of(name).points.points:
        share = [each.n_cases / curve.n]
        of_top = limits.lower(share)[0] * curve.n
        low = of_top if made.goal.top is not None else limits.recall_lower(share)[0] * curve.n_pos
        assert each.at_least <= min(low, each.found) < each.at_least + 1


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_the_greatest_difference_of_the_rates_is_one_of_the_points(name):
    made = result_of(name)
    best = hr.best_cutoff(made.y, made.winner.scores, n_replicates=0)
    marked = [each for each in summary_of(name).points.points if each.is_youden]
    assert [each.n_cases for each in marked] == [best.n_flagged] * (best.n_flagged > 0)


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_the_goal_is_one_of_the_points(name):
    made, answer = result_of(name), summary_of(name).answer
    goals = [each for each in summary_of(name).points.points if each.is_goal]
    if not answer.n_cases:
        assert goals == []
        return
    assert [each.n_cases for each in goals] == [answer.n_cases]
    if made.goal.top is not None:
        assert round(goals[0].found) == answer.expected


def test_drawn_by_class_there_are_no_shares_of_cases():
    summary = summary_of("grouped")
    assert (summary.points, summary.gains, summary.precision_recall) == (None, None, None)
    assert "Cases found" not in [each.about for each in summary.promises]
    assert summary_of("grouped_top").gains is not None


@pytest.mark.parametrize("name", ROWS)
def test_the_confusion_table_counts_all_rows_once(name):
    made, table = result_of(name), summary_of(name).confusion
    assert table.tp + table.fn == made.y.sum()
    assert table.fp + table.tn == (~made.y).sum()
    assert table.certified == (made.threshold is not None)
    if made.threshold is not None:
        flagged = made.threshold.flags(made.winner.scores)
        assert (table.tp, table.fp) == (np.count_nonzero(flagged & made.y), np.count_nonzero(flagged & ~made.y))
    if table.tp + table.fp:
        cut = float(table.words.split("score at least ")[1].split(" ")[0])
        assert np.count_nonzero(made.winner.scores >= cut) == table.tp + table.fp


def test_a_threshold_that_flags_nothing():
    y = np.arange(200) % 2 == 0
    summary = summarize(training_result(Goal(max_fpr=0.1), y, {"ranker": np.zeros(200)}))
    assert (summary.confusion.tp, summary.confusion.fp) == (0, 0)
    assert "no case scores so high" in summary.confusion.words
    assert "100 of 100 default cases are missed" in summary.confusion.words


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_the_gains_are_drawn_on_the_counts_and_within_the_band(name):
    made, chart = result_of(name), summary_of(name).gains
    scores = np.sort(made.winner.scores)[::-1]
    line, band = chart.lines[-1], chart.band
    assert line.picked
    curve = hr.RocCurve.from_scores(made.y, made.winner.scores)
    for x, y in zip(line.x, line.y, strict=True):
        assert y == pytest.approx(curve.tp_in_first(min(x, scores.size)), abs=1e-3)
    limits = gains_limits(curve, confidence=1 - (1 - made.confidence) / len(made.models))
    x = np.linspace(0, chart.right, 2003)
    shares = np.minimum(x / curve.n, 1)
    if made.goal.top is not None:
        lower, upper = limits.lower(shares) * curve.n, limits.upper(shares) * curve.n
    else:
        lower, upper = limits.recall_lower(shares) * curve.n_pos, limits.recall_upper(shares) * curve.n_pos
        upper = np.minimum(upper, x)
    assert np.all(np.interp(x, band.x, band.upper) >= upper - 1e-9)
    assert np.all(np.interp(x, band.x, band.lower) <= lower + 1e-9)
    own = np.interp(x, curve.fp + curve.tp, curve.tp)
    assert np.all(np.interp(x, band.x, band.upper) >= own - 1e-9)
    assert np.all(np.interp(x, band.x, band.lower) <= own + 1e-9)
    assert max(line.y) <= chart.top * (1 + 1e-9)


@pytest.mark.parametrize("name", ["queries", "queries_top"])
def test_with_queries_the_gains_are_means_of_recall(name):
    made, chart = result_of(name), summary_of(name).gains
    assert chart.shares
    assert chart.band is None
    assert (chart.mark is not None) == (made.goal.top is not None)
    line = chart.lines[-1]
    for at in (50, 120, 200):
        mean = hr.RecallAt(float(line.x[at]))(made.y, made.winner.scores, qid=made.qid)
        assert line.y[at] == pytest.approx(float(mean), abs=1e-5)
    first = summary_of(name).points.points[0]
    assert first.n_cases == 1
    assert first.found == pytest.approx(first.precision)
    assert first.precision == pytest.approx(float(hr.PrecisionAt(1)(made.y, made.winner.scores, qid=made.qid)))
    assert summary_of(name).confusion is None


@pytest.mark.parametrize("name", ["top", "ties", "separated", "tiny"])
def test_precision_and_recall_are_those_of_the_first_rows(name):
    made, chart = result_of(name), summary_of(name).precision_recall
    curve = hr.RocCurve.from_scores(made.y, made.winner.scores)
    line = chart.lines[-1]
    for recall, precision in zip(line.x, line.y, strict=True):
        hits = recall * curve.n_pos
        n = hits / precision
        assert curve.tp_in_first(min(n, curve.n)) == pytest.approx(hits, abs=2e-3 * curve.n_pos)
    assert line.x[-1] == 1
    assert chart.chance.y == (pytest.approx(curve.positive_rate),) * 2


@pytest.mark.parametrize("name", ["top", "ties", "separated", "tiny"])
def test_the_band_of_the_precision_never_cuts_into_the_limits(name):
    made, band = result_of(name), summary_of(name).precision_recall.band
    curve = hr.RocCurve.from_scores(made.y, made.winner.scores)
    limits = precision_limits(curve, confidence=confidence_per_model(made))
    between = np.linspace(0, 1, 1777)[1:]
    assert np.all(np.interp(between, band.x, band.lower) <= limits.lower(between))
    assert np.all(np.interp(between, band.x, band.upper) >= limits.upper(between))
    inside = between[between > 0.1]
    assert np.mean(np.interp(inside, band.x, band.lower)) == pytest.approx(limits.lower(inside).mean(), abs=0.01)
    assert np.mean(np.interp(inside, band.x, band.upper)) == pytest.approx(limits.upper(inside).mean(), abs=0.01)


def test_axes_of_counts_have_whole_ticks():
    for name in ("top", "tiny", "less_than_a_case", "large_head"):
        drawing = chart_drawing(summary_of(name).gains)
        for tick in (*drawing.x_ticks, *drawing.y_ticks):
            assert float(tick.label.replace(",", "")).is_integer()


def test_the_main_chart_follows_the_goal_and_the_others_are_a_click_away():
    top, fpr = html_of("top"), html_of("fpr")
    for page, main, beside in (
        (top, "How many default cases", ("Table of operating points", "ROC curve", "Precision and recall")),
        (fpr, "The head of the ROC curve", ("Table of operating points", "Cases looked at", "Precision and recall")),
    ):
        head, rest = page.split('<section aria-labelledby="h-main">')[1].split("<details>", 1)
        assert main in head
        assert "<svg" in head
        for each in beside:
            assert f"<summary>{each}" in f"<details>{rest}"


def test_commands_do_not_break_inside_options():
    made = result_of("top")
    command = "headrank fit credit.csv --positive-name default --max-minutes 3 --top 0.05 --out result"
    warned = replace(
        made, provenance=replace(made.provenance, command=command), warnings=("Leave it out with --drop.",)
    )
    page = render_html(summarize(warned))
    for part in ("headrank fit credit.csv", "--positive-name default", "--max-minutes 3", "--out result"):
        assert f'<span class="part">{part}</span>' in page
    assert '<span class="part">--drop</span>' in page
