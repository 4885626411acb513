"""The folds of a choice: which rows are learned from and left out, and what scores of those are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.measures import Measure


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Labelled rows and their folds; every candidate is measured on the same."""

    labelled: Labelled
    splits: Sequence[tuple[IntVector, IntVector]]
    measure: Measure

    def values(self, scores: Sequence[Vector]) -> Vector:
        """The measure of the rows left out, fold by fold; negated if lower is better."""
        of_folds = zip(self.splits, scores, strict=True)
        values = [self.measure.of_sample(self.labelled.take(test).sample(each)) for (_, test), each in of_folds]
        return np.array(values) if self.measure.greater_is_better else -np.array(values)

    def threshold(self, scores: Sequence[Vector]) -> float:
        """Return the score above which as many of the rows left out lie as are positive: free, and not overfitted."""
        every = np.concatenate([test for _, test in self.splits])
        return threshold_of(self.labelled.take(every).sample(np.concatenate(list(scores))))
