"""select: the best of several scorers, with a guarantee that accounts for the selection."""

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
from headrank.measures import Measure
from headrank.measures import measure as measure_of

Rows = Literal["validation", "training"]
_STATED = {
    "validation": "the scorers were fixed before these rows were seen, and the best was selected on them",
    "training": "the scorers are a finite class fixed before these rows were seen; training selected one on them",
}


@dataclass(frozen=True, repr=False)
class Selection:
    """The selected scorer, its interval, and the scorers that may be as good.

    Attributes
    ----------
    picked : str
        The best scorer on the sample; the first of tied ones.
    intervals : dict of str to Interval
        One per scorer; all hold simultaneously with the stated confidence, and so does that of the selected scorer.
    differences : Differences or None
        All pairs of scorers compared, simultaneously with the same confidence, as a separate guarantee. None for one
        scorer, and if ``n_scorers`` counts scorers that are not given.
    rows : {"validation", "training"}
        The rows on which it was selected.
    n_scorers : int
        The number of scorers that the guarantee accounts for.
    """

    picked: str
    intervals: dict[str, Interval]
    differences: Differences | None
    rows: Rows
    n_scorers: int

    @property
    def interval(self) -> Interval:
        """The interval of the selected scorer; it accounts for the selection on the same rows."""
        return self.intervals[self.picked]

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """The scorers that cannot be told apart from the selected one."""
        return tuple(name for name in self.intervals if name != self.picked and not self._told_apart(name))

    def to_frame(self) -> Any:
        """Return a polars data frame with one row per scorer, the best first."""
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
            which = "There was no other scorer."
        elif not rivals:
            others = "the other" if count == 1 else f"each of the {count} others"
            which = f"It is better than {others}, with the same confidence."
        else:
            which = f"It cannot be told apart from {', '.join(rivals)}."
        return (
            f"{self.picked} is the best of {counted(self.n_scorers, 'scorer')} by {best.measure}, selected on "
            f"{self.rows} rows. With {percent(best.confidence)} confidence its true value is {best.where}, the "
            f"selection accounted for (estimate {rounded(best.estimate)}, {best.method}). {which}"
        )

    def __repr__(self) -> str:
        return f"<Selection: {self}>"

    def _told_apart(self, rival: str) -> bool:
        if self.differences is None:  # simultaneous intervals that do not overlap
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
    """Select the best of several scorers by any measure, with an interval that accounts for the selection.

    This is empirical risk minimisation over a finite class. Each of ``|F|`` intervals takes ``1/|F|`` of the risk, so
    all hold simultaneously, including that of the selected scorer (union bound: Agarwal et al. 2004, Theorems 4 and 5,
    Corollary 3: ``ln(2/d)`` becomes ``ln|F| + ln(2/d)``). The selected scorer then trails the best one by at most twice
    the longer half of the widest interval.

    Parameters
    ----------
    scorers : mapping of str to array-like of shape (n,)
        The scores by name of the scorer.
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    measure, confidence, method, side, qid, pos_label
        As for `interval`; finite-sample methods only.
    rows : {"validation", "training"}, default="validation"
        Whether the scorers were made without these rows, or are a finite class fixed in advance (rules of thumb,
        single features, a grid of weights) from which training on these rows selects one. The bound is the same; the
        assumptions differ. Scorers *fitted* to these rows qualify for neither.
    n_scorers : int, optional
        Number of scorers considered, if more than are given here.

    Examples
    --------
    >>> import numpy as np
    >>> from headrank.datasets import Binormal
    >>> y, good = Binormal(separation=2.0).sample_classes(500, 5000, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(2, good.size))
    >>> print(select({"good": good, "fair": good + 0.1 * noise[0], "poor": good + 3 * noise[1]}, y))
    good is the best of 3 scorers by auc, selected on validation rows. With 95 % confidence its true value is between
    0.8939 and 0.9388, the selection accounted for (estimate 0.919, betting). It cannot be told apart from fair.
    """
    require_named(scorers)
    confidence, what = check_confidence(confidence), measure_of(measure)
    option("rows", rows, get_args(Rows))
    if not scorers:
        raise ValueError("expected at least one scorer, got none")
    if check_method(method) in ("delong", "bootstrap"):
        raise ValueError(f"select needs a finite-sample method, got {method!r}, which is asymptotic; use method='auto'")
    size = len(scorers) if n_scorers is None else whole("n_scorers", n_scorers, at_least=len(scorers))
    curves = {
        str(name): SampleCurves(what.check(y, scores, qid=qid, pos_label=pos_label)) for name, scores in scorers.items()
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
    """Select the best of several scorers from the curves of checked samples with the same rows; see `select`."""
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
