"""Resampling for the bootstrap: rows within their class, whole clusters, or whole queries.

Scores are sorted once; no replicate sorts or copies rows. A replicate draws its rows, counts them per level of each
scorer and evaluates the measure on the resulting curves. All scorers use the same draw, so their differences are
paired. A measure of the head needs only the rows of the head individually: the number of draws below is one binomial
variable, and the rows below are drawn only in the rare replicate whose head turns out too short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil, inf, sqrt
from typing import Any, Protocol

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import generator, whole
from headrank._types import BoolVector, Counts, IntVector, Vector
from headrank.bounds.sample_curves import Levels, SampleCurves
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError, ShallowHeadError
from headrank.levels import Depth
from headrank.measures import Measure

_CHUNK = 25
"""Replicates that share a random stream, so that the result does not depend on the number of threads."""
_ATTEMPTS = 1000
"""Draws without both classes after which an error is raised."""


class Draws(Protocol):
    """Draws replicates of a sample and evaluates the measure on them."""

    def replicate(self, rng: np.random.Generator) -> Sequence[float]:
        """Draw once; return the measure of each scorer."""


class RowDraws:
    """Rows drawn with replacement, as many of each class as in the sample; or, not stratified, as many in total.

    Parameters
    ----------
    scorers : list of Levels
        The scorers, over the same rows; rows below a head may be omitted.
    positive : bool array of shape (n_rows,)
        Which of these rows are positive.
    weights : array of shape (n_rows,) or None
        Weight of each row; a row drawn twice has twice its weight.
    n_pos, n_neg : int
        All rows of each class, including those below a head.
    """

    def __init__(
        self,
        scorers: Sequence[Levels],
        positive: BoolVector,
        measure: Measure,
        *,
        weights: Vector | None = None,
        n_pos: int | None = None,
        n_neg: int | None = None,
        stratified: bool = True,
    ) -> None:
        self._scorers, self._measure, self._stratified = scorers, measure, stratified
        self._n_pos = int(np.count_nonzero(positive)) if n_pos is None else n_pos
        self._n_neg = int(np.count_nonzero(~positive)) if n_neg is None else n_neg
        self._weights = weights
        self._complete = self._n_pos + self._n_neg == positive.size
        depth = None if weights is not None else measure.depth(self._n_pos, self._n_neg)
        self._n_head = [_levels_in_head(levels, positive, depth) for levels in scorers]
        # A row is in the head if it is in the head of any scorer; the other scorers count it below theirs and drop it.
        head = np.logical_or.reduce([levels.of_row < size for levels, size in zip(scorers, self._n_head, strict=True)])
        self._head_rows = (np.flatnonzero(head & positive), np.flatnonzero(head & ~positive))
        self._rest_rows = (np.flatnonzero(~head & positive), np.flatnonzero(~head & ~positive))
        self._head_levels = [
            tuple(np.minimum(levels.of_row[rows], size) for rows in self._head_rows)
            for levels, size in zip(scorers, self._n_head, strict=True)
        ]

    @classmethod
    def of_curve(cls, curve: RocCurve, measure: Measure, *, stratified: bool = True) -> RowDraws:
        """Draw from the rows of an unweighted curve; rows of one class and level are interchangeable."""
        numbers = np.arange(curve.scores.size)
        of_row = np.concatenate([np.repeat(numbers, curve.pos), np.repeat(numbers, curve.neg)])
        positive = np.arange(of_row.size) < curve.tp[-1]
        n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
        levels = Levels(curve.scores, of_row)
        return cls([levels], positive, measure, n_pos=n_pos, n_neg=n_neg, stratified=stratified)

    def replicate(self, rng: np.random.Generator) -> list[float]:
        """Draw once; return the measure of each scorer."""
        sizes = self._class_sizes(rng)
        picks = []
        for rows, size, total in zip(self._head_rows, sizes, (self._n_pos, self._n_neg), strict=True):
            in_head = size if rows.size == total else rng.binomial(size, rows.size / total)
            picks.append(rng.integers(0, rows.size, in_head) if in_head else np.zeros(0, dtype=np.intp))
        try:
            return [self._measured(number, picks, sizes) for number in range(len(self._scorers))]
        except ShallowHeadError:
            if not self._complete:
                raise
        drawn = []
        for pick, head, rest, size in zip(picks, self._head_rows, self._rest_rows, sizes, strict=True):
            missing = size - pick.size
            below = rest[rng.integers(0, rest.size, missing)] if missing else rest[:0]
            drawn.append(np.concatenate([head[pick], below]))
        return [self._measured_whole(levels, drawn) for levels in self._scorers]

    def _class_sizes(self, rng: np.random.Generator) -> tuple[int, int]:
        n = self._n_pos + self._n_neg
        if self._stratified:
            return self._n_pos, self._n_neg
        for _ in range(_ATTEMPTS):
            n_pos = int(rng.binomial(n, self._n_pos / n))
            if 0 < n_pos < n:
                return n_pos, n - n_pos
        raise OneClassError(_NEVER_BOTH)

    def _measured(self, number: int, picks: Sequence[IntVector], sizes: tuple[int, int]) -> float:
        scores, size = self._scorers[number].scores, self._n_head[number]
        pos, neg = (
            _counted(levels[pick], size + 1, None if self._weights is None else self._weights[rows[pick]])[:size]
            for levels, pick, rows in zip(self._head_levels[number], picks, self._head_rows, strict=True)
        )
        whole_curve = self._complete and size == scores.size
        floor = -inf if whole_curve else float(scores[size - 1])
        return self._measure.value(_curve(scores[:size], pos, neg, sizes, floor, weighted=self._weights is not None))

    def _measured_whole(self, levels: Levels, drawn: Sequence[IntVector]) -> float:
        pos, neg = (_counted(levels.of_row[rows], levels.scores.size) for rows in drawn)
        return self._measure.value(_curve(levels.scores, pos, neg, (drawn[0].size, drawn[1].size)))


class ClusterDraws:
    """Whole clusters drawn with replacement, as many as in the sample; a draw without both classes is repeated."""

    def __init__(
        self,
        scorers: Sequence[Levels],
        positive: BoolVector,
        clusters: IntVector,
        measure: Measure,
        *,
        weights: Vector | None = None,
    ) -> None:
        self._scorers, self._positive, self._measure = scorers, positive, measure
        self._clusters, self._weights = clusters, weights
        self._n_clusters = int(clusters.max()) + 1
        if self._n_clusters < 2:
            raise ValueError("the cluster bootstrap needs at least two clusters, got one; omit clusters")

    def replicate(self, rng: np.random.Generator) -> list[float]:
        """Draw once; return the measure of each scorer."""
        for _ in range(_ATTEMPTS):
            drawn = np.bincount(rng.integers(0, self._n_clusters, self._n_clusters), minlength=self._n_clusters)
            times = drawn[self._clusters].astype(np.float64)
            if times[self._positive].any() and times[~self._positive].any():
                break
        else:
            raise OneClassError(_NEVER_BOTH)
        if self._weights is not None:
            times *= self._weights
        return [self._measured(levels, times) for levels in self._scorers]

    def _measured(self, levels: Levels, times: Vector) -> float:
        pos, neg = (
            _counted(levels.of_row[rows], levels.scores.size, times[rows]) for rows in (self._positive, ~self._positive)
        )
        if self._weights is None:
            pos, neg = pos.astype(np.int64), neg.astype(np.int64)
        sizes = (pos.sum(), neg.sum())
        return self._measure.value(_curve(levels.scores, pos, neg, sizes, weighted=self._weights is not None))


class QueryDraws:
    """Whole queries drawn with replacement; the value is the mean over the drawn queries."""

    def __init__(self, samples: Sequence[SampleCurves], measure: Measure) -> None:
        self.values = np.array([sample.values(measure) for sample in samples])
        """The measure of each scorer (rows) on each query with both classes (columns)."""
        if self.values.shape[1] < 2:
            raise ValueError(
                f"the bootstrap by query needs at least two queries with both classes, got {self.values.shape[1]}; "
                "omit qid to treat all rows as one list"
            )

    def replicate(self, rng: np.random.Generator) -> list[float]:
        """Draw once; return the mean of each scorer."""
        n_queries = self.values.shape[1]
        means: list[float] = self.values[:, rng.integers(0, n_queries, n_queries)].mean(axis=1).tolist()
        return means


def replicates(
    draws: Draws, n_replicates: int, *, random_state: Any = None, n_jobs: int | None = None, progress: bool = False
) -> Vector:
    """Return the measure on each replicate; an array of shape (n_replicates, n_scorers).

    The result depends on ``random_state`` but not on ``n_jobs``. Uses threads, not processes: the arrays are large and
    NumPy releases the interpreter lock while drawing.
    """
    sizes = [min(_CHUNK, n_replicates - start) for start in range(0, whole("n_replicates", n_replicates), _CHUNK)]
    streams = generator(random_state).spawn(len(sizes))

    def chunk(size: int, rng: np.random.Generator) -> list[Sequence[float]]:
        return [draws.replicate(rng) for _ in range(size)]

    parts = _run(chunk, list(zip(sizes, streams, strict=True)), n_jobs)
    if progress:
        with needs_extra("cli"):
            from rich.console import Console
            from rich.progress import track

        screen = Console(stderr=True)
        parts = track(parts, description="bootstrap", total=len(sizes), console=screen, transient=True)
    return np.array([values for part in parts for values in part])


def _run(job: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Any]:
    if n_jobs in (None, 1):
        return (job(*each) for each in arguments)
    from joblib import Parallel, delayed

    results: Iterator[Any] = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(job)(*each) for each in arguments
    )
    return results


def _levels_in_head(levels: Levels, positive: BoolVector, depth: Depth | None) -> int:
    """Return enough levels for almost every replicate's head: six standard deviations more than it needs."""
    n_levels = levels.scores.size
    if depth is None:
        return n_levels
    last = 0
    for wanted, rows in ((depth.n_pos, positive), (depth.n_neg, ~positive), (depth.n_rows, slice(None))):
        if wanted > 0:
            reached = np.cumsum(np.bincount(levels.of_row[rows], minlength=n_levels))
            enough = ceil(wanted + 6 * sqrt(wanted) + 10)
            last = max(last, int(np.searchsorted(reached, enough)) + 1)
    return min(last, n_levels)


def _counted(levels: IntVector, n_levels: int, weights: Vector | None = None) -> Counts:
    return np.bincount(levels, weights, minlength=n_levels)


def _curve(
    scores: Vector, pos: Counts, neg: Counts, sizes: tuple[Any, Any], floor: float = -inf, weighted: bool = False
) -> RocCurve:
    """Return the curve of a replicate, without the levels that were not drawn."""
    kept = (pos + neg) > 0
    return RocCurve(scores[kept], pos[kept], neg[kept], *sizes, floor, weighted)


_NEVER_BOTH = (
    f"{_ATTEMPTS} consecutive resamples had a single class: too few rows or clusters of the rarer class; use a "
    "finite-sample method"
)
