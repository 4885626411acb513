"""Labels, weights and queries of the rows to learn from, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError
from headrank.labels import Sample, check_queries, check_weights
from headrank.surrogates import RowFacts

_SMALLEST_MEAN = 0.01
"""Of weights that are numbers of copies. Those that add up to 1 have a smaller one, from 101 rows on."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Which rows are positive, and their weights and queries if there are any. Rows of weight 0 are left out.

    Attributes
    ----------
    present : int array or None
        Numbers of the rows with a weight above 0; None if these are all.
    """

    positive: BoolVector
    weights: Vector | None = None
    queries: IntVector | None = None
    present: IntVector | None = None
    grades: IntVector | None = None

    @classmethod
    def of(cls, labels: BoolVector | IntVector, sample_weight: ArrayLike | None, qid: ArrayLike | None) -> Labelled:
        """Check weights and queries, or raise. Labels are which rows are positive, or grades of relevance."""
        positive: BoolVector = labels > 0
        grades: IntVector | None = None if labels.dtype == bool else labels.astype(np.intp, copy=False)
        weights = None if sample_weight is None else check_weights(sample_weight)
        queries = None if qid is None else check_queries(qid)
        for name, values in (("sample_weight", weights), ("qid", queries)):
            if values is not None and values.size != positive.size:
                raise ValueError(
                    f"{name} must have one value per row: X has {positive.size} rows, {name} {values.size}"
                )
        present = None
        if weights is not None and not weights.all():
            present = np.flatnonzero(weights)
            positive, weights = positive[present], weights[present]
            queries = None if queries is None else queries[present]
            grades = None if grades is None else grades[present]
        if weights is not None and np.all(weights == 1):
            weights = None
        labelled = cls(positive, weights, queries, present, grades)
        labelled.require_both_classes()
        return labelled

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.positive.size

    @property
    def total_weight(self) -> float:
        """Number of rows, each counted with its weight."""
        return float(self.size if self.weights is None else self.weights.sum())

    @property
    def counts(self) -> Vector | None:
        """The weights as numbers of copies. Weights below .01 on average are shares: they are scaled to a mean of 1.

        For learners with limits on the weight of a part, as trees have, that would refuse to learn from shares.
        """
        if self.weights is None or self.weights.mean() >= _SMALLEST_MEAN:
            return self.weights
        counts = self.weights / self.weights.mean()
        return None if np.all(counts == counts[0]) else counts

    def take(self, rows: IntVector) -> Labelled:
        """Some of the rows."""
        return Labelled(
            self.positive[rows],
            None if self.weights is None else self.weights[rows],
            None if self.queries is None else self.queries[rows],
            grades=None if self.grades is None else self.grades[rows],
        )

    def sample(self, scores: Vector) -> Sample:
        """The rows with some scores."""
        return Sample(self.positive, scores, self.weights, self.queries, self.grades)

    def row_facts(self) -> RowFacts:
        """Weights and queries of positives and negatives, as surrogates take them."""
        grades = None if self.grades is None else self.grades[self.positive]
        return RowFacts(*_by_class(self.weights, self.positive), *_by_class(self.queries, self.positive), grades)

    def has_both_classes(self) -> bool:
        """Whether there are positives and negatives; with queries, in one of them."""
        if self.queries is None:
            return bool(self.positive.any() and not self.positive.all())
        return np.intersect1d(self.queries[self.positive], self.queries[~self.positive]).size > 0

    def require_both_classes(self) -> None:
        """Raise if a class is missing, or if no query has both."""
        self.sample(np.zeros(self.size)).require_both_classes()
        if self.queries is not None and not self.has_both_classes():
            raise OneClassError(
                f"expected at least one query with positive and negative rows, but all "
                f"{np.unique(self.queries).size} queries have only one class; check qid"
            )


def threshold_of(sample: Sample) -> float:
    """Return the score above which as many rows lie as there are positives: half way between two rows."""
    scores = sample.scores
    if sample.weights is None:
        k = int(sample.n_pos)
        below, above = np.partition(scores, (scores.size - k - 1, scores.size - k))[scores.size - k - 1 :][:2]
        return float((below + above) / 2)
    curve = RocCurve.of_sample(sample)
    called = curve.fp + curve.tp
    last = int(np.argmin(np.abs(called[1:] - curve.n_pos)))
    levels = curve.scores
    below = levels[min(last + 1, levels.size - 1)]  # a constant score is itself the threshold, as without weights
    return float((levels[last] + below) / 2)


def _by_class(values: Any, positive: BoolVector) -> tuple[Any, Any]:
    return (None, None) if values is None else (values[positive], values[~positive])
