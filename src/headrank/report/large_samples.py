"""A second opinion: what a test that holds for large samples says of the winner and its rivals.

What holds for any distribution often cannot tell two models apart that everybody would take to be different. A reader
should know both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Literal

from headrank.bounds.comparison.difference import compare
from headrank.exceptions import NoVarianceError
from headrank.training.contest import Contest, Entrant

_REPLICATES = 2000
_LARGE = 30
"""Draws of each kind from which on a sample passes for large; with six positives, DeLong errs four times too often."""


@dataclass(frozen=True)
class LargeSampleTest:
    """An asymptotic test of the winner against each rival, by the measure of the goal.

    Attributes
    ----------
    name : {"DeLong", "bootstrap"}
        The method.
    p_values : mapping of str to float
        By rival, times the number of pairs of models, so that it counts for whichever was picked.
    level : float
        A smaller p-value tells a rival from the winner.
    """

    name: Literal["DeLong", "bootstrap"]
    p_values: Mapping[str, float]
    level: float

    @property
    def in_words(self) -> str:
        """The name, in a sentence."""
        return "DeLong's test" if self.name == "DeLong" else "the paired bootstrap"

    def tells(self, rival: str) -> bool:
        """Whether the test tells a rival from the winner."""
        return self.p_values[rival] <= self.level


def large_sample_test(contest: Contest) -> LargeSampleTest | None:
    """Test the winner against each rival: DeLong for areas, else a bootstrap of rows or queries.

    None where there is no rival, or too few positives, negatives or queries for a large sample.
    """
    n_draws = min(contest.y.sum(), (~contest.y).sum()) if contest.qid is None else len(set(contest.qid.tolist()))
    if len(contest.entrants) == 1 or n_draws < _LARGE:
        return None
    areas = contest.goal.top is None and contest.qid is None
    rivals = [each for each in contest.entrants if each is not contest.winner]
    n_pairs = comb(len(contest.entrants), 2)
    p_values = {
        each.name: min(n_pairs * _p_value(contest, each, "delong" if areas else "bootstrap"), 1.0) for each in rivals
    }
    return LargeSampleTest("DeLong" if areas else "bootstrap", p_values, 1 - contest.confidence)


def _p_value(contest: Contest, rival: Entrant, method: Literal["delong", "bootstrap"]) -> float:
    """Return the p-value of the difference; 1 where the test sees no noise and refuses, as for equal rankings."""
    try:
        found = compare(
            contest.y,
            contest.winner.scores,
            rival.scores,
            measure=contest.goal.measure,
            method=method,
            qid=contest.qid,
            n_replicates=_REPLICATES,
            random_state=contest.facts.random_state,
        )
    except NoVarianceError:
        return 1.0
    return float(found.p_value)
