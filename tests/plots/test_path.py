"""PathDisplay draws the path it is given, and keeps it."""

import numpy as np
import pytest

from headrank.datasets import coarse_eights
from headrank.estimators import LinearRanker, path
from headrank.plots import PathDisplay


@pytest.fixture(scope="module")
def eights_path():
    return path(LinearRanker("pauc@0.05", standardize=True), *coarse_eights(), Cs=[0.1, 1, 10])


def test_both_panels_show_the_numbers_of_the_path(eights_path):
    display = PathDisplay(eights_path).plot()
    measure, collapsed = display.axes_[0].lines
    np.testing.assert_array_equal(measure.get_ydata(), eights_path.measures)
    np.testing.assert_array_equal(collapsed.get_xdata(), eights_path.Cs)  # at this range it learns nothing, anywhere
    assert display.path is eights_path
    drawn = np.array([line.get_ydata() for line in display.axes_[1].lines])
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(eights_path.coefs.T, axis=0))
    assert display.axes_[1].get_xscale() == "log"


def test_features_go_by_their_names(eights_path):
    names = [f"pixel {i}" for i in range(16)]
    legend = PathDisplay(eights_path, feature_names=names).plot().axes_[1].get_legend()
    assert {text.get_text() for text in legend.get_texts()} <= set(names)
    with pytest.raises(ValueError, match="each of 16 features, got 2"):
        PathDisplay(eights_path, feature_names=["a", "b"])
