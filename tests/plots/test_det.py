"""DET axes: the same points as scikit-learn's det_curve, on normal deviate scales."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.metrics import det_curve

from headrank import RocCurve, RocDisplay
from headrank.plots.det import det_vertices


def sample(seed=0, n=400, digits=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    scores = rng.normal(size=n) + 2 * y
    return y, scores if digits is None else scores.round(digits)


@pytest.mark.parametrize("digits", [None, 1, 0])
def test_points_of_scikit_learn_lie_on_the_line(digits):
    y, scores = sample(digits=digits)
    x, miss = (ndtr(each) for each in det_vertices(RocCurve.from_scores(y, scores)))
    assert (np.diff(x) >= 0).all()
    assert (np.diff(miss) <= 0).all()
    fpr, fnr, _ = det_curve(y, scores)
    inside = (fpr > 0) & (fpr < 1) & (fnr > 0) & (fnr < 1)
    assert inside.sum() > 3
    there = np.interp((fpr - fnr)[inside], x - miss, x)  # the line only moves right and down
    np.testing.assert_allclose(there, fpr[inside], atol=0.002)  # it is thinned


def test_a_tie_is_straight_in_rates_and_bent_on_these_axes():
    x, y = det_vertices(RocCurve.from_scores([1, 0] * 50, np.zeros(100)))
    np.testing.assert_allclose(ndtr(x) + ndtr(y), 1)
    x, y = det_vertices(RocCurve.from_scores([1] * 3 + [0] * 7 + [1, 0, 0], [5, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 4, 0]))
    assert x.size > 40


def test_the_display():
    curves = {name: RocCurve.from_scores(*sample(seed)) for seed, name in enumerate(("one", "other"))}
    display = RocDisplay(curves, pos_label="ill").plot_det(measure="auc", despine=True)
    assert [line.get_label().split(",")[0] for line in display.lines_] == ["one", "other"]
    assert display.ax_.get_ylabel() == "Miss rate (1 - TPR) (positive: ill)"
    assert "5 %" in [text.get_text() for text in display.ax_.get_xticklabels()]
    low = display.ax_.get_xlim()[0]
    assert low <= ndtri(0.5 / min(curve.n_neg for curve in curves.values()))
    np.testing.assert_allclose(display.chance_line_.get_xdata(), -display.chance_line_.get_ydata())
    plt.close(display.figure_)
    assert RocDisplay(curves).plot_det(chance=False).chance_line_ is None
    plt.close("all")
    with pytest.raises(ValueError, match="whole curves"):
        RocDisplay(curves["one"].head(n_neg=5)).plot_det()
