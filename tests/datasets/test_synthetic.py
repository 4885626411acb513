"""Populations: every truth against quadrature from the definitions, and against large samples."""

from functools import cache
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq
from scipy.stats import norm
from scipy.stats import t as student

import headrank as hr
from headrank.datasets import Binormal, LinearEta

approx = pytest.approx
N_ROWS, N_BLOCKS = 400_000, 40
# A truth that is right fails on one seed in ten million.
N_SIGMAS = student.ppf(1 - 0.5e-7, N_BLOCKS - 1)

POPULATIONS = [
    Binormal(separation=1.0, positive_rate=0.1),
    Binormal(separation=2.0, spread=2.0, positive_rate=0.3),
    Binormal(separation=0.3, spread=0.5, positive_rate=0.5),
    LinearEta(low=0.0, high=0.4),
    LinearEta(low=0.2, high=1.0, n_features=2),
]
TRUTHS = [
    (hr.AUC(), lambda p: p.auc()),
    (hr.PartialAUC(max_fpr=0.05), lambda p: p.partial_auc(max_fpr=0.05)),
    (hr.PartialAUC(min_fpr=0.02, max_fpr=0.3), lambda p: p.partial_auc(0.02, 0.3)),
    (hr.TPRAtFPR(0.1), lambda p: p.tpr_at(0.1)),
    (hr.TopFPR(0.2), lambda p: p.rates_at_top(0.2)[0]),
    (hr.TopTPR(0.2), lambda p: p.rates_at_top(0.2)[1]),
    (hr.LocalAUC(0.2), lambda p: p.local_auc(0.2)),
    (hr.TruncatedAUC(0.2), lambda p: p.truncated_auc(0.2)),
    (hr.WRanking(0.2), lambda p: p.w_ranking(0.2)),
    (hr.MassConstrainedError(0.2), lambda p: p.mass_error(0.2)),
    (hr.LocalRankingError(0.2), lambda p: p.local_ranking_error(0.2)),
    (hr.LocalRankingRisk(0.2), lambda p: p.local_ranking_risk(0.2)),
]
binormals = st.builds(
    Binormal, separation=st.floats(-2, 6), spread=st.floats(0.2, 5), positive_rate=st.floats(0.001, 0.999)
)
linear_etas = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda ends: abs(ends[0] - ends[1]) > 1e-3)
linear_etas = linear_etas.map(lambda ends: LinearEta(low=min(ends), high=max(ends)))
tops = st.floats(1e-3, 0.999)


def integral(function, start, end, points=(), panels=400):
    """Composite Gauss-Legendre; no adaptivity, no change of variable, nothing shared with the library."""
    nodes, weights = leggauss(20)
    edges = np.unique(np.clip([*np.linspace(start, end, panels + 1), *points], start, end))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return float((function(middle[:, None] + half[:, None] * nodes) * weights * half[:, None]).sum())


class ScoreModel:
    """The two distributions of the scores, and every measure as its definition has it, over scores."""

    def __init__(self, population):
        self.p = population.positive_rate
        if isinstance(population, Binormal):
            self.pos = norm(population.separation, population.spread)
            self.neg = norm(0, 1)
            reach = 9 * max(1, population.spread)
            self.low, self.high = min(0, population.separation) - reach, max(0, population.separation) + reach
            centre, spread = population.separation, population.spread
            self.points = [*np.linspace(-9, 9, 60), *(centre + spread * np.linspace(-9, 9, 60))]
        else:
            self.pos, self.neg = Tilted(population, 1), Tilted(population, 0)
            self.low, self.high, self.points = population.low, population.high, ()

    def over_top(self, function, q):
        return integral(function, q, self.high, self.points)

    def quantile(self, top):
        return brentq(lambda z: self.p * self.pos.sf(z) + (1 - self.p) * self.neg.sf(z) - top, self.low, self.high)

    def local_auc(self, top):  # P(pos > neg, pos >= Q)
        return self.over_top(lambda z: self.neg.cdf(z) * self.pos.pdf(z), self.quantile(top))

    def w_ranking(self, top):  # E[F(s) 1{s >= Q} | positive]
        def ranked(z):
            return (self.p * self.pos.cdf(z) + (1 - self.p) * self.neg.cdf(z)) * self.pos.pdf(z)

        return self.over_top(ranked, self.quantile(top))

    def local_ranking_error(self, top):  # P(two instances, both in the top, negative above positive)
        q = self.quantile(top)
        pair = self.over_top(lambda z: (self.pos.cdf(z) - self.pos.cdf(q)) * self.neg.pdf(z), q)
        return 2 * self.p * (1 - self.p) * pair

    def truncated_auc(self, top):  # P(pos > neg, neg >= Q)
        return self.over_top(lambda z: self.pos.sf(z) * self.neg.pdf(z), self.quantile(top))

    def mass_error(self, top):
        q = self.quantile(top)
        return self.p * self.pos.cdf(q) + (1 - self.p) * self.neg.sf(q)


class Tilted:
    """The law of eta, uniform on [low, high], among the positives (y = 1) or the negatives (y = 0)."""

    def __init__(self, population, y):
        self.low, self.width = population.low, population.high - population.low
        self.y, self.share = y, population.positive_rate if y else 1 - population.positive_rate

    def pdf(self, z):
        return (z if self.y else 1 - z) / (self.width * self.share)

    def cdf(self, z):
        squares = (z**2 - self.low**2) / 2
        return (squares if self.y else z - self.low - squares) / (self.width * self.share)

    def sf(self, z):
        return 1 - self.cdf(z)


@cache
def big_sample(population):
    if isinstance(population, Binormal):
        return population.sample_scores(N_ROWS, random_state=1)
    X, y = population.sample(N_ROWS, random_state=1)
    return y, population.eta(X)


def standard_error(measure, y, scores):
    values = [measure(*block) for block in zip(np.split(y, N_BLOCKS), np.split(scores, N_BLOCKS), strict=True)]
    return np.std(values, ddof=1) / np.sqrt(N_BLOCKS)


@pytest.mark.parametrize("population", POPULATIONS, ids=repr)
@pytest.mark.parametrize(("measure", "truth"), TRUTHS, ids=[str(measure) for measure, _ in TRUTHS])
def test_truth_is_what_large_samples_give(population, measure, truth):
    y, scores = big_sample(population)
    error = standard_error(measure, y, scores)
    assert 0 < error < 0.01
    assert abs(measure(y, scores) - truth(population)) <= N_SIGMAS * error


NAMES = ["local_auc", "w_ranking", "local_ranking_error", "truncated_auc", "mass_error"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(population=st.one_of(binormals, linear_etas), top=tops)
def test_truth_follows_the_definition(name, population, top):
    model = ScoreModel(population)
    assert getattr(population, name)(top) == approx(getattr(model, name)(top), rel=1e-9, abs=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.one_of(binormals, linear_etas), tops)
def test_laws_of_the_top(population, top):
    p, (alpha, beta) = population.positive_rate, population.rates_at_top(top)
    assert p * beta + (1 - p) * alpha == approx(top, rel=1e-12)
    if alpha < 0.99:  # next to 1, float64 has too few rates to find the way back from alpha to beta
        assert beta == approx(population.tpr_at(alpha), rel=1e-9)
    assert population.local_auc(top) == approx(population.truncated_auc(top) + beta - alpha * beta, rel=1e-12)
    risk = (1 - p) * population.mass_error(top) + population.local_ranking_error(top)
    assert 2 * p * (1 - p) * population.local_auc(top) == approx((1 - p) * (p + top) - risk, abs=1e-11)
    assert population.local_ranking_risk(top) == approx(risk)
    error, both = population.mass_error(top), p + top
    w = both - both**2 / 4 + (both / 2 - 1) * error - error**2 / 4 - population.local_ranking_error(top)
    assert 2 * p * population.w_ranking(top) == approx(w, abs=1e-11)


@given(st.one_of(binormals, linear_etas))
@settings(max_examples=20, deadline=None)
def test_the_whole_list_is_no_special_case(population):
    assert population.rates_at_top(1.0) == approx((1, 1))
    assert population.local_auc(1.0) == approx(population.auc(), rel=1e-11)
    assert population.partial_auc() == approx(population.auc(), rel=1e-11)
    cuts = [0, 1e-6, 0.01, 0.3, 0.9, 1]
    parts = [population.partial_auc(a, b) * (b - a) for a, b in pairwise(cuts)]
    assert sum(parts) == approx(population.auc(), rel=1e-10)


@given(st.one_of(binormals, linear_etas), st.floats(1e-9, 0.999), st.floats(-12, -3))
@settings(max_examples=40, deadline=None)
def test_partial_auc_lies_between_the_heights_at_its_ends(population, min_fpr, log_width):
    max_fpr = min_fpr + 10**log_width * min(min_fpr, 1 - min_fpr)
    low, high = population.tpr_at(min_fpr), population.tpr_at(max_fpr)
    assert low * (1 - 1e-12) <= population.partial_auc(min_fpr, max_fpr) <= high * (1 + 1e-12)


@pytest.mark.parametrize("separation", [-1.0, 0.0, 1.0, 3.0, 6.0])
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("max_fpr", [1e-6, 1e-3, 0.5])
def test_binormal_keeps_its_digits_far_in_the_corner(separation, spread, max_fpr):
    population = Binormal(separation=separation, spread=spread)
    start = norm.isf(max_fpr)
    reference = integral(lambda z: norm.sf((z - separation) / spread) * norm.pdf(z), start, start + 12, panels=2000)
    assert population.partial_auc(max_fpr=max_fpr) == approx(reference / max_fpr, rel=1e-10)
    assert population.tpr_at(max_fpr) == approx(norm.sf((start - separation) / spread), rel=1e-12)


def test_binormal_auc_is_the_normal_integral():
    population = Binormal(separation=1.5, spread=2.0)
    assert population.auc() == approx(integral(lambda z: norm.sf((z - 1.5) / 2) * norm.pdf(z), -12, 12), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.floats(-8, 8), st.floats(-5, 2))
@example(-1.5682690577370924, -2.923936)  # scipy.integrate.quad misses this step by 3e-9
def test_binormal_quadrature_agrees_with_the_closed_form(separation, log_spread):
    population = Binormal(separation=separation, spread=10**log_spread)
    assert population.partial_auc() == approx(population.auc(), rel=1e-10)


def test_rates_beyond_the_smallest_float():
    far = Binormal(separation=100.0, positive_rate=0.5)
    assert far.rates_at_top(0.1) == (0.0, 0.2)
    assert (far.local_auc(0.1), far.local_ranking_error(0.1)) == (0.2, 0.0)
    wide = Binormal(separation=0.0, spread=1000.0, positive_rate=0.5)  # half the positives lie below all negatives
    assert wide.rates_at_top(0.9) == approx((1.0, 0.8))


def test_linear_eta_by_hand():
    population = LinearEta()  # densities 2x and 2(1 - x): roc = 1 - (1 - sqrt(fpr))**2
    assert population.auc() == approx(5 / 6)
    fpr = np.array([0.0, 1e-12, 0.25, 1.0])
    assert population.roc(fpr) == approx(1 - (1 - np.sqrt(fpr)) ** 2, rel=1e-12)
    assert population.quantile(0.3) == approx(0.7)


# -- sampling ------------------------------------------------------------------------------------------------


def test_samples_repeat_by_seed_and_go_on_by_generator():
    population = Binormal(separation=1.0, positive_rate=0.2)
    first, second = population.sample_scores(50, random_state=3), population.sample_scores(50, random_state=3)
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
    rng = np.random.default_rng(3)
    assert np.array_equal(population.sample_scores(50, random_state=rng)[1], first[1])
    assert not np.array_equal(population.sample_scores(50, random_state=rng)[1], first[1])
    assert not np.array_equal(population.sample_scores(50)[1], population.sample_scores(50)[1])
    eta = LinearEta(n_features=3)
    assert np.array_equal(eta.sample(50, 3)[0], eta.sample(50, 3)[0])


def test_class_counts_are_kept():
    y, scores = Binormal(separation=4.0, spread=0.5, positive_rate=0.01).sample_classes(3000, 5000, random_state=0)
    assert (y.sum(), (~y).sum(), scores.size) == (3000, 5000, 8000)
    assert scores[y].mean() == approx(4.0, abs=6 * 0.5 / np.sqrt(3000))
    assert scores[y].std() == approx(0.5, abs=6 * 0.5 / np.sqrt(6000))
    assert scores[~y].mean() == approx(0.0, abs=6 / np.sqrt(5000))


def test_labels_follow_eta():
    population = LinearEta(low=0.1, high=0.7, n_features=4)
    X, y = population.sample(100_000, random_state=0)
    assert X.shape == (100_000, 4)
    for low, high in [(0, 0.2), (0.4, 0.6), (0.8, 1.0)]:
        rows = (X[:, 0] >= low) & (X[:, 0] < high)
        expected = 0.1 + 0.6 * (low + high) / 2
        assert y[rows].mean() == approx(expected, abs=6 * np.sqrt(expected * (1 - expected) / rows.sum()))
    assert abs(np.corrcoef(X[:, 1], y)[0, 1]) < 6 / np.sqrt(y.size)


# -- the best instances --------------------------------------------------------------------------------------


@given(linear_etas, tops)
def test_least_error_two_ways(population, top):
    assert population.best_error(top) == approx(population.mass_error(top), abs=1e-13)


@pytest.mark.parametrize("top", [0.05, 0.3, 1.0])
def test_best_set_has_its_mass(top):
    population = LinearEta(low=0.1, high=0.6, n_features=2)
    X, _ = population.sample(200_000, random_state=0)
    best = population.best_set(X, top)
    assert abs(best.mean() - top) <= 6 * np.sqrt(top * (1 - top) / best.size)
    assert best.all() or population.eta(X)[best].min() >= population.eta(X)[~best].max()


def test_optimal_scores_are_eta_on_the_best_set_and_lower_elsewhere():
    population = LinearEta(low=0.0, high=0.5, n_features=2)
    X, _ = population.sample(1000, random_state=0)
    best, scores = population.best_set(X, 0.2), population.optimal_scores(X, 0.2)
    assert np.array_equal(scores[best], population.eta(X)[best])
    assert scores[~best].max() < population.quantile(0.2)


@pytest.mark.parametrize("make_measure", [hr.LocalAUC, hr.WRanking])
def test_optimal_scores_win(make_measure):
    top = 0.2
    population = LinearEta(low=0.0, high=0.6, n_features=2)
    X, y = population.sample(N_ROWS, random_state=5)
    measure, rng = make_measure(top), np.random.default_rng(0)
    eta, best = population.eta(X), population.best_set(X, top)
    optimal = population.optimal_scores(X, top)
    rivals = {
        "noise": X[:, 1],
        "blurred": eta + 0.1 * rng.standard_normal(eta.size),
        "right set, wrong order": np.where(best, 1 - eta, -1 + eta / 2),
        "wrong set, right order": np.where(best, eta, eta + 0.12),
    }
    for name, rival in rivals.items():
        gain = measure(y, optimal) - measure(y, rival)
        blocks = [
            measure(*block[:2]) - measure(block[0], block[2])
            for block in zip(*(np.split(column, N_BLOCKS) for column in (y, optimal, rival)), strict=True)
        ]
        assert gain > N_SIGMAS * np.std(blocks, ddof=1) / np.sqrt(N_BLOCKS), name
    # Off the best set the order is free (Definition 19).
    shuffled = np.where(best, eta, -rng.random(eta.size))
    truth = population.local_auc(top) if make_measure is hr.LocalAUC else population.w_ranking(top)
    for scores in (optimal, shuffled):
        assert abs(measure(y, scores) - truth) <= N_SIGMAS * standard_error(measure, y, scores)


@pytest.mark.parametrize("top", [0.1, 0.5])
def test_excess_error_is_the_difference_of_the_errors(top):
    population = LinearEta(low=0.1, high=0.9, n_features=2)
    X, y = population.sample(N_ROWS, random_state=2)
    best = population.best_set(X, top)
    for name, chosen in [("random", X[:, 1] >= 1 - top), ("worst", X[:, 0] <= top)]:
        # L(C) - L* on the same rows, by labels: it varies more, but knows nothing of the formula.
        difference = (chosen != y).astype(float) - (best != y).astype(float)
        excess = population.excess_error(X, chosen, top)
        assert abs(excess - difference.mean()) <= N_SIGMAS * difference.std() / np.sqrt(y.size), name
        if name == "random":  # knows nothing of y: it errs with probability p + u - 2 p u, 1/2 at p = 1/2
            per_row = 2 * np.abs(population.eta(X) - population.quantile(top)) * (chosen != best)
            tolerance = N_SIGMAS * per_row.std() / np.sqrt(y.size)
            assert abs(excess - (0.5 - population.best_error(top))) <= tolerance
    assert population.excess_error(X, population.best_set(X, top), top) == 0


# -- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Binormal(separation=inf), "separation must be finite"),
        (lambda: Binormal(separation=float("nan")), "separation must be finite"),
        (lambda: Binormal(separation=1, spread=0), "spread must be above 0, got 0"),
        (lambda: Binormal(separation=1, spread=-1), "spread must be above 0, got -1"),
        (lambda: Binormal(separation=1, positive_rate=0), "strictly between 0 and 1, got 0"),
        (lambda: Binormal(separation=1, positive_rate=5), "not percent"),
        (lambda: LinearEta(low=0.5, high=0.5), "expected 0 <= low < high <= 1, got low=0.5, high=0.5"),
        (lambda: LinearEta(low=-0.1), "expected 0 <= low"),
        (lambda: LinearEta(high=1.1), "expected 0 <= low"),
        (lambda: LinearEta(n_features=0), "n_features must be at least 1, got 0"),
        (lambda: POPULATIONS[0].rates_at_top(0), r"top must lie in \(0, 1\], got 0"),
        (lambda: POPULATIONS[3].local_auc(5), "not percent"),
        (lambda: POPULATIONS[0].partial_auc(0.5, 0.5), "min_fpr < max_fpr"),
        (lambda: POPULATIONS[0].partial_auc(max_fpr=1.5), "min_fpr < max_fpr"),
        (lambda: POPULATIONS[0].tpr_at(-0.1), r"fpr must lie in \[0, 1\], got -0.1"),
        (lambda: POPULATIONS[3].roc([0.5, np.nan]), r"fpr must lie in \[0, 1\], got nan"),
        (lambda: POPULATIONS[0].sample_scores(-1), "n_rows must be at least 0, got -1"),
        (lambda: POPULATIONS[0].sample_classes(1, -1), "n_neg must be at least 0, got -1"),
        (lambda: POPULATIONS[4].eta(np.zeros((3, 1))), r"shape \(n_rows, 2\), got \(3, 1\)"),
        (lambda: POPULATIONS[3].eta([[2.0]]), "unit cube"),
        (lambda: POPULATIONS[3].excess_error([[0.5]], [1], 0.1), "one bool for each of 1 rows"),
        (lambda: POPULATIONS[3].excess_error(np.zeros((0, 1)), np.zeros(0, dtype=bool), 0.1), "X is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Binormal(separation="far"), "separation must be a number, got 'far'"),
        (lambda: POPULATIONS[0].sample_scores(10.0), "n_rows must be a whole number, got 10.0"),
        (lambda: POPULATIONS[0].local_auc(None), "top must be a number, got None"),
    ],
)
def test_what_is_no_number_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()
