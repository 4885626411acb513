"""A second opinion: what a test that holds for large samples says of the winner and its rivals.

What holds for any distribution often cannot tell two models apart that everybody would take to be different. A reader
should know both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Literal

from headrank.bounds.comparison.difference import compare_curves
from headrank.bounds.comparison.evidence import Resampling
from headrank.exceptions import NoVarianceError
from headrank.training.result import ModelResult, TrainingResult

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


def large_sample_test(result: TrainingResult) -> LargeSampleTest | None:
    """Test the winner against each rival: DeLong for areas, else a bootstrap of rows or queries.

    None where there is no rival, or too few positives, negatives or queries for a large sample.
    """
    n_draws = min(result.y.sum(), (~result.y).sum()) if result.qid is None else len(set(result.qid.tolist()))
    if len(result.models) == 1 or n_draws < _LARGE:
        return None
    areas = result.goal.top is None and result.qid is None
    rivals = [each for each in result.models if each is not result.winner]
    n_pairs = comb(len(result.models), 2)
    p_values = {
        each.name: min(n_pairs * _p_value(result, each, "delong" if areas else "bootstrap"), 1.0) for each in rivals
    }
    return LargeSampleTest("DeLong" if areas else "bootstrap", p_values, 1 - result.confidence)


def _p_value(result: TrainingResult, rival: ModelResult, method: Literal["delong", "bootstrap"]) -> float:
    """Return the p-value of the difference; 1 where the test sees no noise and refuses, as for equal rankings."""
    try:
        found = compare_curves(
            result.winner.holdout,
            rival.holdout,
            measure=result.goal.measure,
            method=method,
            resampling=Resampling(_REPLICATES, random_state=result.provenance.random_state),
        )
    except NoVarianceError:
        return 1.0
    return float(found.p_value)
