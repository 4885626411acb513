"""Rows as other libraries pass them, and what is computed from them: the value of a measure, derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._numbers import above_zero, option
from headrank._types import ArrayLike, BoolVector, Vector
from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.labels import check_binary, check_labels, check_queries, check_scores, check_weights
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.surrogates import LogisticLoss, RowFacts, Surrogate, surrogate_for
from headrank.surrogates.row_derivatives import RowDerivatives
from headrank.surrogates.smooth import ConstantScoresError


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels of rows, and their weights and queries if given. Nothing is checked before it is used."""

    y: ArrayLike
    weights: ArrayLike | None = None
    qid: ArrayLike | None = None

    def value(self, measure: Measure, scores: ArrayLike) -> float:
        """Compute a measure of these scores; with queries, the mean over those that have both classes."""
        return float(measure.of_sample(check_binary(self.y, scores, self.weights, qid=self.qid)))

    def checked(self, scores: ArrayLike) -> tuple[BoolVector, RowFacts, Vector]:
        """Return which rows are positive, their weights and queries, and the scores; rows of weight 0 are included."""
        sample = check_binary(self.y, scores, self.weights, qid=self.qid).require_both_classes()
        if sample.queries is not None:
            _require_mixed_query(sample.queries[sample.positive], sample.queries[~sample.positive])
        positive = check_labels(self.y)
        weights = None if self.weights is None else check_weights(self.weights)
        queries = None if self.qid is None else check_queries(self.qid)
        facts = RowFacts(*_by_class(weights, positive), *_by_class(queries, positive))
        return positive, facts, check_scores(scores)


def of_call(first: Any, second: Any, weights: Any, sizes: Any) -> tuple[Rows, Any]:
    """Return the rows and the scores of a call by LightGBM or XGBoost.

    ``train`` of both passes predictions and a data set. Their scikit-learn estimators pass labels and predictions, then
    weights and the sizes of consecutive queries.
    """
    if not hasattr(second, "get_label"):
        return Rows(first, or_none(weights), _queries(sizes)), second
    weights, sizes = or_none(second.get_weight()), or_none(second.get_group())
    if weights is not None and sizes is not None and len(weights) == len(sizes) != len(first):
        raise InvalidSampleError(
            f"expected no weights, or one per row, got weights for {len(sizes)} whole queries: headrank's means count "
            "each query once; make the data set to measure on without weights"
        )
    return Rows(second.get_label(), weights, _queries(sizes)), first


@dataclass(frozen=True)
class Objective:
    """Gradient and Hessian of each row, as LightGBM and XGBoost call it; made by their ``objective``."""

    kind: str
    measure: Measure | None
    power: float
    bandwidth: float

    @classmethod
    def of(cls, kind: str, measure: Measure | str | None, power: float, bandwidth: float) -> Objective:
        """Check the options."""
        if option("kind", kind, ("push", "smooth")) == "smooth" and measure is None:
            raise ValueError("objective('smooth') is trained for a measure; pass measure=, such as 'pauc@0.05'")
        target = None if measure is None else measure_of(measure)
        objective = cls(kind, target, above_zero("power", power), above_zero("bandwidth", bandwidth))
        objective._surrogate(RowFacts())  # raises for a measure without a smooth surrogate
        return objective

    def __call__(self, first: Any, second: Any, sample_weight: Any = None, group: Any = None) -> tuple[Vector, Vector]:
        """Return gradient and Hessian."""
        rows, scores = of_call(first, second, sample_weight, group)
        positive, facts, checked = rows.checked(scores)
        try:
            return RowDerivatives(self._surrogate(facts), positive)(checked)
        except ConstantScoresError:
            raise ValueError(
                "objective('smooth') needs scores to start from, and all scores are equal; pass the margins of a model "
                "trained with the log loss: init_score= of a LightGBM Dataset, base_margin= of an XGBoost DMatrix"
            ) from None

    def _surrogate(self, facts: RowFacts) -> Surrogate:
        if self.measure is None or self.kind == "push":
            return LogisticLoss(self.power, rows=facts)
        return surrogate_for(self.measure, "smooth", facts, bandwidth=self.bandwidth)


def or_none(values: Any) -> Any:
    """Return None for what is not there: LightGBM passes None, XGBoost and CatBoost something empty."""
    try:
        return values if values is None or len(values) else None
    except TypeError:  # it has no length, and will be refused with the others
        return values


def _queries(sizes: Any) -> Any:
    return None if or_none(sizes) is None else np.repeat(np.arange(len(sizes)), sizes)


def _by_class(values: Any, positive: BoolVector) -> tuple[Any, Any]:
    return (None, None) if values is None else (values[positive], values[~positive])


def _require_mixed_query(of_pos: Any, of_neg: Any) -> None:
    if not np.intersect1d(of_pos, of_neg).size:
        raise OneClassError(
            "expected at least one query with positive and negative rows, but every query has one class only"
        )
