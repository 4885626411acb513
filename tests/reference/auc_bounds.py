"""Slow, obvious twins of the AUC's finite-sample bounds: 60 digits, row by row, straight from the theorems."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import wraps
from math import comb
from typing import Any

from reference.measures import auc, negatives, positives

Number = Any
DIGITS = 60
HALVINGS = 150


def in_full(function: Callable[..., Decimal]) -> Callable[..., float]:
    @wraps(function)
    def rounded(*args: Any) -> float:
        with localcontext() as context:
            context.prec = DIGITS
            return float(function(*args))

    return rounded


def decimal(value: Number) -> Decimal:
    return Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else Decimal(value)


def term(p: Decimal, q: Decimal) -> Decimal:
    return Decimal(0) if p == 0 else Decimal("Infinity") if q == 0 else p * (p / q).ln()


def divergence(p: Decimal, q: Decimal) -> Decimal:
    return term(p, q) + term(1 - p, 1 - q)


def last(holds: Callable[[Decimal], bool], inside: Decimal, outside: Decimal) -> Decimal:
    """Where a condition that holds at the one end stops holding on the way to the other; that end if it never does."""
    if holds(outside):
        return outside
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


@in_full
def kl_lower(mean: Number, k: int, risk: Number) -> Decimal:
    m, limit = decimal(mean), -decimal(risk).ln() / k
    return last(lambda q: divergence(m, q) <= limit, m, Decimal(0))


@in_full
def kl_upper(mean: Number, k: int, risk: Number) -> Decimal:
    m, limit = decimal(mean), -decimal(risk).ln() / k
    return last(lambda q: divergence(m, q) <= limit, m, Decimal(1))


def bentkus_lower(mean: float, n: int, risk: float) -> float:
    """Largest q, by bisection, with E max(Bin(n, q) - h, 0) <= risk (n mean - h) for some whole h < n mean."""
    x = Fraction(mean) * n
    hs = [h for h in range(n) if h < x]

    def rejected(q: float) -> bool:
        chances = [comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        excess = [sum((k - h) * chances[k] for k in range(h + 1, n + 1)) for h in hs]
        return any(each <= risk * float(x - h) for each, h in zip(excess, hs, strict=True))

    low, high = 0.0, float(mean)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


def hoeffding_tail(r: Decimal, variance: Decimal, b: Decimal, k: int) -> Decimal:
    """Logarithm of Hoeffding's (1963) bound of Theorem 3, as the product it is printed as."""
    s = variance + b * b
    first = (1 + b * r / variance) * variance / s * (1 + b * r / variance).ln()
    second = (1 - r / b) * b * b / s * (1 - r / b).ln() if r < b else Decimal(0)
    return -k * (first + second)


# The intervals: the lower end, one-sided; the upper end is 1 minus that of the reversed scores.


@in_full
def mcdiarmid_lower(rows: list, risk: Number) -> Decimal:
    n_pos, n_neg = len(positives(rows)), len(negatives(rows))
    squares = sum(Fraction(1, n_pos if label else n_neg) ** 2 for label, _ in rows)
    return max(decimal(auc(rows)) - (decimal(squares) * -decimal(risk).ln() / 2).sqrt(), Decimal(0))


@in_full
def hoeffding_lower(rows: list, risk: Number) -> Decimal:
    return max(decimal(auc(rows)) - (-decimal(risk).ln() / 2 / smaller(rows)).sqrt(), Decimal(0))


def kl_interval_lower(rows: list, risk: Number) -> float:
    return kl_lower(auc(rows), smaller(rows), risk)


@in_full
def bernstein_lower(rows: list, risk: Number) -> Decimal:
    k, estimate = smaller(rows), decimal(auc(rows))
    pairs = [s == t for s in positives(rows) for t in negatives(rows)]
    tied = decimal(kl_lower(Fraction(sum(pairs), len(pairs)), k, Decimal(risk) / 10))
    limit = (Decimal(risk) * 9 / 10).ln()

    def kept(a: Decimal) -> bool:
        variance = a * (1 - a) - tied / 4
        if variance <= 0:
            return variance == 0 and a == estimate
        return hoeffding_tail(estimate - a, variance, 1 - a, k) >= limit

    return last(kept, estimate, tied / 2) if estimate > tied / 2 else estimate


def smaller(rows: list) -> int:
    return min(len(positives(rows)), len(negatives(rows)))


LOWER_ENDS = {
    "mcdiarmid": mcdiarmid_lower,
    "hoeffding": hoeffding_lower,
    "kl": kl_interval_lower,
    "bernstein": bernstein_lower,
}
