"""Checks of the parameters ``confidence`` and ``side``, which every bound takes."""

from __future__ import annotations

from typing import Any, Literal, get_args

from headrank._numbers import option, real, short_repr

Side = Literal["two-sided", "lower", "upper"]
"""Which ends of an interval are guaranteed: both, or one end with all the risk spent on it."""


def check_confidence(confidence: Any) -> float:
    """Return the confidence as a float strictly between 0 and 1, or raise."""
    result = real("confidence", confidence)
    if not 0 < 1 - result < 1:
        percent_given = "; it is a fraction, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {short_repr(confidence)}{percent_given}")
    return result


def check_side(side: Any) -> Side:
    """Return the side, or raise."""
    return option("side", side, get_args(Side))  # type: ignore[return-value]
