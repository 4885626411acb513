"""Do the asymptotic methods keep their promise, and where do they not? And is the paired bound valid?

The asymptotic methods promise nothing at a given sample size. Here it is measured where they come close to their level,
and, where the documentation says that they fail, that they do. The distribution-free comparison must never fail.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, norm

import headrank as hr
from headrank.bounds.asymptotic.bootstrap import bootstrap
from headrank.bounds.asymptotic.delong import delong
from headrank.bounds.comparison.difference import compare
from headrank.datasets import Binormal

pytestmark = pytest.mark.slow
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Case:
    """Labels and scores of one run by its seed, and the true value of a measure."""

    draw: Callable[[int], tuple[np.ndarray, np.ndarray]]
    measure: hr.Measure
    truth: float


def binormal(separation: float, n_pos: int, n_neg: int, max_fpr: float = 1.0, min_fpr: float = 0.0) -> Case:
    population = Binormal(separation=separation)
    truth = population.partial_auc(min_fpr, max_fpr)
    measure = hr.PartialAUC(min_fpr=min_fpr, max_fpr=max_fpr)
    return Case(lambda seed: population.sample_classes(n_pos, n_neg, random_state=seed), measure, truth)


def exponential(scale: float, n_pos: int, n_neg: int, max_fpr: float = 1.0) -> Case:
    """Negatives Exp(1), positives ``scale`` times that: TPR = FPR**(1/scale), skewed and heavy to the right."""

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        scores = np.concatenate([rng.exponential(scale, n_pos), rng.exponential(1.0, n_neg)])
        return np.repeat([True, False], [n_pos, n_neg]), scores

    power = 1 / scale
    return Case(draw, hr.PartialAUC(max_fpr=max_fpr), max_fpr**power / (1 + power))


def tied(n_pos: int, n_neg: int, max_fpr: float = 1.0) -> Case:
    """Binormal scores cut into four levels: most pairs of the lower ones tie."""
    cuts, population = np.array([0.0, 1.0, 2.0]), Binormal(separation=1.5)

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        y, scores = population.sample_classes(n_pos, n_neg, random_state=seed)
        return y, np.searchsorted(cuts, scores).astype(float)

    fpr = np.array([0.0, *norm.sf(cuts[::-1]), 1.0])
    tpr = np.array([0.0, *norm.sf(cuts[::-1] - 1.5), 1.0])
    grid = np.union1d(fpr[fpr < max_fpr], [max_fpr])
    truth = float(np.trapezoid(np.interp(grid, fpr, tpr), grid)) / max_fpr
    return Case(draw, hr.PartialAUC(max_fpr=max_fpr), truth)


def misses(case: Case, method: Callable[[hr.RocCurve, hr.Measure, int], hr.RocCurve], n_runs: int) -> int:
    """Count intervals that miss the truth; one that is refused for lack of variation is one more promise not kept."""
    count = 0
    for seed in range(n_runs):
        curve = hr.RocCurve.from_scores(*case.draw(seed))
        try:
            count += case.truth not in method(curve, case.measure, seed)
        except ValueError as error:
            assert "sees no uncertainty" in str(error)  # noqa: PT017
            count += 1
    return count


def at_most(rate: float, n_runs: int) -> int:
    return int(binom.ppf(1 - 1e-6, n_runs, rate))


def at_least(rate: float, n_runs: int) -> int:
    return int(binom.ppf(1e-6, n_runs, rate))


def by_delong(curve: hr.RocCurve, measure: hr.Measure, seed: int) -> hr.RocCurve:
    return delong(curve, measure, confidence=CONFIDENCE)


def by_bootstrap(curve: hr.RocCurve, measure: hr.Measure, seed: int) -> hr.RocCurve:
    return bootstrap(curve, measure, confidence=CONFIDENCE, n_replicates=199, random_state=seed)


@pytest.mark.parametrize(
    "case",
    [
        binormal(1.5, 100, 100),
        binormal(0.0, 100, 100),
        binormal(1.5, 50, 4950),  # 1 % positives
        binormal(3.5, 200, 200),  # an AUC of 0.993
        exponential(3.0, 100, 100),
        tied(100, 100),
        binormal(1.5, 200, 2000, max_fpr=0.1),
        binormal(1.5, 200, 2000, max_fpr=0.05),
        binormal(1.5, 200, 2000, min_fpr=0.02, max_fpr=0.05),
        binormal(1.5, 1000, 300, max_fpr=0.1),
        exponential(3.0, 200, 2000, max_fpr=0.1),
        tied(200, 2000, max_fpr=0.1),
    ],
)
def test_delong_comes_close_to_its_level_on_comfortable_samples(case: Case) -> None:
    # Nominal 5 %; that it misses no more than 8 % would be refuted on one seed in a million.
    n_runs = 800
    missed = misses(case, by_delong, n_runs)
    assert missed <= at_most(0.08, n_runs)
    assert missed >= at_least(0.02, n_runs)  # nor is it needlessly wide


@pytest.mark.parametrize(
    "case",
    [
        binormal(2.9, 10, 990),  # an AUC of 0.98 on ten positives: most samples hold no badly placed one
        binormal(1.5, 20, 50, max_fpr=0.01),  # a range narrower than one negative
    ],
)
def test_delong_fails_where_the_documentation_says_so(case: Case) -> None:
    n_runs = 800
    assert misses(case, by_delong, n_runs) >= at_least(0.15, n_runs) > at_most(0.05, n_runs)


@pytest.mark.parametrize(
    "case",
    [
        binormal(1.5, 200, 200),
        binormal(1.5, 200, 2000, max_fpr=0.1),
        exponential(3.0, 200, 2000, max_fpr=0.1),
        tied(200, 200),
    ],
)
def test_the_bootstrap_comes_close_to_its_level_on_comfortable_samples(case: Case) -> None:
    n_runs = 150
    assert misses(case, by_bootstrap, n_runs) <= at_most(0.08, n_runs)


def test_the_bootstrap_fails_where_the_documentation_says_so() -> None:
    n_runs = 150
    few_positives = binormal(2.9, 10, 990)
    assert misses(few_positives, by_bootstrap, n_runs) >= at_least(0.18, n_runs)


# Two scorers.


def equally_noisy(seed: int, n_pos: int, n_neg: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two noisy copies of one score: neither is better."""
    y, signal = Binormal(separation=1.5).sample_classes(n_pos, n_neg, random_state=seed)
    noise = np.random.default_rng(seed + 10**6).normal(scale=0.5, size=(2, signal.size))
    return y, signal + noise[0], signal + noise[1]


@pytest.mark.parametrize(
    ("method", "n_runs", "allowed", "rejects"),
    [("paired", 1000, 0.05, False), ("delong", 1000, 0.065, True), ("bootstrap", 120, 0.08, True)],
)
def test_equal_scorers_are_rarely_told_apart(method: str, n_runs: int, allowed: float, rejects: bool) -> None:
    p_values = np.array(
        [
            compare(*equally_noisy(seed, 80, 240), method=method, n_replicates=199, random_state=seed).p_value
            for seed in range(n_runs)
        ]
    )
    assert np.count_nonzero(p_values <= 0.05) <= at_most(allowed, n_runs)
    assert np.count_nonzero(p_values <= 0.2) <= at_most(0.2 + 4 * (allowed - 0.05), n_runs)
    assert np.count_nonzero(p_values <= 0.2) > 0 or not rejects


def test_equal_partial_areas_are_rarely_told_apart_by_delong() -> None:
    n_runs = 600
    rejected = sum(
        compare(*equally_noisy(seed, 200, 2000), measure="pauc@0.05", method="delong").p_value <= 0.05
        for seed in range(n_runs)
    )
    assert at_least(0.02, n_runs) <= rejected <= at_most(0.065, n_runs)


@pytest.mark.parametrize(
    ("noise", "n_pos", "n_neg"), [(0.3, 50, 50), (1.0, 30, 970), (3.0, 200, 200), (0.05, 500, 500)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_paired_bound_holds(noise: float, n_pos: int, n_neg: int, confidence: float) -> None:
    n_runs = 400
    truth = norm.cdf(1.5 / np.sqrt(2)) - norm.cdf(1.5 / np.sqrt(2 * (1 + noise**2)))
    missed = 0
    for seed in range(n_runs):
        y, a = Binormal(separation=1.5).sample_classes(n_pos, n_neg, random_state=seed)
        b = a + np.random.default_rng(seed + 10**6).normal(scale=noise, size=a.size)
        missed += truth not in compare(y, a, b, confidence=confidence)
    assert missed <= at_most(1 - confidence, n_runs)


def test_the_paired_bound_holds_for_independent_pairs_where_it_is_sharp() -> None:
    # Of pairs that share no row a U-statistic is a mean, and the Chernoff bound is tested at its own law: h = 1, 0, -1.
    from headrank.bounds.comparison.paired_pairs import least_difference

    rng, n_runs, k = np.random.default_rng(0), 4000, 60
    for up, down in ((0.05, 0.02), (0.3, 0.3), (0.0, 0.1), (0.9, 0.05)):
        drawn = rng.multinomial(k, [up, down, 1 - up - down], size=n_runs) / k
        low = np.array([least_difference(u - d, u + d, k, 0.3) for u, d, _ in drawn])
        missed = np.count_nonzero(low > up - down)
        assert missed <= at_most(0.3, n_runs)
        assert missed > 0 or up == 0


def test_the_paired_bound_holds_with_heavy_ties() -> None:
    n_runs, fine, coarse = 400, np.array([0.0, 1.0, 2.0]), np.array([1.0])

    def true_auc(cuts: np.ndarray) -> float:
        fpr, tpr = (np.array([0.0, *norm.sf(cuts[::-1] - shift), 1.0]) for shift in (0.0, 1.5))
        return float(np.trapezoid(tpr, fpr))

    truth, missed = true_auc(fine) - true_auc(coarse), 0
    for seed in range(n_runs):
        y, scores = Binormal(separation=1.5).sample_classes(60, 60, random_state=seed)
        a, b = (np.searchsorted(cuts, scores).astype(float) for cuts in (fine, coarse))
        missed += truth not in compare(y, a, b, confidence=0.6)
    assert missed <= at_most(0.4, n_runs)


def test_the_paired_bound_holds_over_queries() -> None:
    # Queries of 3 positives and 5 negatives: the mean of their AUCs estimates the AUC without bias.
    n_runs, n_queries = 300, 40
    truth, missed = norm.cdf(1.5 / np.sqrt(2)) - norm.cdf(1.5 / 2), 0
    y = np.tile(np.repeat([True, False], [3, 5]), n_queries)
    qid = np.repeat(np.arange(n_queries), 8)
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=y.size) + 1.5 * y
        missed += truth not in compare(y, a, a + rng.normal(size=y.size), qid=qid, confidence=0.7)
    assert missed <= at_most(0.3, n_runs)


def test_the_paired_test_has_power() -> None:
    y, a = Binormal(separation=1.5).sample_classes(500, 5000, random_state=0)
    b = a + np.random.default_rng(1).normal(size=a.size)
    assert compare(y, a, b).p_value < 0.01
