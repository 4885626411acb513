"""Slow, obvious versions of the tests of two samples, in rational numbers."""

from fractions import Fraction
from itertools import combinations
from math import comb


def upper_tail(k, special, drawn, total):
    """P(at least k special ones among those drawn), by adding up."""
    ways = sum(comb(special, x) * comb(total - special, drawn - x) for x in range(max(k, 0), min(special, drawn) + 1))
    return Fraction(ways, comb(total, drawn))


def ways_to_divide(values, n_old):
    """Every choice of n_old of the values as the old sample, with the new one."""
    for places in combinations(range(len(values)), n_old):
        old = [values[i] for i in places]
        yield old, [each for i, each in enumerate(values) if i not in places]


def bins_of_numbers(cuts, values):
    """Bin of each number: how many cuts are below it; missing values are in the last."""
    return [len(cuts) + 1 if value is None else sum(cut < value for cut in cuts) for value in values]


def bins_of_text(categories, values):
    """Bin of each text: the number of its category, then all others, then missing values."""
    n = len(categories)
    return [n + 1 if each is None else categories.index(each) if each in categories else n for each in values]
