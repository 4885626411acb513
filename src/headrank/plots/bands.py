"""Confidence bands to draw: limits of the TPR on a grid of false positive rates."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from headrank._numbers import short_repr
from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.measures import TPRAtFPR
from headrank.plots.polyline import Window

Band = Literal["simultaneous", "pointwise"]
_VERTICES, _POINTS = 1000, 200
"""Grid sizes of a simultaneous band, and of a pointwise one, where each point needs its own interval."""


class Limits(NamedTuple):
    """Limits of the true curve."""

    fpr: Vector
    lower: Vector
    upper: Vector


def check_band(band: str | None) -> None:
    """Raise if this is not a kind of band."""
    if band is not None and not (isinstance(band, str) and band in get_args(Band)):
        raise ValueError(f"band must be one of {', '.join(map(repr, get_args(Band)))} or None, got {short_repr(band)}")


def limits_of(curve: RocCurve, kind: str, confidence: float, window: Window) -> Limits:
    """Return simultaneous or pointwise limits of the curve, valid for any distribution."""
    from headrank.bounds.band.band import band
    from headrank.bounds.confidence import check_confidence
    from headrank.bounds.fixed.fixed_range import at_point

    confidence = check_confidence(confidence)
    n_points = _POINTS if kind == "pointwise" else _VERTICES
    between = np.geomspace if window.log else np.linspace
    fpr = between(window.left, window.right, n_points)
    if kind == "simultaneous":
        around = band(curve, confidence=confidence)
        return Limits(fpr, around.lower_at(fpr), around.upper_at(fpr))
    each = [at_point(curve, TPRAtFPR(float(x)), confidence=confidence) for x in fpr]
    return Limits(fpr, np.array([one.low for one in each]), np.array([one.high for one in each]))


def named(kind: str, confidence: float) -> str:
    """Return the legend entry, which states what the band guarantees."""
    from headrank._format import percent

    scope = "whole curve" if kind == "simultaneous" else "each rate separately"
    return f"{percent(confidence)} confidence, {scope} ({kind})"
