"""Do a report's promises hold for the model it is about, which was picked on the very rows that certify it?"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from headrank.bounds.band.band import band
from headrank.bounds.band.envelope import Envelope
from headrank.bounds.comparison.selection import select
from headrank.curve import RocCurve
from headrank.report.answer import answer_of, paid_for_all
from headrank.report.charts import roc_chart
from headrank.training.contest import Contest, Entrant
from headrank.training.goal import Goal
from headrank.training.train import _threshold
from reference.bands import population_curve
from report.contests import facts

pytestmark = pytest.mark.slow

CONFIDENCE = 0.95
GRID = np.union1d(np.linspace(0, 1, 501), np.geomspace(1e-5, 1, 100))
ROUNDING = 1e-6  # of a drawn band, and more than that of all sums


@pytest.fixture(autouse=True)
def _no_differences(monkeypatch):
    # They are a promise of their own, simulated elsewhere, and nine tenths of the time that picking takes.
    monkeypatch.setattr("headrank.bounds.comparison.selection.compare_many", lambda *_, **__: None)


@dataclass(frozen=True)
class Scorer:
    """Shares of either class on each of a few levels, the lowest first; within a level scores are tied, or uniform.

    Both ways the true ROC curve is the same: it runs straight from level to level.
    """

    pos: tuple[float, ...]
    neg: tuple[float, ...]
    tied: bool = False

    def scores(self, n_pos, places):
        """Scores of rows, the positives first, that stand at these places of their class: numbers in [0, 1)."""
        return np.concatenate([self._quantile(self.pos, places[:n_pos]), self._quantile(self.neg, places[n_pos:])])

    def _quantile(self, shares, places):
        below = _running_sum(shares)
        if self.tied:
            return np.searchsorted(below[1:-1], places, side="right").astype(float)
        return np.interp(places, below, np.arange(below.size))

    def rates_at(self, threshold):
        """The true (FPR, TPR) of all that score at least this."""
        level = np.ceil(threshold) if self.tied else threshold
        return [
            1 - np.interp(level, np.arange(len(shares) + 1), _running_sum(shares)) for shares in (self.neg, self.pos)
        ]

    def truth(self, positive_rate):
        return population_curve(_running_sum(self.neg[::-1]), _running_sum(self.pos[::-1]), positive_rate)


def _running_sum(shares):
    return np.append(np.cumsum((0.0, *shares[:-1])), 1.0)


def normal(separation, *, step=0.25, tied=False):
    """Negatives near N(0, 1), positives near N(separation, 1): exactly so at every multiple of the step."""
    cuts = np.concatenate([[-np.inf], np.arange(-3, 5, step), [np.inf]])
    return Scorer(tuple(np.diff(ndtr(cuts - separation))), tuple(np.diff(ndtr(cuts))), tied)


@dataclass(frozen=True)
class Scenario:
    """What is asked, of how many rows of which population, and which scorers are in the running.

    ``alike`` is the share of rows that stand at the same place for all scorers; the fewer, the more there is to pick.
    """

    goal: Goal
    scorers: tuple[Scorer, ...]
    n_rows: int
    positive_rate: float
    alike: float = 0.0
    n_runs: int = 200

    def holdouts(self, rng):
        """Draw labels and the scores of each scorer, ``n_runs`` times."""
        if self.goal.top is None:  # a promise for either class, however many rows of it there are
            counts = np.full(self.n_runs, round(self.positive_rate * self.n_rows))
        else:  # in order, so that what depends on counts alone is computed once for each
            counts = np.sort(rng.binomial(self.n_rows, self.positive_rate, self.n_runs))
        for n_pos in counts:
            common, same = rng.random(self.n_rows), rng.random(self.n_rows) < self.alike
            yield (
                np.arange(self.n_rows) < n_pos,
                {
                    str(i): scorer.scores(n_pos, np.where(same, common, rng.random(self.n_rows)))
                    for i, scorer in enumerate(self.scorers)
                },
            )


RATE = Goal(max_fpr=0.1)
# A positive is above all negatives or below them all, so that nothing is lost on what is unknown of the negatives.
ALL_OR_NOTHING = Scorer(pos=(0.5, 0.0, 0.5), neg=(0.0, 1.0, 0.0), tied=True)
# All positives and few negatives are on the upper level: the fewer of these in a sample, the better looks the scorer,
# and the lower is its threshold.
CROWDED = Scorer(pos=(0.0, 1.0), neg=(0.7, 0.3))
NEARLY_EQUAL = tuple(normal(separation, step=1.0, tied=True) for separation in (1.4, 1.5, 1.6))
SCENARIOS = {
    "equal": Scenario(RATE, (normal(1.5),) * 3, 600, 0.5, n_runs=500),
    "nearly equal, alike, tied": Scenario(RATE, NEARLY_EQUAL, 600, 0.3, alike=0.5),
    "1 % positives": Scenario(RATE, (normal(1.5),) * 3, 4000, 0.01),
    "all or nothing": Scenario(RATE, (ALL_OR_NOTHING,) * 3, 200, 0.3),
    "twenty, all or nothing": Scenario(RATE, (ALL_OR_NOTHING,) * 20, 200, 0.3, n_runs=100),
    "crowded top": Scenario(Goal(top=0.37), (CROWDED,) * 3, 200, 0.1, n_runs=100),
    "nearly equal, alike, tied top": Scenario(Goal(top=0.2), NEARLY_EQUAL, 200, 0.2, alike=0.5, n_runs=100),
}


def most_misses(risk, n_runs):
    """A valid promise has more on one seed in a million."""
    return binom.ppf(1 - 1e-6, n_runs, risk)


def contest_of(goal, y, scores, *, paid, qid=None):
    """Pick the best and certify it; if that is not to be paid for, as if it had been the only one."""
    selection = select(scores, y, measure=goal.measure, confidence=CONFIDENCE, qid=qid)
    if not paid:
        alone = {selection.picked: scores[selection.picked]}
        selection = select(alone, y, measure=goal.measure, confidence=CONFIDENCE, qid=qid)
    entrants = tuple(Entrant(name, None, each) for name, each in scores.items())
    found = Contest(goal, CONFIDENCE, entrants, selection, y, np.arange(y.size), qid, None, "", facts(y, qid))
    threshold, why = _threshold(found.winner, y, goal, CONFIDENCE, selection.n_scorers, qid)
    return replace(found, threshold=threshold, no_threshold=why)


def misses(scenario, *, paid):
    """In how many holdouts each promise was broken, by name."""
    goal, p = scenario.goal, scenario.positive_rate
    truths = [scorer.truth(p) for scorer in scenario.scorers]
    headlines, values = ([measure.value(truth) for truth in truths] for measure in (goal.headline, goal.measure))
    lines = [Envelope(truth.fpr, truth.tpr) for truth in truths]
    broken = []
    for y, scores in scenario.holdouts(np.random.default_rng(1)):
        contest = contest_of(goal, y, scores, paid=paid)
        i = int(contest.selection.picked)
        curves = {name: RocCurve.from_scores(y, each) for name, each in scores.items()}
        answer = answer_of(contest, curves, dict.fromkeys(curves, 0.0), None)
        assert answer.bound.low > 0  # promises something
        threshold = contest.threshold
        fpr, tpr = scenario.scorers[i].rates_at(threshold.value)
        over = fpr > goal.max_fpr if goal.top is None else p * tpr + (1 - p) * fpr > goal.top
        too_few = tpr < threshold.tpr_low - ROUNDING
        broken.append(
            {
                "headline": answer.bound.low > headlines[i] + ROUNDING,
                "interval": not holds(contest.selection.interval, values[i]),
                "intervals of all": not all(
                    holds(each, values[int(name)]) for name, each in contest.selection.intervals.items()
                ),
                "budget": over,
                "FPR at the threshold": fpr > threshold.fpr_high + ROUNDING,
                "TPR at the threshold": too_few,
                "budget and TPR": over or too_few,
                "band": not inside(contest, curves, lines[i]),
            }
        )
    return {promise: sum(bool(each[promise]) for each in broken) for promise in broken[0]}


def holds(interval, value):
    return interval.low - ROUNDING <= value <= interval.high + ROUNDING


def inside(contest, curves, line):
    """Whether the true curve is within the band, and within what is drawn of it."""
    around = band(curves[contest.selection.picked], confidence=paid_for_all(contest))
    drawn = roc_chart(contest, {name: [curve] for name, curve in curves.items()}).band
    limits = [(GRID, around.lower_at(GRID), around.upper_at(GRID)), (drawn.fpr, drawn.lower, drawn.upper)]
    return all(
        np.all(line.tpr_at(at) >= np.asarray(lower) - ROUNDING)
        and np.all(line.tpr_at(at) <= np.asarray(upper) + ROUNDING)
        for at, lower, upper in limits
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_promises_hold_for_the_best_of_several(name):
    scenario = SCENARIOS[name]
    # Budget and TPR together hold with the joint confidence that a threshold states.
    joint = CONFIDENCE**2 if scenario.goal.top is None else 2 * CONFIDENCE - 1
    for promise, count in misses(scenario, paid=True).items():
        risk = 1 - (joint if promise == "budget and TPR" else CONFIDENCE)
        assert count <= most_misses(risk, scenario.n_runs), promise


@pytest.mark.parametrize(
    ("name", "promises"),
    [
        ("equal", ("budget", "FPR at the threshold")),
        ("twenty, all or nothing", ("headline", "TPR at the threshold")),
    ],
)
def test_promises_break_if_the_picking_is_not_paid_for(name, promises):
    # Not so the intervals of areas and the band: they have more to spare than twenty scorers cost.
    scenario = SCENARIOS[name]
    counts = misses(scenario, paid=False)
    assert min(counts[promise] for promise in promises) > most_misses(1 - CONFIDENCE, scenario.n_runs)


def query_misses(powers, n_runs, *, paid):
    """In how many holdouts of 10 queries, of a positive and ten negatives each, headline and interval were broken.

    A negative scores U, a positive U ** (1 / power), with U uniform: it is above all ten, which is all that a partial
    AUC up to a tenth sees, with probability power / (power + 10). With 22 all ten queries have such a positive once in
    42 times: as often as an interval that is not paid for may break at its lower end.
    """
    rng, qid = np.random.default_rng(2), np.repeat(np.arange(10), 11)
    y = np.arange(qid.size) % 11 == 0
    broken = np.zeros(2, dtype=int)
    for _ in range(n_runs):
        scores = {str(i): rng.random(y.size) ** np.where(y, 1 / power, 1.0) for i, power in enumerate(powers)}
        contest = contest_of(RATE, y, scores, paid=paid, qid=qid)
        assert contest.threshold is None
        power = powers[int(contest.selection.picked)]
        truth = power / (power + 10)
        answer = answer_of(contest, {}, dict.fromkeys(scores, 0.0), None)
        assert answer.bound.low > 0
        broken += [answer.bound.low > truth + ROUNDING, not holds(contest.selection.interval, truth)]
    return broken


@pytest.mark.parametrize("powers", [(20, 22, 24), (22,) * 20], ids=["nearly equal", "twenty"])
def test_promises_over_queries_hold_for_the_best_of_several(powers):
    n_runs = 100
    assert max(query_misses(powers, n_runs, paid=True)) <= most_misses(1 - CONFIDENCE, n_runs)


def test_promises_over_queries_break_if_the_picking_is_not_paid_for():
    n_runs = 100
    assert min(query_misses((22,) * 20, n_runs, paid=False)) > most_misses(1 - CONFIDENCE, n_runs)
