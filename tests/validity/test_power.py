"""Is the power what is said? Simulated: DeLong's tests, and the two-sample bounds under the null hypothesis.

The power is that of large samples, so the samples are large: the simulated shares must lie within the binomial limits
of the stated probabilities, without any slack.
"""

import pytest
from scipy.stats import binom

import headrank as hr
from headrank.bounds.planning.area_variances import curve_of_auc, normal_rows

pytestmark = pytest.mark.slow

N_RUNS = 1500
NEVER = 5e-7
"""Risk at each end: a true probability fails on one seed in a million."""


@pytest.mark.parametrize(
    ("curves", "options"),
    [
        ((curve_of_auc(0.85), curve_of_auc(0.83)), {"correlation": (0.6, 0.4)}),
        ((curve_of_auc(0.85), curve_of_auc(0.82)), {"paired": False}),
        ((curve_of_auc(0.9), curve_of_auc(0.88)), {"measure": "pauc@0.3"}),
        (((1.5, 0.6), (1.5, 0.75)), {"correlation": (0.7, 0.5)}),
    ],
)
def test_the_power_of_delongs_test(curves, options):
    test = {"paired": True, "measure": "auc", "correlation": (0.5, 0.5)} | options
    size = hr.sample_size_of_test(binormal=curves, positive_rate=0.4, power=0.6, **test)
    n_pos, n_neg = round(size.n_pos), round(size.n_neg)
    assert n_pos > 600
    planned = hr.power(n_pos=n_pos, n_neg=n_neg, binormal=curves, **test).power
    found = 0
    for seed in range(N_RUNS):
        y, (a, b) = normal_rows(curves, test["correlation"], n_pos=n_pos, n_neg=n_neg, seed=(1, seed))
        if test["paired"]:
            found += hr.compare(y, a, b, measure=test["measure"], method="delong").told_apart
        else:
            z, (_, c) = normal_rows(curves, test["correlation"], n_pos=n_pos, n_neg=n_neg, seed=(2, seed))
            found += hr.compare_samples(y, a, z, c, method="delong").told_apart
    assert binom.ppf(NEVER, N_RUNS, planned) <= found <= binom.ppf(1 - NEVER, N_RUNS, planned)


@pytest.mark.parametrize("method", ["separate", "delong"])
def test_two_equal_samples_are_told_apart_no_more_often_than_promised(method):
    level, found, n_runs, curve = 0.1, 0, 1000, curve_of_auc(0.8)
    for seed in range(n_runs):
        y, (a,) = normal_rows((curve,), (0, 0), n_pos=600, n_neg=900, seed=(3, seed))
        z, (b,) = normal_rows((curve,), (0, 0), n_pos=500, n_neg=1200, seed=(4, seed))
        found += hr.compare_samples(y, a, z, b, method=method, confidence=1 - level).told_apart
    assert found <= binom.ppf(1 - 2 * NEVER, n_runs, level)
    if method == "delong":
        assert found >= binom.ppf(2 * NEVER, n_runs, level)
