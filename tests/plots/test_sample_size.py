"""SampleSizeDisplay draws what the planning says: Figures 1 and 2 of the paper."""

import io

import numpy as np
import pytest
from matplotlib import pyplot as plt

from headrank.bounds.planning.auc import error_rate_factor, error_rate_sample_size, sample_size
from headrank.plots.sample_size import SampleSizeDisplay


def test_the_lines_are_the_sample_sizes():
    display = SampleSizeDisplay(positive_rates=[0.5, 0.02], confidences=[0.9, 0.99], method="kl", auc=0.9, n_scorers=3)
    assert display.plot() is display
    assert len(display.axes_) == 3
    for ax, confidence in zip(display.axes_, [0.9, 0.99], strict=False):
        assert ax.get_title() == f"{100 * confidence:g} % confidence"
        *lines, error_rate = ax.lines
        for line, share in zip(lines, [0.5, 0.02], strict=True):
            for epsilon, n in np.transpose(line.get_data())[::7]:
                assert n == sample_size(
                    epsilon=epsilon, confidence=confidence, positive_rate=share, method="kl", auc=0.9, n_scorers=3
                )
        epsilon, n = error_rate.get_xydata()[10]
        assert n == error_rate_sample_size(epsilon=epsilon, confidence=confidence, n_scorers=3)


def test_the_last_panel_is_figure_2():
    mcdiarmid, hoeffding = SampleSizeDisplay().plot().axes_[-1].lines
    for share, factor in mcdiarmid.get_xydata()[::50]:
        assert factor == pytest.approx(error_rate_factor(share))
    assert min(mcdiarmid.get_ydata()) == pytest.approx(4)
    assert min(hoeffding.get_ydata()) == pytest.approx(2)


def test_all_panels_are_framed_alike():
    display = SampleSizeDisplay(min_epsilon=0.004, max_epsilon=0.3).plot()
    first, second, _ = display.axes_
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylabel() == "Rows needed (mcdiarmid)"
    assert [text.get_text() for text in first.get_xticklabels()] == ["0.005", "0.01", "0.02", "0.05", "0.1", "0.2"]
    (legend,) = display.figure_.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["50 % positives", "10 % positives", "2 % positives", "0.1 % positives", "error rate"]


@pytest.mark.parametrize(
    ("n_lines", "confidences"), [(1, [0.95]), (8, [0.95]), (8, [0.9, 0.95]), (8, [0.9, 0.95, 0.99])]
)
def test_nothing_is_clipped(n_lines, confidences):
    shares = np.linspace(0.001, 0.5, n_lines).tolist()
    display = SampleSizeDisplay(positive_rates=shares, confidences=confidences).plot()
    display.figure_.savefig(io.BytesIO())
    box = display.figure_.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= display.figure_.bbox.x1
    assert all(box.y1 <= ax.get_tightbbox().y0 + 1 for ax in display.axes_)


def test_the_numbers_stay_on_the_object():
    display = SampleSizeDisplay(positive_rates=[0.1], confidences=[0.95], min_epsilon=0.05, max_epsilon=0.1)
    frame = display.to_frame()
    assert frame.columns == ["confidence", "positive_rate", "epsilon", "n", "error_rate_n"]
    assert frame["n"][0] == sample_size(epsilon=0.05, positive_rate=0.1)
    assert frame["epsilon"][-1] == pytest.approx(0.1)
    assert set(frame["confidence"]) == {0.95}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"positive_rates": []}, "positive_rates must have at least one value"),
        ({"confidences": []}, "confidences must have at least one value"),
        ({"positive_rates": [0]}, "positive_rate must lie strictly between"),
        ({"confidences": [95]}, "not percent"),
        ({"min_epsilon": 0}, "min_epsilon must be above 0"),
        ({"min_epsilon": 0.3}, "min_epsilon < max_epsilon"),
        ({"method": "delong"}, "method must be one of"),
    ],
    ids=str,
)
def test_refusals_come_before_the_first_stroke(wrong, message):
    with pytest.raises(ValueError, match=message):
        SampleSizeDisplay(**wrong)
    assert not plt.get_fignums()
