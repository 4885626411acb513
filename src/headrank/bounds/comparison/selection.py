"""select: the best of several scorers, with a promise that holds for the one picked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from headrank._extras import needs_extra
from headrank._format import counted, percent, rounded
from headrank._numbers import option, whole
from headrank._types import ArrayLike
from headrank.bounds.comparison.evidence import Resampling
from headrank.bounds.comparison.many import Differences, compare_many_curves, require_named
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import check_method, interval_of_curves
from headrank.bounds.sample_curves import SampleCurves
from headrank.labels import check_binary
from headrank.measures import Measure
from headrank.measures import measure as measure_of

Rows = Literal["validation", "training"]
_STATED = {
    "validation": "the scorers were fixed before these rows were seen, and the best was picked on them",
    "training": "the scorers are a finite class named before these rows were seen; learning was to pick one on them",
}


@dataclass(frozen=True, repr=False)
class Selection:
    """Which scorer was picked, what is certain of it, and which rivals may be as good.

    Attributes
    ----------
    picked : str
        The best scorer on the sample; the first of those that tie.
    intervals : dict of str to Interval
        One per scorer; all hold at once with the stated confidence, and so does that of the one picked.
    differences : Differences or None
        Every two scorers compared, all at once with the same confidence, as a promise of its own; None for one scorer,
        and where scorers were in the running that are not here.
    rows : {"validation", "training"}
        On which rows it was picked.
    n_scorers : int
        The size of the class that the promise pays for.
    """

    picked: str
    intervals: dict[str, Interval]
    differences: Differences | None
    rows: Rows
    n_scorers: int

    @property
    def interval(self) -> Interval:
        """Of the scorer picked: it holds although the scorer was picked on the same rows."""
        return self.intervals[self.picked]

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """The rivals that may be as good as the one picked."""
        return tuple(name for name in self.intervals if name != self.picked and not self._told_apart(name))

    def to_frame(self) -> Any:
        """Return a polars data frame, one row per scorer, the best first."""
        with needs_extra("cli"):
            import polars as pl

        rival = set(self.not_told_apart)
        rows = [
            {"scorer": name, "picked": name == self.picked, "told_apart": name not in rival and name != self.picked}
            | {key: value for key, value in each.as_dict().items() if key in ("low", "estimate", "high", "method")}
            for name, each in self.intervals.items()
        ]
        better_first = self.interval.measure.greater_is_better
        return pl.DataFrame(rows).sort("estimate", descending=better_first, maintain_order=True)

    def __str__(self) -> str:
        best = self.interval
        rivals = self.not_told_apart
        count = len(self.intervals) - 1
        if not count:
            which = "It had no rival."
        elif not rivals:
            which = f"It is better than {'its rival' if count == 1 else f'each of its {count} rivals'}, as surely."
        else:
            which = f"It cannot be told apart from {', '.join(rivals)}."
        return (
            f"{self.picked} is the best of {counted(self.n_scorers, 'scorer')} by {best.measure}, picked on {self.rows}"
            f" rows. With {percent(best.confidence)} confidence its true value is {best.where}, though it was picked "
            f"on them (estimate {rounded(best.estimate)}, {best.method}). {which}"
        )

    def __repr__(self) -> str:
        return f"<Selection: {self}>"

    def _told_apart(self, rival: str) -> bool:
        if self.differences is None:  # intervals that all hold at once and have no value in common
            best, other = self.interval, self.intervals[rival]
            return best.low > other.high or other.low > best.high
        return any(each.told_apart for each in self.differences if set(each.names) == {self.picked, rival})


def select(
    scorers: Mapping[str, ArrayLike],
    y: ArrayLike,
    *,
    measure: str | Measure = "auc",
    confidence: float = 0.95,
    method: str = "auto",
    side: Side = "two-sided",
    rows: Rows = "validation",
    n_scorers: int | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> Selection:
    """Pick the best of several scorers by any measure, and certify it: empirical risk minimisation over a finite class.

    Each of ``|F|`` intervals takes ``1/|F|`` of the risk, so that all hold at once, and with them that of whichever
    scorer is picked (union bound: Agarwal et al. 2004, Theorems 4 and 5, Corollary 3: ``ln(2/d)`` becomes
    ``ln|F| + ln(2/d)``). The scorer picked is then worse than the best of those given by at most twice the longer half
    of the widest interval.

    Parameters
    ----------
    scorers : mapping of str to array-like of shape (n,)
        The scores, by the scorers' names.
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    measure, confidence, method, side, qid, pos_label
        As for `interval`; the finite-sample methods alone.
    rows : {"validation", "training"}, default="validation"
        Whether the scorers were made without these rows, or are a finite class named beforehand (rules of thumb,
        single features, a grid of weights) from which learning on these rows means picking one. The bound is the same;
        what it assumes is not. Scorers *fitted* to these rows belong to neither.
    n_scorers : int, optional
        Size of the class, if more scorers were in the running than are given here.

    Examples
    --------
    >>> import numpy as np
    >>> from headrank.datasets import Binormal
    >>> y, good = Binormal(separation=2.0).sample_classes(500, 5000, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(2, good.size))
    >>> print(select({"good": good, "fair": good + 0.1 * noise[0], "poor": good + 3 * noise[1]}, y))
    good is the best of 3 scorers by auc, picked on validation rows. With 95 % confidence its true value is between
    0.8787 and 0.9497, though it was picked on them (estimate 0.919, fixed_range). It cannot be told apart from fair.
    """
    require_named(scorers)
    confidence, what = check_confidence(confidence), measure_of(measure)
    option("rows", rows, get_args(Rows))
    if not scorers:
        raise ValueError("needed at least one scorer, got none")
    if check_method(method) in ("delong", "bootstrap"):
        raise ValueError(f"a certificate needs a finite-sample method, and {method!r} is asymptotic; use 'auto'")
    size = len(scorers) if n_scorers is None else whole("n_scorers", n_scorers, at_least=len(scorers))
    curves = {
        str(name): SampleCurves(check_binary(y, scores, qid=qid, pos_label=pos_label))
        for name, scores in scorers.items()
    }
    return select_curves(
        curves,
        measure=what,
        confidence=confidence,
        method=method,
        side=check_side(side),
        rows=rows,
        n_scorers=size,
    )


def select_curves(
    scorers: Mapping[str, SampleCurves],
    *,
    measure: Measure,
    confidence: float,
    method: str = "auto",
    side: Side = "two-sided",
    rows: Rows = "validation",
    n_scorers: int | None = None,
) -> Selection:
    """Pick the best of several scorers by the curves of their checked samples, which share their rows; see `select`."""
    size = len(scorers) if n_scorers is None else n_scorers
    intervals = {}
    for name, curves in scorers.items():
        one = interval_of_curves(curves, measure, confidence=1 - (1 - confidence) / size, side=side, method=method)
        theorem = f"{one.theorem}; union bound over {size} scorers (Agarwal et al. 2004, Theorem 5)"
        assumptions = f"{one.assumptions}; {_STATED[rows]}"
        intervals[name] = replace(one, confidence=confidence, theorem=theorem, assumptions=assumptions)
    sign = 1 if measure.greater_is_better else -1
    picked = max(intervals, key=lambda name: sign * intervals[name].estimate)
    differences = None
    if 1 < len(scorers) == size:
        differences = compare_many_curves(scorers, measure=measure, confidence=confidence, resampling=Resampling())
    return Selection(picked, intervals, differences, rows, size)
