"""A checked sample and its curves, each built on first use and cached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError
from headrank.labels import Sample
from headrank.levels import starts_of_runs
from headrank.measures import Measure
from headrank.measures.ranked_lists import ListMeasure


@dataclass(frozen=True, eq=False)
class Levels:
    """One scorer: its distinct scores, descending, and the level of each row."""

    scores: Vector
    of_row: IntVector

    @classmethod
    def of(cls, scores: Vector) -> Levels:
        """Sort the scores once. O(n log n)."""
        order = np.argsort(-scores)
        ordered = scores[order]
        starts = starts_of_runs(ordered)
        of_row = np.empty(scores.size, dtype=np.intp)
        of_row[order] = np.repeat(np.arange(starts.size), np.diff(starts, append=scores.size))
        return cls(ordered[starts], of_row)

    def curve(self, positive: BoolVector) -> RocCurve:
        """Return the curve of all rows, unweighted."""
        pos = np.bincount(self.of_row[positive], minlength=self.scores.size)
        neg = np.bincount(self.of_row[~positive], minlength=self.scores.size)
        return RocCurve(self.scores, pos, neg, int(pos.sum()), int(neg.sum()))


@dataclass(frozen=True, eq=False)
class SampleCurves:
    """A checked sample and its complete curves.

    Intervals, comparisons and charts of the same scores share one instance, so nothing is checked or sorted twice.

    >>> from headrank.labels import check_binary
    >>> from headrank.measures import AUC
    >>> curves = SampleCurves(check_binary([1, 0, 1, 0], [4, 3, 2, 1], qid=["a", "a", "b", "b"]))
    >>> len(curves.each), curves.values(AUC())
    (2, array([1., 1.]))
    """

    sample: Sample

    @cached_property
    def each(self) -> tuple[RocCurve, ...]:
        """The curve of all rows; with queries, one for each query that has both classes, ordered by query id."""
        if self.sample.queries is None:
            return (RocCurve.of_sample(self.sample.require_both_classes()),)
        queries = self.sample.by_query()
        curves = tuple(RocCurve.of_sample(part) for part in queries if part.n_pos > 0 and part.n_neg > 0)
        if not curves:
            raise OneClassError(
                f"expected at least one query with positive and negative rows, but each of the {len(queries)} queries "
                "has a single class; check qid"
            )
        return curves

    @property
    def whole(self) -> RocCurve:
        """The curve of all rows of a sample without queries."""
        (curve,) = self.each
        return curve

    @cached_property
    def levels(self) -> Levels:
        """The distinct scores and the level of each row."""
        return Levels.of(self.sample.scores)

    def values(self, measure: Measure) -> Vector:
        """Return the value of the measure on each curve, or on each query that counts."""
        if isinstance(measure, ListMeasure) and self.sample.queries is not None:
            values = measure.of_queries(self.sample)
            return values[~np.isnan(values)]
        return np.array([measure.value(curve) for curve in self.each])
