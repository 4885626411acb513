"""The band on a RocDisplay: it is drawn as computed, and the legend names the guarantee."""

import numpy as np
import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

import headrank as hr
from headrank.bounds.fixed.fixed_range import at_point
from headrank.exceptions import ShallowHeadError
from headrank.measures import TPRAtFPR
from headrank.plots import RocDisplay

SIMULTANEOUS = "95 % confidence, whole curve (simultaneous)"
POINTWISE = "95 % confidence, each rate separately (pointwise)"


@pytest.fixture
def curve(curves):
    return curves["sum"]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def edges(band):
    """Rates, lower and upper edge of what was tinted: matplotlib goes along the lower edge and back the upper one."""
    (path,) = band.get_paths()
    n = (len(path.vertices) - 3) // 2
    lower, upper = path.vertices[1 : n + 1], path.vertices[n + 2 : 2 * n + 2][::-1]
    assert np.array_equal(lower[:, 0], upper[:, 0])
    return lower[:, 0], lower[:, 1], upper[:, 1]


OPTIONS = [{}, {"max_fpr": 0.2}, {"log": True}, {"log": True, "max_fpr": 0.1}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("confidence", [0.95, 0.5])
def test_a_simultaneous_band_is_that_of_the_whole_curve(curve, options, confidence):
    display = RocDisplay(curve).plot(band="simultaneous", confidence=confidence, **options)
    fpr, lower, upper = edges(*display.bands_)
    around = hr.band(curve, confidence=confidence)
    np.testing.assert_array_equal(lower, around.lower_at(fpr))
    np.testing.assert_array_equal(upper, around.upper_at(fpr))
    assert fpr.size >= 500


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_pointwise_band_is_an_interval_at_each_rate(curve, options):
    fpr, lower, upper = edges(*RocDisplay(curve).plot(band="pointwise", confidence=0.9, **options).bands_)
    for x, low, high in list(zip(fpr, lower, upper, strict=True))[::7]:
        interval = at_point(curve, TPRAtFPR(x), confidence=0.9)
        assert (low, high) == (interval.low, interval.high)
    assert fpr.size >= 100


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_band_spans_what_the_axes_show(curve, kind, options):
    fpr, lower, upper = edges(*RocDisplay(curve).plot(band=kind, **options).bands_)
    assert fpr[0] == (pytest.approx(0.5 / curve.n_neg) if options.get("log") else 0)
    assert fpr[-1] == options.get("max_fpr", 1.0)
    steps = np.diff(np.log(fpr)) if options.get("log") else np.diff(fpr)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    assert np.all((lower >= 0) & (lower <= upper) & (upper <= 1))
    empirical = np.interp(fpr, curve.fpr, curve.tpr)
    inside = (lower <= empirical) & (empirical <= upper)
    assert np.mean(inside[1:-1]) > 0.99  # between two vertices one above the other np.interp may take either


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_nothing_of_the_band_is_cut_off(curve, kind, options):
    display = RocDisplay(curve).plot(band=kind, **options)
    _, lower, upper = edges(*display.bands_)
    bottom, top = display.ax_.get_ylim()
    assert bottom <= lower.min()
    assert upper.max() <= top


def test_what_holds_for_each_point_alone_is_narrower(curve):
    gaps = {}
    for kind in ("simultaneous", "pointwise"):
        _, lower, upper = edges(*RocDisplay(curve).plot(band=kind).bands_)
        gaps[kind] = np.mean(upper - lower)
    assert gaps["pointwise"] < 0.9 * gaps["simultaneous"]


@pytest.mark.parametrize(("kind", "name"), [("simultaneous", SIMULTANEOUS), ("pointwise", POINTWISE)])
def test_the_legend_names_the_promise_once(curves, kind, name):
    display = RocDisplay(curves).plot(band=kind)
    assert len(display.bands_) == len(curves)
    assert legend(display).count(name) == 1
    assert not [text for text in legend(display) if text.startswith("_")]
    other = RocDisplay(curves).plot(band=kind, confidence=0.999)
    assert name.replace("95", "99.9") in legend(other)


def test_each_curve_has_its_own_band_in_its_colour(curves):
    display = RocDisplay(curves).plot(band="simultaneous")
    for curve, line, band in zip(curves.values(), display.lines_, display.bands_, strict=True):
        fpr, lower, _ = edges(band)
        np.testing.assert_array_equal(lower, hr.band(curve).lower_at(fpr))
        assert colors.to_hex(band.get_facecolor()[0]) == colors.to_hex(line.get_color())
        assert 0 < band.get_facecolor()[0][3] < 0.5
        assert band.get_zorder() < line.get_zorder()


def test_without_a_band_there_is_none(curves):
    display = RocDisplay(curves).plot()
    assert display.bands_ == []
    assert not any("confidence" in text for text in legend(display))


def test_a_band_takes_the_place_of_the_shade(curve):
    measured = RocDisplay(curve).plot(measure="pauc@0.1")
    assert len(measured.shades_) == 1
    both = RocDisplay(curve).plot(measure="pauc@0.1", band="pointwise")
    assert both.shades_ == []
    assert len(both.bands_) == 1
    assert legend(both)[0] == legend(measured)[0]


def test_from_predictions(rows, scores):
    display = RocDisplay.from_predictions(rows[1], scores, band="simultaneous", confidence=0.8)
    fpr, _, upper = edges(display.bands_[2])
    np.testing.assert_array_equal(upper, hr.band(display.curves["noise"], confidence=0.8).upper_at(fpr))


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("sample", [([1, 0], [1, 0]), ([1, 0], [0, 0]), ([1] + [0] * 9, [0, *range(9)])], ids=str)
@pytest.mark.parametrize("log", [False, True])
def test_tiny_samples(kind, sample, log):
    _, lower, upper = edges(*RocDisplay.from_predictions(*sample, band=kind, log=log).bands_)
    assert np.all((lower >= 0) & (lower <= upper) & (upper <= 1))


def test_drawn_again_it_is_that_of_the_new_plot(curve):
    display = RocDisplay(curve)
    display.plot(band="simultaneous")
    assert display.plot().bands_ == []


# -- refused before the first stroke ---------------------------------------------------------------------------------


def refused(display, error, message, **options):
    with pytest.raises(error, match=message):
        display.plot(**options)
    assert not plt.get_fignums()
    _, ax = plt.subplots()
    with pytest.raises(error, match=message):
        display.plot(ax, **options)
    assert not ax.has_data()
    plt.close("all")


@pytest.mark.parametrize("kind", ["both", "Pointwise", "", "tail", True])
def test_what_is_no_kind_of_band(curve, kind):
    refused(RocDisplay(curve), ValueError, "band must be one of 'simultaneous', 'pointwise' or None, got", band=kind)


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
def test_weighted_heads_and_percent_are_refused(curve, rows, scores, kind):
    weighted = hr.RocCurve.from_scores(rows[1], scores["sum"], np.full(800, 2.0))
    refused(RocDisplay(weighted), ValueError, "needs unweighted rows", band=kind)
    refused(RocDisplay({"a": curve, "b": weighted}), ValueError, "needs unweighted rows", band=kind)
    refused(RocDisplay(curve.head(n_neg=50)), ShallowHeadError, "head", band=kind)
    refused(RocDisplay(curve), ValueError, "it is a fraction, not percent", band=kind, confidence=95)
