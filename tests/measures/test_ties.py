"""What tied rows are worth: the mean over their orders, or what is left of it for pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from reference.measure_parameters import PARAMETERS as ALL
from reference.measures import TWINS, exact, expand, mean_over_orders, pairs_lost_by_independent_lots
from strategies import small_rankings

# BEDROC warns where alpha times the share of positives is large, as it is in every small sample.
pytestmark = pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")

# Measures whose value is, exactly, the mean over all orders of the tied rows.
SUMS_OVER_ROWS = (
    hr.TopTPR,
    hr.TopFPR,
    hr.MassConstrainedError,
    hr.WRanking,
    hr.PrecisionAt,
    hr.RecallAt,
    hr.EnrichmentFactor,
    hr.Lift,
    hr.BEDROC,
    hr.AUC,
    hr.AveragePrecision,
    hr.NDCG,
    hr.ReciprocalRank,
    hr.SuccessAt,
    hr.RPrecision,
    hr.BinaryPreference,
)
PAIRS_OF_THE_TOP = (hr.LocalAUC, hr.TruncatedAUC, hr.LocalRankingError, hr.LocalRankingRisk)
few = settings(max_examples=settings.default.max_examples // 4)


def close(value):
    return pytest.approx(value, rel=1e-11, abs=1e-12)


def coarser(ranking, data):
    """Merge two neighbouring scores, if there are two."""
    levels = np.unique(ranking.scores)
    i = data.draw(st.integers(0, max(levels.size - 2, 0)))
    return np.where(ranking.scores == levels[i], levels[min(i + 1, levels.size - 1)], ranking.scores)


@pytest.mark.parametrize("kind", SUMS_OVER_ROWS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@few
def test_ties_are_worth_the_mean_over_all_orders(kind, data):
    """Whether they were there before or come from merging two neighbouring scores."""
    measure, ranking = data.draw(ALL[kind]), data.draw(small_rankings(max_rows=6))
    for scores in (ranking.scores, coarser(ranking, data)):
        in_order = mean_over_orders(expand(ranking.y, scores), lambda rows: TWINS[kind](rows, measure))
        assert measure(ranking.y, scores) == close(float(in_order))


@pytest.mark.parametrize("kind", PAIRS_OF_THE_TOP, ids=lambda kind: kind.__name__)
@given(data=st.data())
@few
def test_pairs_of_tied_rows_have_independent_lots(kind, data):
    """The mean over all orders, but for the pairs of one tied group: two of m tied rows push each other out of the top.

    The difference is gone if the rows tied at the border are of one class, and goes with 1 / m otherwise.
    """
    measure, ranking = data.draw(ALL[kind]), data.draw(small_rankings(max_rows=6))
    n_pos, n = int(ranking.y.sum()), ranking.y.size
    worth = {hr.LocalAUC: -1, hr.TruncatedAUC: 1} if kind in (hr.LocalAUC, hr.TruncatedAUC) else {kind: 2}
    of = n_pos * (n - n_pos) if kind in (hr.LocalAUC, hr.TruncatedAUC) else n * (n - 1)
    for scores in (ranking.scores, coarser(ranking, data)):
        rows = expand(ranking.y, scores)
        in_order = mean_over_orders(rows, lambda rows: TWINS[kind](rows, measure))
        lost = pairs_lost_by_independent_lots(rows, exact(measure.top))
        assert measure(ranking.y, scores) == close(float(in_order + worth[kind] * lost / of))
        assert 0 <= lost <= len(rows) / 16


@pytest.mark.parametrize("kind", [hr.LocalAUC, hr.TopTPR, hr.WRanking], ids=lambda kind: kind.__name__)
@given(data=st.data())
@few
def test_coarser_scores_gain_nothing_over_a_random_order(kind, data):
    measure, ranking = data.draw(ALL[kind]), data.draw(small_rankings(max_rows=6))
    scores = coarser(ranking, data)
    in_order = mean_over_orders(expand(ranking.y, scores), lambda rows: TWINS[kind](rows, measure))
    assert measure(ranking.y, scores) <= float(in_order) + 1e-12


def test_a_constant_does_not_beat_a_good_score():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.05
    fine = rng.normal(size=y.size) + 2 * y
    for top in (0.001, 0.02, 0.3, 1.0):
        measure = hr.LocalAUC(top)
        grades = measure(y, np.clip(np.round(fine), 0, 4))
        assert measure(y, np.zeros(y.size)) == close(top - top**2 / 2)
        assert measure(y, fine) > grades > measure.chance
