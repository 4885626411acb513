"""DeLong's interval and its partial-area analogue: against their definitions, pROC, and the edges."""

from math import isclose, sqrt

import numpy as np
import pytest
from hypothesis import assume, given

import headrank as hr
from headrank.bounds.asymptotic.delong import components_of, delong, standard_error
from headrank.datasets import Binormal
from headrank.exceptions import ShallowHeadError
from reference.delong import delong_variance, partial_variance
from reference.measures import exact, expand
from reference.subarachnoid import NDKA, POOR
from strategies import Ranking, ranges, small_rankings


def test_standard_error_is_that_of_proc() -> None:
    # ci.auc(roc(aSAH$outcome, aSAH$ndka)) as in pROC's own tests: 0.501244999271703 to 0.722670989888189.
    curve = hr.RocCurve.from_scores(POOR, NDKA)
    assert hr.AUC().value(curve) == pytest.approx(0.611957994579946, abs=1e-14)
    half_width = 1.959963984540054 * standard_error(curve)
    assert half_width == pytest.approx((0.722670989888189 - 0.501244999271703) / 2, rel=1e-12)


@given(small_rankings(max_rows=12))
def test_standard_error_is_delongs_by_definition(ranking: Ranking) -> None:
    rows = expand(*ranking)
    assume(2 <= sum(ranking.y) <= len(ranking.y) - 2)
    curve = hr.RocCurve.from_scores(*ranking)
    assert standard_error(curve) == pytest.approx(sqrt(delong_variance(rows)), abs=1e-12)


@given(small_rankings(max_rows=10), ranges)
def test_standard_error_of_a_partial_area_follows_from_the_rows_derivatives(ranking, fprs) -> None:
    low, high = map(exact, fprs)
    n_neg = int((ranking.y == 0).sum())
    assume(2 <= n_neg <= len(ranking.y) - 2)
    # Where an end of the range meets a vertical step of the curve, the area has two derivatives.
    assume(all(end in (0, 1) or (end * n_neg).denominator > 1 for end in (low, high)))
    curve = hr.RocCurve.from_scores(*ranking)
    measure = hr.PartialAUC(min_fpr=fprs[0], max_fpr=fprs[1])
    assert standard_error(curve, measure) == pytest.approx(
        sqrt(partial_variance(expand(*ranking), low, high)), rel=1e-6, abs=1e-7
    )


@given(small_rankings(max_rows=12), ranges)
def test_positives_components_average_to_the_area(ranking: Ranking, fprs: tuple[float, float]) -> None:
    curve = hr.RocCurve.from_scores(*ranking)
    region = hr.PartialAUC(min_fpr=fprs[0], max_fpr=fprs[1])
    mean = float(curve.pos @ components_of(curve, region).pos) / curve.n_pos
    assert mean == pytest.approx(region.value(curve), abs=1e-12)


def test_the_whole_area_is_the_limit_of_partial_ones() -> None:
    curve = hr.RocCurve.from_scores(*Binormal(separation=1.0).sample_classes(30, 40, random_state=0))
    nearly = hr.PartialAUC(max_fpr=1 - 1e-9)
    assert standard_error(curve, nearly) == pytest.approx(standard_error(curve), rel=1e-6)
    assert delong(curve, hr.PartialAUC()).low == delong(curve).low


def test_a_head_is_enough_for_a_partial_area() -> None:
    y, scores = Binormal(separation=1.5).sample_classes(100, 900, random_state=0)
    scores = np.round(scores, 1)
    whole = hr.RocCurve.from_scores(y, scores)
    measure = hr.PartialAUC(min_fpr=0.01, max_fpr=0.1)
    head = whole.head(n_neg=90)
    assert not head.complete
    for read in (delong(whole, measure), delong(head, measure)):
        assert read.low == pytest.approx(delong(whole, measure).low, rel=1e-12)
    with pytest.raises(ShallowHeadError):
        delong(head, hr.PartialAUC(max_fpr=0.5))


def test_standardised_areas_move_with_the_plain_ones() -> None:
    curve = hr.RocCurve.from_scores(*Binormal(separation=1.5).sample_classes(100, 900, random_state=0))
    plain = delong(curve, hr.PartialAUC(max_fpr=0.1))
    standardised = delong(curve, hr.StandardizedPartialAUC(max_fpr=0.1))
    for end in ("low", "estimate", "high"):
        expected = 0.5 * (1 + (getattr(plain, end) - 0.05) / 0.95)
        assert getattr(standardised, end) == pytest.approx(expected, rel=1e-12)
    assert standard_error(curve, standardised.measure) == pytest.approx(
        standard_error(curve, plain.measure) * 0.5 / 0.95
    )
    froc = delong(curve, hr.FROCArea(0.0, 1.0, images_per_negative=0.1))
    assert (froc.low, froc.high) == (plain.low, plain.high)
    upper = delong(curve, standardised.measure, side="upper")
    assert upper.low == pytest.approx(0.5 * (1 - 0.05 / 0.95))  # what the worst of all scorers gets


@given(small_rankings(max_rows=12))
def test_intervals_lie_in_range_around_the_estimate_or_are_refused(ranking: Ranking) -> None:
    curve = hr.RocCurve.from_scores(*ranking)
    for confidence in (1e-9, 0.5, 0.95, 1 - 1e-12):
        for side in ("two-sided", "lower", "upper"):
            if standard_error(curve) == 0:
                with pytest.raises(ValueError, match="sees no uncertainty"):
                    delong(curve, confidence=confidence, side=side)
                continue
            interval = delong(curve, confidence=confidence, side=side)
            assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
            assert not interval.finite_sample
            assert (side == "upper") <= (interval.low == 0)
            assert (side == "lower") <= (interval.high == 1)


def test_one_sided_ends_are_those_of_twice_the_risk() -> None:
    curve = hr.RocCurve.from_scores(POOR, NDKA)
    both = delong(curve, confidence=0.9)
    assert delong(curve, confidence=0.95, side="lower").low == pytest.approx(both.low, rel=1e-12)
    assert delong(curve, confidence=0.95, side="upper").high == pytest.approx(both.high, rel=1e-12)
    assert delong(curve, confidence=0.99).low < delong(curve, confidence=0.95).low


def test_swapping_classes_and_direction_mirrors_the_interval() -> None:
    curve = hr.RocCurve.from_scores(POOR, NDKA)
    mirrored = hr.RocCurve(curve.scores, curve.neg, curve.pos, curve.n_neg, curve.n_pos)
    there, back = delong(curve), delong(mirrored)
    assert isclose(there.low, 1 - back.high, rel_tol=1e-12)
    assert isclose(there.high, 1 - back.low, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("y", "scores"),
    [
        ([1, 1, 0, 0], [4, 3, 2, 1]),  # an AUC of 1
        ([0, 0, 1, 1], [4, 3, 2, 1]),  # of 0
        ([1, 1, 0, 0], [1, 1, 1, 1]),  # all tied
        ([1, 0, 0, 0], [3, 4, 2, 1]),  # one positive
        ([1, 1, 1, 0], [4, 3, 1, 2]),  # one negative
        ([1, 0], [2, 1]),
    ],
)
def test_where_no_variance_can_be_estimated_it_refuses(y: list[int], scores: list[float]) -> None:
    with pytest.raises(ValueError, match="method='auto'"):
        delong(hr.RocCurve.from_scores(y, scores))


def test_it_refuses_what_it_is_not_for() -> None:
    y, scores = [1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    curve = hr.RocCurve.from_scores(y, scores)
    with pytest.raises(ValueError, match="not for p@2"):
        delong(curve, hr.PrecisionAt(2))
    with pytest.raises(ValueError, match="unweighted"):
        delong(hr.RocCurve.from_scores(y, scores, sample_weight=[1, 2, 1, 1, 1, 1]))
