"""The learning problem of one sample: checked rows, labels, weights and queries, ready for a solver."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from headrank._numbers import short_repr
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.curve import RocCurve
from headrank.estimators._matrix import LARGEST, shift_of, shifted
from headrank.estimators._risk import LinearRisk, ScoredPoint
from headrank.exceptions import OneClassError
from headrank.labels import Sample, check_queries, check_weights
from headrank.measures import Measure
from headrank.rows import Rows, ScaledRows, SubsetRows, open_rows, spanned
from headrank.solvers import Solution, Step, cutting_plane, hybrid
from headrank.surrogates import RowFacts, SurrogateKind, kind_of, surrogate_for

_SMALLEST_OBJECTIVE = 1e-300
_COLLAPSED = 1e-2
"""A fit has collapsed when no weights bring the surrogate's risk down by more than this share."""
_BLOCK_VALUES = 1_000_000
_MOST_COPIED = 20_000_000
"""Numbers of a dense copy of the rows, of which there are a few at a time."""
_LONGER_STEPS = (0.3, 1.0, 3.0)
"""In units that give the scores a standard deviation of 1."""
SOLVERS: dict[str, Callable[..., Solution]] = {"hybrid": hybrid, "cutting-plane": cutting_plane}


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels, and the risk they pose."""

    risk: LinearRisk
    kind: SurrogateKind
    """What the surrogate is."""
    measure: Measure
    weights: Vector | None
    queries: IntVector | None
    scale: Vector | None
    unit: float = 1.0
    """The typical size of a feature, after scaling: the root of its mean variance over features."""
    shift: Vector | None = None
    """What was subtracted from the features as they came in, before scaling."""
    n_stored: int = 0
    """Numbers that X holds."""
    basis: Vector | None = None
    """Of the space in which the weights live, one column per weight, if it is not that of the features."""

    def with_surrogate(self, kind: str, *, measure: Measure | None = None, bandwidth: float = 0.3) -> Problem:
        """The same rows, to be learned by another surrogate, of the problem's measure or of another."""
        facts = _facts(kind_of(kind), self.risk.positive, self.weights, self.queries)
        surrogate = surrogate_for(self.measure if measure is None else measure, kind, facts, bandwidth=bandwidth)
        return replace(self, kind=kind_of(kind), risk=replace(self.risk, surrogate=surrogate))

    def part(self, kept: IntVector) -> Problem:
        """Some of the rows, as they are: no row is copied, no feature scaled anew. Its surrogate is to be chosen."""
        positive = self.risk.positive[kept]
        weights = None if self.weights is None else self.weights[kept]
        queries = None if self.queries is None else self.queries[kept]
        _require_both_classes(positive, queries)
        rows = SubsetRows(self.rows, kept, self.risk.positive.size)
        return replace(self, risk=LinearRisk(rows, self.risk.surrogate, positive), weights=weights, queries=queries)

    def in_span(self) -> Problem:
        """The same problem, posed in the space that the rows span where that is smaller than the rows are.

        Its minima are the same, see `spanned`, whatever part of the rows is learned from. Once per choice it costs what
        some passes over X do, each of which is then n_rows times n_rows numbers long.
        """
        n_rows, n_features = self.risk.positive.size, self.rows.n_features
        if n_rows >= n_features or n_rows**2 > self.n_stored or n_rows * n_features > _MOST_COPIED:
            return self
        rows, basis = spanned(self.rows, n_rows)
        return replace(self, risk=replace(self.risk, rows=rows), basis=basis)

    def has_both_classes(self, kept: IntVector) -> bool:
        """Whether some of the rows are of both classes, with queries: those of at least one."""
        return _both_classes(self.risk.positive[kept], None if self.queries is None else self.queries[kept])

    @property
    def rows(self) -> Rows:
        """The rows, with scaled features where asked for."""
        return self.risk.rows

    @property
    def size(self) -> int:
        """Numbers in the rows, if they are dense."""
        return self.risk.positive.size * self.rows.n_features

    def scores(self, solution: Solution) -> Vector:
        """The training scores of a solution, which the solver may have left behind; else half a pass over the rows."""
        point = solution.point
        return point.scores if isinstance(point, ScoredPoint) else self.rows.scores(solution.weights)

    def standardised(self, weights: Vector) -> Vector:
        """Weights scaled so that their training scores have variance 1; 0 if the scores differ by rounding alone."""
        scores = self.rows.scores(weights)
        mean = np.average(scores, weights=self.weights)
        spread = float(np.sqrt(np.average((scores - mean) ** 2, weights=self.weights)))
        return weights / spread if spread > 1e-9 * float(np.abs(scores).max()) else np.zeros_like(weights)

    def averaged(self, scorers: Sequence[Vector]) -> Vector:
        """The mean of scorers, each and the mean itself scaled so that its training scores have variance 1."""
        if len(scorers) == 1:
            return self.standardised(scorers[0])
        return self.standardised(np.sum([self.standardised(weights) for weights in scorers], axis=0))

    def coef(self, weights: Vector) -> Vector:
        """Weights as coefficients of the features as they came in."""
        weights = weights if self.basis is None else self.basis @ weights
        return weights if self.scale is None else np.asarray(weights / self.scale)

    def sample(self, scores: Vector) -> Sample:
        """The training sample with some scores."""
        return Sample(self.risk.positive, scores, self.weights, self.queries)

    def sample_of(self, rows: IntVector, scores: Vector) -> Sample:
        """Some of the rows with their scores."""
        weights = None if self.weights is None else self.weights[rows]
        queries = None if self.queries is None else self.queries[rows]
        return Sample(self.risk.positive[rows], scores, weights, queries)

    def measured(self, scores: Vector) -> float:
        """The measure on the training sample, a mean over queries where there are any."""
        return self.measure.of_sample(self.sample(scores))

    def measured_by_chance(self) -> float:
        """The measure of constant scores on the training sample."""
        return self.measured(np.zeros(self.risk.positive.size))

    def collapsed(self, solution: Solution, C: float) -> bool:
        """Whether the surrogate has learned nothing: w = 0 is nearly optimal, and not only because C is small.

        Only the hinges do so on data that can be learned. The lower bound proves the first. For the second, longer
        steps are tried along the weights found, or, if they are 0, along those that the cuts suggest: a direction,
        however short.
        """
        if not self.kind.needs_range:
            return not solution.weights.any()
        if solution.lower < (1 - _COLLAPSED) * C:
            return False
        direction = solution.weights if solution.weights.any() else solution.bundle.model(C).weights
        length = float(np.linalg.norm(direction))
        if length == 0:
            return True
        origin = self.risk.at_scores(np.zeros(self.risk.positive.size))
        ray = self.risk.ray(origin, direction / length)
        spread = float(ray.change.std())
        if spread <= 1e-9 * float(np.abs(ray.change).max()):
            return True  # the scores differ by rounding alone
        return all(ray.at(step / spread).value >= 1 - _COLLAPSED for step in _LONGER_STEPS)

    def intercept(self, weights: Vector, scores: Vector) -> float:
        """Minus the threshold of the scores that these weights give the features as they came in."""
        moved = 0.0 if self.shift is None else float(self.shift @ self.coef(weights))
        return -(self.threshold(scores) + moved)

    def require_computable(self, C: float, name: str = "C") -> float:
        """Return C, or raise: the square of the objective's gradient must be finite, and the objective above 0."""
        n_losses = 1.0
        if self.kind.sums:
            n_losses = float(self.risk.positive.size if self.weights is None else self.weights.sum())
        if not _SMALLEST_OBJECTIVE <= C * n_losses <= LARGEST:
            of_rows = "" if n_losses == 1 else f" times the total weight of the rows, {n_losses:.3g},"
            raise ValueError(
                f"{name}{of_rows} must lie between {_SMALLEST_OBJECTIVE:g} and {LARGEST:g}, where the objective can be "
                f"computed, got {name}={C:g}; change {name}{' or the weights' if of_rows else ''}"
            )
        return C

    def threshold(self, scores: Vector) -> float:
        """Return the score above which as many rows lie as there are positives: half way between two rows."""
        if self.weights is None:
            k = int(np.count_nonzero(self.risk.positive))
            below, above = np.partition(scores, (scores.size - k - 1, scores.size - k))[scores.size - k - 1 :][:2]
            return float((below + above) / 2)
        curve = RocCurve.of_sample(self.sample(scores))
        called = curve.fp + curve.tp
        last = int(np.argmin(np.abs(called[1:] - curve.n_pos)))
        levels = curve.scores
        below = levels[last + 1] if last + 1 < levels.size else levels[last] - 1.0
        return float((levels[last] + below) / 2)


def pose(
    X: Any,
    positive: BoolVector,
    *,
    measure: Measure,
    surrogate: str,
    bandwidth: float,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    standardize: bool | None,
    many_passes: bool = False,
) -> Problem:
    """Join rows and labels to a problem, without rows of weight 0. X is checked already.

    Nothing of X is copied, unless a feature is far from 0, as seconds since 1970 are: products would lose its digits.
    With ``many_passes``, dense rows whose columns are mostly nearly empty are copied too, see `open_rows`.

    With ``standardize=None`` dense features are divided by their standard deviations, sparse ones only where these are
    above 1: what is at most 1 by design, as bits of fingerprints and weights of words, ranks worse when it is scaled.
    """
    if standardize is not None and not isinstance(standardize, bool | np.bool_):
        raise TypeError(f"standardize must be True, False or None, got {short_repr(standardize)}")
    of_all = None if sample_weight is None else check_weights(sample_weight)
    queries = None if qid is None else check_queries(qid)
    for name, values in (("sample_weight", of_all), ("qid", queries)):
        if values is not None and values.size != positive.size:
            raise ValueError(f"{name} must have one value per row: X has {positive.size} rows, {name} {values.size}")
    shift = shift_of(X)
    if shift is not None:
        X = shifted(X, shift)
    rows, weights = open_rows(X, many_passes=many_passes), of_all
    if of_all is not None and not of_all.all():
        present = np.flatnonzero(of_all)
        rows, positive, weights = SubsetRows(rows, present, positive.size), positive[present], of_all[present]
        queries = None if queries is None else queries[present]
    if weights is not None and np.all(weights == 1):
        weights = None
    _require_both_classes(positive, queries)
    kind = kind_of(surrogate)
    loss = surrogate_for(measure, surrogate, _facts(kind, positive, weights, queries), bandwidth=bandwidth)
    scale, unit = _scaling(X, of_all, standardize, wants_unit=not kind.needs_range)
    rows = rows if scale is None else ScaledRows(rows, scale)
    return Problem(LinearRisk(rows, loss, positive), kind, measure, weights, queries, scale, unit, shift, X.size)


def _scaling(
    X: Any, weights: Vector | None, standardize: bool | None, *, wants_unit: bool
) -> tuple[Vector | None, float]:
    """Return what each feature is divided by, if by anything, and the typical size of a feature after that."""
    every = isinstance(X, np.ndarray) if standardize is None else standardize
    scaled = standardize is None or standardize
    if not scaled and not wants_unit:
        return None, 1.0
    variances = variances_of(X, weights)
    scale = np.sqrt(np.where(variances > (0.0 if every else 1.0), variances, 1.0)) if scaled else None
    if every or not wants_unit:
        return scale, 1.0
    sizes = variances if scale is None else variances / scale**2
    return scale, float(np.sqrt(sizes.mean())) or 1.0


def variances_of(X: Any, weights: Vector | None) -> Vector:
    """Variance of each feature, 0 where it is rounding alone. One pass, by blocks: X is not copied."""
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import gen_batches

    scaler = StandardScaler(with_mean=False)
    if weights is not None:  # scikit-learn takes them in the type of X, and refuses a block without weight
        weights = np.asarray(weights / weights.max(), dtype=X.dtype)
    for block in gen_batches(X.shape[0], max(_BLOCK_VALUES // X.shape[1], 1)):
        if weights is None or weights[block].any():
            scaler.partial_fit(X[block], sample_weight=None if weights is None else weights[block])
    constant = scaler.scale_ != np.sqrt(scaler.var_)  # scikit-learn's verdict: it gives them a scale of 1
    return np.where(constant, 0.0, scaler.var_)


def live_line(step: Step) -> None:
    """Show the state of a fit on the terminal, in one line that is written over."""
    proved = "" if isnan(step.lower) else f", at least {step.lower:.6g}, gap {step.gap:.1e}, {step.n_cuts} cuts"
    text = f"\rstep {step.n_iter}: objective {step.objective:.6g}{proved}, {step.seconds:.1f} s "
    sys.stderr.write(text)
    sys.stderr.flush()


def _facts(kind: SurrogateKind, positive: BoolVector, weights: Vector | None, queries: IntVector | None) -> RowFacts:
    if not kind.sums and weights is not None and np.all(weights == weights[0]):
        weights = None  # a mean over rows of equal weight is a plain mean; those losses are sums
    return RowFacts(*_by_class(weights, positive), *_by_class(queries, positive))


def _by_class(values: Any, positive: BoolVector) -> tuple[Any, Any]:
    return (None, None) if values is None else (values[positive], values[~positive])


def _both_classes(positive: BoolVector, queries: IntVector | None) -> bool:
    if queries is None:
        return bool(positive.any() and not positive.all())
    return np.intersect1d(queries[positive], queries[~positive]).size > 0


def _require_both_classes(positive: BoolVector, queries: IntVector | None) -> None:
    Sample(positive, np.zeros(positive.size)).require_both_classes()
    if queries is not None and not _both_classes(positive, queries):
        raise OneClassError(
            f"needed at least one query with positive and negative rows, but all {np.unique(queries).size} queries "
            "hold one class only; check qid"
        )
