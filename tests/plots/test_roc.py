"""RocDisplay draws what the measures say, and keeps the numbers."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.measures import (
    AUC,
    KS,
    EnrichmentFactor,
    FROCArea,
    LocalAUC,
    PartialAUC,
    PrecisionAt,
    StandardizedPartialAUC,
    TopFPR,
    TopTPR,
    TPRAtFPR,
    TwoWayPartialAUC,
)
from headrank.plots import RocDisplay

mpl.use("Agg")


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# -- data --------------------------------------------------------------------------------------------------------


def test_the_numbers_stay_on_the_object(curves):
    display = RocDisplay(curves)
    assert list(display.curves) == list(curves)
    frame = display.to_frame()
    assert frame.columns == ["name", "threshold", "fpr", "tpr"]
    for name, curve in curves.items():
        part = frame.filter(name=name)
        np.testing.assert_array_equal(part["fpr"], curve.fpr)
        np.testing.assert_array_equal(part["tpr"], curve.tpr)
        np.testing.assert_array_equal(part["threshold"], curve.thresholds)


def test_a_frame_may_mix_precisions():
    pair = {"a": RocCurve.from_scores([1, 0], np.float32([2, 1])), "b": RocCurve.from_scores([1, 0], [2.0, 1.0])}
    assert RocDisplay(pair).to_frame().height == 6


def test_one_curve_needs_no_name(curves):
    display = RocDisplay(curves["sum"]).plot()
    assert labels(display) == ["ROC curve", "chance"]
    np.testing.assert_allclose(display.lines_[0].get_xdata()[[0, -1]], [0, 1])


def test_plot_can_be_called_again_and_on_given_axes(curves):
    display = RocDisplay(curves)
    _, axes = plt.subplots(1, 2)
    assert display.plot(axes[0]) is display
    assert display.ax_ is axes[0]
    display.plot(ax=axes[1], max_fpr=0.1, chance=False)
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert display.chance_line_ is None
    assert len(display.lines_) == 3


def test_a_second_display_on_the_same_axes_has_other_colours(curves):
    first = RocDisplay(curves["sum"]).plot()
    second = RocDisplay(curves["noise"]).plot(first.ax_)
    assert first.lines_[0].get_color() != second.lines_[0].get_color()


# -- measures ----------------------------------------------------------------------------------------------------

AREAS = {
    AUC(): (0, 1),
    PartialAUC(max_fpr=0.2): (0, 0.2),
    StandardizedPartialAUC(min_fpr=0.1, max_fpr=0.3): (0.1, 0.3),
    FROCArea(1, 2, images_per_negative=0.1): (0.1, 0.2),
}


@pytest.mark.parametrize("measure", [*AREAS, LocalAUC(0.1), KS(), TPRAtFPR(0.1), EnrichmentFactor(10)], ids=str)
def test_the_legend_gives_the_value_of_the_measure(curves, measure):
    display = RocDisplay(curves).plot(measure=measure)
    for line, (name, curve) in zip(display.lines_, curves.items(), strict=True):
        start, value = line.get_label().rsplit(" = ", 1)
        assert start == f"{name}, {measure}"
        assert float(value) == pytest.approx(measure.value(curve), abs=5.1e-4, rel=5e-3)
    assert len(labels(display)) == 4


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("measure", "span"), AREAS.items(), ids=str)
def test_the_shade_spans_the_range_and_has_its_area(curves, measure, span, log):
    display = RocDisplay(curves).plot(measure=measure, log=log)
    left = display.ax_.get_xlim()[0] if log else 0.0
    for shade, curve in zip(display.shades_, curves.values(), strict=True):
        x, y = shade.get_paths()[0].vertices.T
        assert x.min() == pytest.approx(max(span[0], left))
        assert x.max() == pytest.approx(span[1])
        if not log:
            area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
            assert area == pytest.approx(curve.area(min_fpr=span[0], max_fpr=span[1]), abs=1e-3)


def test_the_two_way_shade_lies_above_its_floor(curves):
    measure = TwoWayPartialAUC(max_fpr=0.4, min_tpr=0.3)
    display = RocDisplay({"sum": curves["sum"]}).plot(measure=measure)
    x, y = display.shades_[0].get_paths()[0].vertices.T
    assert y.min() == pytest.approx(0.3)
    assert x.max() == pytest.approx(0.4)
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    assert area / (0.4 * 0.7) == pytest.approx(measure.value(curves["sum"]), abs=5e-3)


def test_a_curve_below_the_two_way_box_has_nothing_to_shade(curves):
    display = RocDisplay({"noise": curves["noise"]}).plot(measure=TwoWayPartialAUC(max_fpr=0.01, min_tpr=0.9))
    assert not any(path.vertices.size for path in display.shades_[0].get_paths())


def test_a_rate_at_a_rate_is_marked(curves):
    display = RocDisplay(curves).plot(measure=TPRAtFPR(0.1))
    assert display.shades_ == []
    for mark, curve in zip(display.points_, curves.values(), strict=True):
        np.testing.assert_allclose(mark.get_xydata(), [[0.1, curve.tpr_at(0.1)]])


def test_chance_is_named_with_its_value_where_it_has_one(curves):
    assert RocDisplay(curves).plot(measure=PartialAUC(max_fpr=0.2)).chance_line_.get_label() == (
        "chance, pauc@0.2 = 0.100"
    )
    assert RocDisplay(curves).plot(measure=LocalAUC(0.1)).chance_line_.get_label() == "chance, locauc@0.1 = 0.095"
    assert RocDisplay(curves).plot(measure=PrecisionAt(10)).chance_line_.get_label() == "chance"


# -- the best fraction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("top", [0.02, 0.1, 0.5, 0.9])
def test_one_control_line_passes_through_all_points(curves, top, log):
    display = RocDisplay(curves).plot(top=top, log=log)
    (line,) = display.control_line_
    assert line.get_label() == f"best {top} of all rows"
    x, y = line.get_data()
    p = curves["sum"].positive_rate
    mass = p * y + (1 - p) * x
    assert mass == pytest.approx(np.full(mass.size, top))
    for mark, curve in zip(display.points_, curves.values(), strict=True):
        alpha, beta = mark.get_xydata()[0]
        assert beta == TopTPR(top).value(curve)
        assert alpha == TopFPR(top).value(curve) or (log and alpha == display.ax_.get_xlim()[0])
        if alpha > display.ax_.get_xlim()[0]:
            assert np.interp(alpha, x, y) == pytest.approx(beta, abs=1e-3)


def test_ties_do_not_move_the_control_line(rows, scores):
    tied = {"fine": scores["sum"], "coarse": np.round(scores["sum"])}
    display = RocDisplay.from_predictions(rows[1], tied, top=0.1)
    (line,) = display.control_line_
    for mark in display.points_:
        alpha, beta = mark.get_xydata()[0]
        assert np.interp(alpha, *line.get_data()) == pytest.approx(beta)


def test_weights_do_not_split_the_control_line(rows, scores):
    weights = np.full(rows[1].size, 1 / rows[1].size)
    display = RocDisplay.from_predictions(rows[1], scores, sample_weight=weights, top=0.123, log=True)
    assert [line.get_label() for line in display.control_line_] == ["best 0.123 of all rows"]
    assert display.ax_.get_xlim()[0] == pytest.approx(0.5 / np.sum(rows[1] == 0))


# -- the window --------------------------------------------------------------------------------------------------


def test_the_whole_curve_is_square(curves):
    ax = RocDisplay(curves).plot().ax_
    assert ax.get_aspect() == 1
    assert ax.get_xlim() == ax.get_ylim() == (-0.01, 1.01)


def test_the_head_fills_the_picture(curves):
    display = RocDisplay(curves).plot(max_fpr=0.05)
    highest = max(line.get_ydata().max() for line in display.lines_)
    assert display.ax_.get_xlim() == (-0.0005, 0.05)
    assert display.ax_.get_ylim() == pytest.approx((-0.01 * highest, 1.04 * highest))
    assert display.ax_.get_aspect() == "auto"
    assert highest == pytest.approx(max(curve.tpr_at(0.05) for curve in curves.values()))


def test_a_head_without_positives_can_be_drawn():
    display = RocDisplay(RocCurve.from_scores([0] * 10 + [1], range(11, 0, -1))).plot(max_fpr=0.2)
    assert display.ax_.get_ylim()[1] > 0.2


@pytest.mark.parametrize("max_fpr", [None, 0.1])
def test_a_logarithmic_axis_has_no_rate_of_zero(curves, max_fpr):
    display = RocDisplay(curves).plot(
        log=True, max_fpr=max_fpr, measure=PartialAUC(max_fpr=0.2), top=0.001, chance=True
    )
    left = 0.5 / curves["sum"].n_neg
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlim() == pytest.approx((left, max_fpr or 1))
    for line in display.ax_.lines:
        assert np.all(line.get_xdata() >= left)
    for shade in display.shades_:
        assert np.all(shade.get_paths()[0].vertices[:, 0] >= left * (1 - 1e-12))
    np.testing.assert_allclose(*display.chance_line_.get_data())
    assert display.chance_line_.get_xdata().size > 50
    for line, curve in zip(display.lines_, curves.values(), strict=True):
        assert line.get_ydata()[0] == curve.tpr_at(left)


def test_a_head_curve_stops_where_it_is_known(curves):
    head = curves["sum"].head(n_neg=20)
    display = RocDisplay({"head": head}).plot(max_fpr=0.5, measure=PartialAUC(max_fpr=0.02))
    assert display.lines_[0].get_xdata()[-1] == head.fpr[-1]
    with pytest.raises(ShallowHeadError):
        RocDisplay({"head": head}).plot(measure=AUC())


def test_a_large_curve_makes_a_small_file():
    rng = np.random.default_rng(0)
    y = rng.random(300_000) < 0.1
    display = RocDisplay.from_predictions(y, y + rng.normal(size=y.size), measure=AUC(), log=True)
    assert display.lines_[0].get_xdata().size < 4_500
    with io.BytesIO() as file:
        display.figure_.savefig(file, format="svg")
        assert file.tell() < 200_000


# -- looks -------------------------------------------------------------------------------------------------------


def test_lines_differ_in_colour_and_style(curves):
    lines = RocDisplay({str(number): curves["sum"] for number in range(7)}).plot().lines_
    looks = [(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines]
    assert len({colour for colour, _ in looks}) == 6
    assert len(set(looks)) == 7


def test_styles_can_be_given_for_all_or_each(curves):
    lines = RocDisplay(curves).plot(curve_kwargs={"lw": 3}).lines_
    assert {line.get_linewidth() for line in lines} == {3}
    display = RocDisplay(curves).plot(curve_kwargs=[{"c": "red"}, {"label": "mine"}, {}], measure=AUC())
    assert display.lines_[0].get_color() == "red"
    assert "mine" in labels(display)
    assert mpl.colors.same_color(display.shades_[0].get_facecolor()[0, :3], "red")


def test_axes_are_labelled_and_the_frame_can_be_opened(rows, scores):
    words = np.where(rows[1] == 1, "spam", "ham")
    display = RocDisplay.from_predictions(words, scores, pos_label="spam", despine=True)
    assert display.ax_.get_xlabel() == "False positive rate (positive: spam)"
    assert display.ax_.get_ylabel() == "True positive rate (positive: spam)"
    assert not display.ax_.spines["top"].get_visible()
    assert RocDisplay(display.curves).plot().ax_.get_xlabel() == "False positive rate"


@pytest.mark.parametrize("max_fpr", [None, 0.1])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shifts", [(0, 0.1), (1, 1.1), (3, 3.1), (-2, 2), range(7)], ids=str)
def test_the_legend_covers_no_curve(shifts, log, max_fpr):
    rng = np.random.default_rng(0)
    y = rng.random(5_000) < 0.2
    scores = {f"model {shift}": shift * y + rng.normal(size=y.size) for shift in shifts}
    display = RocDisplay.from_predictions(y, scores, measure=PartialAUC(max_fpr=0.05), max_fpr=max_fpr, log=log)
    display.figure_.canvas.draw()
    box = display.ax_.get_legend().get_window_extent()
    for line in display.lines_:
        assert box.count_contains(display.ax_.transData.transform(line.get_xydata())) == 0


def test_a_head_fills_the_picture_without_being_asked(curves):
    heads = {name: curve.head(n_neg=5) for name, curve in curves.items()}
    display = RocDisplay(heads).plot()
    assert display.ax_.get_xlim()[1] == pytest.approx(max(head.fpr[-1] for head in heads.values()), rel=0.1)


def test_fpr_at_tpr_is_marked(curves):
    display = RocDisplay(curves).plot(measure="fpr@tpr=0.5")
    for point, curve in zip(display.points_, curves.values(), strict=True):
        assert (point.get_xdata()[0], point.get_ydata()[0]) == pytest.approx((curve.fpr_at(0.5), 0.5))
