"""best_cutoff: the threshold that is best by a criterion, and what it achieves on rows to come.

**What is certified.** The threshold is picked on the same rows on which it is then judged, so its own numbers are
optimistic. Limits of TPR and FPR that hold at all thresholds at once (`tail_limits`, once per class) hold at whichever
one is picked, for any rule and any distribution. Each criterion is monotone in either rate, so the limits of the rates
give those of the criterion, at the same confidence. If the cost depends on an unknown share of positives, a tenth of
the risk is spent on its exact binomial limits.

**What is asymptotic.** The interval of the threshold itself is the percentile bootstrap. The empirical optimum of a
smooth criterion converges at the rate n^(-1/3), where no theorem supports the bootstrap (Abrevaya & Huang 2005); its
coverage in simulations is in docs/cutoffs.md. The optimism is the bootstrap's estimate (Efron 1983).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, get_args

import numpy as np

from headrank._extras import needs_extra
from headrank._format import counted, percent, rounded, rounded_down, rounded_up, shown
from headrank._numbers import above_zero, inner_rate, option, short_repr, whole
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.bounds.asymptotic.bootstrap import check_replicates, percentiles
from headrank.bounds.asymptotic.resampling import replicates
from headrank.bounds.band.rate_limits import rate_limits
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.binomial import clopper_pearson
from headrank.bounds.interval import INDEPENDENT_ROWS, RANDOM_LABELS, require_counts
from headrank.curve import RocCurve
from headrank.labels import with_labels

By = Literal["youden", "closest", "cost"]
_COSTS = ("false_negative", "false_positive")
_SHARE_OF_PREVALENCE = 0.1
"""Part of the risk spent on the share of positives, if the cost depends on it and it is not given."""


@dataclass(frozen=True)
class Criterion:
    """What is to be small: a loss that falls with TPR and rises with FPR.

    Attributes
    ----------
    by : {"youden", "closest", "cost"}
        1 - Youden's index, the distance to the corner (0, 1), or the expected cost of a row.
    false_negative, false_positive : float
        Costs of the two errors.
    """

    by: By
    false_negative: float = 1.0
    false_positive: float = 1.0

    def loss(self, tpr: Any, fpr: Any, prevalence: float) -> Any:
        """Return the loss at each pair of rates."""
        if self.by == "youden":
            return 1 - (tpr - fpr)
        if self.by == "closest":
            return np.hypot(1 - tpr, fpr)
        return prevalence * self.false_negative * (1 - tpr) + (1 - prevalence) * self.false_positive * fpr

    def index(self, loss: float) -> float:
        """Return the number that is reported: Youden's index itself, otherwise the loss."""
        return 1 - loss if self.by == "youden" else loss

    @property
    def words(self) -> str:
        """The reported number, in words."""
        return {"youden": "TPR - FPR", "closest": "distance to the corner (0, 1)", "cost": "cost per row"}[self.by]


@dataclass(frozen=True, repr=False)
class Cutoff:
    """The threshold that is best by a criterion, returned by `best_cutoff`; prints as a sentence.

    Attributes
    ----------
    value : float
        A row is flagged if its score is at least this: half way between the scores of the sample that it separates.
        Infinite if it is best to flag no row.
    value_low, value_high : float or None
        Bootstrap interval of the best threshold: asymptotic. None without replicates.
    by : {"youden", "closest", "cost"}
        The criterion.
    index, index_low, index_high : float
        TPR - FPR, the distance to the corner (0, 1), or the cost per row: on the sample, and certified limits for rows
        to come.
    optimism : float or None
        By how much the index on the sample is estimated to be better than on rows to come, by the bootstrap. None
        without replicates.
    tpr, tpr_low, tpr_high, fpr, fpr_low, fpr_high : float
        The rates on the sample, and certified limits for rows to come.
    confidence : float
        The probability that all certified limits hold, although the threshold was picked on the same rows; and that of
        the bootstrap interval, by itself, in large samples.
    prevalence : float
        The share of positives in the cost: as given, or that of the sample.
    n_flagged, n_pos, n_neg : int
        Flagged rows, positives and negatives of the sample.
    assumptions : str
        What the certified limits assume.
    """

    value: float
    value_low: float | None
    value_high: float | None
    by: By
    index: float
    index_low: float
    index_high: float
    optimism: float | None
    tpr: float
    tpr_low: float
    tpr_high: float
    fpr: float
    fpr_low: float
    fpr_high: float
    confidence: float
    prevalence: float
    n_flagged: int
    n_pos: int
    n_neg: int
    assumptions: str

    def flags(self, scores: ArrayLike) -> BoolVector:
        """Return which rows are flagged: those scoring at least ``value``."""
        result: BoolVector = np.asarray(scores) >= np.float64(self.value)
        return result

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return dict(vars(self))

    def to_frame(self) -> Any:
        """Return the cut-off as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        sure, words = f"with {percent(self.confidence)} confidence", Criterion(self.by).words
        cut = "flag no row" if self.value == inf else f"flag scores of at least {shown(self.value)}"
        rows = f"{counted(self.n_pos, 'positive')} and {counted(self.n_neg, 'negative')}"
        sentence = (
            f"{cut} (best by {self.by}): {words} {rounded(self.index)} on {rows}. On rows to come, {sure} for any "
            f"distribution: {words} between {rounded_down(self.index_low)} and {rounded_up(self.index_high)}, TPR "
            f"{rounded_down(self.tpr_low)} to {rounded_up(self.tpr_high)}, FPR {rounded_down(self.fpr_low)} to "
            f"{rounded_up(self.fpr_high)}"
        )
        if self.value_low is None or self.value_high is None or self.optimism is None:
            return sentence
        return (
            f"{sentence}. By the bootstrap (asymptotic) the best threshold lies between {rounded(self.value_low)} and "
            f"{rounded(self.value_high)}, and the index on the sample is optimistic by {rounded(self.optimism)}"
        )

    def __repr__(self) -> str:
        return f"<Cutoff: {self}>"


def best_cutoff(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    by: By = "youden",
    costs: Mapping[str, float] | None = None,
    prevalence: float | None = None,
    confidence: float = 0.95,
    n_replicates: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
) -> Cutoff:
    """Find the threshold that is best by a criterion, and bound what it achieves on rows to come.

    One sort, then O(n) per replicate. Of several thresholds that are equally good, the highest is taken.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive; the scorer was not trained on these rows.
    by : {"youden", "closest", "cost"}, default="youden"
        ``"youden"``: greatest TPR - FPR. ``"closest"``: smallest distance ``sqrt((1 - TPR)^2 + FPR^2)``. ``"cost"``:
        smallest expected cost of a row, ``pi c_fn (1 - TPR) + (1 - pi) c_fp FPR``.
    costs : mapping, optional
        For ``"cost"``: ``{"false_negative": 10, "false_positive": 1}``.
    prevalence : float in (0, 1), optional
        For ``"cost"``: the share of positives pi of the population; by default that of the sample, whose uncertainty
        is included.
    confidence : float, default=0.95
        Of the certified limits, which hold together, and of the bootstrap interval of the threshold.
    n_replicates : int, default=2000
        Bootstrap replicates; 0 to leave out the interval of the threshold and the optimism.
    random_state, n_jobs
        For the bootstrap.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0).sample_classes(500, 2000, random_state=0)
    >>> best = best_cutoff(y, scores, n_replicates=200, random_state=0)  # the true best threshold is 1
    >>> round(best.value, 2), round(best.index, 3), round(best.index_low, 3), round(best.index_high, 3)
    (0.9, 0.69, 0.598, 0.768)
    """
    option("by", by, get_args(By))
    criterion = _checked_criterion(by, costs, prevalence)
    share = None if prevalence is None else inner_rate("prevalence", prevalence)
    confidence = check_confidence(confidence)
    if whole("n_replicates", n_replicates):
        check_replicates(n_replicates, (1 - confidence) / 2)
    y, scores = with_labels(missing, y, scores)
    curve = RocCurve.from_scores(y, scores, pos_label=pos_label)
    return best_of_curve(
        curve,
        criterion,
        prevalence=share,
        confidence=confidence,
        n_replicates=n_replicates,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def best_of_curve(
    curve: RocCurve,
    criterion: Criterion,
    *,
    prevalence: float | None = None,
    confidence: float = 0.95,
    n_replicates: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Cutoff:
    """Return the best cut-off of a whole curve; see `best_cutoff`. The arguments are not checked again."""
    require_counts(curve, "best_cutoff")
    share = curve.positive_rate if prevalence is None else prevalence
    losses = criterion.loss(curve.tpr, curve.fpr, share)
    level = _first_least(losses)
    certified = _certified(curve, level, criterion, prevalence, 1 - confidence)
    low = high = optimism = None
    if n_replicates:
        drawn = replicates(
            _CutoffDraws(curve, criterion, share, losses), n_replicates, random_state=random_state, n_jobs=n_jobs
        )
        low, high = percentiles(drawn[:, 0], (1 - confidence) / 2)
        optimism = float(drawn[:, 1].mean())
    needs_labels = criterion.by == "cost" and prevalence is None
    return Cutoff(
        value=_between(curve.scores[:level][-1:], curve.scores[level : level + 1]),
        value_low=low,
        value_high=high,
        by=criterion.by,
        index=float(criterion.index(losses[level])),
        optimism=optimism,
        tpr=float(curve.tpr[level]),
        fpr=float(curve.fpr[level]),
        confidence=confidence,
        prevalence=share,
        n_flagged=int(curve.tp[level] + curve.fp[level]),
        n_pos=int(curve.n_pos),
        n_neg=int(curve.n_neg),
        assumptions=RANDOM_LABELS if needs_labels else INDEPENDENT_ROWS,
        **certified,
    )


def _certified(
    curve: RocCurve, level: int, criterion: Criterion, prevalence: float | None, risk: float
) -> dict[str, float]:
    """Return limits of both rates and of the index that hold together, whichever level was picked."""
    shares: Sequence[float] = (0.5 if prevalence is None else prevalence,)
    if criterion.by == "cost" and prevalence is None:
        shares = clopper_pearson(int(curve.n_pos), int(curve.n), _SHARE_OF_PREVALENCE * risk / 2)
        risk *= 1 - _SHARE_OF_PREVALENCE
    limits = rate_limits(curve, risk=risk, method="tail")
    low_tpr, high_tpr = float(limits.lowest_tpr[level]), float(limits.highest_tpr[level])
    low_fpr, high_fpr = float(limits.lowest_fpr[level]), float(limits.highest_fpr[level])
    # The cost is linear in the share of positives: its extremes are at the ends.
    best = min(float(criterion.loss(high_tpr, low_fpr, share)) for share in shares)
    worst = max(float(criterion.loss(low_tpr, high_fpr, share)) for share in shares)
    index_low, index_high = sorted((criterion.index(best), criterion.index(worst)))
    return {
        "tpr_low": low_tpr,
        "tpr_high": high_tpr,
        "fpr_low": low_fpr,
        "fpr_high": high_fpr,
        "index_low": index_low,
        "index_high": index_high,
    }


class _CutoffDraws:
    """Draws rows with replacement, as many of each class as in the sample, and finds the best threshold again."""

    def __init__(self, curve: RocCurve, criterion: Criterion, prevalence: float, losses: Vector) -> None:
        self._scores, self._criterion, self._prevalence, self._losses = curve.scores, criterion, prevalence, losses
        numbers = np.arange(curve.scores.size)
        self._levels = [np.repeat(numbers, curve.pos), np.repeat(numbers, curve.neg)]

    def replicate(self, rng: np.random.Generator) -> list[float]:
        """Draw once; return the best threshold, and how much better it looks there than on the sample."""
        pos, neg = (self._drawn(of_row, rng) for of_row in self._levels)
        tpr, fpr = (np.concatenate([[0], np.cumsum(drawn)]) / drawn.sum() for drawn in (pos, neg))
        losses = self._criterion.loss(tpr, fpr, self._prevalence)
        level = _first_least(losses)
        # Half way to the next score that was drawn, as on the sample.
        kept = np.flatnonzero((pos + neg)[level:])[:1] + level
        value = _between(self._scores[:level][-1:], self._scores[kept])
        return [value, float(self._losses[level] - losses[level])]

    def _drawn(self, of_row: IntVector, rng: np.random.Generator) -> IntVector:
        return np.bincount(of_row[rng.integers(0, of_row.size, of_row.size)], minlength=self._scores.size)


def _first_least(losses: Vector) -> int:
    """Return the first level with the least loss; equal losses may differ by rounding errors."""
    return int(np.argmax(losses <= losses.min() + 1e-12 * losses.max()))


def _between(flagged: Vector, below: Vector) -> float:
    """Return the number half way between two scores, each an array of at most one: the lowest flagged and the next.

    It separates them exactly: rounding must not flag the lower one. Infinite if no score is flagged, and the lowest
    score itself if all are.
    """
    if not flagged.size:
        return inf
    score = float(flagged[0])
    if not below.size:
        return score
    middle = score / 2 + float(below[0]) / 2  # the sum may overflow
    return middle if float(below[0]) < middle <= score else score


def _checked_criterion(by: By, costs: Any, prevalence: Any) -> Criterion:
    if by != "cost":
        for name, value in (("costs", costs), ("prevalence", prevalence)):
            if value is not None:
                raise ValueError(f"{name} applies to by='cost' only, got by={by!r}; omit {name}, or use by='cost'")
        return Criterion(by)
    if not isinstance(costs, Mapping) or set(costs) != set(_COSTS):
        expected = "{'false_negative': 10, 'false_positive': 1}"
        raise ValueError(f"by='cost' needs costs such as {expected}, got {short_repr(costs)}")
    return Criterion(by, *(above_zero(f"costs[{name!r}]", costs[name]) for name in _COSTS))
