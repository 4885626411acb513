"""Limits of new draws before old ones: exact probabilities against enumeration, and how they are spent."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc
from scipy.stats import betabinom

from headrank.bounds.inequalities.binomial import batch_risk
from headrank.bounds.inequalities.interleavings import _equal_local_levels, precedence, probability_within
from reference import lists as slow

SIZES = [(1, 1), (19, 1), (1, 19), (7, 30), (30, 7), (60, 60), (500, 400), (400, 500), (3000, 90), (90, 3000)]


@pytest.mark.parametrize(("n", "m"), list(product(range(1, 8), repeat=2)))
def test_probability_is_the_share_of_all_interleavings(n, m):
    all_counts = np.array(list(slow.interleavings(n, m)))
    rng = np.random.default_rng(10 * n + m)
    for _ in range(6):
        ranks = np.sort(rng.choice(np.arange(1, n + 1), rng.integers(1, n + 1), replace=False))
        limits = np.sort(rng.integers(0, m + 1, ranks.size))
        counts = all_counts[:, ranks - 1]
        for side, inside in (("most", counts <= limits), ("least", counts >= limits)):
            exact = inside.all(axis=1).sum() / comb(n + m, m)
            assert probability_within(n, m, ranks, limits, side=side) == pytest.approx(exact, abs=1e-13)


@given(st.integers(1, 25), st.integers(1, 25), st.data())
def test_probability_is_the_sum_over_lattice_paths(n, m, data):
    ranks = sorted(data.draw(st.sets(st.integers(1, n), min_size=1)))
    limits = sorted(data.draw(st.lists(st.integers(0, m), min_size=len(ranks), max_size=len(ranks))))
    exact = float(slow.lattice_paths(n, m, ranks, limits))
    assert probability_within(n, m, np.array(ranks), np.array(limits), side="most") == pytest.approx(exact, abs=1e-12)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_both_ways_to_count_agree(n, m, data):
    ranks = np.array(sorted(data.draw(st.sets(st.integers(1, n), min_size=1))))
    limits = np.array(sorted(data.draw(st.sets(st.integers(0, m - 1), min_size=1))))
    size = min(ranks.size, limits.size)
    ranks, limits = ranks[:size], limits[:size]
    exchanged = probability_within(m, n, limits + 1, ranks, side="least")
    assert probability_within(n, m, ranks, limits, side="most") == pytest.approx(exchanged, abs=1e-12)


@pytest.mark.parametrize(("n", "m", "i", "u"), [(500, 400, 3, 5), (20, 9, 20, 8), (100_000, 90_000, 700, 690)])
def test_a_single_limit_is_negative_hypergeometric(n, m, i, u):
    exact = 1 - batch_risk(n, m, u, i - 1)
    assert probability_within(n, m, np.array([i]), np.array([u]), side="most") == pytest.approx(exact, abs=1e-9)
    if n < 1000:
        assert exact == pytest.approx(betabinom.cdf(u, m, i, n - i + 1), abs=1e-9)


def test_a_million_draws_lose_no_digits():
    # With both samples large, V_i / m is near the uniform order statistic; its normal scale gives exact digits.
    n = m = 1_000_000
    i, u = 1000, 1100
    scale = betainc(i, u + 1, n / (n + m))  # negative binomial: the limit of a head that is small among many
    found = probability_within(n, m, np.array([i]), np.array([u]), side="most")
    assert found == pytest.approx(scale, abs=2e-4)
    assert found == pytest.approx(1 - batch_risk(n, m, u, i - 1), abs=1e-8)


@pytest.mark.parametrize("risk", [0.5, 0.05, 0.001, 1e-10])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_limits_keep_the_risk(n, m, risk):
    limits = precedence(n, m, risk)
    assert np.all(np.diff(limits.ranks) > 0)
    assert np.all(np.diff(limits.most) > 0)
    if not limits.ranks.size:
        return
    assert limits.ranks[0] >= 1
    assert limits.ranks[-1] <= n
    assert limits.most[0] >= 0
    assert limits.most[-1] < m
    spent = 1 - probability_within(n, m, limits.ranks, limits.most, side="most")
    assert spent <= risk * (1 + 1e-6) + 1e-13
    assert spent == pytest.approx(1 - limits.probability, abs=1e-11)


@pytest.mark.parametrize(("n", "m"), [(500, 400), (400, 500), (3000, 3000), (90, 3000)])
def test_the_risk_is_spent(n, m):
    # One limit less by one, at the same rank, would break the promise.
    limits = precedence(n, m, 0.05)
    assert limits.probability < 0.952
    lower = limits.most - 1
    assert probability_within(n, m, limits.ranks, np.maximum(lower, 0), side="most") < 0.95


def test_a_head_of_sixty_ranks_is_as_tight_as_published():
    published = [6, 12, 19, 31, 51, 71]
    at = np.array([1, 5, 10, 20, 40, 60])
    ranks = np.arange(1, 61)
    most, _, probability = _equal_local_levels(500, 400, ranks, 0.05, "most")
    assert most[at - 1].tolist() == published
    assert probability == pytest.approx(0.9528, abs=1e-4)
    ours = precedence(500, 400, 0.05)  # covers twice as many ranks
    assert ours.most[np.searchsorted(ours.ranks, at)].tolist() == published
    assert ours.ranks[-1] == 125


def test_equal_local_levels_by_hand():
    # One old draw beats one new one with probability n / (n + 1).
    assert precedence(19, 1, 0.05).most.tolist() == [0]
    assert precedence(18, 1, 0.05).most.tolist() == []
    limits, level, _ = _equal_local_levels(50, 30, np.array([1]), 0.05, "most")
    assert 1 - betabinom.cdf(limits[0], 30, 1, 50) <= level < 1 - betabinom.cdf(limits[0] - 1, 30, 1, 50)


@pytest.mark.parametrize("n", [5, 60, 400])
def test_more_new_draws_need_larger_limits(n):
    first = [int(precedence(n, m, 0.05).most[:1].sum()) for m in (50, 100, 200, 400, 800)]
    assert first == sorted(first)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(10**6, 10**6), (10**6, 300), (300, 10**6), (10**7, 10**5)])
def test_large_samples(n, m):
    limits = precedence(n, m, 0.05)
    assert 0.95 <= limits.probability < 0.952
    mean = limits.ranks * m / (n + 1)
    assert np.all(limits.most >= np.floor(mean))
