"""Slow, obvious search measures of one order of the labels, as trec_eval defines them."""

from fractions import Fraction
from math import log2
from typing import Any


def dcg(gains: Any, k: int | None) -> float:
    return sum(gain / log2(2 + i) for i, gain in enumerate(gains if k is None else gains[:k]))


def reciprocal_rank(labels: tuple[int, ...]) -> Fraction:
    return Fraction(1, 1 + labels.index(1))


def success(labels: tuple[int, ...], k: int) -> int:
    return int(any(labels[:k]))


def r_precision(labels: tuple[int, ...]) -> Fraction:
    return Fraction(sum(labels[: sum(labels)]), sum(labels))


def binary_preference(labels: tuple[int, ...]) -> Fraction:
    n_pos = sum(labels)
    fewer = min(n_pos, len(labels) - n_pos)
    above = [labels[:i].count(0) for i, label in enumerate(labels) if label]
    return sum((1 - Fraction(min(n, n_pos), fewer) for n in above), Fraction(0)) / n_pos
