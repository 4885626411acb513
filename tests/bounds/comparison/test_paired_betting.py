"""Bets on the difference of each positive: their expectation, how they depend on the truth, and unusual samples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from headrank.bounds.comparison.paired_betting import _paired_excess, least_mean, least_paired_difference

differences = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.125, 0.5, 1.0]), min_size=1, max_size=40)


def log_e_value(values, truth, spread=0.0, n_neg=0, eta=0.0, farthest=0.0):
    return _paired_excess(np.asarray(values), truth, spread, n_neg, np.array([eta]), farthest, 0.0)


@given(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any))
def test_the_expectation_of_a_bet_is_at_most_1(chances):
    share = np.array(chances) / sum(chances)
    steps = np.array([-1.0, 0.25, 1.0])
    mean = float(share @ steps)
    total = sum(
        share[list(each)].prod() * np.exp(log_e_value(steps[list(each)], mean)) for each in product(range(3), repeat=6)
    )
    assert total <= 1 + 1e-9


def test_so_is_that_of_bet_and_negatives_together():
    """A negative is beaten by one scorer, the other, or both equally often; the positives then disagree by chance."""
    kinds, share, n_neg, n_pos = np.array([-1.0, 0.0, 1.0]), np.array([0.2, 0.5, 0.3]), 3, 2
    delta, spread, total = float(share @ kinds), float(share @ np.abs(kinds)), 0.0
    for negatives in product(range(3), repeat=n_neg):
        mean = float(kinds[list(negatives)].mean())  # of the differences of the positives, which are -1 or 1
        up = (1 + mean) / 2
        for positives in product([-1.0, 1.0], repeat=n_pos):
            chance = share[list(negatives)].prod() * np.prod([up if each > 0 else 1 - up for each in positives])
            total += chance * np.exp(log_e_value(positives, delta, spread, n_neg, mean - delta, farthest=2.0))
    assert total <= 1 + 1e-9


@settings(max_examples=50)
@given(differences, st.sampled_from([0.2, 0.01]))
def test_no_truth_below_a_rejected_one_is_kept(values, risk):
    values = np.array(values)
    logs = [log_e_value(values, truth) for truth in np.linspace(-1, values.mean(), 60)]
    assert np.all(np.diff(logs) <= 1e-9)
    assert -1 <= least_mean(values, risk) <= values.mean()


@given(differences, st.floats(0, 1), st.sampled_from([1, 7, 1000]))
def test_the_bets_do_not_depend_on_how_much_the_scorers_disagree(values, spread, n_neg):
    """The limits of eta come from the disagreement, which is seen on the positives; the bets do not."""
    plain = log_e_value(values, -0.1, 1.0, n_neg, 0.05, farthest=1.5)
    less = log_e_value(values, -0.1, spread, n_neg, 0.05, farthest=1.5)
    assert less >= plain - 1e-9  # only the e-value of the negatives changes


@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (2000, 5), (5, 2000), (3000, 1)])
def test_any_numbers_of_rows(n_pos, n_neg):
    values = np.linspace(-0.4, 0.9, n_pos)
    assert -1 <= least_paired_difference(values, 0.3, n_neg, 0.025) <= values.mean()
    y = np.repeat([1, 0], [n_pos, n_neg])
    a = np.arange(y.size)[::-1].astype(float)
    found = hr.compare(y, a, -a, method="betting")
    assert -1 <= found.low <= found.estimate <= found.high <= 1
