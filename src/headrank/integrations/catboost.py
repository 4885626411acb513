"""Measures as CatBoost metrics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from headrank.integrations._rows import Rows
from headrank.measures import Measure
from headrank.measures import measure as measure_of

__all__ = ["Metric"]


class Metric:
    """A measure for ``eval_metric=`` of CatBoost's classifiers: evaluation, direction and name.

    CatBoost logs it by the short name of the measure, stops early on it with ``early_stopping_rounds``, and keeps the
    best trees with ``use_best_model``, in the right direction. Weights count. CatBoost does not tell a metric of the
    user's which group a row belongs to, so all rows are one list.

    Only the head that the measure depends on is sorted, except with weights.

    >>> half = Metric("pauc@0.5")
    >>> half.evaluate([[4.0, 3.0, 2.0, 1.0]], [1, 0, 1, 0], None), half.is_max_optimal()
    ((0.5, 1.0), True)
    """

    measure: Measure
    no_jit = True  # CatBoost compiles metrics by Numba, and warns where it cannot

    def __new__(cls, measure: Measure | str) -> Self:
        """Make an instance of a class of its own: CatBoost logs a metric by the name of its class."""
        target = measure_of(measure)
        self: Self = object.__new__(type(str(target), (cls,), {}))
        self.measure = target
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric, (self.measure,)

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Return the value of the measure, and 1 as its weight."""
        (scores,) = approxes
        weights = None if weight is None or len(weight) == 0 else np.asarray(weight)
        return Rows(np.asarray(target), weights).value(self.measure, np.asarray(scores)), 1.0

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return self.measure.greater_is_better

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value; its weight is 1."""
        return error / weight
