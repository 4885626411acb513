"""Measures as CatBoost metrics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from headrank._numbers import short_repr
from headrank.integrations._rows import Rows, or_none
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
        try:
            (scores,) = approxes
        except (TypeError, ValueError):
            raise ValueError(
                f"approxes must be the scores of one class, as CatBoost passes them for two classes, got "
                f"{short_repr(approxes)}"
            ) from None
        weights = or_none(weight)
        rows = Rows(_array(target), None if weights is None else _array(weights))
        return rows.value(self.measure, _array(scores)), 1.0

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return self.measure.greater_is_better

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value; its weight is 1."""
        return error / weight


def _array(values: Any) -> Any:
    """Return CatBoost's own sequences as arrays; what cannot be one is refused where it is used."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return values
