"""Parameters that are numbers, checked where they come in."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from operator import index
from typing import Any

_LONGEST = 80
_SMALLEST_RATE = 1e-100
_LARGEST_COUNT = 2**53
"""Above, two whole numbers may be one float."""


def real(name: str, value: Any) -> float:
    """Return the value as a finite float, or refuse."""
    result = _number(name, value)
    if not isfinite(result):
        raise ValueError(f"{name} must be finite, got {short_repr(value)}")
    return result


def rate(name: str, value: Any, *, above_zero: bool = False) -> float:
    """Return the rate as a float in [0, 1], or in (0, 1], or refuse."""
    result = real(name, value)
    if above_zero:
        _refuse_tiny(name, result)
    if not 0 <= result <= 1 or (above_zero and result == 0):
        interval = "(0, 1]" if above_zero else "[0, 1]"
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie in {interval}, got {short_repr(value)}{percent}")
    return result


def inner_rate(name: str, value: Any, why: str = "") -> float:
    """Return the rate as a float strictly between 0 and 1, or refuse; ``why`` ends the message."""
    result = real(name, value)
    _refuse_tiny(name, result)
    if not 0 < result < 1:
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {short_repr(value)}{why}{percent}")
    return result


def ordered(name: str, low: Any, high: Any, *, at_most: float = 1.0) -> tuple[float, float]:
    """Return both ends of a range as floats with 0 <= low < high <= at_most, or refuse."""
    low, high = real(f"min_{name}", low), real(f"max_{name}", high)
    if not 0 <= low < high <= at_most:
        limit = "" if at_most == inf else f" <= {at_most:g}"
        percent = "; rates are fractions, not percent" if at_most == 1 and 1 < high <= 100 else ""
        raise ValueError(
            f"needed 0 <= min_{name} < max_{name}{limit}, got min_{name}={low:g}, max_{name}={high:g}{percent}"
        )
    return low, high


def above_zero(name: str, value: Any) -> float:
    """Return the value as a finite float above 0, or refuse."""
    result = real(name, value)
    if result <= 0:
        raise ValueError(f"{name} must be above 0, got {short_repr(value)}")
    return result


def whole(name: str, value: Any, *, at_least: int = 0) -> int:
    """Return the value as an int of at least so much, or refuse."""
    try:
        result = index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {short_repr(value)}") from None
    if result < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {short_repr(result)}")
    if result > _LARGEST_COUNT:
        raise ValueError(f"{name} must be at most 2**53, got {short_repr(result)}")
    return result


def count(name: str, value: Any) -> float:
    """Return a number of rows, by weight, as a float of at least 0 or infinity, or refuse."""
    result = _number(name, value)
    if not result >= 0:
        raise ValueError(f"{name} must be at least 0, got {short_repr(value)}")
    return result


def option(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return one of the allowed words, or refuse."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {short_repr(value)}")
    return value


def listed(name: str, values: Any) -> list[Any]:
    """Return the values of a sequence or another iterable as a list, or refuse."""
    if isinstance(values, str | bytes | Mapping):
        raise TypeError(
            f"{name} must be a sequence, got {short_repr(values)}; for a single one give [{short_repr(values)}]"
        )
    try:
        return list(values)
    except Exception:  # whatever its class says of iteration
        raise TypeError(
            f"{name} must be a sequence, got {short_repr(values)}; for one give [{short_repr(values)}]"
        ) from None


def short_repr(value: Any) -> str:
    """Print a value that somebody passed, however it prints itself, in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever its class does; integers of 4,300 digits refuse to be printed, too
        return f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _refuse_tiny(name: str, result: float) -> None:
    if 0 < result < _SMALLEST_RATE:
        raise ValueError(f"{name} must be at least {_SMALLEST_RATE:g}, got {result!r}: no sample is that large")


def _number(name: str, value: Any) -> float:
    """Return the value as a float, which may be infinite or NaN, or refuse."""
    if isinstance(value, str | bytes | bool) or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"{name} must be a number, got {short_repr(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that fits a float, below 1.8e308, got {short_repr(value)}") from None
    except Exception:  # whatever its class says of float(): it is no number
        raise TypeError(f"{name} must be a number, got {short_repr(value)}") from None
