"""Every measure that can be learned by a smooth surrogate, and rows to learn it from.

A new measure joins the list below and inherits all tests of tests/surrogates/test_smooth*.py.
"""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st

import headrank as hr
from headrank.surrogates import RowFacts, surrogate_for
from reference import smooth as slow
from reference.measure_parameters import rounded_up
from strategies import RATES, ranges, rates

below_one = st.sampled_from([rate for rate in RATES if rate < 1])
first_rows = st.sampled_from([1, 2, 5]) | rates


def over_ranges(kind):
    return ranges.map(lambda ends: kind(min_fpr=ends[0], max_fpr=ends[1]))


# One strategy per measure that can be learned: all its parameters.
PAIRS = {
    hr.AUC: st.just(hr.AUC()),
    hr.PartialAUC: over_ranges(hr.PartialAUC),
    hr.StandardizedPartialAUC: over_ranges(hr.StandardizedPartialAUC),
    hr.TwoWayPartialAUC: st.builds(hr.TwoWayPartialAUC, max_fpr=rates, min_tpr=st.just(0.0) | below_one)
    | ranges.map(lambda ends: hr.TwoWayPartialAUC(min_tpr=ends[0], max_tpr=ends[1])),
    hr.FROCArea: st.sampled_from([(0.0, 0.5, 0.3), (0.2, 0.3, 0.7), (0.1, 3.3, 0.29)]).map(
        lambda p: hr.FROCArea(p[0], p[1], images_per_negative=p[2])
    ),
}
LOCAL = {
    kind: rates.map(kind)
    for kind in (hr.LocalAUC, hr.WRanking, hr.MassConstrainedError, hr.LocalRankingRisk, hr.TopTPR)
}
FIRST = {kind: first_rows.map(kind) for kind in (hr.PrecisionAt, hr.RecallAt)}
FIRST |= {kind: first_rows.map(kind) | rounded_up(kind) for kind in (hr.EnrichmentFactor, hr.Lift)}
RANKS = {
    hr.PNormPush: st.sampled_from([1, 0.5, 2, 8.5]).map(hr.PNormPush),
    hr.AveragePrecision: st.sampled_from([None, 1, 2, 5]).map(hr.AveragePrecision),
    hr.NDCG: st.sampled_from([None, 1, 2, 5]).map(hr.NDCG),
    hr.RankStatistic: st.sampled_from([np.sqrt, np.square]).map(hr.RankStatistic),
}
LEARNABLE = {**PAIRS, **LOCAL, **FIRST, **RANKS}
NOT_LEARNABLE = [kind(0.3) for kind in (hr.TruncatedAUC, hr.TopFPR, hr.LocalRankingError, hr.TPRAtFPR, hr.FPRAtTPR)]
NOT_LEARNABLE += [hr.ReciprocalRank(), hr.SuccessAt(3), hr.RPrecision(), hr.BinaryPreference(), hr.TailStrength()]
NOT_LEARNABLE += [hr.BEDROC(20.0), hr.RIE(20.0), hr.KS(), hr.PrecisionRecallArea()]
every_measure = pytest.mark.parametrize("kind", LEARNABLE, ids=lambda kind: kind.__name__)
some = settings(max_examples=settings.default.max_examples // 2)
few = settings(max_examples=settings.default.max_examples // 4)
bandwidths = st.sampled_from([0.2, 0.3, 0.7, 2.0, 10.0])


class Rows(NamedTuple):
    """Rows in any order, with what is known of them."""

    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None = None
    queries: np.ndarray | None = None

    @property
    def written_out(self):
        weights = np.ones(self.y.size) if self.weights is None else self.weights
        queries = np.zeros(self.y.size, int) if self.queries is None else self.queries
        columns = (part.tolist() for part in (self.y, self.scores, weights, queries))
        return [slow.Row(*row) for row in zip(*columns, strict=True)]

    @property
    def facts(self):
        return RowFacts(*(None if part is None else part[self.y == k] for part in self[2:] for k in (1, 0)))

    def take(self, at):
        return Rows(*(None if part is None else part[at] for part in self))

    def scored(self, scores):
        return self._replace(scores=scores)

    def slow(self, what, measure, h, *along):
        return what(measure, self.written_out, h, *along)

    def measured(self, measure):
        return measure(self.y, self.scores, sample_weight=self.weights, qid=self.queries)


def cut_of(measure, rows, h):
    """The risk, and its derivative in the order of the rows."""
    cut = surrogate_for(measure, "smooth", rows.facts, bandwidth=h)(*(rows.scores[rows.y == k] for k in (1, 0)))
    coef = np.empty(rows.y.size)
    coef[rows.y == 1], coef[rows.y == 0] = cut.pos_coef, cut.neg_coef
    return cut.risk, coef


def same(one, other, tol=1e-8):
    assert one[0] == pytest.approx(other[0], rel=tol, abs=tol)
    np.testing.assert_allclose(one[1], other[1], rtol=tol, atol=tol)


def untied(draw, n):
    """Scores that differ by a tenth at least."""
    gaps = np.random.default_rng(draw(st.integers(0, 10**6))).uniform(0.1, 1, n)
    return np.cumsum(gaps)[np.array(draw(st.permutations(range(n))))] - 3


def tied(draw, n):
    return np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)


@st.composite
def some_rows(draw, scores=None, weights=(None, [0.75, 1, 2, 3, 0]), grouped=(False, True), max_rows=9):
    """A few rows of both classes, not all tied, with weights and queries or without."""
    n = draw(st.integers(2, max_rows))
    y = np.array([1, 0, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    values = (draw(st.sampled_from([tied, untied])) if scores is None else scores)(draw, n)
    choice, drawn = draw(st.sampled_from(weights)), None
    if choice is not None:
        drawn = np.array(draw(st.lists(st.sampled_from(choice), min_size=n, max_size=n)), dtype=float)
        drawn[:2] = np.maximum(drawn[:2], choice[0])
    queries = None
    if draw(st.sampled_from(grouped)):
        queries = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
        queries[1] = queries[0]
    rows = Rows(y, values, drawn, queries).take(np.array(draw(st.permutations(range(n)))))
    assume(slow.has_scale(rows.written_out))
    return rows
