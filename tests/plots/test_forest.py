"""ForestDisplay draws intervals as they are, and shows which of them are asymptotic."""

import io
from dataclasses import replace

import pytest
from matplotlib import pyplot as plt

from headrank.bounds.fixed.auc import hoeffding, kl, mcdiarmid
from headrank.curve import RocCurve
from headrank.measures import PartialAUC, PrecisionAt
from headrank.plots.forest import ForestDisplay


@pytest.fixture
def curve(curves):
    return curves["sum"]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def numbers(display):
    return [text.get_text() for text in display.ax_.child_axes[0].get_yticklabels()]


def test_a_row_is_an_interval(curves):
    intervals = {name: kl(curve) for name, curve in curves.items()}
    display = ForestDisplay(intervals)
    assert display.plot() is display
    assert names(display) == list(curves)
    for row, (line, point, interval) in enumerate(
        zip(display.lines_, display.points_, intervals.values(), strict=True)
    ):
        assert line.get_xydata().tolist() == [[interval.low, row], [interval.high, row]]
        assert point.get_xydata().tolist() == [[interval.estimate, row]]
        assert numbers(display)[row] == f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"
    assert display.ax_.get_xlabel() == "auc, 95 % confidence, method kl"
    assert display.ax_.yaxis_inverted()


def test_asymptotic_intervals_look_different_and_the_legend_says_so(curve):
    finite = kl(curve)
    display = ForestDisplay({"a": finite, "b": replace(finite, finite_sample=False, method="delong"), "c": finite})
    display.plot()
    assert legend(display) == ["any sample size", "asymptotic", "chance, 0.500"]
    solid, dashed, _ = display.lines_
    assert solid.get_linestyle() == "-"
    assert dashed.get_linestyle() == "--"
    assert solid.get_color() != dashed.get_color()
    full, hollow, _ = display.points_
    assert full.get_markerfacecolor() == full.get_color()
    assert hollow.get_markerfacecolor() == "white"
    assert [text.rsplit(", ")[-1] for text in numbers(display)] == ["kl", "delong", "kl"]
    assert "kl" not in display.ax_.get_xlabel()
    assert "asymptotic" not in legend(ForestDisplay({"a": finite}).plot())


def test_chance_is_one_line_if_all_rows_share_it(curve):
    (line,) = ForestDisplay({"a": kl(curve), "b": mcdiarmid(curve)}).plot().chance_lines_
    assert list(line.get_xdata()) == [0.5, 0.5]
    assert list(line.get_ydata()) == [0, 1]  # of the height of the axes


def test_chance_is_marked_row_by_row_where_the_measures_differ(curve):
    interval = kl(curve)
    partial = replace(interval, measure=PartialAUC(max_fpr=0.1), low=0.1, estimate=0.2, high=0.3)
    local = replace(interval, measure=PrecisionAt(10))
    assert local.measure.chance is None
    display = ForestDisplay({"a": interval, "b": local, "c": partial}).plot()
    assert names(display) == ["a, auc", "b, p@10", "c, pauc@0.1"]
    assert [line.get_xdata()[0] for line in display.chance_lines_] == pytest.approx([0.5, 0.05])
    assert [round(sum(line.get_ydata()) / 2) for line in display.chance_lines_] == [0, 2]
    assert legend(display) == ["any sample size", "chance"]
    assert ForestDisplay({"b": local}).plot().chance_lines_ == []


@pytest.mark.parametrize(("side", "arrow", "words"), [("lower", ">", "at least"), ("upper", "<", "at most")])
def test_an_end_that_is_not_promised_is_an_arrow(curve, side, arrow, words):
    interval = kl(curve, side=side)
    display = ForestDisplay({"a": interval, "b": hoeffding(curve, confidence=0.9)}).plot()
    markers = {line.get_marker(): line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() in "<>"}
    assert markers == {arrow: interval.high if side == "lower" else interval.low}
    end = interval.low if side == "lower" else interval.high
    assert numbers(display)[0] == f"{interval.estimate:.3f} ({words} {end:.3f}), 95 %, kl"
    assert numbers(display)[1].endswith("), 90 %, hoeffding")
    assert display.ax_.get_xlabel() == "auc"


@pytest.mark.parametrize("n_rows", [1, 2, 30])
@pytest.mark.parametrize("name", ["a", "a scorer whose name is as long as names of scorers sometimes are"])
def test_texts_leave_room_for_the_intervals(curve, n_rows, name):
    display = ForestDisplay({f"{name} {i}": kl(curve) for i in range(n_rows)}).plot()
    display.figure_.savefig(io.BytesIO())
    inches = display.ax_.get_window_extent().transformed(display.figure_.dpi_scale_trans.inverted())
    assert inches.width > 2.5
    assert inches.height / n_rows > 0.25
    box = display.ax_.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= display.figure_.bbox.x1


def test_given_axes_are_used(curve):
    _, axes = plt.subplots(1, 2)
    display = ForestDisplay({"a": kl(curve)}).plot(axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert not axes[0].lines


def test_perfect_rankings_are_drawn_whole():
    perfect = RocCurve.from_scores([1, 0] * 20, [1, 0] * 20)
    display = ForestDisplay({"a": kl(perfect)}).plot()
    assert not display.points_[0].get_clip_on()


def test_the_numbers_stay_on_the_object(curves):
    display = ForestDisplay({name: kl(curve) for name, curve in curves.items()})
    frame = display.to_frame()
    assert frame["name"].to_list() == list(curves)
    assert frame["low"].to_list() == [interval.low for interval in display.intervals.values()]


def test_refusals():
    with pytest.raises(ValueError, match="at least one interval"):
        ForestDisplay({})
    with pytest.raises(TypeError, match="expected an Interval for 'a', got float"):
        ForestDisplay({"a": 0.5})
    assert not plt.get_fignums()
