"""Two independent samples: published values, laws, and p-values that say when they are only bounds."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import ndtr

import headrank as hr
from headrank.bounds.asymptotic.delong import delong, standard_error
from headrank.bounds.comparison.evidence import normal_evidence
from headrank.bounds.intervals import interval_of
from headrank.datasets import Binormal
from headrank.exceptions import NoVarianceError
from headrank.measures import AUC, PartialAUC
from reference.delong import paired_delong_variance
from reference.measures import expand
from reference.subarachnoid import NDKA, POOR, S100B, WFNS

HERE = Binormal(separation=1.8).sample_classes(60, 150, random_state=0)
THERE = Binormal(separation=0.8).sample_classes(50, 120, random_state=1)


@pytest.mark.parametrize(
    ("first", "second", "statistic", "p_value"),
    [
        (WFNS, S100B, 1.43490640926908, 0.152825378808796),
        (WFNS, NDKA, 3.10125096778969, 0.00220950791756457),
        (NDKA, S100B, -1.55995743389685, 0.120192832430845),
    ],
)
def test_published_values_of_two_markers_as_if_unpaired(first, second, statistic, p_value):
    """pROC's roc.test(paired=FALSE) on 41 + 72 patients, as its tests expect."""
    found = hr.compare_samples(POOR, first, POOR, second, method="delong")
    assert found.estimate / found.standard_error == pytest.approx(statistic, abs=1e-12)
    assert found.p_value == pytest.approx(p_value, abs=1e-12)
    assert found.counts == ((41, 72), (41, 72))
    assert (found.low < 0 < found.high) == (found.p_value > 0.05)


def test_published_one_sided_values_as_if_unpaired():
    one_sided = [
        hr.compare_samples(POOR, WFNS, POOR, S100B, method="delong", side=side).p_value for side in ("lower", "upper")
    ]
    assert one_sided == pytest.approx([0.076412689404398, 0.923587310595602], abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "statistic", "p_value", "low", "high"),
    [
        (WFNS, S100B, 2.20898359144091, 0.0271757822291882, 0.0104061769564846, 0.174214419249478),
        (WFNS, NDKA, 2.79777591868904, 0.00514557970691098, 0.0634011709339876, 0.3600405634833566),
        (NDKA, S100B, -1.39077002573558, 0.164295175223054, -0.2876917446341914, 0.0488706064228094),
    ],
)
def test_published_values_of_two_markers_on_the_same_patients(first, second, statistic, p_value, low, high):
    """pROC's roc.test on the same patients, as its tests expect."""
    found = hr.compare(POOR, first, second, method="delong")
    assert found.estimate / found.standard_error == pytest.approx(statistic, abs=1e-12)
    assert (found.p_value, found.low, found.high) == pytest.approx((p_value, low, high), abs=1e-12)


def test_variances_add_up():
    found = hr.compare_samples(*HERE, *THERE, measure="pauc@0.3", method="delong")
    curves = [hr.RocCurve.from_scores(*sample) for sample in (HERE, THERE)]
    errors = [standard_error(curve, PartialAUC(max_fpr=0.3)) for curve in curves]
    assert found.covariance == ((pytest.approx(errors[0] ** 2), 0), (0, pytest.approx(errors[1] ** 2)))
    assert found.standard_error == pytest.approx(sqrt(errors[0] ** 2 + errors[1] ** 2))


@pytest.mark.parametrize("method", ["separate", "delong", "bootstrap_normal"])
def test_exchanging_the_samples_changes_the_sign(method):
    options = {"method": method, "measure": "pauc@0.3", "n_replicates": 200}
    one = hr.compare_samples(*HERE, *THERE, **options, random_state=np.random.default_rng(0))
    two = hr.compare_samples(*THERE, *HERE, **options, random_state=np.random.default_rng(0))
    assert one.estimate == pytest.approx(-two.estimate)
    if method != "bootstrap_normal":  # the samples draw from their own streams
        assert (one.low, one.high) == (pytest.approx(-two.high), pytest.approx(-two.low))
        assert one.p_value == pytest.approx(two.p_value)


def test_separate_is_the_union_of_two_intervals():
    found = hr.compare_samples(*HERE, *THERE, method="separate", confidence=0.9)
    ends = [
        interval_of(hr.RocCurve.from_scores(*sample), AUC(), confidence=1 - 0.025, side=side)
        for sample, side in ((HERE, "lower"), (THERE, "upper"))
    ]
    assert found.low == pytest.approx(ends[0].low - ends[1].high)
    assert found.finite_sample
    assert found.covariance is None
    assert hr.compare_samples(*HERE, *THERE).asymptotic.method == "delong"
    assert hr.compare_samples(*HERE, *THERE, measure="ks", confidence=0.8).asymptotic is None


def test_the_theorem_names_the_method_of_each_sample():
    few, many = (Binormal(separation=1.5).sample_classes(n, 1000, random_state=0) for n in (10, 200))
    methods = [hr.interval(*sample).method for sample in (few, many)]
    found = hr.compare_samples(*few, *many, method="separate")
    assert methods[0] != methods[1]
    assert all(f"{method}, " in found.theorem for method in methods)


def test_the_bootstrap_is_repeatable_and_close_to_delong():
    runs = [
        hr.compare_samples(*HERE, *THERE, method="bootstrap", n_replicates=400, random_state=7, n_jobs=jobs)
        for jobs in (None, 2)
    ]
    assert runs[0] == runs[1]
    exact = hr.compare_samples(*HERE, *THERE, method="delong")
    assert runs[0].standard_error == pytest.approx(exact.standard_error, rel=0.25)
    assert abs(runs[0].covariance[0][1]) < 0.2 * runs[0].covariance[0][0]  # drawn independently


def test_samples_without_variance_are_refused_or_answered_without_delong():
    perfect = ([1, 1, 0, 0], [4, 3, 2, 1])
    with pytest.raises(NoVarianceError, match="one of the samples"):
        hr.compare_samples(*perfect, *THERE, method="delong")
    assert hr.compare_samples(*perfect, *THERE).asymptotic is None


# P-values: exact, or said to be bounds.


def test_normal_p_values_are_exact_far_out():
    found = hr.compare(*_far_apart(), method="delong")
    z = found.estimate / found.standard_error
    assert z > 15
    assert found.p_value == pytest.approx(2 * ndtr(-z), rel=1e-9)
    assert 0 < found.p_value < 1e-40
    assert not found.p_is_bound
    assert "p < 1e-12" in str(found)
    beyond = normal_evidence((1.0, 0.0), ((1e-6, 0.0), (0.0, 0.0)), "delong", "", "")
    assert beyond.p_values[0] < 1e-300


def test_the_floor_of_a_search_is_said_to_be_a_bound():
    y, a, b = _far_apart()
    found = hr.compare_many({"a": a, "b": b, "c": b[::-1], "d": -b}, y, method="betting")
    floor = [(each, p) for each, p in zip(found, found.adjusted_p_values, strict=True) if each.p_is_bound]
    assert floor
    assert all(each.p_value <= 2e-13 * (1 + 1e-9) for each, _ in floor)
    for line in str(found).splitlines():
        if "e-12" in line:
            assert "< " in line, line
    one = hr.compare(y, a, b, method="bootstrap", n_replicates=100, random_state=0)
    assert one.p_is_bound
    assert one.p_value == pytest.approx(2 / 101)
    assert "p < 0.02" in str(one)


def _far_apart():
    y, a = Binormal(separation=3.0).sample_classes(400, 1600, random_state=0)
    return y, a, np.random.default_rng(0).normal(size=a.size)


# Standard errors, and the two scales.


def test_paired_covariances_are_those_of_the_components():
    y, a = HERE
    b = a + np.random.default_rng(3).normal(size=a.size)
    found = hr.compare(y, a, b, method="delong")
    assert found.standard_error**2 == pytest.approx(float(paired_delong_variance(expand(y, a), expand(y, b))))
    (first, both), (_, second) = found.covariance
    assert sqrt(first) == pytest.approx(hr.interval(y, a, method="delong").standard_error)
    assert sqrt(second) == pytest.approx(hr.interval(y, b, method="delong").standard_error)
    assert 0 < both < sqrt(first * second)
    assert found.to_frame()["standard_error"][0] == found.standard_error


def test_plain_and_logit_scale():
    curve = hr.RocCurve.from_scores(*HERE)
    plain, logit = delong(curve, scale="plain"), delong(curve)
    error = standard_error(curve)
    assert (plain.low, plain.high) == (
        pytest.approx(plain.estimate - 1.959963984540054 * error),
        pytest.approx(min(plain.estimate + 1.959963984540054 * error, 1)),
    )
    assert plain.standard_error == logit.standard_error == pytest.approx(error)
    assert logit.low < plain.low  # towards 1/2
    assert hr.interval(*HERE, method="delong_plain") == plain
    assert (plain.method, logit.method) == ("delong_plain", "delong")


def test_published_intervals_of_two_markers():
    """On the plain scale: ci.auc of NDKA as pROC's tests expect it, that of S100B as pROC prints it."""
    found = hr.interval(POOR, NDKA, method="delong_plain")
    expected = (0.501244999271703, 0.611957994579946, 0.722670989888189)
    assert (found.low, found.estimate, found.high) == pytest.approx(expected, abs=1e-14)
    found = hr.interval(POOR, S100B, method="delong_plain")
    assert found.standard_error**2 == pytest.approx(0.00266868245717244, rel=1e-12)
    assert f"{found.low:.4f}-{found.high:.4f}" == "0.6301-0.8326"


@pytest.mark.parametrize("method", ["bootstrap_normal", "bootstrap"])
def test_a_test_of_partial_areas_by_the_bootstrap(method):
    y, a = HERE
    b = a + np.random.default_rng(3).normal(size=a.size)
    options = {"measure": "pauc@0.1", "n_replicates": 1000, "random_state": 0}
    found, exact = (
        hr.compare(y, a, b, method=method, **options),
        hr.compare(y, a, b, measure="pauc@0.1", method="delong"),
    )
    assert found.standard_error == pytest.approx(exact.standard_error, rel=0.25)
    if method == "bootstrap_normal":
        z = found.estimate / found.standard_error
        assert found.p_value == pytest.approx(2 * ndtr(-abs(z)))
