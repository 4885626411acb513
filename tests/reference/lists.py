"""Slow, obvious versions of the promises about new lists and of the choice of candidates."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np


def interleavings(n, m):
    """For every way to put m new draws among n old ones: how many new ones precede each old one."""
    for new in combinations(range(n + m), m):
        old = [place for place in range(n + m) if place not in new]
        yield [sum(place < each for place in new) for each in old]


def probability_within(n, m, ranks, limits, side):
    """By trying all interleavings."""
    holds = (lambda count, limit: count <= limit) if side == "most" else (lambda count, limit: count >= limit)
    hits = sum(
        all(holds(before[rank - 1], limit) for rank, limit in zip(ranks, limits, strict=True))
        for before in interleavings(n, m)
    )
    return hits / comb(n + m, m)


def lattice_paths(n, m, ranks, limits):
    """P(at most ``limits`` new draws precede the old ones of these ranks), draw by draw in rational numbers."""
    most = dict(zip(ranks, limits, strict=True))
    chances = {0: Fraction(1)}  # by the number of new draws seen so far, after each old one
    for i in range(1, n + 1):
        after: dict[int, Fraction] = {}
        for seen, chance in chances.items():
            here = chance
            for v in range(seen, m + 1):
                old, new = n - i + 1, m - v
                after[v] = after.get(v, Fraction(0)) + here * Fraction(old, old + new)
                here *= Fraction(new, old + new)
        chances = {v: chance for v, chance in after.items() if v <= most.get(i, m)}
    return sum(chances.values(), Fraction(0))


def promise(negatives, new, ranks, most, k):
    """The formula of the theorem, limit by limit."""
    best = 0
    for i, u in zip(ranks, most, strict=True):
        if i <= len(negatives):
            cut = sorted(negatives, reverse=True)[i - 1]
            reach = sum(score > cut for score in new)
        else:
            reach = len(new)  # all labelled rows, sorted by class first: this one is positive
        best = max(best, min(k, reach) - u)
    return best


def benjamini_hochberg(p_values, q):
    """Which p-values are rejected, by sorting them."""
    p_values = np.asarray(p_values)
    m = p_values.size
    ranked = np.sort(p_values)
    sizes = [size for size in range(1, m + 1) if ranked[size - 1] <= q * size / m + 1e-12]
    return p_values <= ranked[sizes[-1] - 1] if sizes else np.zeros(m, dtype=bool)


def conformal_p_values(negatives, n, new):
    """One by one."""
    return np.array([(1 + sum(negative >= score for negative in negatives)) / (n + 1) for score in new])


def weighted_choice(negatives, weights, total, new, new_weights, q):
    """Weighted conformal selection as published, with deterministic pruning and ties against the row. O(m^3)."""
    m = len(new)

    def above(score):
        return sum(weight for negative, weight in zip(negatives, weights, strict=True) if negative >= score)

    kept, sizes = [], []
    for j in range(m):
        p_others = [
            0.0 if i == j else (above(new[i]) + new_weights[j] * (new[j] >= new[i])) / (total + new_weights[j])
            for i in range(m)
        ]
        size = int(benjamini_hochberg(p_others, q).sum())
        p = (above(new[j]) + new_weights[j]) / (total + new_weights[j])
        if p <= q * size / m + 1e-12:
            kept.append(j)
            sizes.append(size)
    r = max((r for r in range(1, len(kept) + 1) if sum(size <= r for size in sizes) >= r), default=0)
    chosen = np.zeros(m, dtype=bool)
    chosen[[j for j, size in zip(kept, sizes, strict=True) if size <= r]] = True
    return chosen
