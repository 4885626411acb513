"""Interval: a confidence interval for a measure, with its theorem and its assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from headrank._extras import needs_extra
from headrank._format import counted, percent, rounded, rounded_down, rounded_up
from headrank.bounds.confidence import Side
from headrank.curve import RocCurve
from headrank.exceptions import ShallowHeadError
from headrank.measures import Measure

INDEPENDENT_ROWS = "the positives are independent draws from one distribution, and so are the negatives"
"""What every finite-sample method assumes, for scorers not trained on these rows."""
RANDOM_LABELS = f"{INDEPENDENT_ROWS}; the rows are a random sample of the population, their labels random as well"
"""What measures assume that depend on the share of positives."""


@dataclass(frozen=True, repr=False)
class Interval:
    """Confidence interval for the true value of a measure.

    Attributes
    ----------
    low, estimate, high : float
        Both ends and the value on the sample. The open end of a one-sided interval is the least or the greatest value
        that the measure can take.
    confidence : float
        The guaranteed probability that the interval contains the true value.
    measure : Measure
        The measure.
    method, theorem, assumptions : str
        The name of the method, where it is proved, and what the guarantee assumes.
    n_pos, n_neg : int
        Positives and negatives in the sample.
    side : {"two-sided", "lower", "upper"}
        Which ends are guaranteed.
    finite_sample : bool
        Whether the guarantee holds for every sample size and distribution; otherwise it is asymptotic.
    simultaneous : bool
        Whether it holds simultaneously with the two-sided intervals of all ranges and measures of its kind from the
        same band (areas and rates; or measures that depend on the share of positives).
    n_queries : int or None
        Number of queries, if the measure is a mean over queries.
    standard_error : float or None
        Of the estimate, by DeLong's method or the bootstrap; None for finite-sample methods.
    """

    low: float
    estimate: float
    high: float
    confidence: float
    measure: Measure
    method: str
    theorem: str
    assumptions: str
    n_pos: int
    n_neg: int
    side: Side = "two-sided"
    finite_sample: bool = True
    simultaneous: bool = False
    n_queries: int | None = None
    standard_error: float | None = None

    @property
    def width(self) -> float:
        """Distance between both ends."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def to_frame(self) -> Any:
        """Return the interval as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, the measure by its short name."""
        return {name: str(value) if name == "measure" else value for name, value in vars(self).items()}

    def as_metrics(self) -> dict[str, float]:
        """Return estimate, both ends and confidence as numbers, by names for trackers such as MLflow.

        >>> import headrank as hr
        >>> sorted(hr.interval([0, 1] * 50, range(100), measure="pauc@0.5").as_metrics())
        ['pauc_0.5', 'pauc_0.5_confidence', 'pauc_0.5_high', 'pauc_0.5_low']
        """
        name, ends = self.measure.safe_name, {"low": self.low, "high": self.high, "confidence": self.confidence}
        return {name: float(self.estimate), **{f"{name}_{end}": float(value) for end, value in ends.items()}}

    @property
    def where(self) -> str:
        """The limits in words: "between 0.35 and 0.56"."""
        if self.side == "lower":
            return f"at least {rounded_down(self.low)}"
        if self.side == "upper":
            return f"at most {rounded_up(self.high)}"
        return f"between {rounded_down(self.low)} and {rounded_up(self.high)}"

    def __str__(self) -> str:
        kind = "any distribution, any sample size" if self.finite_sample else "asymptotic, for large samples"
        scope = ", simultaneously for all ranges" if self.simultaneous else ""
        counts = f"{counted(self.n_pos, 'positive')} and {counted(self.n_neg, 'negative')}"
        if self.n_queries is not None:
            counts += f" in {counted(self.n_queries, 'query', 'queries')}"
        return (
            f"{self.measure} is {rounded(self.estimate)} on {counts}; the truth is {self.where} with "
            f"{percent(self.confidence)} confidence ({self.method}: {kind}{scope})"
        )

    def __repr__(self) -> str:
        return f"<Interval: {self}>"


def require_counts(curve: RocCurve, method: str) -> None:
    """Raise for weighted rows, which the theorems about independent rows do not cover, and for a single class."""
    curve.require_both_classes()
    if curve.weighted:
        raise ValueError(
            f"{method} needs unweighted rows: its theorem is about independent rows, and a row of weight 2 is not two "
            "independent rows; omit sample_weight, or use method='bootstrap', which is asymptotic"
        )


def require_only_curve(function: str, **of_rows: Any) -> None:
    """Raise if something was given for each row beside a curve."""
    if given := [name for name, values in of_rows.items() if values is not None]:
        raise ValueError(
            f"{' and '.join(given)} cannot be given with a curve, which keeps no rows; pass labels and scores, or "
            f"Blocks of scores, to {function}"
        )


@contextmanager
def about_heads() -> Iterator[None]:
    """Say where a deeper head is found if one that was given is too shallow."""
    try:
        yield
    except ShallowHeadError as error:
        raise ShallowHeadError(f"{error}, or the whole curve: block_curve without measure=") from None
