"""The parameters of measures: checked when a measure is made, printed and read back in short names."""

from math import inf
from typing import Any


def rate(name: str, value: Any, *, above_zero: bool = False) -> float:
    """Return the rate as a float in [0, 1], or refuse."""
    result = real(name, value)
    if not (0 <= result <= 1) or (above_zero and result == 0):
        interval = "(0, 1]" if above_zero else "[0, 1]"
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie in {interval}, got {value!r}{percent}")
    return result


def ordered(name: str, low: Any, high: Any, *, at_most: float = 1.0) -> tuple[float, float]:
    """Return both ends of a range as floats with 0 <= low < high <= at_most, or refuse."""
    low, high = real(f"min_{name}", low), real(f"max_{name}", high)
    if not 0 <= low < high <= at_most:
        limit = "" if at_most == inf else f" <= {at_most:g}"
        raise ValueError(f"needed 0 <= min_{name} < max_{name}{limit}, got min_{name}={low:g}, max_{name}={high:g}")
    return low, high


def above_zero(name: str, value: Any) -> float:
    """Return the value as a finite float above 0, or refuse."""
    result = real(name, value)
    if not 0 < result < inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return result


def real(name: str, value: Any) -> float:
    """Return the value as a float, or refuse."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None


def shown(value: float) -> str:
    """Print a number as short as it can be read back: 0.05, 1, 0.0673545."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def named(text: str, *names: str) -> list[float]:
    """Read ``"fpr=0.3,tpr=0.6"`` for the names in this order."""
    parts = [part.split("=", 1) for part in text.split(",")]
    if [part[0].strip() for part in parts] != list(names) or any(len(part) != 2 for part in parts):
        wanted = ",".join(f"{name}=NUMBER" for name in names)
        raise ValueError(f"needed {wanted} after the @")
    return [real(name, value) for name, value in parts]


def span(text: str) -> tuple[float, float]:
    """Read ``"0.02:0.05"``, or ``"0.05"`` for 0 to 0.05."""
    low, colon, high = text.rpartition(":")
    return (real("the lower end", low) if colon else 0.0), real("the number after the @", high)
