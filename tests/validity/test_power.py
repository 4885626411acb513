"""Is the power what is said? Simulated: DeLong's tests, and the two-sample bounds under the null hypothesis."""

import numpy as np
import pytest
from scipy.stats import binom

import headrank as hr
from headrank.bounds.planning.area_variances import normal_rows

pytestmark = pytest.mark.slow

N_RUNS = 1500


@pytest.mark.parametrize(
    ("test", "n_pos", "n_neg"),
    [
        ({"auc": (0.85, 0.78), "correlation": (0.6, 0.4)}, 100, 150),
        ({"auc": (0.85, 0.75), "paired": False}, 100, 150),
        ({"auc": (0.9, 0.85), "measure": "pauc@0.3"}, 150, 300),
    ],
)
def test_the_power_of_delongs_test(test, n_pos, n_neg):
    planned = hr.power(n_pos=n_pos, n_neg=n_neg, **test).power
    paired, measure = test.get("paired", True), test.get("measure", "auc")
    correlation = test.get("correlation", (0.5, 0.5))
    found = 0
    for seed in range(N_RUNS):
        y, (a, b) = normal_rows(test["auc"], correlation, n_pos=n_pos, n_neg=n_neg, seed=(1, seed))
        if paired:
            found += hr.compare(y, a, b, measure=measure, method="delong").told_apart
        else:
            z, (_, c) = normal_rows(test["auc"], correlation, n_pos=n_pos, n_neg=n_neg, seed=(2, seed))
            found += hr.compare_samples(y, a, z, c, measure=measure, method="delong").told_apart
    # Five standard errors of the simulation, and 0.03 for samples that are not infinite.
    assert abs(found / N_RUNS - planned) <= 5 * np.sqrt(planned * (1 - planned) / N_RUNS) + 0.03


@pytest.mark.parametrize("method", ["separate", "delong"])
def test_two_equal_samples_are_told_apart_no_more_often_than_promised(method):
    level, found, n_runs = 0.1, 0, 600
    for seed in range(n_runs):
        y, (a,) = normal_rows((0.8,), (0, 0), n_pos=60, n_neg=90, seed=(3, seed))
        z, (b,) = normal_rows((0.8,), (0, 0), n_pos=50, n_neg=120, seed=(4, seed))
        found += hr.compare_samples(y, a, z, b, method=method, confidence=1 - level).told_apart
    slack = 0.02 if method == "delong" else 0.0  # asymptotic
    assert found <= binom.ppf(1 - 1e-6, n_runs, level + slack)
