"""As the bandwidth goes to 0, a smooth risk goes to its measure."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import headrank as hr
from headrank.surrogates import surrogate_for
from reference import smooth as slow
from reference.smooth_rows import (
    FIRST,
    LEARNABLE,
    LOCAL,
    Rows,
    cut_of,
    every_measure,
    few,
    some_rows,
    untied,
)


def hard(measure, rows):
    """What the risk tends to: 1 - measure, as a share of the best where that exceeds 1; or a measure to be lowered."""
    value = rows.measured(measure)
    if isinstance(measure, hr.EnrichmentFactor):
        return 1 - value / rows.scored(1.0 * rows.y).measured(measure)
    return 1 - value if measure.greater_is_better else value


def reach_of_none(rows):
    """A bandwidth with which no row of a list is within reach of the same border as another."""
    z = slow.standardised(rows.written_out, 1.0)
    gaps = [np.diff(np.sort([score for score, _ in ranked.rows])).min() for ranked in z]
    return min(gaps) / 2.01


@every_measure
@given(data=st.data(), fraction=st.sampled_from([1.0, 0.3, 0.01]))
@few
def test_tends_to_the_measure(kind, data, fraction):
    measure = data.draw(LEARNABLE[kind])
    # A row of weight 2 is two tied rows: the measure averages over their orders, the risk takes their middle rank.
    weights = (None,) if kind in (hr.AveragePrecision, hr.NDCG) else (None, [0.75, 1, 2, 3, 0])
    rows = data.draw(some_rows(scores=untied, weights=weights))
    if rows.queries is not None:  # the risk is that of queries to learn from; some measures also count other ones
        assume(np.isin(rows.queries[rows.y > 0], rows.queries[rows.y == 0]).all())
    if kind in FIRST and measure.is_count and rows.weights is not None:
        assume(measure.k <= min(ranked.n for ranked in slow.standardised(rows.written_out, 1.0)))
    risk = cut_of(measure, rows, reach_of_none(rows) * fraction)[0]
    assert risk == pytest.approx(hard(measure, rows), rel=0, abs=1e-7)


@pytest.mark.parametrize("kind", [*LOCAL, hr.RecallAt], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("n", [99, 100])
def test_hundredths_of_a_hundred_rows(kind, n):
    """Where a share is a whole number of rows in decimals, if not in floats, no part of the next row is in the top."""
    rows = Rows(np.arange(n) * 7 % 3 % 2, np.arange(n) * 1.0)
    for measure in (kind(percent / 100) for percent in range(1, 101)):
        assert cut_of(measure, rows, 1e-3)[0] == pytest.approx(hard(measure, rows), rel=0, abs=1e-7)


# Queries


def two_queries(few_found, many_found):
    """A query of 12 rows with 1 positive, one of 120 with 8; how many of each are among the first four."""
    short = np.r_[np.arange(4) < few_found, np.zeros(7), 1 - few_found]
    long = np.r_[np.arange(4) < many_found, np.zeros(108), np.arange(8) < 8 - many_found]
    return Rows(np.r_[short, long].astype(int), -np.r_[0:12, 0:120] * 1.0, None, np.repeat([0, 1], [12, 120]))


@pytest.mark.parametrize("kind", FIRST, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("k", [4, 0.25])
def test_of_two_scorers_the_risk_prefers_the_one_that_the_measure_prefers(kind, k):
    """Where one finds the only positive of a query, the other four of the eight of another query."""
    measure, scorers = kind(k), [two_queries(1, 0), two_queries(0, 4)]
    values = [rows.measured(measure) for rows in scorers]
    risks = [cut_of(measure, rows, 1e-3)[0] for rows in scorers]
    assert abs(values[0] - values[1]) > 0.05
    assert (values[0] > values[1]) == (risks[0] < risks[1])


@pytest.mark.parametrize("kind", [hr.EnrichmentFactor, hr.Lift], ids=lambda kind: kind.__name__)
@given(data=st.data())
@few
def test_the_best_enrichment_has_risk_zero(kind, data):
    rows, measure = data.draw(some_rows(scores=untied, weights=(None,))), data.draw(LEARNABLE[kind])
    best = rows.scored(np.argsort(np.argsort(rows.scores)) + 20.0 * rows.y)
    assert cut_of(measure, best, 1e-3)[0] == pytest.approx(0, abs=1e-9)


# Narrow bandwidths


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(0)
    y = (rng.random(100_000) < 0.1).astype(int)
    return Rows(y, rng.normal(size=y.size) + y)


@pytest.mark.parametrize(
    "name", ["auc", "pauc@0.05", "locauc@0.05", "w@0.05", "beta@0.05", "p@1000", "push@1", "push@4"]
)
@pytest.mark.parametrize("h", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10])
def test_no_digits_are_lost_to_a_narrow_bandwidth(many_rows, name, h):
    """Rows within reach of each other, whose number falls with the bandwidth, are all that may make a difference."""
    measure = hr.measure(name)
    risk, coef = cut_of(measure, many_rows, h)
    assert risk == pytest.approx(hard(measure, many_rows), rel=0, abs=h + 1e-10)
    # Each row rises past itself as well, by 1 / h: what it gains and loses cancels but for rounding.
    assert abs(coef.sum()) <= 1e-9 * np.abs(coef).sum() + 1e-17 / h


@pytest.mark.parametrize("h", [9e-11, 0.0, -1.0, np.nan])
def test_a_bandwidth_lost_in_rounding_is_refused(h):
    with pytest.raises(ValueError, match=r"bandwidth must be at least 1e-10 .* got .*; use a larger bandwidth"):
        surrogate_for(hr.AUC(), "smooth", bandwidth=h)
