"""PrecisionRecallDisplay draws the precision at each positive, and a band that holds the true curve."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression

import headrank as hr
from headrank.bounds.band.precision import precision_limits
from headrank.datasets import Binormal
from headrank.exceptions import ShallowHeadError


@pytest.fixture(scope="module")
def curve():
    return hr.RocCurve.from_scores(*Binormal(separation=1.5, positive_rate=0.2).sample_scores(2000, random_state=0))


def test_lines_labels_and_frame(curve):
    display = hr.PrecisionRecallDisplay({"one": curve, "two": curve.constant()})
    assert display.plot() is display
    frame = display.to_frame()
    for name, line in zip(display.curves, display.lines_, strict=True):
        of_name = frame.filter(frame["name"] == name)
        np.testing.assert_array_equal(line.get_xydata(), of_name.select("recall", "precision").to_numpy())
    assert display.lines_[0].get_label() == f"one, ap = {hr.AveragePrecision().value(curve):.3f}"
    np.testing.assert_allclose(display.lines_[1].get_ydata(), curve.positive_rate)
    assert len(display.chance_lines_) == 1
    assert not display.bands_
    plt.close(display.figure_)


def test_another_share_of_positives_changes_the_precision_by_bayes(curve):
    display = hr.PrecisionRecallDisplay(curve, positive_rate=0.02).plot(band=True)
    recall, precision = display.lines_[0].get_data()
    fpr = np.array([curve.fpr_at(each) for each in recall])
    np.testing.assert_allclose(precision, 0.02 * recall / (0.02 * recall + 0.98 * fpr))
    assert display.lines_[0].get_label().endswith("with 2 % positives")
    assert list(display.chance_lines_[0].get_ydata()) == [0.02, 0.02]
    plt.close(display.figure_)


def test_the_band_is_the_limits_and_holds_the_curve(curve):
    display = hr.PrecisionRecallDisplay(curve).plot(band=True, confidence=0.9)
    limits = precision_limits(curve, confidence=0.9)
    recall, precision = display.lines_[0].get_data()
    assert np.all(limits.lower(recall) <= precision)
    assert np.all(precision <= limits.upper(recall))
    (band,) = display.bands_
    assert band.get_label() == "90 % confidence, whole curve"
    assert np.ptp(band.get_paths()[0].vertices[:, 1]) > 0.3
    plt.close(display.figure_)


def test_from_predictions_and_estimators():
    rng = np.random.default_rng(0)
    y = np.repeat(["ham", "spam"], 50)
    X = rng.normal(size=(100, 2)) + (y == "spam")[:, None]
    model = LogisticRegression().fit(X, y)
    drawn = hr.PrecisionRecallDisplay.from_estimator(model, X, y, pos_label="spam")
    again = hr.PrecisionRecallDisplay.from_predictions(y, {"a": X[:, 0], "b": X[:, 1]}, pos_label="spam")
    assert drawn.lines_[0].get_label().startswith("LogisticRegression, ap = ")
    assert [line.get_label()[:1] for line in again.lines_] == ["a", "b"]
    weighted = hr.PrecisionRecallDisplay.from_predictions(y == "spam", X[:, 0], sample_weight=np.full(100, 1e-3))
    np.testing.assert_allclose(weighted.lines_[0].get_ydata(), again.lines_[0].get_ydata())
    for display in (drawn, again, weighted):
        plt.close(display.figure_)


def test_what_cannot_be_drawn_is_refused(curve):
    n_figures = len(plt.get_fignums())
    with pytest.raises(ShallowHeadError, match="precision against recall"):
        hr.PrecisionRecallDisplay(curve.head(20))
    with pytest.raises(ValueError, match="positive_rate"):
        hr.PrecisionRecallDisplay(curve, positive_rate=1.0)
    with pytest.raises(TypeError, match="RocCurve"):
        hr.PrecisionRecallDisplay([1, 2])
    weighted = hr.RocCurve.from_scores([1, 0], [2, 1], [1.5, 1])
    with pytest.raises(ValueError, match="weight"):
        hr.PrecisionRecallDisplay(weighted).plot(band=True)
    assert len(plt.get_fignums()) == n_figures
