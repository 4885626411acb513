"""Summary: all that a report says, as plain data. Texts hold words, no markup; numbers are Python's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrank.training.table_info import Provenance, TableInfo

SCHEMA = 1
"""Number of the layout of `Summary` and of result.json; it grows when a field changes its name or meaning."""


@dataclass(frozen=True)
class GoalPart:
    """Which part of the list matters: in words, on the command line, and by which measures it is judged."""

    words: str
    option: str
    measure: str
    measure_in_words: str
    headline: str
    top: float | None
    min_fpr: float
    max_fpr: float | None


@dataclass(frozen=True)
class Bound:
    """What is certain of a number, how surely, where that is proved and what it assumes."""

    low: float
    confidence: float
    method: str
    theorem: str
    assumptions: str


@dataclass(frozen=True)
class Answer:
    """The answer in a few sentences, and the numbers in them.

    Attributes
    ----------
    sentences : tuple of str
        The first is the headline.
    measure : str
        Short name of the measure behind the numbers.
    estimate : float
        Its value for the winner on the holdout.
    bound : Bound
        What it is at least.
    counted : {"cases", "positives"} or None
        What ``total`` counts: cases that are looked at, or positives that can be found; None where the answer is a
        share or a mean.
    total, expected, at_least : int or None
        So many are looked at or can be found, so many are positive or found, and so many at least.
    """

    sentences: tuple[str, ...]
    measure: str
    estimate: float
    bound: Bound
    counted: Literal["cases", "positives"] | None
    total: int | None
    expected: int | None
    at_least: int | None


@dataclass(frozen=True)
class Lead:
    """By how much the winner is ahead of a rival in the measure of the goal, and between which limits."""

    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class ModelPart:
    """One of the models.

    Attributes
    ----------
    name : str
        In plain words.
    picked : bool
        Whether it is the winner.
    low, estimate, high : float
        Of the measure of the goal; the intervals of all models hold at once.
    told_apart : bool or None
        Whether it is proved to be worse than the winner, with the stated confidence; None for the winner.
    p_value : float or None
        Of an asymptotic test against the winner, adjusted for the number of models; None for the winner.
    test : str
        "DeLong" or "bootstrap" if this test tells it from the winner, else empty.
    lead : Lead or None
        The winner's lead over it; None for the winner, and where differences were not compared.
    auc, headline : float
        Area under the whole curve, and the measure of the headline.
    expected : int or None
        The count that belongs to the headline, as in `Answer`.
    collapsed : bool
        Whether it has learned nothing.
    remark : str
        How it was chosen, or what went wrong.
    """

    name: str
    picked: bool
    low: float
    estimate: float
    high: float
    told_apart: bool | None
    p_value: float | None
    test: str
    lead: Lead | None
    auc: float
    headline: float
    expected: int | None
    collapsed: bool
    remark: str

    @property
    def verdict(self) -> str:
        """How it compares with the winner, in a few words."""
        if self.picked:
            words = "the winner"
        elif self.told_apart:
            words = "proved worse"
        else:
            words = f"worse by {self.test}" if self.test else "cannot be told apart"
        return f"{words}; collapsed" if self.collapsed else words


@dataclass(frozen=True)
class ThresholdPart:
    """From which score on to act: the value and what is promised, or why there is none."""

    value: float | None
    words: str
    fpr: float | None = None
    fpr_high: float | None = None
    tpr: float | None = None
    tpr_low: float | None = None
    precision: float | None = None
    n_flagged: int | None = None


@dataclass(frozen=True)
class Driver:
    """A feature and how much it moves the score."""

    feature: str
    value: float


@dataclass(frozen=True)
class DriversPart:
    """What drives the score: the largest coefficients of all, or a sentence that says why there are none."""

    words: str
    coefficients: tuple[Driver, ...]
    n_all: int


@dataclass(frozen=True)
class Promise:
    """A thing that is promised or assumed, by name."""

    about: str
    words: str


@dataclass(frozen=True)
class Line:
    """A curve to draw."""

    name: str
    picked: bool
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]


@dataclass(frozen=True)
class BandPart:
    """Limits to draw, never narrower than the band they stand for."""

    confidence: float
    fpr: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@dataclass(frozen=True)
class RocChart:
    """The head of the ROC curve: false positive rates from 0 to ``right``.

    Attributes
    ----------
    shaded : pair of float or None
        The range of false positive rates that matters.
    control_line : pair of pairs or None
        Ends (FPR, TPR) of the line on which the best fraction of all rows lies.
    note : str
        What must be known to read it.
    """

    right: float
    lines: tuple[Line, ...]
    band: BandPart | None
    shaded: tuple[float, float] | None
    control_line: tuple[tuple[float, float], tuple[float, float]] | None
    note: str


@dataclass(frozen=True)
class Histogram:
    """Which share of either class scores where; the outermost bins hold all that lies beyond them."""

    edges: tuple[float, ...]
    pos_shares: tuple[float, ...]
    neg_shares: tuple[float, ...]
    threshold: float | None


@dataclass(frozen=True)
class Levels:
    """Distinct scores, descending, with the rows of either class at each: a `RocCurve`, or its head, as plain data."""

    scores: tuple[float, ...]
    pos: tuple[int, ...]
    neg: tuple[int, ...]
    n_pos: int
    n_neg: int
    complete: bool


@dataclass(frozen=True)
class Control:
    """What the page needs to compute measures of the winner for other goals.

    Attributes
    ----------
    curves : tuple of Levels
        One, or one per query: then the page shows means over them.
    by_query : bool
        Whether there are queries, even if there is only one.
    max_fpr, max_top : float
        How far down the curves are known.
    right : float
        False positive rate at which the chart ends at first.
    start_min_fpr, start_max_fpr, start_top : float
        Where it starts; which of the last two counts says ``lead``.
    lead : {"fpr", "top"}
        Whether a false positive rate or a best fraction is given; the other one follows.
    note : str
        Where it ends, and why.
    """

    curves: tuple[Levels, ...]
    by_query: bool
    max_fpr: float
    max_top: float
    right: float
    start_min_fpr: float
    start_max_fpr: float
    start_top: float
    lead: Literal["fpr", "top"]
    note: str


@dataclass(frozen=True)
class Summary:
    """All that a report says. Made by `headrank.report.summarize`; its fields are the keys of result.json."""

    schema: int
    picked: str
    confidence: float
    goal: GoalPart
    answer: Answer
    entrants: tuple[ModelPart, ...]
    threshold: ThresholdPart
    drivers: DriversPart
    data: TableInfo
    warnings: tuple[str, ...]
    promises: tuple[Promise, ...]
    reproduce: Provenance
    roc: RocChart
    histogram: Histogram
    control: Control | None
    no_control: str
