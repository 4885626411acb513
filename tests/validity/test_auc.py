"""The AUC's finite-sample intervals keep their promise, on populations whose AUC is known in closed form."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, norm

from headrank.bounds.fixed.auc import bernstein, hoeffding, kl, mcdiarmid
from headrank.bounds.planning.auc import plan
from headrank.curve import RocCurve
from headrank.datasets import Binormal

pytestmark = pytest.mark.slow
METHODS = [mcdiarmid, hoeffding, kl, bernstein]
N_RUNS = 1500
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Population:
    """Draws the scores of so many positives and negatives; ``auc`` is the truth of Definition 1."""

    auc: float
    n_pos: int
    n_neg: int
    positives: Callable
    negatives: Callable

    def curve(self, rng):
        scores = np.r_[self.positives(rng, self.n_pos), self.negatives(rng, self.n_neg)]
        return RocCurve.from_scores(np.repeat([1, 0], [self.n_pos, self.n_neg]), scores)


def binormal(separation, spread, n_pos, n_neg):
    return Population(
        Binormal(separation=separation, spread=spread).auc(),
        n_pos,
        n_neg,
        lambda rng, n: rng.normal(separation, spread, n),
        lambda rng, n: rng.normal(0, 1, n),
    )


def discretised(separation, edges, n_pos, n_neg):
    """Normal scores of which only the cell between two edges is kept: few levels, many ties."""
    cells = np.r_[-np.inf, edges, np.inf]
    pos, neg = (np.diff(norm.cdf(cells, mean)) for mean in (separation, 0))
    auc = float(sum(pos[i] * (neg[:i].sum() + neg[i] / 2) for i in range(len(pos))))

    def draw(mean):
        return lambda rng, n: np.searchsorted(edges, rng.normal(mean, 1, n)).astype(float)

    return Population(auc, n_pos, n_neg, draw(separation), draw(0))


def coin(auc, n_pos, n_neg):
    """Positives above or below all negatives: the mean of independent coins, the worst case of `kl`'s theorem."""
    return Population(
        auc, n_pos, n_neg, lambda rng, n: np.where(rng.random(n) < auc, 1.0, -1.0), lambda rng, n: np.zeros(n)
    )


def exponential(ratio, n_pos, n_neg):
    return Population(
        ratio / (1 + ratio),
        n_pos,
        n_neg,
        lambda rng, n: rng.exponential(ratio, n),
        lambda rng, n: rng.exponential(1, n),
    )


POPULATIONS = {
    "binormal": binormal(1.0, 1.0, 60, 90),
    "unequal spreads": binormal(1.0, 3.0, 90, 60),
    "two levels": discretised(0.5, [1.0], 60, 90),
    "four levels": discretised(1.0, [0.0, 0.5, 1.5], 100, 100),
    "all but always tied": discretised(0.3, [2.5], 60, 90),
    "1 % positives": binormal(1.0, 1.0, 20, 1980),
    "AUC near 1": binormal(3.5, 1.0, 60, 90),
    "exponential": exponential(4.0, 60, 90),
    "coin": coin(0.8, 40, 400),
    "coin near 1": coin(0.98, 40, 400),
    "useless": binormal(0.0, 1.0, 10, 10),
}


@cache
def curves(name):
    rng = np.random.default_rng(20040)
    return [POPULATIONS[name].curve(rng) for _ in range(N_RUNS)]


def misses(name, method, confidence=CONFIDENCE, side="two-sided"):
    truth = POPULATIONS[name].auc
    return sum(truth not in method(curve, confidence=confidence, side=side) for curve in curves(name))


def tolerated(risk, n_runs=N_RUNS):
    return binom.ppf(1 - 1e-6, n_runs, risk)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_truth_is_inside_as_often_as_promised(name, method):
    assert misses(name, method) <= tolerated(1 - CONFIDENCE)
    for side in ("lower", "upper"):
        assert misses(name, method, side=side) <= tolerated(1 - CONFIDENCE)


def test_the_simulation_would_notice_a_broken_promise():
    intervals = [kl(curve, confidence=CONFIDENCE) for curve in curves("coin")]
    halved = sum(
        not (i.low + i.estimate) / 2 <= POPULATIONS["coin"].auc <= (i.high + i.estimate) / 2 for i in intervals
    )
    assert halved > tolerated(1 - CONFIDENCE)


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_estimate_has_no_bias(name):
    """Lemma 1; so that the truths in closed form are the right ones."""
    estimates = [kl(curve).estimate for curve in curves(name)]
    assert np.mean(estimates) == pytest.approx(POPULATIONS[name].auc, abs=5 * np.std(estimates) / np.sqrt(N_RUNS))


@pytest.mark.parametrize("name", ["two levels", "four levels", "all but always tied"])
def test_ties_make_bernstein_narrower_than_kl(name):
    widths = [np.mean([method(curve).width for curve in curves(name)[:100]]) for method in (bernstein, kl)]
    assert widths[0] < widths[1]


def test_random_labels_do_not_break_the_promise():
    """Theorem 3: the numbers of positives and negatives may be random."""
    population, rng, bad = (
        Binormal(separation=1.0, positive_rate=0.3),
        np.random.default_rng(3),
        dict.fromkeys(METHODS, 0),
    )
    for _ in range(N_RUNS):
        curve = RocCurve.from_scores(*population.sample_scores(60, rng))
        for method in METHODS:
            bad[method] += population.auc() not in method(curve, confidence=CONFIDENCE)
    assert max(bad.values()) <= tolerated(1 - CONFIDENCE)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_the_best_of_many_needs_its_share_of_the_risk(method):
    """Theorem 5: with the risk divided by |F| the interval of the picked scorer holds."""
    n_scorers, n_runs, rng = 20, 300, np.random.default_rng(5)
    divided, undivided, useless = 0, 0, coin(0.5, 50, 500)
    for _ in range(n_runs):
        picked = max((useless.curve(rng) for _ in range(n_scorers)), key=RocCurve.area)
        divided += 0.5 not in method(picked, confidence=1 - (1 - CONFIDENCE) / n_scorers, side="lower")
        undivided += 0.5 not in method(picked, confidence=CONFIDENCE, side="lower")
    assert divided <= tolerated(1 - CONFIDENCE, n_runs)
    assert method is mcdiarmid or undivided > tolerated(1 - CONFIDENCE, n_runs)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_a_planned_sample_is_as_precise_as_planned(method):
    wish = plan(epsilon=0.1, confidence=CONFIDENCE, positive_rate=0.2, method=method.__name__)
    rng = np.random.default_rng(7)
    far = 0
    for _ in range(N_RUNS):
        far += abs(coin(0.5, wish.n_pos, wish.n_neg).curve(rng).area() - 0.5) >= 0.1
    assert far <= tolerated(1 - CONFIDENCE)
