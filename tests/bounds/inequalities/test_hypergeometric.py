"""Tests of two samples: equal to their slow twins, and valid whatever the ties, by trying all divisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from headrank.bounds.inequalities.hypergeometric import (
    log_lower_tail,
    log_p_above_ranks,
    log_p_of_counts,
    log_upper_tail,
)
from reference import two_samples as slow


@st.composite
def draws(draw):
    total = draw(st.integers(1, 30))
    return draw(st.integers(-1, total + 1)), draw(st.integers(0, total)), draw(st.integers(0, total)), total


@given(draws())
def test_tails_are_exact_beyond_the_mode_and_never_too_small(given_numbers):
    k, special, drawn, total = given_numbers
    found = float(np.exp(log_upper_tail(*(np.array([each]) for each in given_numbers))[0]))
    exact = float(slow.upper_tail(k, special, drawn, total))
    assert found >= exact * (1 - 1e-9)
    mode = (special + 1) * (drawn + 1) // (total + 2)
    if k >= mode:
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-300)
    else:
        assert found == 1.0


@given(draws())
def test_the_lower_tail_counts_what_is_not_special(given_numbers):
    k, special, drawn, total = (np.array([each]) for each in given_numbers)
    assert log_lower_tail(k, special, drawn, total) == log_upper_tail(drawn - k, total - special, drawn, total)


@pytest.mark.parametrize(("total", "special", "drawn"), [(10**6, 5 * 10**5, 3000), (10**7, 10**6, 10**5)])
@pytest.mark.parametrize("deviations", [2, 3, 5, 8])
def test_large_samples_lose_little(total, special, drawn, deviations):
    k = int(hypergeom.mean(total, special, drawn) + deviations * hypergeom.std(total, special, drawn)) + 1
    found = np.exp(log_upper_tail(*(np.array([each]) for each in (k, special, drawn, total))))[0]
    exact = hypergeom.sf(k - 1, total, special, drawn)
    assert exact * (1 - 1e-6) <= found <= exact * (1 + 1 / deviations**2)


def test_evidence_too_strong_for_a_number_has_a_finite_logarithm():
    (found,) = log_p_of_counts(np.array([0]), 10**6, np.array([10**6]), 10**6)
    assert -2e6 < found < -1e6


@pytest.mark.parametrize("values", [[0, 0, 0, 1, 1, 2, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7], [5] * 8])
@pytest.mark.parametrize("n_old", [1, 3, 5])
def test_p_values_are_valid_with_and_without_ties(values, n_old):
    """Among all divisions of the same values, at most a share u has a p-value of at most u."""
    n_new = len(values) - n_old
    sets, ranks = [], []
    for old, new in slow.ways_to_divide(values, n_old):
        counts = [sum(each > cut for each in sample) for cut in (0, 1, 2, 4) for sample in (old, new)]
        sets.append(np.exp(log_p_of_counts(np.array(counts[::2]), n_old, np.array(counts[1::2]), n_new)))
        every = np.arange(1, n_old + 1)
        levels = sorted(old, reverse=True)
        above = np.array([sum(each > level for each in new) for level in levels])
        not_below = np.array([sum(each >= level for each in new) for level in levels])
        ranks.append(np.exp(log_p_above_ranks(every, n_old, above, not_below, n_new)))
    for p_values in (np.array(sets), np.array(ranks)):
        for column in p_values.T:
            for u in np.unique(column):
                assert np.mean(column <= u) <= u * (1 + 1e-9)
    if len(set(values)) == len(values) and n_old == 3:
        assert np.array(ranks).min() < 0.15  # and the test can reject


def test_ranks_of_distinct_scores_have_the_exact_law():
    """2 min(P(V <= v), P(V >= v)) for the number V of new draws before an old one, by trying all divisions."""
    n_old, values = 3, list(range(9))
    found = [(sorted(old, reverse=True), new) for old, new in slow.ways_to_divide(values, n_old)]
    for rank in (1, 2, 3):
        before = np.array([sum(each > old[rank - 1] for each in new) for old, new in found])
        for v in np.unique(before):
            exact = min(2 * min(np.mean(before <= v), np.mean(before >= v)), 1.0)
            p = float(np.exp(log_p_above_ranks(*map(np.array, ([rank],)), n_old, np.array([v]), np.array([v]), 6)[0]))
            assert p == pytest.approx(exact) or (p == 1.0 and exact > 0.5)
