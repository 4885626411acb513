"""Parameters that are numbers, checked where they come in."""

from math import inf, isfinite
from operator import index
from typing import Any


def real(name: str, value: Any) -> float:
    """Return the value as a finite float, or refuse."""
    if isinstance(value, str | bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        result = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that fits into a float, got a whole number beyond 1e308") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not isfinite(result):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return result


def rate(name: str, value: Any, *, above_zero: bool = False) -> float:
    """Return the rate as a float in [0, 1], or in (0, 1], or refuse."""
    result = real(name, value)
    if not 0 <= result <= 1 or (above_zero and result == 0):
        interval = "(0, 1]" if above_zero else "[0, 1]"
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie in {interval}, got {value!r}{percent}")
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
        raise ValueError(f"{name} must be above 0, got {value!r}")
    return result


def whole(name: str, value: Any, *, at_least: int = 0) -> int:
    """Return the value as an int of at least so much, or refuse."""
    try:
        result = index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if result < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {result}")
    return result
