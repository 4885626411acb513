"""Slow, obvious twins of the surrogates with one threshold, and of the asymmetric SVM, in fractions.

Weights are written out as rows (`copies`). The sum of the k highest numbers is taken from its definition as a minimum,
min over c of k c + sum of max(0, number - c), which one of the numbers attains, and never by sorting.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from reference.surrogates import exact

Scores = Sequence[float]


def sum_of_highest(numbers: Sequence[Fraction], k: Fraction) -> Fraction:
    """The sum of the k highest, the last of them in part if k is not whole."""
    return min(k * c + sum(max(Fraction(0), number - c) for number in numbers) for c in numbers)


def mean_squared_hinge(pos: Scores, threshold: Fraction) -> Fraction:
    """How far each positive is from beating the threshold by 1, squared."""
    return sum((max(Fraction(0), 1 + threshold - Fraction(s)) ** 2 for s in pos), Fraction(0)) / len(pos)


def top_push(pos: Scores, neg: Scores) -> Fraction:
    """Against the highest negative."""
    return mean_squared_hinge(pos, max(map(Fraction, neg)))


def tau_fpl(pos: Scores, neg: Scores, max_fpr: float) -> Fraction:
    """Against the mean of the highest negatives."""
    k = len(neg) * exact(max_fpr)
    return mean_squared_hinge(pos, sum_of_highest(list(map(Fraction, neg)), k) / k)


def pat_mat(pos: Scores, neg: Scores, max_fpr: float, beta: float) -> Fraction:
    """Against the root of mean max(0, 1 + beta (t - T)) = max_fpr, on the one piece between two kinks that has it."""
    width, mass = 1 / exact(beta), len(neg) * exact(max_fpr)

    def excess(threshold: Fraction) -> Fraction:
        return sum((max(Fraction(0), 1 + (Fraction(t) - threshold) / width) for t in neg), Fraction(0)) - mass

    kinks = sorted({Fraction(t) + width for t in neg})
    pieces = pairwise([kinks[0] - len(neg) * width * 10, *kinks])
    left, right = next((a, b) for a, b in pieces if excess(a) >= 0 >= excess(b))
    rise = excess(right) - excess(left)
    return mean_squared_hinge(pos, left - excess(left) * (right - left) / rise)


def asymmetric(pos: Scores, neg: Scores, max_fpr: float, core: float) -> Fraction:
    """The published objective, with its two sums, on scores less their mean; then max(0, 1 + N / k times it)^2."""
    k = min(len(neg) * exact(max_fpr), len(pos) / (1 + exact(core)))
    h = (1 + exact(core)) * k
    mean = sum(map(Fraction, [*pos, *neg]), Fraction(0)) / (len(pos) + len(neg))
    of_neg = sum_of_highest([Fraction(t) - mean for t in neg], k)
    of_pos = -sum_of_highest([mean - Fraction(s) for s in pos], h)
    return max(Fraction(0), 1 + (of_neg - of_pos) / k) ** 2
