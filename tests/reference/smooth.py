"""Slow, obvious twins of the smooth surrogates: pair by pair, with a soft step for each indicator, list by list.

A sample is a list of `Row`. The scores of a list are centred on its mean; all are divided by their common standard
deviation within the lists that have both classes; h is in these units. Every sum runs over rows or pairs of rows. Rates
are taken as the decimal the user wrote: ``exact(0.29)`` is 29/100.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, log1p, log2, sqrt
from typing import Any, NamedTuple

import headrank as hr
from reference.measures import exact


class Row(NamedTuple):
    """A row with all that a smooth risk may know of it."""

    label: int
    score: float
    weight: float = 1.0
    query: int = 0


class Ranked(NamedTuple):
    """One list with both classes, its scores standardised; each class as pairs of score and weight."""

    pos: list[tuple[float, float]]
    neg: list[tuple[float, float]]
    h: float

    @property
    def rows(self) -> list[tuple[float, float]]:
        return self.pos + self.neg

    @property
    def n_pos(self) -> float:
        return sum(w for _, w in self.pos)

    @property
    def n_neg(self) -> float:
        return sum(w for _, w in self.neg)

    @property
    def n(self) -> float:
        return self.n_pos + self.n_neg


def soft_step(d: float, h: float) -> float:
    """The area left of d under the triangle of half-width h and area 1."""
    if d <= -h:
        return 0.0
    if d >= h:
        return 1.0
    left = (d + h) * (1 + d / h) / h / 2  # base times height of the triangle from -h to d
    return left if d <= 0 else 1 - (h - d) * (1 - d / h) / h / 2


def standardised(rows: list[Row], h: float) -> list[Ranked]:
    """The lists with both classes, which must not all be constant."""
    lists = []
    for query in sorted({row.query for row in rows}):
        members = [row for row in rows if row.query == query and row.weight > 0]
        if {row.label for row in members} == {0, 1}:
            centre = sum(row.weight * row.score for row in members) / sum(row.weight for row in members)
            lists.append([row._replace(score=row.score - centre) for row in members])
    everybody = [row for members in lists for row in members]
    scale = sqrt(sum(row.weight * row.score**2 for row in everybody) / sum(row.weight for row in everybody))
    return [
        Ranked(
            *([(row.score / scale, row.weight) for row in members if row.label == label] for label in (1, 0)),
            h,
        )
        for members in lists
    ]


def has_scale(rows: list[Row]) -> bool:
    """Whether a list with both classes has two different scores."""
    lists = [[row for row in rows if row.query == query and row.weight > 0] for query in {row.query for row in rows}]
    return any(len({row.label for row in rows}) == 2 and len({row.score for row in rows}) > 1 for rows in lists)


def risk(measure: hr.Measure, rows: list[Row], h: float) -> float:
    """The mean over the lists with both classes; an enrichment falls short of the largest there is by a share of it."""
    lists = standardised(rows, h)
    mean = sum(TWINS[type(measure)](ranked, measure) for ranked in lists) / len(lists)
    if isinstance(measure, hr.EnrichmentFactor):
        return 1 - mean / (sum(largest_enrichment(ranked, measure) for ranked in lists) / len(lists))
    return mean


def derivative(measure: hr.Measure, rows: list[Row], h: float, along: list[float], *, step: float = 1e-6) -> float:
    """The derivative of the risk when the scores move along a direction, by central differences."""
    ahead, behind = (
        [row._replace(score=row.score + by * d) for row, d in zip(rows, along, strict=True)] for by in (step, -step)
    )
    return (risk(measure, ahead, h) - risk(measure, behind, h)) / (2 * step)


# Pairs


def in_range(scored: list[tuple[float, float]], low: Fraction, high: Fraction) -> list[tuple[float, float]]:
    """Scores from the top, each with the part of its weight whose ranks lie between two fractions of the whole."""
    total = sum(Fraction(w) for _, w in scored)
    above, kept = Fraction(0), []
    for score, w in sorted(scored, reverse=True):
        inside = min(above + Fraction(w), total * high) - max(above, total * low)
        kept.append((score, float(max(inside, Fraction(0)))))
        above += Fraction(w)
    return kept


def pairs(ranked: Ranked, low: float, high: float, min_tpr: float = 0.0, max_tpr: float = 1.0) -> float:
    """1 - the mean of the soft 1{s > t} over the pairs that count."""
    pos = in_range(ranked.pos, exact(min_tpr), exact(max_tpr))
    neg = in_range(ranked.neg, exact(low), exact(high))
    total = sum(v * w * soft_step(s - t, ranked.h) for s, v in pos for t, w in neg)
    return 1 - total / (sum(v for _, v in pos) * sum(w for _, w in neg))


def standardized(ranked: Ranked, low: float, high: float) -> float:
    """1 - McClish's measure, whose A and chance are areas over [low, high]."""
    chance, best = (high**2 - low**2) / 2, high - low
    area = (1 - pairs(ranked, low, high)) * best
    return 1 - (1 + (area - chance) / (best - chance)) / 2


# The top


def in_top(ranked: Ranked, size: float) -> Callable[[float], float]:
    """How much a row belongs to the top, whose border is found by halving an interval that holds it."""
    low, high = min(ranked.rows)[0] - ranked.h, max(ranked.rows)[0] + ranked.h
    for _ in range(60):
        border = (low + high) / 2
        above = sum(w * soft_step(z - border, ranked.h) for z, w in ranked.rows)
        low, high = (border, high) if above > size else (low, border)
    return lambda z: soft_step(z - border, ranked.h)


def first(ranked: Ranked, k: float) -> float:
    """A whole ``k`` counts rows; a float is a share of them."""
    return min(k, ranked.n) if isinstance(k, int) else float(exact(k)) * ranked.n


def local_auc(ranked: Ranked, top: float) -> float:
    member = in_top(ranked, first(ranked, float(top)))
    total = sum(v * w * member(s) * soft_step(s - t, ranked.h) for s, v in ranked.pos for t, w in ranked.neg)
    return 1 - total / (ranked.n_pos * ranked.n_neg)


def w_ranking(ranked: Ranked, top: float) -> float:
    """Ranks of the positives in the top: half a row, the negatives below, and all positives but those above."""
    member = in_top(ranked, first(ranked, float(top)))
    above_negatives = (1 - local_auc(ranked, top)) * ranked.n_pos * ranked.n_neg
    among_positives = 0.0
    for s, v in sorted(ranked.pos, reverse=True):
        above = sum(w * member(z) for z, w in ranked.pos if z > s)
        tied = sum(w * member(z) for z, w in ranked.pos if z == s)
        among_positives += v * member(s) * (ranked.n_pos + 0.5 - above - tied / 2)
    return 1 - (above_negatives + among_positives) / ((ranked.n + 1) * ranked.n_pos)


def found(ranked: Ranked, size: float) -> float:
    """Positives in the top."""
    member = in_top(ranked, size)
    return sum(v * member(s) for s, v in ranked.pos)


def missed(ranked: Ranked, size: float) -> float:
    """Positives outside the top, as a share of all positives."""
    return 1 - found(ranked, size) / ranked.n_pos


def impure(ranked: Ranked, k: float) -> float:
    """Rows of the top that are no positives, as a share of it; a count is the size of the top of a shorter list too."""
    size = first(ranked, k)
    return 1 - found(ranked, size) / (k if isinstance(k, int) else size)


def rows_enriched(ranked: Ranked, measure: hr.EnrichmentFactor) -> float:
    size = first(ranked, measure.k)
    return min(ceil(size - 1e-9), ranked.n) if measure.rounding == "up" else size


def enrichment(ranked: Ranked, measure: hr.EnrichmentFactor) -> float:
    """The share of positives in the top over their share among all. No risk yet."""
    size = rows_enriched(ranked, measure)
    return (found(ranked, size) / size) / (ranked.n_pos / ranked.n)


def largest_enrichment(ranked: Ranked, measure: hr.EnrichmentFactor) -> float:
    """That of a top which holds positives alone, or all of them."""
    size = rows_enriched(ranked, measure)
    return (min(size, ranked.n_pos) / size) / (ranked.n_pos / ranked.n)


def mass_constrained_error(ranked: Ranked, top: float) -> float:
    """Positives outside the top and negatives inside it, each as far as it is."""
    member = in_top(ranked, first(ranked, float(top)))
    wrong = sum(v * (1 - member(s)) for s, v in ranked.pos) + sum(w * member(t) for t, w in ranked.neg)
    return wrong / ranked.n


def local_ranking_risk(ranked: Ranked, top: float) -> float:
    """Both orders of the pairs whose positive is in the top and whose negative is ahead of it, and the error above."""
    member = in_top(ranked, first(ranked, float(top)))
    wrong = sum(v * w * member(s) * soft_step(t - s, ranked.h) for s, v in ranked.pos for t, w in ranked.neg)
    error = mass_constrained_error(ranked, top)
    return 2 * wrong / (ranked.n * (ranked.n - 1)) + ranked.n_neg / ranked.n * error


# Ranks


def rank(ranked: Ranked, score: float) -> float:
    """One half and the soft number of rows below, itself included, which counts one half."""
    return 0.5 + sum(w * soft_step(score - z, ranked.h) for z, w in ranked.rows)


def rank_statistic(ranked: Ranked, phi: Callable[[float], float]) -> float:
    return 1 - sum(v * phi(rank(ranked, s) / (ranked.n + 1)) for s, v in ranked.pos) / ranked.n_pos


def average_precision(ranked: Ranked, k: int | None) -> float:
    """Positives down to each positive over rows down to it, both with half a row more; 0 beyond rank k."""
    total = 0.0
    for s, v in ranked.pos:
        rows, pos = (0.5 + sum(w * soft_step(z - s, ranked.h) for z, w in part) for part in (ranked.rows, ranked.pos))
        total += v * pos / rows * (1.0 if k is None else soft_step(k + 0.5 - rows, 0.5))
    return 1 - total / ranked.n_pos


def discounted_gain(ranked: Ranked, k: int | None) -> float:
    """Discounts at the soft ranks of the positives, 0 beyond rank k, over those of the best order."""

    def discount(rank: float) -> float:
        return 1 / log2(1 + rank)

    total = 0.0
    for s, v in ranked.pos:
        rank = 0.5 + sum(w * soft_step(z - s, ranked.h) for z, w in ranked.rows)
        total += v * discount(rank) * (1.0 if k is None else soft_step(k + 0.5 - rank, 0.5))
    room = ranked.n_pos if k is None else min(k, ranked.n_pos)
    best = sum(discount(i) for i in range(1, int(room) + 1)) + (room % 1) * discount(int(room) + 1)
    return 1 - total / best


TWINS: dict[type[hr.Measure], Callable[[Ranked, Any], float]] = {
    hr.AUC: lambda ranked, m: pairs(ranked, 0.0, 1.0),
    hr.PartialAUC: lambda ranked, m: pairs(ranked, m.min_fpr, m.max_fpr),
    hr.StandardizedPartialAUC: lambda ranked, m: standardized(ranked, m.min_fpr, m.max_fpr),
    hr.FROCArea: lambda ranked, m: pairs(ranked, m.min_fp * m.images_per_negative, m.max_fp * m.images_per_negative),
    hr.TwoWayPartialAUC: lambda ranked, m: pairs(ranked, 0.0, m.max_fpr, m.min_tpr, m.max_tpr),
    hr.LocalAUC: lambda ranked, m: local_auc(ranked, m.top),
    hr.WRanking: lambda ranked, m: w_ranking(ranked, m.top),
    hr.MassConstrainedError: lambda ranked, m: mass_constrained_error(ranked, m.top),
    hr.LocalRankingRisk: lambda ranked, m: local_ranking_risk(ranked, m.top),
    hr.TopTPR: lambda ranked, m: missed(ranked, first(ranked, float(m.top))),
    hr.PNormPush: lambda ranked, m: rank_statistic(ranked, lambda v: v**m.power),
    hr.RankStatistic: lambda ranked, m: rank_statistic(ranked, lambda v: float(m.phi(v))),
    hr.AveragePrecision: lambda ranked, m: average_precision(ranked, m.k),
    hr.NDCG: lambda ranked, m: discounted_gain(ranked, m.k),
    hr.PrecisionAt: lambda ranked, m: impure(ranked, m.k),
    hr.RecallAt: lambda ranked, m: missed(ranked, first(ranked, m.k)),
    hr.EnrichmentFactor: lambda ranked, m: enrichment(ranked, m),
    hr.Lift: lambda ranked, m: enrichment(ranked, m),
}


# The logistic loss


def class_by_class(pos: Any, neg: Any, pos_weights: Any, neg_weights: Any) -> list[Row]:
    return [
        Row(label, float(score), float(w))
        for label, values, weights in ((1, pos, pos_weights), (0, neg, neg_weights))
        for score, w in zip(values, weights, strict=True)
    ]


def logistic_loss(rows: list[Row], intercept: float, power: float = 1.0) -> float:
    """Sum of log(1 + exp(-s)) over positives and log(1 + exp(p t)) / p over negatives, each times its weight."""
    total = 0.0
    for row in rows:
        steepness = 1.0 if row.label else power
        x = (row.score + intercept) * (-1 if row.label else power)
        total += row.weight * (log1p(exp(-abs(x))) + max(x, 0)) / steepness
    return total


def squared_hinge(rows: list[Row], intercept: float) -> float:
    """The sum of the squared margin errors."""
    margins = [(row.score + intercept) * (1 if row.label else -1) for row in rows]
    return sum(row.weight * max(0.0, 1 - m) ** 2 for row, m in zip(rows, margins, strict=True))


def least_logistic_loss(rows: list[Row], power: float = 1.0) -> float:
    """The smallest over all intercepts."""
    return _least(lambda intercept: logistic_loss(rows, intercept, power), rows)


def least_squared_hinge(rows: list[Row]) -> float:
    """The smallest over all intercepts."""
    return _least(lambda intercept: squared_hinge(rows, intercept), rows)


def _least(loss: Callable[[float], float], rows: list[Row]) -> float:
    """The smallest over all intercepts of a convex loss, by thirds of an interval."""
    low, high = -max(row.score for row in rows) - 50, -min(row.score for row in rows) + 50
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if loss(left) <= loss(right) else (left, high)
    return loss((low + high) / 2)
