"""The folds of a choice: which rows are learned from and left out, and what scores of those are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators.cv.folds import of_any_size, splits_of
from headrank.labels import Sample
from headrank.measures import Measure


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Labelled rows and their folds; every candidate is measured on the same."""

    labelled: Labelled
    splits: Sequence[tuple[IntVector, IntVector]]
    measure: Measure

    @classmethod
    def of(
        cls,
        measure: Measure,
        labelled: Labelled,
        cv: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        qid: ArrayLike | None,
        *,
        random_state: Any,
    ) -> FoldRows:
        """Split the rows as `splits_of` does, and take the measure as it applies to a fold, or raise."""
        splits = splits_of(labelled, cv, X, y, sample_weight, qid, random_state=random_state)
        return cls(labelled, splits, measure if qid is not None else of_any_size(measure, labelled.total_weight))

    def values(self, scores: Sequence[Vector]) -> Vector:
        """The measure of the rows left out, fold by fold; negated if lower is better."""
        of_folds = zip(self.splits, scores, strict=True)
        values = [self.measure.of_sample(self.labelled.take(test).sample(each)) for (_, test), each in of_folds]
        return np.array(values) if self.measure.greater_is_better else -np.array(values)

    def threshold(self, scores: Sequence[Vector]) -> float:
        """Return the score above which as many of the rows left out lie as are positive: free, and not overfitted."""
        return threshold_of(self._left_out(scores))

    def spread(self, scores: Sequence[Vector]) -> float:
        """Return the standard deviation of the scores of all rows left out, by weight; 1 if they are constant."""
        rows = self._left_out(scores)
        if rows.weights is None:
            return float(rows.scores.std()) or 1.0
        mean = np.average(rows.scores, weights=rows.weights)
        return float(np.sqrt(np.average((rows.scores - mean) ** 2, weights=rows.weights))) or 1.0

    @property
    def left_out(self) -> Labelled:
        """The rows left out of each fold, one fold after the other."""
        return self.labelled.take(np.concatenate([test for _, test in self.splits]))

    def _left_out(self, scores: Sequence[Vector]) -> Sample:
        return self.left_out.sample(np.concatenate(list(scores)))
