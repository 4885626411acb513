"""Areas by a product of e-values: the parts against slow twins, and laws."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrank.bounds.fixed.betting import _Test, bet_high, bet_low, betting, betting_pays
from headrank.bounds.fixed.places import places_of, twice_variance
from headrank.bounds.inequalities.e_values import bernstein, curvature
from headrank.bounds.intervals import interval_of
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.measures import AUC, PartialAUC
from strategies import small_rankings


def twice_variance_by_counting(pos, neg):
    """Two positives and two negatives, in all orders: the product of how far each positive is between the negatives."""

    def beats(x, z):
        return (x > z) + (x == z) / 2

    found = [
        (beats(x, z) - beats(x, w)) * (beats(v, z) - beats(v, w))
        for x, v in permutations(pos, 2)
        for z, w in permutations(neg, 2)
    ]
    return np.mean(found)


@settings(max_examples=30, deadline=None)
@given(small_rankings(max_rows=12, min_rows=8))
def test_twice_the_variance_is_counted_pair_by_pair(ranking):
    y, scores = np.asarray(ranking.y), np.asarray(ranking.scores)
    pos, neg = scores[y == 1], scores[y != 1]
    if min(pos.size, neg.size) < 2:
        return
    curve = RocCurve.from_scores(ranking.y, ranking.scores)
    fast = twice_variance(curve, curve.scores.size, np.zeros(0), neg.size)
    assert fast == pytest.approx(max(twice_variance_by_counting(pos, neg), 0.0), abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0.2, 1.0])
@pytest.mark.parametrize("low", [True, False])
def test_the_quadratic_bound_is_below_the_product_and_close(max_fpr, low):
    """The least product, with the factor of each positive written out, at every eta and rho of a grid."""
    curve = RocCurve.from_scores(*Binormal(separation=1.5).sample_classes(300, 3000, random_state=1))
    places = places_of(curve, max_fpr, 0.025)
    test = _Test(places, 0.025, low=low)
    theta = curve.mean_tpr(max_fpr=max_fpr) + (-0.08 if low else 0.08)
    spread = theta * (1 - theta)
    bet = test._bet(theta, spread)
    variance = min(places.variance, spread) if places.whole else places.variance
    reach = bernstein(variance, places.inside, test.limit_exponent)
    least = np.inf
    for eta in np.linspace(-reach, reach, 41):
        for rho in np.linspace(test.rhos.min(), test.rhos.max(), 1 if places.whole else 41):
            credit = places.above - rho * places.behind
            if not low:
                credit = credit + max(1 - rho, 0) * places.near_below + max(rho - 1, 0) * places.near_above
            gain = (credit - theta if low else theta - credit) - rho * eta
            product = float(places.counts @ np.log1p(bet * gain))
            at = np.array([[eta]]), np.array([[rho]])
            product += float(test._log_of_negatives(at[0], at[1] * bet * places.n_pos, variance)[0, 0])
            product += float(test._log_of_position(at[1], bet * places.n_pos * spread)[0, 0])
            least = min(least, product)
    assert least - 0.2 < test.excess(theta) + test.wanted < least + 0.02


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from([(5, 60), (40, 300), (100, 60)]),
    st.sampled_from([0.1, 0.3, 1.0]),
    st.sampled_from([0.2, 1e-3]),
    st.floats(0, 4),
    st.integers(0, 9),
)
def test_no_truth_below_a_rejected_one_is_kept(sizes, max_fpr, risk, separation, seed):
    curve = RocCurve.from_scores(*Binormal(separation=separation).sample_classes(*sizes, random_state=seed))
    places, estimate = places_of(curve, max_fpr, risk), curve.mean_tpr(max_fpr=max_fpr)
    for low in (True, False):
        test = _Test(places, risk, low=low)
        thetas = np.linspace(0.0 if low else 1.0, estimate, 25)
        rejected = np.array([test.excess(theta) >= 0 for theta in thetas])
        assert np.all(np.diff(rejected.astype(int)) <= 0)


@given(st.floats(-0.999, -1e-3), st.floats(0, 1))
def test_the_curvature_bounds_the_logarithm(least, part):
    z = least * part
    assert np.log1p(z) >= z - float(curvature(np.array(least))) * z**2 - 1e-12


@settings(max_examples=20, deadline=None)
@given(small_rankings(max_rows=14), st.sampled_from([0.3, 1.0]), st.sampled_from([0.01, 0.3]))
def test_the_estimate_is_inside_for_any_sample(ranking, max_fpr, risk):
    curve = RocCurve.from_scores(ranking.y, ranking.scores)
    low, high = bet_low(curve, max_fpr, risk), bet_high(curve, max_fpr, risk)
    assert 0 <= low <= curve.mean_tpr(max_fpr=max_fpr) <= high <= 1


def test_rows_may_come_in_any_order_and_classes_may_swap():
    y, scores = Binormal(separation=1.5).sample_classes(80, 400, random_state=0)
    curve, rng = RocCurve.from_scores(y, scores), np.random.default_rng(1)
    order = rng.permutation(y.size)
    again = RocCurve.from_scores(y[order], np.exp(scores[order]))
    swapped = RocCurve.from_scores(1 - y, -scores)
    for bound in (bet_low, bet_high):
        assert bound(curve, 1.0, 0.025) == pytest.approx(bound(again, 1.0, 0.025), abs=1e-9)
        assert bound(curve, 1.0, 0.025) == pytest.approx(bound(swapped, 1.0, 0.025), abs=1e-9)


def test_it_is_narrow_where_it_is_the_default():
    curve = RocCurve.from_scores(*Binormal(separation=2.0).sample_classes(500, 10_000, random_state=0))
    for measure, times in ((AUC(), 1.65), (PartialAUC(max_fpr=0.05), 1.7)):
        made = interval_of(curve, measure)
        asymptotic = interval_of(curve, measure, method="delong")
        fixed = interval_of(curve, measure, method="fixed_range")
        assert made.method == "betting"
        assert asymptotic.width < made.width < times * asymptotic.width
        assert made.width < 0.95 * fixed.width


def test_the_rule_is_about_counts():
    assert not betting_pays(0.1, 1.0, 1000, 10_000)
    assert betting_pays(0.0, 1.0, 10_000, 1000)
    assert not betting_pays(0.0, 1.0, 49, 10_000)
    assert betting_pays(0.0, 0.1, 100, 2520)
    assert not betting_pays(0.0, 0.1, 100, 2400)


def test_a_range_that_starts_later_is_refused():
    curve = RocCurve.from_scores([1, 0], [1, 0])
    with pytest.raises(ValueError, match=r"starts at FPR 0, not for pauc@0\.1:0\.2"):
        betting(curve, PartialAUC(min_fpr=0.1, max_fpr=0.2))


@cache
def at_all_places(n_pos, n_neg, max_fpr, low, risk=0.2):
    """The test of each way to put positives between negatives."""

    def test_of(slots):
        scores = np.concatenate([np.arange(n_neg, 0, -1.0), n_neg + 0.5 - np.array(slots)])
        curve = RocCurve.from_scores(np.repeat([0, 1], [n_neg, n_pos]), scores)
        return _Test(places_of(curve, max_fpr, risk), risk, low=low)

    return {slots: test_of(slots) for slots in product(range(n_neg + 1), repeat=n_pos)}


@pytest.mark.parametrize("low", [True, False])
@pytest.mark.parametrize("max_fpr", [0.5, 1.0])
@settings(max_examples=15, deadline=None)
@given(
    chances=st.lists(st.integers(0, 5), min_size=7, max_size=7).filter(any),
    theta=st.floats(0.01, 0.99),
    place=st.floats(0, 1),
)
def test_the_expectation_of_the_bet_is_at_most_1(max_fpr, low, chances, theta, place):
    """All ways to put 3 positives between 6 negatives: the bet has no gain at the true eta, whatever rho is."""
    n_pos, n_neg = 3, 6
    share = np.array(chances) / sum(chances)
    tests = at_all_places(n_pos, n_neg, max_fpr, low)
    rhos = next(iter(tests.values())).rhos
    rho = rhos.min() + place * (rhos.max() - rhos.min())
    # What one positive brings at eta = 0, from samples in which all three are in the same place.
    gains = []
    for slot in range(n_neg + 1):
        places = tests[(slot,) * n_pos].places
        at = int(np.argmax(places.counts))
        credit = places.above[at] - rho * places.behind[at]
        near = max(1 - rho, 0) * places.near_below[at] + max(rho - 1, 0) * places.near_above[at]
        gains.append(credit - theta if low else theta - credit - near)
    eta = float(share @ np.array(gains)) / rho
    bet = next(iter(tests.values()))._bet(theta, max(theta * (1 - theta), 0.02))
    at = np.array([[eta]]), np.array([[rho]])
    mean = sum(
        share[list(slots)].prod() * np.exp(float(test._log_wealth(theta, bet)(*at)[0, 0]))
        for slots, test in tests.items()
    )
    assert mean <= 1 + 1e-9
