"""The precision at a fraction keeps its promise: random samples with ties, few positives, few rows above the cut."""

import numpy as np
import pytest
from scipy.stats import binom

from headrank.bounds.fixed.at_fraction import at_fraction
from headrank.measures import PrecisionAt
from validity.test_bands import POPULATIONS

pytestmark = pytest.mark.slow
N_RUNS = 1000
CONFIDENCE = 0.8


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("name", POPULATIONS)
def test_each_end_fails_no_more_often_than_promised(name, fraction):
    population, rng, misses = POPULATIONS[name], np.random.default_rng(4), np.zeros(2)
    truth = PrecisionAt(fraction).value(population.truth())
    for _ in range(N_RUNS):
        curve = population.sample(rng)
        if curve.n_pos in (0, curve.n):
            continue
        found = at_fraction(curve, PrecisionAt(fraction), confidence=CONFIDENCE)
        misses += found.low > truth + 1e-6, found.high < truth - 1e-6
    assert misses.max() <= binom.ppf(1 - 1e-6 / 42, N_RUNS, (1 - CONFIDENCE) / 2), misses


def test_the_simulation_would_notice_a_broken_promise():
    population, rng, misses = POPULATIONS["binormal"], np.random.default_rng(5), 0
    truth = PrecisionAt(0.1).value(population.truth())
    for _ in range(N_RUNS):
        found = at_fraction(population.sample(rng), PrecisionAt(0.1), confidence=CONFIDENCE)
        misses += found.estimate - 0.3 * (found.estimate - found.low) > truth
    assert misses > binom.ppf(1 - 1e-6, N_RUNS, (1 - CONFIDENCE) / 2)
