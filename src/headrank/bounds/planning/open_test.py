"""OpenTest: a test of areas whose size is still open, with the variances that determine it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_args

import numpy as np

from headrank._numbers import above_zero, inner_rate, option, real, short_repr
from headrank.bounds.confidence import Side, check_side
from headrank.bounds.planning.area_variances import (
    NormalCurve,
    Variances,
    auc_of_curve,
    curve_of_auc,
    fitted_variances,
    from_rows,
    normal_rows,
    normal_value,
    obuchowski_lieber_wians,
    obuchowski_mcclish,
)
from headrank.bounds.planning.planned_test import Method, TestPlan
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_binary
from headrank.measures import AUC
from headrank.measures import measure as measure_of
from headrank.measures.area import AreaMeasure

_LEAST_B = 1e-3
"""Least ratio of the standard deviations of both classes, and the inverse of the greatest."""


@dataclass(frozen=True)
class OpenTest:
    """A test whose size is still open; ``curves`` are those of normal scores, none with a pilot sample."""

    measure: AreaMeasure
    curves: tuple[NormalCurve, ...]
    correlation: tuple[float, float]
    paired: bool
    pilot: tuple[Any, ...] | None
    level: float
    side: Side
    method: Method

    @property
    def name(self) -> str:
        """What is compared."""
        n_scorers = len(self.curves) if self.pilot is None else len(self.pilot) - 1
        if n_scorers == 1:
            return "against chance"
        return "two scorers on the same rows" if self.paired else "two samples"

    def variances(self) -> Variances:
        """Return the areas and their variances, from the pilot sample or of normal scores."""
        if self.pilot is not None:
            samples = [check_binary(self.pilot[0], scores).require_both_classes() for scores in self.pilot[1:]]
            if (fewest := min(samples[0].n_pos, samples[0].n_neg)) < 2:
                raise InvalidSampleError(
                    f"a variance needs two rows of each class, but one class of pilot has {fewest:g}; use a larger "
                    "pilot sample"
                )
            rows = [(each.positive, each.scores) for each in samples]
            of_rows = fitted_variances if self.method == "obuchowski" else from_rows
            return of_rows(self.measure, rows, paired=self.paired)
        if self.method != "obuchowski":
            return replace(
                _drawn_variances(self.measure, self.curves, self.correlation, self.paired), values=self.normal_values
            )
        if len(self.curves) == 1:
            return obuchowski_lieber_wians(auc_of_curve(self.curves[0]))
        first, second = self.curves
        return obuchowski_mcclish(self.measure, first, second, self.correlation if self.paired else (0.0, 0.0))

    @property
    def normal_values(self) -> tuple[float, float]:
        """The true areas of normal scores; of one scorer, that of chance is the second."""
        areas = [normal_value(self.measure, *curve) for curve in self.curves]
        return areas[0], [*areas, self.measure.chance][1]

    def at(self, n_pos: float, n_neg: float, power: float, values: tuple[float, float], error: float = 0) -> TestPlan:
        """Return the plan of this test at a size."""
        fields = (self.measure, self.name, self.level, self.side, self.method, error)
        return TestPlan(power, n_pos, n_neg, values, *fields)


@lru_cache(maxsize=64)
def _drawn_variances(
    measure: AreaMeasure, curves: tuple[NormalCurve, ...], correlation: tuple[float, float], paired: bool
) -> Variances:
    positive, scores = normal_rows(curves, correlation)
    return from_rows(measure, [(positive, each) for each in scores], paired=paired)


def open_test(
    auc: Any,
    binormal: Any,
    pilot: Any,
    measure: Any,
    paired: Any,
    correlation: Any,
    level: Any,
    side: Any,
    method: Any,
) -> OpenTest:
    """Check the arguments of `power` and `sample_size_of_test` that describe the test."""
    what = measure_of(measure)
    if not isinstance(what, AreaMeasure):
        raise ValueError(f"the power is computed for areas (auc, pauc, spauc), not for {what}")
    option("method", method, get_args(Method))
    if check_side(side) == "upper":
        raise ValueError("side must be 'two-sided' or 'lower', got 'upper'; exchange the two scorers")
    curves = _curves(auc, binormal, pilot)
    if pilot is not None and method == "finite":
        raise ValueError("method='finite' simulates normal scores; with a pilot sample use method='delong'")
    if len(curves) == 1 or (pilot is not None and len(pilot) == 2):
        if method == "obuchowski" and not isinstance(what, AUC):
            raise ValueError(f"method='obuchowski' tests the AUC against chance, not {what}; use method='delong'")
        if method == "delong_null":
            raise ValueError("method='delong_null' compares two scorers; against chance use method='delong'")
    if not isinstance(paired, bool | np.bool_):
        raise TypeError(f"paired must be True or False, got {short_repr(paired)}")
    pair = tuple(correlation) if isinstance(correlation, tuple | list) else (correlation, correlation)
    if len(pair) != 2 or not all(isinstance(each, int | float) and -1 <= each <= 1 for each in pair):
        raise ValueError(f"correlation must be one or two numbers in [-1, 1], got {short_repr(correlation)}")
    correlations, risk = (float(pair[0]), float(pair[1])), inner_rate("level", level)
    return OpenTest(what, curves, correlations, bool(paired), pilot, risk, side, method)


def _curves(auc: Any, binormal: Any, pilot: Any) -> tuple[NormalCurve, ...]:
    """Return the curves of normal scores, none with a pilot sample; exactly one of the three is given."""
    given = [name for name, value in (("auc", auc), ("binormal", binormal), ("pilot", pilot)) if value is not None]
    if len(given) != 1:
        raise TypeError(f"expected exactly one of auc, binormal and pilot, got {' and '.join(given) or 'none'}")
    if auc is not None:
        aucs = [inner_rate("auc", each) for each in (auc if isinstance(auc, tuple | list) else (auc,))]
        if len(aucs) not in (1, 2):
            raise ValueError(f"auc must be one or two numbers, got {short_repr(auc)}")
        return tuple(curve_of_auc(each) for each in aucs)
    if binormal is not None:
        pairs = [binormal] if _is_pair(binormal) and not any(map(_is_pair, binormal)) else binormal
        if not isinstance(pairs, tuple | list) or len(pairs) not in (1, 2) or not all(map(_is_pair, pairs)):
            raise ValueError(f"binormal must be (A, B) or ((A1, B1), (A2, B2)), got {short_repr(binormal)}")
        curves = tuple((real("binormal", a), above_zero("binormal", b)) for a, b in pairs)
        if not all(_LEAST_B <= b <= 1 / _LEAST_B and 0 < auc_of_curve((a, b)) < 1 for a, b in curves):
            raise ValueError(
                f"binormal must have A with an AUC strictly between 0 and 1 and B between {_LEAST_B:g} and "
                f"{1 / _LEAST_B:g}, got {short_repr(binormal)}"
            )
        return curves
    if not isinstance(pilot, tuple | list) or len(pilot) not in (2, 3):
        raise ValueError("pilot must be (y, scores) or (y, a, b)")
    return ()


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2
