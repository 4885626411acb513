"""Operating points equal counts row by row; their intervals are exact binomial ones or follow from them."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binomtest

import headrank as hr
from headrank.bounds.cutoffs.points import RATES
from reference.cutoffs import point
from reference.subarachnoid import POOR, S100B
from strategies import small_rankings


@settings(max_examples=60, deadline=None)
@given(small_rankings())
@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_points_count_rows(prevalence, ranking):
    y, scores = ranking[:2]
    points = hr.operating_points(y, scores, prevalence=prevalence)
    assert points.thresholds.tolist() == sorted(set(np.asarray(scores).tolist()), reverse=True)
    for row in points.rows():
        expected = point(y, scores, row["threshold"], prevalence)
        for name, value in expected.items():
            if value is None:
                assert not np.isfinite(row[name])
            else:
                assert row[name] == pytest.approx(value), name


def test_weights_are_multiplicities():
    y, scores, weights = [1, 0, 1, 0], [3, 3, 2, 1], [2, 1, 3, 4]
    weighted = hr.operating_points(y, scores, sample_weight=weights)
    repeated = hr.operating_points(np.repeat(y, weights), np.repeat(scores, weights))
    for name in RATES:
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name))
    with pytest.raises(ValueError, match="unweighted rows"):
        hr.operating_points(y, scores, sample_weight=weights, confidence=0.9)


def test_given_thresholds_flag_scores_of_at_least_that():
    y, scores = [1, 0, 1, 0], np.array([0.1, 0.2, 0.3, 0.3], dtype=np.float32)
    points = hr.operating_points(y, scores, thresholds=[0.5, 0.3, 0.25, -1])
    # float32(0.3) is above 0.3, as it is in a comparison of float64 numbers.
    assert points.n_flagged.tolist() == [0, 2, 2, 4]
    assert np.isnan(points.precision[0])
    assert np.isnan(points.npv[3])


def test_intervals_of_rates_are_clopper_pearson():
    y, scores = np.repeat([1, 0], [12, 20]), np.r_[np.arange(12) + 7, np.arange(20)]
    points = hr.operating_points(y, scores, confidence=0.9)
    ends = {name: points.interval(name) for name in RATES}
    for i, (tp, fp) in enumerate(zip(points.tp.tolist(), points.fp.tolist(), strict=True)):
        for name, k, n in (
            ("tpr", tp, 12),
            ("fpr", fp, 20),
            ("precision", tp, tp + fp),
            ("npv", 20 - fp, 32 - tp - fp),
        ):
            if n:
                exact = binomtest(k, n).proportion_ci(0.9, method="exact")
                assert (ends[name][0][i], ends[name][1][i]) == (pytest.approx(exact.low), pytest.approx(exact.high))
            else:
                assert np.isnan(ends[name][0][i])
    for name in RATES:
        defined = ~np.isnan(getattr(points, name))
        assert (ends[name][0][defined] <= getattr(points, name)[defined] + 1e-12).all(), name
        assert (ends[name][1][defined] >= getattr(points, name)[defined] - 1e-12).all(), name


def test_the_frame_has_null_where_nothing_is_defined():
    frame = hr.operating_points([1, 0], [2, 1], thresholds=[3, 2], confidence=0.9).to_frame()
    assert frame["precision"].to_list() == [None, 1.0]
    assert frame["precision_low"].to_list()[0] is None
    assert frame.height == 2
    assert {f"{name}_{end}" for name in RATES for end in ("low", "high")} <= set(frame.columns)
    assert "tpr_low" not in hr.operating_points([1, 0], [2, 1]).to_frame().columns


def test_wrong_questions_are_refused():
    points = hr.operating_points([1, 0], [2, 1])
    with pytest.raises(ValueError, match="no intervals"):
        points.interval("tpr")
    with pytest.raises(ValueError, match="expected one of tpr"):
        hr.operating_points([1, 0], [2, 1], confidence=0.9).interval("auc")
    with pytest.raises(ValueError, match="prevalence"):
        hr.operating_points([1, 0], [2, 1], prevalence=1.2)


def test_published_values_of_s100b_after_subarachnoid_haemorrhage():
    """Values of pROC's coords: at 0.205, 0.085 and 0.325."""
    points = hr.operating_points(POOR, S100B, thresholds=[0.205, 0.085, 0.325])
    assert points.tpr == pytest.approx([0.634146341463415, 0.878048780487805, 0.463414634146341], abs=1e-14)
    assert 1 - points.fpr == pytest.approx([0.805555555555556, 0.305555555555556, 0.847222222222222], abs=1e-14)
    assert points.precision == pytest.approx([0.65, 0.418604651162791, 0.633333333333333], abs=1e-14)
    assert points.npv == pytest.approx([0.794520547945205, 0.814814814814815, 0.734939759036145], abs=1e-14)
