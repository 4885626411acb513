"""Validation of numeric parameters."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from numbers import Integral
from operator import index
from typing import Any

import numpy as np

_LONGEST = 80
_SMALLEST_RATE = 1e-100
_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
_LARGEST_COUNT = 2**53
"""Above this, distinct integers can round to the same float."""


def real(name: str, value: Any) -> float:
    """Return the value as a finite float, or raise."""
    result = _number(name, value)
    if not isfinite(result):
        raise ValueError(f"{name} must be finite, got {short_repr(value)}")
    return result


def rate(name: str, value: Any, *, above_zero: bool = False) -> float:
    """Return the rate as a float in [0, 1], or in (0, 1] if ``above_zero``, or raise."""
    result = real(name, value)
    if above_zero:
        _reject_tiny(name, result)
    if not 0 <= result <= 1 or (above_zero and result == 0):
        interval = "(0, 1]" if above_zero else "[0, 1]"
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie in {interval}, got {short_repr(value)}{percent}")
    return result


def inner_rate(name: str, value: Any, why: str = "") -> float:
    """Return the rate as a float strictly between 0 and 1, or raise; ``why`` is added to the message."""
    result = real(name, value)
    _reject_tiny(name, result)
    if not 0 < result < 1:
        percent = "; rates are fractions, not percent" if 1 < result <= 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {short_repr(value)}{why}{percent}")
    return result


def ordered(name: str, low: Any, high: Any, *, at_most: float = 1.0) -> tuple[float, float]:
    """Return both ends of a range as floats with 0 <= low < high <= at_most, or raise."""
    low, high = real(f"min_{name}", low), real(f"max_{name}", high)
    if not 0 <= low < high <= at_most:
        limit = "" if at_most == inf else f" <= {at_most:g}"
        percent = "; rates are fractions, not percent" if at_most == 1 and 1 < high <= 100 else ""
        raise ValueError(
            f"expected 0 <= min_{name} < max_{name}{limit}, got min_{name}={low:g}, max_{name}={high:g}{percent}"
        )
    return low, high


def above_zero(name: str, value: Any) -> float:
    """Return the value as a finite float above 0, or raise."""
    result = real(name, value)
    if result <= 0:
        raise ValueError(f"{name} must be above 0, got {short_repr(value)}")
    return result


def whole(name: str, value: Any, *, at_least: int = 0) -> int:
    """Return the value as an int that is at least ``at_least``, or raise."""
    try:
        result = index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {short_repr(value)}") from None
    if result < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {short_repr(result)}")
    if result > _LARGEST_COUNT:
        raise ValueError(f"{name} must be at most 2**53, got {short_repr(result)}")
    return result


def seed(random_state: Any) -> Any:
    """Return what scikit-learn takes as a ``random_state``, unchanged, or raise."""
    number = isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32
    if number or random_state is None or isinstance(random_state, np.random.RandomState):
        return random_state
    raise ValueError(
        "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy RandomState, got "
        f"{short_repr(random_state)}"
    )


def generator(random_state: Any) -> np.random.Generator:
    """Return the NumPy generator of a ``random_state``, or raise."""
    # NumPy is not asked what it takes: a np.matrix ends the process.
    several = random_state if isinstance(random_state, list | tuple) else [random_state]
    numbers = all(isinstance(each, Integral) and int(each) >= 0 for each in several)
    if numbers or random_state is None or isinstance(random_state, _GENERATORS):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, a whole number of at least 0 or a numpy Generator, got {short_repr(random_state)}"
    )


def count(name: str, value: Any) -> float:
    """Return a number of rows, by weight, as a float from 0 to infinity, or raise."""
    result = _number(name, value)
    if not result >= 0:
        raise ValueError(f"{name} must be at least 0, got {short_repr(value)}")
    return result


def option(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return one of the allowed words, or raise."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {short_repr(value)}")
    return value


def listed(name: str, values: Any) -> list[Any]:
    """Return the values of a sequence or another iterable as a list, or raise."""
    if isinstance(values, str | bytes | Mapping):
        raise TypeError(
            f"{name} must be a sequence, got {short_repr(values)}; for a single value pass [{short_repr(values)}]"
        )
    try:
        return list(values)
    except Exception:  # a class may raise anything when iterated
        raise TypeError(
            f"{name} must be a sequence, got {short_repr(values)}; for a single value pass [{short_repr(values)}]"
        ) from None


def short_repr(value: Any) -> str:
    """Print any value passed by the caller in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a class may raise anything; integers of more than 4,300 digits raise, too
        return f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _reject_tiny(name: str, result: float) -> None:
    if 0 < result < _SMALLEST_RATE:
        raise ValueError(
            f"{name} must be at least {_SMALLEST_RATE:g}, got {result!r}: no sample can resolve a smaller rate"
        )


def _number(name: str, value: Any) -> float:
    """Return the value as a float, which may be infinite or NaN, or raise."""
    if isinstance(value, str | bytes | bool) or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"{name} must be a number, got {short_repr(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that fits a float, below 1.8e308, got {short_repr(value)}") from None
    except Exception:  # float() may raise anything: not a number
        raise TypeError(f"{name} must be a number, got {short_repr(value)}") from None
