"""What a fit says of itself is true on every kind of matrix, or the fit is refused: recomputed from ``coef_`` alone."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import headrank as hr
from headrank.surrogates import KINDS
from hostile import SIZES, STORES, random_rows
from reference import certificates as slow

CS = (1e-300, 1e-12, 1e-3, 1.0, 10.0, 1e3, 1e12, 1e100, 1e308)
RANGES = ((0.0, 0.3), (0.0, 1.0), (0.1, 0.5))
CONVEX = tuple(name for name, kind in KINDS.items() if kind.convex)
SQUARED = tuple(name for name, kind in KINDS.items() if kind.collapses and not kind.needs_range)
FROM_ZERO = tuple(name for name, kind in KINDS.items() if kind.needs_head)
KNOWN = (
    "features must lie within",
    "must lie between",
    "infinity or a value too large",
    "of both classes",
    "positive and negative rows",
)


def random_fit(rng, **limits):
    """A ranker with some parameters, and rows for it."""
    rows = random_rows(rng, **limits)
    low, high = RANGES[rng.integers(3)]
    ranker = hr.LinearRanker(
        hr.PartialAUC(min_fpr=low, max_fpr=high),
        surrogate=str(
            rng.choice([*CONVEX, "smooth"] if low == 0 else [name for name in KINDS if name not in FROM_ZERO])
        ),
        C=float(rng.choice(CS)),
        standardize=[True, False, None][rng.integers(3)],
        solver=str(rng.choice(["hybrid", "hybrid", "cutting-plane"])),
        max_iter=200,
    )
    return ranker, rows


def fitted(ranker, rows):
    """The fitted ranker, or the message of the refusal, which must be one of a few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about convergence and collapse: the numbers count here
        try:
            return ranker.fit(rows.X, rows.y, sample_weight=rows.weights, qid=rows.queries)
        except ValueError as error:
            if any(words in str(error) for words in KNOWN):
                return None
            raise


class Truth:
    """The objective of a fit as a function of the coefficients, in fractions."""

    def __init__(self, ranker, rows):
        self.ranker, self.y = ranker, rows.y
        self.X = slow.exact_rows(rows.X)
        self.weights = [Fraction(1 if rows.weights is None else float(rows.weights[i])) for i in range(rows.y.size)]
        self.queries = np.zeros(rows.y.size) if rows.queries is None else rows.queries
        self.scale = [Fraction(1)] * len(self.X[0])
        if ranker.standardize is not False:
            least = 1 if ranker.standardize is None and sparse.issparse(rows.X) else 0
            self.scale = [s if s > least else Fraction(1) for s in slow.deviations(self.X, self.weights)]
        self.n_losses = float(sum(self.weights)) if KINDS[ranker.surrogate].sums else 1.0
        self.precision = 6e-8 if "32" in rows.store else 1.1e-16

    def risk(self, coef):
        measure, scores = self.ranker.measure, slow.exact_scores(self.X, coef)
        kind = self.ranker.surrogate
        return slow.risk(kind, self.y, scores, self.weights, self.queries, measure.min_fpr, measure.max_fpr)

    def objective(self, coef):
        return slow.objective(coef, self.scale, self.ranker.C, self.risk(coef))

    def rounding(self, coef):
        """What the risk may be off by because its scores are rounded: each loss moves no faster than its score."""
        largest = max(abs(float(x) * float(w)) for row in self.X for x, w in zip(row, coef, strict=True))
        return 40 * self.precision * (1 + largest) * self.n_losses


def check(ranker, rows):
    truth, coef = Truth(ranker, rows), ranker.coef_
    names = ("objective_", "lower_bound_", "gap_", "risk_", "intercept_")
    assert all(np.isfinite(getattr(ranker, name)) for name in names)
    assert np.isfinite(coef).all()
    risk, objective = truth.risk(coef), truth.objective(coef)
    close = 1e-4 if truth.precision > 1e-15 else 1e-7
    rounding = truth.rounding(coef)
    if ranker.surrogate in SQUARED:
        rounding *= 4 * (1 + risk**0.5)
    assert abs(ranker.risk_ - risk) <= close * risk + rounding
    assert abs(Fraction(ranker.objective_) - objective) <= close * objective + Fraction(ranker.C * rounding)
    assert ranker.lower_bound_ <= ranker.objective_
    if ranker.objective_ > 0:
        assert ranker.gap_ == (ranker.objective_ - ranker.lower_bound_) / ranker.objective_
    for factor in (0.0, 0.5, 0.99, 1.01, 2.0):
        other = truth.objective(coef * factor)
        assert ranker.lower_bound_ <= other * Fraction(1 + close)
    return True


def claims_hold(rng, size, store):
    ranker, rows = random_fit(rng, sizes=[size], stores=[store])
    if fitted(ranker, rows) is not None and ranker.surrogate in CONVEX:
        check(ranker, rows)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("size", SIZES)
def test_claims_are_true_or_refused(size, store):
    claims_hold(np.random.default_rng([list(SIZES).index(size), list(STORES).index(store)]), size, store)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_more_claims_are_true_or_refused(size):
    rng = np.random.default_rng(list(SIZES).index(size))
    for store in STORES:
        for _ in range(5):
            claims_hold(rng, size, store)
