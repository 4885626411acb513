"""The power of tests of areas: published values, inverses of each other, and the finite-sample test."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

import headrank as hr
from headrank.bounds.planning.area_variances import (
    Part,
    Variances,
    auc_of_curve,
    curve_of_auc,
    fitted_curve,
    from_rows,
    normal_rows,
    normal_value,
    obuchowski_mcclish,
)
from headrank.bounds.planning.power import power, sample_size_of_test
from headrank.datasets import Binormal
from headrank.exceptions import InvalidSampleError, NoVarianceError
from reference.measures import expand
from reference.power import fitted_line, power_with_null_variance, root
from reference.subarachnoid import NDKA, POOR, S100B, WFNS
from strategies import small_rankings

AUC_OF_S100B = hr.AUC()(POOR, S100B)
PAIR = (POOR, NDKA, WFNS)

# Values of pROC's documentation and tests. One curve, against chance.


def test_published_power_of_one_curve():
    assert power(n_pos=41, n_neg=72, auc=0.73, method="obuchowski").power == pytest.approx(0.9897453, abs=5e-8)
    for known in ({"auc": AUC_OF_S100B}, {"pilot": (POOR, S100B)}):
        assert power(n_pos=41, n_neg=72, method="obuchowski", **known).power == pytest.approx(0.9904833, abs=5e-8)
    at_level = power(n_pos=41, n_neg=72, auc=0.73, level=0.009238584, method="obuchowski")
    assert at_level.power == pytest.approx(0.95, abs=1e-7)


def test_published_detectable_auc_is_that_of_a_coarse_root_search():
    """0.6961054 is published; the root is 0.6960997. R's uniroot stops within eps**0.25 = 1.2e-4, at 0.6961054.

    The function is pROC's: the positives that the formula asks for, less 41.
    """

    def excess(auc):
        if auc == 0.5:
            return np.finfo(float).max  # in place of infinity, as R does
        return sample_size_of_test(auc=auc, power=0.95, positive_rate=41 / 113, method="obuchowski").n_pos - 41

    coarse, fine = (root(excess, 0.5, 1 - 1.2e-16, tolerance) for tolerance in (2.0**-13, 1e-13))
    assert coarse == pytest.approx(0.6961054, abs=5e-8)
    assert fine == pytest.approx(0.6960997, abs=5e-8)
    assert power(n_pos=41, n_neg=72, auc=fine, method="obuchowski").power == pytest.approx(0.95, abs=1e-10)


@pytest.mark.parametrize(
    ("wanted", "ratio", "n_pos", "n_neg"),
    [(0.95, 1.7, 29.29764, 49.806), (0.9, 72 / 41, 23.5598674, 41.3734257), (0.9, 1, 29.5697422, 29.5697422)],
)
def test_published_sizes_of_one_curve(wanted, ratio, n_pos, n_neg):
    found = sample_size_of_test(auc=AUC_OF_S100B, power=wanted, positive_rate=1 / (1 + ratio), method="obuchowski")
    assert (found.n_pos, found.n_neg) == (pytest.approx(n_pos, rel=1e-6), pytest.approx(n_neg, rel=1e-6))


@pytest.mark.parametrize(
    ("ratio", "n_pos", "n_neg"),
    [(0.25, (334, 80), (84, 20)), (1, (135, 33, 14), (135, 33, 14)), (4, (85, 21), (340, 84))],
)
def test_published_table_of_sizes(ratio, n_pos, n_neg):
    """Obuchowski, Lieber & Wians (2004), Table 4, in part: one-sided, level 0.05, power 0.9, AUC 0.6, 0.7 and 0.8.

    The 340 is printed as 339 there; the formula gives 340, and pROC's tests correct it likewise.
    """
    for auc, pos, neg in zip((0.6, 0.7, 0.8), n_pos, n_neg, strict=False):
        found = sample_size_of_test(
            auc=auc, power=0.9, side="lower", positive_rate=1 / (1 + ratio), method="obuchowski"
        )
        assert (np.ceil(found.n_pos), np.ceil(found.n_neg)) == (pos, neg)


# Two curves from a pilot sample: power, sample size and level. The level is one at which the power is 0.9.


@pytest.mark.parametrize(
    ("method", "planned", "n_pos", "n_neg", "level"),
    [
        ("delong_null", 0.7131594, 64.77777, 113.7561, 0.1836639),
        ("obuchowski", 0.7842276, 56.10898, 98.53285, 0.1325649),
    ],
)
def test_published_figures_of_two_curves(method, planned, n_pos, n_neg, level):
    rate = 41 / 113
    assert power(n_pos=41, n_neg=72, pilot=PAIR, method=method).power == pytest.approx(planned, abs=5e-8)
    found = sample_size_of_test(pilot=PAIR, positive_rate=rate, power=0.9, method=method)
    assert (found.n_pos, found.n_neg) == (pytest.approx(n_pos, rel=1e-6), pytest.approx(n_neg, rel=1e-6))
    at_level = power(n_pos=41, n_neg=72, pilot=PAIR, method=method, level=level)
    assert at_level.power == pytest.approx(0.9, abs=5e-8)


def test_published_sizes_of_other_pairs():
    found = sample_size_of_test(pilot=(POOR, S100B, NDKA), positive_rate=41 / 113, power=0.9, method="delong_null")
    assert (found.n_pos, found.n_neg) == (pytest.approx(213.117677, abs=5e-7), pytest.approx(374.255432, abs=5e-7))
    options = {"measure": "pauc@0.1", "positive_rate": 41 / 113, "power": 0.9, "method": "obuchowski"}
    found = sample_size_of_test(pilot=(POOR, WFNS, NDKA), **options)
    assert (found.n_pos, found.n_neg) == (pytest.approx(227.0452, abs=5e-5), pytest.approx(398.7134, abs=5e-5))


@given(small_rankings(min_rows=6, max_rows=10), st.lists(st.integers(-3, 3), min_size=10, max_size=10))
@settings(max_examples=40, deadline=None)
def test_variances_of_a_pilot_are_those_of_all_pairs(ranking, second):
    y, first, second = ranking.y, ranking.scores, np.array(second[: len(ranking.y)], dtype=float)
    assume(2 <= sum(y) <= len(y) - 2)
    try:
        found = power(n_pos=int(sum(y)), n_neg=int(sum(y == 0)), pilot=(y, first, second), method="delong_null")
    except NoVarianceError:
        reject()
    slow = power_with_null_variance(expand(y, first), expand(y, second), found.values[0] - found.values[1])
    assert found.power == pytest.approx(slow, abs=1e-9)


@given(small_rankings(min_rows=6, max_rows=12))
@settings(max_examples=60, deadline=None)
def test_the_fitted_curve_solves_the_normal_equations(ranking):
    try:
        found = fitted_curve(ranking.y == 1, ranking.scores)
    except InvalidSampleError:
        reject()
    assert found == pytest.approx(fitted_line(ranking.y, ranking.scores), rel=1e-9, abs=1e-9)


def test_the_fitted_curve_is_that_of_normal_scores():
    positive, (scores,) = normal_rows(((1.2, 0.7),), (0, 0))
    assert fitted_curve(positive, scores) == pytest.approx((1.2, 0.7), abs=0.03)


# Two curves by their parameters: example 2 of Obuchowski & McClish (1997), as in pROC's tests.


def test_published_figures_of_two_curves_of_normal_scores():
    """The paper rounds the difference of the areas to 0.037; it is 0.0363. The size falls with its square."""
    curves = {"binormal": ((2.6, 1), (1.9, 1)), "correlation": 0.6, "measure": "pauc@0.2", "method": "obuchowski"}
    found = sample_size_of_test(positive_rate=0.5, power=0.8, **curves)
    difference = 0.2 * (found.values[0] - found.values[1])
    assert difference == pytest.approx(0.0363, abs=5e-5)
    assert found.n_pos * (difference / 0.037) ** 2 == pytest.approx(107.0238, abs=5e-5)
    assert found.n_neg == pytest.approx(found.n_pos)
    # With the rounded difference and 107 patients of each class: the power, and the level at which it is 0.8.
    variances = obuchowski_mcclish(hr.measure("pauc@0.2"), (2.6, 1.0), (1.9, 1.0), (0.6, 0.6))
    null, alternative = (0.2 * np.sqrt(part(107, 107)) for part in (variances.null, variances.alternative))
    for level, planned in ((0.05, 0.7999286), (0.05004012, 0.8)):
        assert ndtr((0.037 + ndtri(level / 2) * null) / alternative) == pytest.approx(planned, abs=1e-7)


def test_auc_is_a_curve_with_equal_variances():
    for method in ("delong", "delong_null", "obuchowski"):
        by_auc, by_curve = (
            power(n_pos=50, n_neg=90, method=method, **known)
            for known in ({"auc": (0.9, 0.8)}, {"binormal": [curve_of_auc(auc) for auc in (0.9, 0.8)]})
        )
        assert by_auc == by_curve
    wide = power(n_pos=50, n_neg=90, binormal=(1.5, 0.5))
    assert wide.values == (pytest.approx(auc_of_curve((1.5, 0.5))), 0.5)


TWO_CURVES = [
    {"auc": (0.9, 0.85), "correlation": (0.7, 0.5)},
    {"auc": (0.9, 0.85), "paired": False},
    {"auc": (0.9, 0.85), "measure": "pauc@0.2", "side": "lower"},
    {"binormal": ((2, 0.8), (1.5, 1.2))},
    {"pilot": PAIR},
]


@pytest.mark.parametrize(
    ("method", "test"),
    [
        ("delong", {"auc": 0.65}),
        ("obuchowski", {"auc": 0.65}),
        *product(("delong", "delong_null", "obuchowski"), TWO_CURVES),
    ],
)
def test_the_size_has_the_wanted_power(method, test):
    found = sample_size_of_test(positive_rate=0.2, power=0.85, method=method, **test)
    n_pos, n_neg = int(np.ceil(found.n_pos)), int(np.ceil(found.n_neg))
    reached = power(n_pos=n_pos, n_neg=n_neg, method=method, **test)
    assert 0.85 <= reached.power < 0.87
    assert reached.values == found.values


def test_true_areas_of_normal_scores():
    assert normal_value(hr.AUC(), np.sqrt(2) * 1.2815515655446004, 1.0) == pytest.approx(0.9, abs=1e-9)
    for name in ("pauc@0.1", "pauc@0.05:0.3", "spauc@0.2"):
        measure, population = hr.measure(name), Binormal(separation=1.5)
        low, high = measure.fpr_range
        fpr = np.linspace(low, high, 200_001)
        mean = np.trapezoid(population.roc(fpr), fpr) / (high - low)
        assert normal_value(measure, 1.5, 1.0) == pytest.approx(measure.from_mean_tpr(mean), abs=1e-5), name


def test_variances_of_rows_are_those_of_the_comparison():
    positive, (a, b) = normal_rows((curve_of_auc(0.9), curve_of_auc(0.8)), (0.6, 0.3), n_pos=80, n_neg=120, seed=1)
    found = from_rows(hr.AUC(), [(positive, a), (positive, b)], paired=True)
    exact = hr.compare(positive, a, b, method="delong")
    assert found.alternative(80, 120) == pytest.approx(exact.standard_error**2)
    assert found.difference == pytest.approx(exact.estimate)
    pilot = power(n_pos=80, n_neg=120, pilot=(positive, a, b))
    z = abs(exact.estimate) / exact.standard_error
    assert pilot.power == pytest.approx(ndtr(z - 1.959963984540054))


def test_correlations_of_normal_rows():
    positive, (a, b) = normal_rows((curve_of_auc(0.9), curve_of_auc(0.8)), (0.6, -0.3))
    assert np.corrcoef(a[positive], b[positive])[0, 1] == pytest.approx(0.6, abs=0.03)
    assert np.corrcoef(a[~positive], b[~positive])[0, 1] == pytest.approx(-0.3, abs=0.03)
    assert hr.AUC()(positive, a) == pytest.approx(0.9, abs=0.01)


def test_more_rows_more_power_and_null_variance():
    powers = [power(n_pos=n, n_neg=2 * n, auc=(0.8, 0.75)).power for n in (20, 80, 320)]
    assert powers == sorted(powers)
    same = Variances((0.8, 0.7), Part(1.0, 2.0), Part(3.0, 4.0), Part(0.5, 0.5))
    assert same.null(1, 1) == 2 * (3 - 1)
    assert same.alternative(1, 1) == 3 + 7 - 2


def test_the_finite_sample_test_is_simulated():
    few, many = (power(n_pos=n, n_neg=2 * n, auc=0.8, method="finite", n_runs=15, random_state=0) for n in (8, 150))
    assert few.power < many.power == 1
    assert many.standard_error > 0
    again = power(n_pos=8, n_neg=16, auc=0.8, method="finite", n_runs=15, random_state=0)
    assert again == few
    found = sample_size_of_test(auc=0.9, positive_rate=0.5, power=0.7, method="finite", n_runs=10)
    assert found.power >= 0.7
    assert found.n > sample_size_of_test(auc=0.9, positive_rate=0.5, power=0.7).n
    two = power(n_pos=300, n_neg=300, auc=(0.95, 0.6), paired=False, method="finite", n_runs=3)
    assert (two.power, two.test) == (1.0, "two samples")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "exactly one of auc, binormal and pilot, got none"),
        ({"auc": 0.8, "pilot": PAIR}, TypeError, "got auc and pilot"),
        ({"binormal": (1, 2, 3)}, ValueError, "binormal"),
        ({"binormal": 1.0}, ValueError, "binormal"),
        ({"binormal": ((1, 1), (1, 0))}, ValueError, "above 0"),
        ({"binormal": (1e300, 1)}, ValueError, "AUC strictly"),
        ({"binormal": (1, 1e300)}, ValueError, "B between"),
        ({"auc": 0.8, "method": "delong_null"}, ValueError, "two scorers"),
        ({"pilot": (POOR, S100B), "method": "delong_null"}, ValueError, "two scorers"),
        ({"pilot": (POOR, S100B), "measure": "pauc@0.1", "method": "obuchowski"}, ValueError, "against chance"),
        ({"auc": 0.8, "measure": "p@10"}, ValueError, "areas"),
        ({"auc": 0.8, "side": "upper"}, ValueError, "exchange"),
        ({"auc": (0.8, 0.7, 0.6)}, ValueError, "one or two"),
        ({"auc": (0.8, 0.7), "correlation": 2}, ValueError, "correlation"),
        ({"pilot": ([0, 1],)}, ValueError, "pilot"),
        ({"pilot": ([0, 1], [1, 2]), "method": "finite"}, ValueError, "pilot sample"),
        ({"auc": 0.8, "measure": "pauc@0.1", "method": "obuchowski"}, ValueError, "against chance"),
        ({"auc": 1.0}, ValueError, "auc"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        power(n_pos=10, n_neg=10, **options)


def test_equal_areas_cannot_be_told_apart():
    with pytest.raises(ValueError, match="no sample finds"):
        sample_size_of_test(auc=(0.8, 0.8), positive_rate=0.5)
    with pytest.raises(ValueError, match="higher"):
        sample_size_of_test(auc=(0.7, 0.8), positive_rate=0.5, side="lower")
    with pytest.raises(ValueError, match="no sample finds"):  # up to the rounding of the area of normal scores
        sample_size_of_test(auc=0.5, positive_rate=0.5)
    with pytest.raises(ValueError, match="no sample finds"):  # before anything is simulated
        sample_size_of_test(auc=(0.8, 0.8), positive_rate=0.5, method="finite")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auc": (0.8, 0.8), "correlation": 1}, "lower correlation"),
        ({"auc": (0.9, 0.8), "correlation": 1, "measure": "pauc@0.5:1", "method": "obuchowski"}, "published formulas"),
        ({"auc": (0.8, 0.7), "correlation": 0.95, "measure": "pauc@0.9:1", "method": "obuchowski"}, "method='delong'"),
        ({"pilot": ([1, 1, 0, 0], [4, 3, 2, 1])}, "larger pilot"),
        ({"pilot": ([1, 1, 0, 0], [4, 3, 2, 1]), "method": "obuchowski"}, "larger pilot"),
        ({"pilot": ([1, 1, 0, 0], [4, 2, 3, 1], [4, 2, 3, 1])}, "larger pilot"),
    ],
)
def test_a_difference_without_variance_is_refused(options, message):
    """It would be found for certain, in samples of no rows; negative published variances have no root."""
    with pytest.raises(NoVarianceError, match=message):
        power(n_pos=50, n_neg=50, **options)


def test_a_pilot_sample_without_a_normal_curve_is_refused():
    y = [1, 1, 1, 0, 0, 0]
    with pytest.raises(InvalidSampleError, match="too few points"):
        power(n_pos=50, n_neg=50, pilot=(y, [6, 5, 4, 3, 2, 1], [6, 4, 3, 5, 2, 1]), method="obuchowski")
    with pytest.raises(InvalidSampleError, match="no correlation"):
        power(n_pos=50, n_neg=50, pilot=(y, [6, 4, 3, 5, 2, 1], [1, 1, 1, 0, 2, 1]), method="obuchowski")


def test_a_pilot_sample_has_two_rows_of_each_class():
    for pilot in (([1, 0, 0], [3, 2, 1]), ([1, 1, 0], [3, 2, 1], [1, 2, 3])):
        with pytest.raises(InvalidSampleError, match="two rows of each class"):
            power(n_pos=50, n_neg=50, pilot=pilot)


def test_published_variances_exceed_the_true_ones_for_ranges_from_0_only():
    """The covariance of A and B that the formulas leave out, by differences of the true area."""
    a, step = 1.8, 1e-4
    for name, below in (("auc", True), ("pauc@0.1", True), ("pauc@0.5:1", False)):
        measure = hr.measure(name)
        in_a, in_b = (
            (
                normal_value(measure, *(x + step * e for x, e in zip((a, 1.0), along, strict=True)))
                - normal_value(measure, a, 1.0)
            )
            / step
            for along in ((1, 0), (0, 1))
        )
        assert (in_a * in_b * a < 0) == below


def test_tiny_levels_are_not_rounded_to_0():
    sizes = [sample_size_of_test(auc=(0.9, 0.8), positive_rate=0.5, level=level).n for level in (1e-15, 1e-17, 1e-19)]
    assert sizes == sorted(set(sizes))


def test_a_simulated_size_has_two_rows_of_each_class_at_least():
    found = sample_size_of_test(auc=0.99, positive_rate=0.5, level=0.99, power=0.05, method="finite", n_runs=3)
    assert min(found.n_pos, found.n_neg) >= 2


def test_it_prints_as_a_sentence_and_as_a_frame():
    found = power(n_pos=50, n_neg=100, auc=(0.9, 0.8), paired=False)
    assert "50 positives and 100 negatives in each sample" in str(found)
    assert found.to_frame()["n"][0] == 150
