"""The learning problem: validated rows, labels, weights and queries, ready for a solver."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from headrank._numbers import short_repr
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._matrix import LARGEST, shift_of
from headrank.estimators._risk import LinearRisk, ScoredPoint
from headrank.estimators._risks import risk_of
from headrank.labels import Sample, check_weights
from headrank.measures import Measure
from headrank.rows import (
    Blocks,
    Rows,
    ScaledRows,
    ShiftedRows,
    SubsetRows,
    open_for_many_passes,
    open_rows,
    shifted,
    spanned,
)
from headrank.solvers import Solution, Step, cutting_plane, hybrid
from headrank.surrogates import RowFacts, SurrogateKind, kind_of, surrogate_for

_SMALLEST_OBJECTIVE = 1e-300
_COLLAPSED = 1e-2
"""A fit has collapsed if no weights lower the surrogate's risk by more than this share."""
_BLOCK_VALUES = 1_000_000
_MOST_COPIED = 20_000_000
"""Most values in a dense copy of the rows. A few copies exist at the same time."""
_LONGER_STEPS = (0.3, 1.0, 3.0)
"""In units of the steps at which the scores have a standard deviation of 1."""
SOLVERS: dict[str, Callable[..., Solution]] = {"hybrid": hybrid, "cutting-plane": cutting_plane}


class Outcome(NamedTuple):
    """What the training rows tell of weights."""

    threshold: float
    """With as many rows above it as there are positives."""
    risk: float
    measure: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels, and the risk to minimise on them."""

    risk: LinearRisk
    kind: SurrogateKind
    """Properties of the surrogate."""
    measure: Measure
    weights: Vector | None
    queries: IntVector | None
    scale: Vector | None
    unit: float = 1.0
    """Typical size of a feature after scaling: the root of the mean variance of the features."""
    shift: Vector | None = None
    """What was subtracted from the original features, before scaling."""
    n_stored: int = 0
    """Number of values stored in X."""
    basis: Vector | None = None
    """Basis of the space of the weights, one column per weight; None if it is that of the features."""
    grades: IntVector | None = None
    """Grades of relevance, if the labels are grades."""
    n_blocks: int = 1
    """Number of blocks of rows; each product is with one of them."""

    def with_surrogate(self, kind: str, *, measure: Measure | None = None, bandwidth: float = 0.3) -> Problem:
        """Return the problem with another surrogate, for the same measure or another one."""
        facts = _facts(kind_of(kind), self.labelled)
        surrogate = surrogate_for(self.measure if measure is None else measure, kind, facts, bandwidth=bandwidth)
        return replace(self, kind=kind_of(kind), risk=risk_of(self.rows, surrogate, self.risk.positive))

    def part(self, kept: IntVector) -> Problem:
        """Return the problem of a subset of the rows, not copied or rescaled. Its surrogate is still to be set."""
        labelled = self.labelled.take(kept)
        labelled.require_both_classes()
        risk = LinearRisk(SubsetRows(self.rows, kept, self.risk.positive.size), self.risk.surrogate, labelled.positive)
        return replace(self, risk=risk, weights=labelled.weights, queries=labelled.queries, grades=labelled.grades)

    def in_span(self) -> Problem:
        """Return the problem in coordinates of the span of the rows, if that makes the rows smaller; else itself.

        Its minima are the same (see `spanned`), also for subsets of the rows. The conversion costs as much as a few
        passes over X, once per cross-validation. After it, a pass reads n_rows times n_rows values.
        """
        n_rows, n_features = self.risk.positive.size, self.rows.n_features
        if n_rows >= n_features or n_rows**2 > self.n_stored or n_rows * n_features > _MOST_COPIED:
            return self
        rows, basis = spanned(self.rows, n_rows)
        return replace(self, risk=replace(self.risk, rows=rows), basis=basis)

    @property
    def labelled(self) -> Labelled:
        """Labels, weights and queries of the rows."""
        return Labelled(self.risk.positive, self.weights, self.queries, grades=self.grades)

    @property
    def rows(self) -> Rows:
        """The rows, with scaled features if requested."""
        return self.risk.rows

    @property
    def size(self) -> int:
        """Number of values in a block of the rows if they were dense."""
        return self.risk.positive.size * self.rows.n_features // self.n_blocks

    def scores(self, solution: Solution) -> Vector:
        """Return the training scores of a solution. Half a pass over the rows, unless the solver has kept them."""
        point = solution.point
        return point.scores if isinstance(point, ScoredPoint) else self.rows.scores(solution.weights)

    def standardised(self, weights: Vector) -> Vector:
        """Scale weights so that the training scores have variance 1; return 0 if the scores differ only by rounding."""
        if isinstance(self.risk, HeldRisk):
            spread, largest = self.risk.scored(weights).extent()
        else:
            scores = self.rows.scores(weights)
            mean = np.average(scores, weights=self.weights)
            spread = float(np.sqrt(np.average((scores - mean) ** 2, weights=self.weights)))
            largest = float(np.abs(scores).max())
        return weights / spread if spread > 1e-9 * largest else np.zeros_like(weights)

    def averaged(self, scorers: Sequence[Vector]) -> Vector:
        """Average scorers. Each, and the average itself, is scaled so that its training scores have variance 1."""
        if len(scorers) == 1:
            return self.standardised(scorers[0])
        return self.standardised(np.sum([self.standardised(weights) for weights in scorers], axis=0))

    def coef(self, weights: Vector) -> Vector:
        """Convert weights to coefficients of the original features."""
        weights = weights if self.basis is None else self.basis @ weights
        return weights if self.scale is None else np.asarray(weights / self.scale)

    def sample(self, scores: Vector) -> Sample:
        """The training sample with some scores."""
        return self.labelled.sample(scores)

    def sample_of(self, rows: IntVector, scores: Vector) -> Sample:
        """Return a subset of the rows with their scores."""
        return self.labelled.take(rows).sample(scores)

    def measured(self, scores: Vector) -> float:
        """Return the measure on the training sample; with queries, the mean over them."""
        return self.measure.of_sample(self.sample(scores))

    def measured_at(self, weights: Vector) -> float:
        """Return the measure of some weights on the training sample. Half a pass over the rows; none at w = 0."""
        if isinstance(self.risk, HeldRisk):
            return self.risk.measured(self.risk.scored(weights), self.measure)
        return self.measured(self.rows.scores(weights) if weights.any() else np.zeros(self.risk.positive.size))

    def measured_by_chance(self) -> float:
        """Return the measure of constant scores on the training sample."""
        return self.measured_at(np.zeros(self.rows.n_features))

    @property
    def risk_at_zero(self) -> float:
        """The risk of weights of 0: 1 for most hinges."""
        return self.risk.at(np.zeros(self.rows.n_features)).value

    def collapsed(self, solution: Solution, C: float) -> bool:
        """Whether the surrogate has learned nothing: w = 0 is nearly optimal, and not only because C is small.

        On data that can be learned, only some surrogates collapse. The lower bound proves that w = 0 is nearly
        optimal. To exclude a small C as the reason, longer steps are tried along the weights found or, if these are 0,
        along the minimum of the model of all cuts.
        """
        if not self.kind.collapses:
            return not solution.weights.any()
        origin = self.risk.at(np.zeros(self.rows.n_features))
        if solution.lower < (1 - _COLLAPSED) * C * origin.value:
            return False
        direction = solution.weights if solution.weights.any() else solution.bundle.model(C).weights
        length = float(np.linalg.norm(direction))
        if length == 0:
            return True
        ray = self.risk.ray(origin, direction / length)
        spread, largest = ray.extent()
        if spread <= 1e-9 * largest:
            return True  # the scores differ only by rounding
        return all(ray.at(step / spread).value >= (1 - _COLLAPSED) * origin.value for step in _LONGER_STEPS)

    def intercept(self, weights: Vector, threshold: float) -> float:
        """Return minus the threshold for scores computed from the original features."""
        moved = 0.0 if self.shift is None else float(self.shift @ self.coef(weights))
        return -(threshold + moved)

    def outcome(self, solution: Solution) -> Outcome:
        """Return what the training rows tell of a solution. Half a pass over them, unless the solver kept the scores.

        The smooth risk has no value at constant scores: it is NaN.
        """
        learned = solution.weights.any() or self.kind.convex
        point: Any = solution.point
        if isinstance(self.risk, HeldRisk):
            if point is None and learned:
                point = self.risk.at(solution.weights)
            held = self.risk.scored(solution.weights) if point is None else point.scores
            return Outcome(
                held.threshold(), nan if point is None else point.value, self.risk.measured(held, self.measure)
            )
        scores = self.scores(solution)
        risk = self.risk.at_scores(scores).value if learned else nan
        return Outcome(self.threshold(scores), risk, self.measured(scores))

    def require_computable(self, C: float, name: str = "C") -> float:
        """Return C, or raise if the objective could underflow or the square of its gradient overflow."""
        n_losses = 1.0
        if self.kind.sums:
            n_losses = float(self.risk.positive.size if self.weights is None else self.weights.sum())
        if not _SMALLEST_OBJECTIVE <= C * n_losses <= LARGEST:
            of_rows = "" if n_losses == 1 else f" times the total weight of the rows, {n_losses:.3g},"
            raise ValueError(
                f"{name}{of_rows} must lie between {_SMALLEST_OBJECTIVE:g} and {LARGEST:g}, so that the objective can "
                f"be computed, got {name}={C:g}; change {name}{' or the weights' if of_rows else ''}"
            )
        return C

    def threshold(self, scores: Vector) -> float:
        """Return a threshold with as many rows above it as there are positives, halfway between two scores."""
        return threshold_of(self.sample(scores))


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
    """Build the problem from rows and labels, without rows of weight 0. X is already validated.

    Nothing of X is copied but features far from 0, such as seconds since 1970: products would lose their digits. With
    ``many_passes``, dense rows of which most columns are nearly empty are copied too, see `open_for_many_passes`.

    With ``standardize=None`` dense features are divided by their standard deviations, sparse ones only if theirs is
    above 1. Features that are at most 1 by design, such as fingerprint bits and word weights, rank worse when scaled.
    """
    if standardize is not None and not isinstance(standardize, bool | np.bool_):
        raise TypeError(f"standardize must be True, False or None, got {short_repr(standardize)}")
    labelled = Labelled.of(positive, sample_weight, qid)
    shift = shift_of(X)
    far = None if shift is None else shifted(open_rows(X), shift)
    rows: Rows = far if far is not None else open_for_many_passes(X) if many_passes else open_rows(X)
    if labelled.present is not None:
        rows = SubsetRows(rows, labelled.present, positive.size)
    kind = kind_of(surrogate)
    loss = surrogate_for(measure, surrogate, _facts(kind, labelled), bandwidth=bandwidth)
    of_all = None if sample_weight is None else check_weights(sample_weight)
    scale, unit = _scaling(X, far, shift, of_all, standardize, wants_unit=not kind.collapses)
    rows = rows if scale is None else ScaledRows(rows, scale)
    risk = risk_of(rows, loss, labelled.positive)
    return Problem(
        *(risk, kind, measure, labelled.weights, labelled.queries, scale, unit, shift, X.size),
        grades=labelled.grades,
        n_blocks=X.n_blocks if isinstance(X, Blocks) else 1,
    )


def _scaling(
    X: Any,
    far: ShiftedRows | None,
    shift: Vector | None,
    weights: Vector | None,
    standardize: bool | None,
    *,
    wants_unit: bool,
) -> tuple[Vector | None, float]:
    """Return the divisor of each feature, or None, and the typical size of a feature after the division."""
    every = (X.dense if isinstance(X, Blocks) else isinstance(X, np.ndarray)) if standardize is None else standardize
    scaled = standardize is None or standardize
    if not scaled and not wants_unit:
        return None, 1.0
    if isinstance(X, Blocks):
        variances = X.variances(shift)
    else:
        variances = variances_of(X, weights)
        if far is not None:
            variances[far.replaced] = variances_of(far.columns, weights)
    scale = np.sqrt(np.where(variances > (0.0 if every else 1.0), variances, 1.0)) if scaled else None
    if every or not wants_unit:
        return scale, 1.0
    sizes = variances if scale is None else variances / scale**2
    return scale, float(np.sqrt(sizes.mean())) or 1.0


def variances_of(X: Any, weights: Vector | None) -> Vector:
    """Return the variance of each feature, 0 if it is only rounding. One pass in blocks, without copying X."""
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import gen_batches

    scaler = StandardScaler(with_mean=False)
    if weights is not None:  # scikit-learn needs the dtype of X, and a positive weight in each block
        weights = np.asarray(weights / weights.max(), dtype=X.dtype)
    for block in gen_batches(X.shape[0], max(_BLOCK_VALUES // X.shape[1], 1)):
        if weights is None or weights[block].any():
            scaler.partial_fit(X[block], sample_weight=None if weights is None else weights[block])
    constant = scaler.scale_ != np.sqrt(scaler.var_)  # scikit-learn sets the scale of constant features to 1
    return np.where(constant, 0.0, scaler.var_)


def live_line(step: Step) -> None:
    """Print the state of a fit to stderr, in one line that is overwritten."""
    proved = "" if isnan(step.lower) else f", at least {step.lower:.6g}, gap {step.gap:.1e}, {step.n_cuts} cuts"
    text = f"\rstep {step.n_iter}: objective {step.objective:.6g}{proved}, {step.seconds:.1f} s "
    sys.stderr.write(text)
    sys.stderr.flush()


def _facts(kind: SurrogateKind, labelled: Labelled) -> RowFacts:
    weights = labelled.weights
    if not kind.sums and weights is not None and np.all(weights == weights[0]):
        labelled = replace(labelled, weights=None)  # a mean over rows of equal weight is a plain mean
    return labelled.row_facts()
