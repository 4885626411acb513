"""Limits of the gains curve are those of precision and recall at each fraction, and hold the curve itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from headrank.bounds.band.from_band import from_band
from headrank.bounds.band.gains import gains_limits
from headrank.datasets import Binormal


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.0))
def test_they_are_the_limits_of_precision_and_recall(seed, top):
    rng = np.random.default_rng(seed)
    y = np.arange(60) < rng.integers(3, 57)
    scores = rng.integers(-3, 4, 60) + 2.0 * y  # many ties
    curve = hr.RocCurve.from_scores(y, scores)
    limits = gains_limits(curve, confidence=0.9)
    precision = from_band(curve, hr.PrecisionAt(top), confidence=0.9)
    recall = from_band(curve, hr.RecallAt(top), confidence=0.9)
    # Intervals are widened to their estimate; the limits are not.
    assert min(limits.lower([top])[0] / top, precision.estimate) == pytest.approx(precision.low, abs=1e-12)
    assert max(limits.upper([top])[0] / top, precision.estimate) == pytest.approx(precision.high, abs=1e-12)
    assert min(limits.recall_lower([top])[0], recall.estimate) == pytest.approx(recall.low, abs=1e-12)
    assert max(limits.recall_upper([top])[0], recall.estimate) == pytest.approx(recall.high, abs=1e-12)


def test_they_rise_and_are_narrower_with_more_rows():
    fractions = np.linspace(0, 1, 101)
    widths = []
    for n in (300, 3000):
        y, scores = Binormal(separation=2.0, positive_rate=0.2).sample_scores(n, random_state=0)
        limits = gains_limits(hr.RocCurve.from_scores(y, scores), confidence=0.95)
        lower, upper = limits.lower(fractions), limits.upper(fractions)
        for each in (lower, upper, limits.recall_lower(fractions), limits.recall_upper(fractions)):
            assert np.all(np.diff(each) >= -1e-12)
        assert np.all(lower <= upper + 1e-12)
        assert np.all(upper <= fractions)
        widths.append((upper - lower).mean())
    assert widths[1] < widths[0] / 2


def test_weights_and_heads_are_refused():
    curve = hr.RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1], sample_weight=[1, 2, 1, 1])
    with pytest.raises(ValueError, match="weight"):
        gains_limits(curve, confidence=0.95)
