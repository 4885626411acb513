"""An asymptotic test of the winner against its rivals.

Methods that hold for any distribution often cannot separate two models that an asymptotic test separates. The report
gives both results.
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
"""Fewest positives, negatives or queries for the test; with six positives, DeLong errs four times too often."""


@dataclass(frozen=True)
class LargeSampleTest:
    """An asymptotic test of the winner against each rival, by the measure of the goal.

    Attributes
    ----------
    name : {"DeLong", "bootstrap"}
        The method.
    p_values : mapping of str to float
        By rival, multiplied by the number of pairs of models (Bonferroni), because the winner was selected.
    level : float
        Significance level.
    """

    name: Literal["DeLong", "bootstrap"]
    p_values: Mapping[str, float]
    level: float

    @property
    def in_words(self) -> str:
        """The name as used in a sentence."""
        return "DeLong's (asymptotic) test" if self.name == "DeLong" else "the paired (asymptotic) bootstrap"

    def is_significant(self, rival: str) -> bool:
        """Whether the difference between the winner and a rival is significant."""
        return self.p_values[rival] <= self.level


def large_sample_test(result: TrainingResult) -> LargeSampleTest | None:
    """Test the winner against each rival: DeLong for areas, otherwise a bootstrap of rows or queries.

    Returns None if there is no rival, or if there are too few positives, negatives or queries.
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
    """Return the p-value of the difference, or 1 if the test raises because nothing varies (equal rankings)."""
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
