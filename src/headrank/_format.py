"""How numbers are printed for readers: all rounding rules in one place."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isfinite


def shown(value: float) -> str:
    """Print the shortest form that reads back to the same number: 0.05, 1, 0.0673545."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Print a count with its noun: 1 positive, 2,000 positives, 3 queries."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def minutes(seconds: float) -> str:
    """Print a duration as minutes and seconds, with hours if there are any.

    >>> minutes(0), minutes(75.4), minutes(3725)
    ('0:00', '1:15', '1:02:05')
    """
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def percent(confidence: float) -> str:
    """Print a probability as a percentage, with all its digits: 95 %, 99.9 %; never as 0 or 100 %."""
    digits = round(100 * confidence, 10)
    return f"{shown(digits if 0 < digits < 100 else 100 * confidence)} %"


def rounded_percent(share: float) -> str:
    """Print an estimated share in percent, to three significant digits.

    >>> rounded_percent(0.61849), rounded_percent(1.0), rounded_percent(0.0003)
    ('61.8 %', '100 %', '0.03 %')
    """
    return f"{100 * share:.3g} %"


def shown_p(p_value: float, *, is_bound: bool = False) -> str:
    """Print a p-value to two significant digits, rounded up, so that no level is passed by rounding; or its bound.

    ``is_bound``: it is only known to be at most this, as it is the smallest that the method can give.

    >>> shown_p(0.0321), shown_p(0.05), shown_p(0.0501), shown_p(1e-15)
    ('p = 0.033', 'p = 0.05', 'p = 0.051', 'p < 1e-12')
    >>> shown_p(0.0321, is_bound=True), shown_p(2e-12, is_bound=True)
    ('p < 0.033', 'p < 2e-12')
    """
    if not p_value >= 1e-12:
        return "p < 1e-12"
    return f"p {'<' if is_bound else '='} {_significant(p_value, ROUND_CEILING, digits=2)}"


def rounded(value: float) -> str:
    """Print an estimate in a sentence, to four significant digits.

    >>> rounded(0.46284), rounded(0.5), rounded(0.000123456)
    ('0.4628', '0.5', '0.0001235')
    """
    return f"{value:.4g}"


def decimal(value: float) -> str:
    """Print a number for a table, to three decimals, or two significant digits if it is below 0.0095.

    >>> decimal(0.61849), decimal(0.00012), decimal(1.0), decimal(-3.2), decimal(12345.6)
    ('0.618', '0.00012', '1.000', '-3.200', '12345.600')
    """
    return f"{value:.2g}" if 0 < abs(value) < 0.0095 else f"{value:.3f}"


def number(value: float) -> str:
    """Print a measure's value in a plot, to three decimals or significant digits.

    >>> number(0.5), number(12.3456), number(0.000123456)
    ('0.500', '12.3', '0.000123')
    """
    return f"{value:.3f}" if value == 0 or 0.001 <= abs(value) < 10 else f"{value:.3g}"


def quantity(value: float) -> str:
    """Print a value of a column, to four significant digits, whole from 1,000 on.

    >>> quantity(45.0), quantity(0.123456), quantity(1234567.8), quantity(-2.0), quantity(1e-12)
    ('45', '0.1235', '1,234,568', '-2', '1e-12')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def coefficient(value: float) -> str:
    """Print a weight with its sign: +0.123, -4."""
    return f"{value:+.3g}"


# Limits are rounded outward: what is printed must not claim more than what was proved. They are rounded from Python's
# own decimal form, since the float nearest to 0.05 lies above it.


def rounded_down(value: float) -> str:
    """Print a lower limit in a sentence, to four significant digits, never above it.

    >>> rounded_down(0.10819), rounded_down(0.317), rounded_down(-0.00012345), rounded_down(0.0), rounded_down(99.999)
    ('0.1081', '0.317', '-0.0001235', '0', '99.99')
    """
    return _significant(value, ROUND_FLOOR)


def rounded_up(value: float) -> str:
    """Print an upper limit in a sentence, to four significant digits, never below it.

    >>> rounded_up(0.53881), rounded_up(0.56), rounded_up(0.99999), rounded_up(float("inf"))
    ('0.5389', '0.56', '1', 'inf')
    """
    return _significant(value, ROUND_CEILING)


def lower_limit(value: float, digits: int = 3, *, sign: str = "") -> str:
    """Print a lower limit in a table, to ``digits`` decimals, never above it; ``sign="+"`` shows a plus.

    >>> lower_limit(0.6189), lower_limit(0.618), lower_limit(5e-7), lower_limit(-0.0001), lower_limit(0.12349, 4)
    ('0.618', '0.618', '0.000', '-0.001', '0.1234')
    """
    return _fixed(value, digits, sign, ROUND_FLOOR)


def upper_limit(value: float, digits: int = 3, *, sign: str = "") -> str:
    """Print an upper limit in a table, to ``digits`` decimals, never below it; ``sign="+"`` shows a plus.

    >>> upper_limit(0.6181), upper_limit(0.618), upper_limit(1.0), upper_limit(0.05, 4), upper_limit(-0.00001)
    ('0.619', '0.618', '1.000', '0.0500', '0.000')
    """
    return _fixed(value, digits, sign, ROUND_CEILING)


def separating(below: float, value: float) -> str:
    """Print the shortest decimal that lies above ``below`` and is at most ``value``: scores that reach it are the same.

    >>> separating(0.7311, 0.7398), separating(-2.0, -1.96), separating(0.5, 0.5000001), separating(-float("inf"), 17.3)
    ('0.739', '-1.96', '0.5000001', '17')
    >>> separating(1234567.0, 1234568.5), separating(-1e-9, 2e-9)
    ('1234568', '2e-09')
    """
    if value == 0:
        return "0"
    exact = Decimal(repr(float(value)))
    for digits in range(1, 17):
        short = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_FLOOR)
        # Two digits at least, so that a distant lower score does not round 17.3 to 10.
        if below < float(short) <= value and digits > 1:
            return shown(float(short)) if short != short.to_integral_value() else f"{int(short)}"
    return repr(float(value))


def _significant(value: float, outward: str, digits: int = 4) -> str:
    if not isfinite(value) or value == 0:
        return f"{value:.{digits}g}"
    exact = Decimal(repr(float(value)))
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), outward)):.{digits}g}"


def _fixed(value: float, digits: int, sign: str, outward: str) -> str:
    if not isfinite(value):
        return f"{value:{sign}.{digits}f}"
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), outward) + 0:{sign}f}"
