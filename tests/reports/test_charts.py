"""What the charts show: lines on the curve, a band that is never narrower than the certified one, honest histograms."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank.reports import charts, summarize
from headrank.reports.charts import control_of
from headrank.reports.geometry import SIDE, bars, forest, histogram_drawing, roc_drawing, ticks
from headrank.training.goal import Goal
from reports.made_up import RESULTS, result_of, summarized, summary_of, training_result

WITHOUT_QUERIES = pytest.mark.parametrize("name", [name for name in RESULTS if not name.startswith("queries")])


def winner_curve(name):
    made = result_of(name)
    return hr.RocCurve.from_scores(made.y, made.winner.scores)


def points(path):
    """The points of a path of straight lines, in the units of the square."""
    return np.array(
        [[float(number) for number in point.split(" ")] for point in re.split("[ML]", path.rstrip("Z"))[1:]]
    )


@WITHOUT_QUERIES
def test_the_drawn_band_holds_the_certified_one(name):
    made, chart = result_of(name), summary_of(name).roc
    paid = 1 - (1 - made.confidence) / len(made.models)
    certified = hr.band(winner_curve(name), confidence=paid)
    x = np.linspace(0, chart.right, 5003)
    upper, lower = certified.upper_at(x), certified.lower_at(x)
    assert np.all(np.interp(x, chart.band.fpr, chart.band.upper) >= upper - 1e-12)
    assert np.all(np.interp(x, chart.band.fpr, chart.band.lower) <= lower + 1e-12)
    # And still on paper, where coordinates have few digits.
    drawn = points(roc_drawing(chart).band)
    half = len(drawn) // 2
    above, below = drawn[:half], drawn[half:][::-1]
    at = np.linspace(0, SIDE, 2001)
    in_rates = at / SIDE * chart.right
    assert np.all(np.interp(at, *above.T) <= SIDE * (1 - certified.upper_at(in_rates)) + 1e-6)
    assert np.all(np.interp(at, *below.T) >= SIDE * (1 - certified.lower_at(in_rates)) - 1e-6)
    # Not so wide as to say nothing: by no more than the band rises within two cells.
    cell = chart.right / (len(chart.band.fpr) - 1)
    assert np.all(
        np.interp(x, chart.band.fpr, chart.band.upper) <= certified.upper_at(np.minimum(x + 2 * cell, 1)) + 1e-5
    )


@WITHOUT_QUERIES
def test_the_winner_is_drawn_on_its_curve_and_last(name):
    chart, curve = summary_of(name).roc, winner_curve(name)
    line = chart.lines[-1]
    assert line.picked
    assert [each.picked for each in chart.lines].count(True) == 1
    true = np.column_stack([curve.fpr, curve.tpr])
    for x, y in zip(line.fpr, line.tpr, strict=True):
        low = max(np.interp(x - 1e-6, *true.T), 0) if x > 0 else 0
        assert low - 2e-6 <= y <= curve.tpr_at(min(x + 1e-6, 1)) + 2e-6
    assert line.fpr[0] == 0
    assert line.fpr[-1] == pytest.approx(chart.right)


@pytest.mark.parametrize("name", ["queries", "queries_top"])
def test_with_queries_the_mean_curve_is_drawn_without_a_band(name):
    made, chart = result_of(name), summary_of(name).roc
    assert chart.band is None
    assert chart.control_line is None
    line = chart.lines[-1]
    middle = len(line.fpr) // 2
    mean = hr.TPRAtFPR(line.fpr[middle])(made.y, made.winner.scores, qid=made.qid)
    assert line.tpr[middle] == pytest.approx(float(mean), abs=1e-5)


@pytest.mark.parametrize("name", ["top", "ties", "one_model"])
def test_the_control_line_holds_the_points_with_that_many_rows(name):
    made, chart = result_of(name), summary_of(name).roc
    n_pos = made.y.sum()
    for x, y in chart.control_line:
        assert y * n_pos + x * (made.y.size - n_pos) == pytest.approx(made.goal.top * made.y.size)
    assert chart.shaded is None


def test_the_range_that_matters_is_shaded():
    assert summary_of("inner_range").roc.shaded == (0.02, 0.1)
    assert summary_of("inner_range").roc.control_line is None
    assert summary_of("inner_range").roc.right >= 0.25


@pytest.mark.parametrize("name", RESULTS)
def test_histograms_count_every_row_once(name):
    made, histogram = result_of(name), summary_of(name).histogram
    assert sum(histogram.pos_shares) == pytest.approx(1)
    assert sum(histogram.neg_shares) == pytest.approx(1)
    edges = np.array(histogram.edges)
    inner = edges[len(edges) // 2]
    above = np.mean(made.winner.scores[made.y] >= inner)
    assert sum(histogram.pos_shares[len(edges) // 2 :]) == pytest.approx(above)


def test_scores_that_are_all_the_same_still_make_a_histogram():
    y = np.arange(100) % 4 == 0
    histogram = summarize(training_result(Goal(max_fpr=0.5), y, {"ranker": np.full(100, 3.0)})).histogram
    assert histogram.edges[0] < 3 < histogram.edges[-1]
    assert max(histogram.pos_shares) == 1


def test_one_far_off_row_does_not_squeeze_the_histogram():
    made = result_of("top")
    far = made.winner.scores.copy()
    far[0] = 1e6
    histogram = summarize(training_result(made.goal, made.y, {"ranker": far})).histogram
    assert histogram.edges[-1] < 100


def test_a_control_that_would_be_too_long_is_cut_even_inside_the_goal(monkeypatch):
    made = result_of("fpr")
    curve = winner_curve("fpr")
    monkeypatch.setattr(charts, "MOST_LEVELS", 50)
    wanted = control_of(made, [curve])
    assert wanted.max_fpr >= made.goal.max_fpr  # more scores than usual, for the goal
    assert len(wanted.curves[0].scores) < curve.scores.size
    monkeypatch.setattr(charts, "MOST_LEVELS_FOR_GOAL", 100)
    short = control_of(made, [curve])
    assert len(short.curves[0].scores) == 100
    assert short.start_max_fpr == short.max_fpr < made.goal.max_fpr
    monkeypatch.setattr(charts, "MOST_LEVELS_FOR_GOAL", 3)
    assert "no interactive figure" in control_of(made, [curve])


def test_queries_with_too_many_scores_have_no_control(monkeypatch):
    monkeypatch.setattr(charts, "MOST_LEVELS_FOR_GOAL", 100)
    summary = summarized(result_of("queries"))
    assert summary.control is None
    assert "more than the 100" in summary.no_control


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_lie_on_the_axis_where_their_labels_say(low, length):
    high = low + length
    if not low < high:
        return
    for tick in ticks(low, high):
        assert -0.01 <= float(tick.at) <= 100.01
        place = (float(tick.label) - low) / (high - low)
        assert 100 * place == pytest.approx(float(tick.at), abs=0.01 + 100 * 1e-5 * max(abs(low), abs(high)) / length)


def test_forest_and_bars_keep_proportions():
    summary = summary_of("top")
    rows = forest(summary.entrants).rows
    scale = float(rows[0].width) / (summary.entrants[0].high - summary.entrants[0].low)
    for row, each in zip(rows, summary.entrants, strict=True):
        assert float(row.width) == pytest.approx(scale * (each.high - each.low), abs=0.01)
        assert float(row.estimate) - float(row.low) == pytest.approx(scale * (each.estimate - each.low), abs=0.01)
    placed = bars(summary.drivers.coefficients)
    for bar, each in zip(placed, summary.drivers.coefficients, strict=True):
        edge = float(bar.left) if each.value > 0 else float(bar.left) + float(bar.width)
        assert edge == pytest.approx(50, abs=0.01)


def test_the_threshold_is_marked_where_it_lies():
    histogram = summary_of("top").histogram
    low, high = histogram.edges[0], histogram.edges[-1]
    assert low < histogram.threshold < high
    mark = float(histogram_drawing(histogram).threshold)
    assert mark == pytest.approx(100 * (histogram.threshold - low) / (high - low), abs=0.01)
