"""Slow, obvious twins of every measure, from the definitions in DESIGN.md: pair by pair, row by row, in fractions.

A sample is a list of rows ``(label, score)``, label 1 or 0; a weight is a multiplicity and is written out by
`expand`. Rates are taken as the decimal the user wrote: ``exact(0.29)`` is 29/100.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import ceil, exp, floor
from typing import Any

import numpy as np

import headrank as hr
from reference.search import binary_preference, dcg, r_precision, reciprocal_rank, success

Row = tuple[int, float]
Point = tuple[Fraction, Fraction]
HALF = Fraction(1, 2)


def exact(value: float | str) -> Fraction:
    return Fraction(str(value)).limit_denominator(10**9)  # 1 / 3 means a third


def expand(y: Any, scores: Any, weights: Any = None) -> list[Row]:
    weights = [1] * len(y) if weights is None else weights
    return [
        (int(label), float(score)) for label, score, w in zip(y, scores, weights, strict=True) for _ in range(int(w))
    ]


def positives(rows: list[Row]) -> list[float]:
    return [score for label, score in rows if label == 1]


def negatives(rows: list[Row]) -> list[float]:
    return [score for label, score in rows if label == 0]


def credit(better: float, worse: float) -> Fraction:
    """One for the right order, one half for a tie."""
    return Fraction(1) if better > worse else HALF if better == worse else Fraction(0)


# The curve: the polyline through the points at the distinct scores.


def curve(rows: list[Row]) -> list[Point]:
    pos, neg = positives(rows), negatives(rows)
    points = [(Fraction(0), Fraction(0))]
    for z in sorted({score for _, score in rows}, reverse=True):
        fpr = Fraction(sum(t >= z for t in neg), len(neg))
        points.append((fpr, Fraction(sum(s >= z for s in pos), len(pos))))
    return points


def segments(rows: list[Row]) -> list[tuple[Point, Point]]:
    points = curve(rows)
    return list(pairwise(points))


def area_above(rows: list[Row], a: Fraction, b: Fraction, height: Fraction = Fraction(0)) -> Fraction:
    """Area between the curve and a horizontal line below it, for false positive rates in [a, b]."""
    total = Fraction(0)
    for (x0, y0), (x1, y1) in segments(rows):
        if x1 == x0:
            continue
        slope = (y1 - y0) / (x1 - x0)
        left, right = max(x0, a), min(x1, b)
        if slope > 0:  # the segment reaches the line at this rate
            left = max(left, x0 + (height - y0) / slope)
        elif y0 < height:
            continue
        if left < right:
            middle = (left + right) / 2
            total += (right - left) * (y0 + slope * (middle - x0) - height)
    return total


def auc(rows: list[Row]) -> Fraction:
    pairs = [credit(s, t) for s in positives(rows) for t in negatives(rows)]
    return sum(pairs) / len(pairs)


def partial_auc(rows: list[Row], a: Fraction, b: Fraction) -> Fraction:
    return area_above(rows, a, b) / (b - a)


def standardized_partial_auc(rows: list[Row], a: Fraction, b: Fraction) -> Fraction:
    chance, best = (b**2 - a**2) / 2, b - a
    return HALF * (1 + (area_above(rows, a, b) - chance) / (best - chance))


def two_way_partial_auc(rows: list[Row], max_fpr: Fraction, min_tpr: Fraction, max_tpr: Fraction) -> Fraction:
    """Area above the lower side of the box, less that above its upper side."""
    above = [area_above(rows, Fraction(0), max_fpr, height) for height in (min_tpr, max_tpr)]
    return (above[0] - above[1]) / (max_fpr * (max_tpr - min_tpr))


def froc_area(rows: list[Row], min_fp: Fraction, max_fp: Fraction, images_per_negative: Fraction) -> Fraction:
    return partial_auc(rows, min_fp * images_per_negative, max_fp * images_per_negative)


def tpr_at_fpr(rows: list[Row], fpr: Fraction) -> Fraction:
    """Height of the curve's highest point at or left of ``fpr``."""
    best = Fraction(0)
    for (x0, y0), (x1, y1) in segments(rows):
        if x1 <= fpr:
            best = max(best, y1)
        elif x0 <= fpr:
            best = max(best, y0 + (y1 - y0) * (fpr - x0) / (x1 - x0))
    return best


def fpr_at_tpr(rows: list[Row], tpr: Fraction) -> Fraction:
    """Rate of the curve's leftmost point at or above ``tpr``."""
    if tpr == 0:
        return Fraction(0)
    for (x0, y0), (x1, y1) in segments(rows):
        if y1 >= tpr:
            return x0 + (x1 - x0) * (tpr - y0) / (y1 - y0)
    raise AssertionError("the curve ends at 1")


def ks(rows: list[Row]) -> Fraction:
    return max(tpr - fpr for fpr, tpr in curve(rows))


# The top: exactly the share u of all rows. Each row tied at its border is in it by lot.


def part_in_top(rows: list[Row], u: Fraction) -> Callable[[float], Fraction]:
    """How much of a row with this score is in the top: what is left of u N after all higher rows, shared out evenly."""

    def part(score: float) -> Fraction:
        above, tied = sum(other > score for _, other in rows), sum(other == score for _, other in rows)
        return min(max((u * len(rows) - above) / tied, Fraction(0)), Fraction(1))

    return part


def top_tpr(rows: list[Row], u: Fraction) -> Fraction:
    part, pos = part_in_top(rows, u), positives(rows)
    return sum(map(part, pos)) / len(pos)


def top_fpr(rows: list[Row], u: Fraction) -> Fraction:
    part, neg = part_in_top(rows, u), negatives(rows)
    return sum(map(part, neg)) / len(neg)


def discordant_top_pairs(rows: list[Row], u: Fraction) -> Fraction:
    """Pairs of the top with the negative ahead. A tied pair: each is in the top by its own lot, and then half."""
    part = part_in_top(rows, u)
    return sum((part(s) * part(t) * credit(t, s) for s in positives(rows) for t in negatives(rows)), start=Fraction(0))


def local_auc(rows: list[Row], u: Fraction) -> Fraction:
    """P(s in the top and ahead of t): a tied t is ahead of s only if it is in the top too, and then half the time."""
    part, pos, neg = part_in_top(rows, u), positives(rows), negatives(rows)
    total = sum(part(s) * (1 - credit(t, s) * (part(t) if s == t else 1)) for s in pos for t in neg)
    return Fraction(total) / (len(pos) * len(neg))


def truncated_auc(rows: list[Row], u: Fraction) -> Fraction:
    return area_above(rows, Fraction(0), top_fpr(rows, u))


def mass_constrained_error(rows: list[Row], u: Fraction) -> Fraction:
    part = part_in_top(rows, u)
    return sum(1 - part(score) if label else part(score) for label, score in rows) / len(rows)


def local_ranking_error(rows: list[Row], u: Fraction) -> Fraction:
    """Both orders of each discordant pair, over all N (N - 1) ordered pairs."""
    n = len(rows)
    return 2 * discordant_top_pairs(rows, u) / (n * (n - 1))


def local_ranking_risk(rows: list[Row], u: Fraction) -> Fraction:
    share = Fraction(len(negatives(rows)), len(rows))
    return local_ranking_error(rows, u) + share * mass_constrained_error(rows, u)


def w_ranking(rows: list[Row], u: Fraction) -> Fraction:
    """Mean over the positives of the rank, as far as it is in the top: row r takes up the ranks r - 1/2 to r + 1/2.

    The part of a tied group that is in the top takes up the highest ranks of the group.
    """
    part, total = part_in_top(rows, u), Fraction(0)
    for s in positives(rows):
        below, tied = sum(other < s for _, other in rows), sum(other == s for _, other in rows)
        total += part(s) * (below + HALF + tied * (1 - part(s) / 2))
    return total / (len(positives(rows)) * (len(rows) + 1))


# Ranks: 1 is the lowest score, tied rows share the middle of their ranks.


def relative_rank(rows: list[Row], score: float) -> Fraction:
    below = sum(other < score for _, other in rows)
    tied = sum(other == score for _, other in rows)
    return (below + Fraction(tied + 1, 2)) / (len(rows) + 1)


def rank_statistic(rows: list[Row], phi: Callable[[Fraction], Any]) -> Any:
    pos = positives(rows)
    return sum(phi(relative_rank(rows, s)) for s in pos) / len(pos)


def signed_rank_statistic(rows: list[Row], phi: Callable[[Fraction], Any]) -> Any:
    """Definition 13 of Clémençon & Vayatis (2007): Z is label times score, so |Z| has the ranks of the scores."""
    return sum(phi(relative_rank(rows, score)) * (1 if label else -1) for label, score in rows)


# The first rows of the list: every order of the tied rows is written down, and the results are averaged.


def orders(rows: list[Row]) -> Iterator[tuple[int, ...]]:
    """Every sequence of labels that sorting by score can give, each as likely as the others."""
    groups = []
    for z in sorted({score for _, score in rows}, reverse=True):
        labels = [label for label, score in rows if score == z]
        where = combinations(range(len(labels)), sum(labels))
        groups.append([tuple(int(i in chosen) for i in range(len(labels))) for chosen in where])
    for arrangement in product(*groups):
        yield sum(arrangement, ())


def expected(rows: list[Row], statistic: Callable[[tuple[int, ...]], Any]) -> Any:
    values = [statistic(labels) for labels in orders(rows)]
    return sum(values) / len(values)


def mean_over_orders(rows: list[Row], twin_of: Callable[[list[Row]], Any]) -> Any:
    """Mean of a twin over all orders of the tied rows."""
    return expected(rows, lambda labels: twin_of([(label, float(-i)) for i, label in enumerate(labels)]))


def pairs_lost_by_independent_lots(rows: list[Row], u: Fraction) -> Fraction:
    """Discordant top pairs with a lot for each tied row, less those expected in a random order of the tied rows.

    Of m tied rows k are in the top. By lots, a pair of them is with probability (k / m)^2; in a random order with
    j (j - 1) / (m (m - 1)) if k = j is whole, and with 2 j (k - j) / (m (m - 1)) more if the last row counts in part.
    """
    for z in {score for _, score in rows}:
        m, pos = sum(score == z for _, score in rows), sum(score == z for label, score in rows if label)
        k = part_in_top(rows, u)(z) * m
        if 0 < k < m and m > 1:
            j = floor(k)
            in_order = Fraction(j * (j - 1) + 2 * j * (k - j)) / (m * (m - 1))
            return HALF * pos * (m - pos) * ((k / m) ** 2 - in_order)
    return Fraction(0)


def rows_looked_at(k: float, n: int) -> Fraction:
    """A whole ``k`` counts rows; a float is a share of them."""
    return Fraction(k) if isinstance(k, int) else exact(k) * n


def hits(labels: tuple[int, ...], k: float) -> Fraction:
    wanted = rows_looked_at(k, len(labels))
    whole = floor(wanted)
    last = (wanted - whole) * labels[whole] if wanted > whole else 0
    return Fraction(sum(labels[:whole])) + last


def precision_at(rows: list[Row], k: float) -> Fraction:
    return expected(rows, lambda labels: hits(labels, k)) / rows_looked_at(k, len(rows))


def recall_at(rows: list[Row], k: float) -> Fraction:
    return expected(rows, lambda labels: hits(labels, k)) / len(positives(rows))


def enrichment_factor(rows: list[Row], k: float, rounding: str = "exact") -> Fraction:
    if rounding == "up":
        k = ceil(rows_looked_at(k, len(rows)))
    return precision_at(rows, k) / Fraction(len(positives(rows)), len(rows))


def mean_exponential(labels: tuple[int, ...], alpha: float) -> float:
    n = len(labels)
    return sum(exp(-alpha * (i + 1) / n) for i, label in enumerate(labels) if label) / sum(labels)


def rie(rows: list[Row], alpha: float) -> float:
    """Over the mean of all ranks."""
    return expected(rows, lambda labels: mean_exponential(labels, alpha)) / mean_exponential((1,) * len(rows), alpha)


def bedroc(rows: list[Row], alpha: float) -> float:
    def early(labels: tuple[int, ...]) -> float:
        return mean_exponential(labels, alpha)

    n_pos, n_neg = len(positives(rows)), len(negatives(rows))
    best, worst = early((1,) * n_pos + (0,) * n_neg), early((0,) * n_neg + (1,) * n_pos)
    return (expected(rows, early) - worst) / (best - worst)


def tail_strength(rows: list[Row]) -> Fraction:
    """Expected over the orders of tied rows: mean of 1 - p_k (n_pos + 1) / k, p_k the share of negatives above."""

    def strength(labels: tuple[int, ...]) -> Fraction:
        n_pos, n_neg = sum(labels), len(labels) - sum(labels)
        p_values = [Fraction(labels[:i].count(0), n_neg) for i, label in enumerate(labels) if label]
        return sum((1 - p * Fraction(n_pos + 1, k) for k, p in enumerate(p_values, start=1)), Fraction(0)) / n_pos

    return expected(rows, strength)


def average_precision(rows: list[Row], k: int | None) -> Fraction:
    """The sum over the positives among the first k rows of the precision down to each, over all positives."""

    def of_order(labels: tuple[int, ...]) -> Fraction:
        read = labels if k is None else labels[:k]
        return sum((Fraction(sum(labels[: i + 1]), i + 1) for i, label in enumerate(read) if label), Fraction(0))

    return expected(rows, of_order) / len(positives(rows))


def precision_recall_area(rows: list[Row]) -> float:
    """The integral over the recall of the precision where the ROC polyline reaches it, by Gauss-Legendre quadrature."""
    n_pos, n_neg = len(positives(rows)), len(negatives(rows))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for (x0, y0), (x1, y1) in segments(rows):
        for node, weight in zip(nodes, weights, strict=True):
            part = (node + 1) / 2
            tp = n_pos * float(y0 + (y1 - y0) * Fraction(part))
            fp = n_neg * float(x0 + (x1 - x0) * Fraction(part))
            total += float(y1 - y0) * weight / 2 * tp / (tp + fp)
    return total


def ndcg(rows: list[Row], k: int | None) -> float:
    best = sorted((label for label, _ in rows), reverse=True)
    return expected(rows, lambda labels: dcg(labels, k)) / dcg(best, k)


TWINS: dict[type[hr.Measure], Callable[[list[Row], Any], Any]] = {
    hr.AUC: lambda rows, m: auc(rows),
    hr.PartialAUC: lambda rows, m: partial_auc(rows, exact(m.min_fpr), exact(m.max_fpr)),
    hr.StandardizedPartialAUC: lambda rows, m: standardized_partial_auc(rows, exact(m.min_fpr), exact(m.max_fpr)),
    hr.TwoWayPartialAUC: lambda rows, m: two_way_partial_auc(rows, *map(exact, (m.max_fpr, m.min_tpr, m.max_tpr))),
    hr.FROCArea: lambda rows, m: froc_area(rows, exact(m.min_fp), exact(m.max_fp), exact(m.images_per_negative)),
    hr.LocalAUC: lambda rows, m: local_auc(rows, exact(m.top)),
    hr.TruncatedAUC: lambda rows, m: truncated_auc(rows, exact(m.top)),
    hr.TopTPR: lambda rows, m: top_tpr(rows, exact(m.top)),
    hr.TopFPR: lambda rows, m: top_fpr(rows, exact(m.top)),
    hr.MassConstrainedError: lambda rows, m: mass_constrained_error(rows, exact(m.top)),
    hr.LocalRankingError: lambda rows, m: local_ranking_error(rows, exact(m.top)),
    hr.LocalRankingRisk: lambda rows, m: local_ranking_risk(rows, exact(m.top)),
    hr.WRanking: lambda rows, m: w_ranking(rows, exact(m.top)),
    hr.PNormPush: lambda rows, m: rank_statistic(rows, lambda v: float(v) ** m.power),
    hr.RankStatistic: lambda rows, m: rank_statistic(rows, lambda v: float(m.phi(float(v)))),
    hr.TailStrength: lambda rows, m: tail_strength(rows),
    hr.TPRAtFPR: lambda rows, m: tpr_at_fpr(rows, exact(m.fpr)),
    hr.FPRAtTPR: lambda rows, m: fpr_at_tpr(rows, exact(m.tpr)),
    hr.PrecisionAt: lambda rows, m: precision_at(rows, m.k),
    hr.RecallAt: lambda rows, m: recall_at(rows, m.k),
    hr.EnrichmentFactor: lambda rows, m: enrichment_factor(rows, m.k, m.rounding),
    hr.Lift: lambda rows, m: enrichment_factor(rows, m.k, m.rounding),
    hr.RIE: lambda rows, m: rie(rows, m.alpha),
    hr.BEDROC: lambda rows, m: bedroc(rows, m.alpha),
    hr.KS: lambda rows, m: ks(rows),
    hr.AveragePrecision: lambda rows, m: average_precision(rows, m.k),
    hr.PrecisionRecallArea: lambda rows, m: precision_recall_area(rows),
    hr.NDCG: lambda rows, m: ndcg(rows, m.k),
    hr.ReciprocalRank: lambda rows, m: expected(rows, reciprocal_rank),
    hr.SuccessAt: lambda rows, m: expected(rows, lambda labels: success(labels, m.k)),
    hr.RPrecision: lambda rows, m: expected(rows, r_precision),
    hr.BinaryPreference: lambda rows, m: expected(rows, binary_preference),
}


def twin(measure: hr.Measure, rows: list[Row]) -> float:
    """Value of the measure on the rows, the slow way."""
    return float(TWINS[type(measure)](rows, measure))
