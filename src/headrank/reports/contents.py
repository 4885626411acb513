"""Summary: the contents of a report as plain data. Texts contain no markup; numbers are built-in types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrank.reports.example_contents import ExampleLists
from headrank.reports.figures import Chart, Control, Histogram, RocChart
from headrank.training.column_summaries import ColumnSummary
from headrank.training.naming import Nouns
from headrank.training.result import FamilyResult
from headrank.training.table_info import Provenance, TableInfo

SCHEMA = 1
"""Version of the layout of `Summary` and result.json; incremented when a field changes its name or meaning."""


@dataclass(frozen=True)
class GoalPart:
    """The part of the list that matters: in words, as a command-line option, and its measures."""

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
    """A lower bound with its confidence, method, theorem and assumptions."""

    low: float
    confidence: float
    method: str
    theorem: str
    assumptions: str


@dataclass(frozen=True)
class Answer:
    """The answer in a few sentences, and its numbers.

    Attributes
    ----------
    sentences : tuple of str
        The first is the headline with its guarantee in brackets.
    headline, guarantee : str
        The two parts of the first sentence, as sentences.
    measure : str
        Short name of the measure behind the numbers.
    estimate : float
        Its value for the winner on the holdout.
    bound : Bound
        Lower bound on its true value.
    counted : {"cases", "positives"} or None
        What ``total`` counts: selected cases, or positives; None if the answer is a share or a mean.
    total, expected, at_least : int or None
        Number of selected cases (or positives), how many of them are positive (or found), and the guaranteed number.
    n_cases, n_pos : int or None
        Number of selected cases, and of all positives of the holdout; None with queries.
    random, times : float
        What a random pick of as many cases finds, or with queries the share that a random order has, and how many
        times that the winner finds.
    """

    sentences: tuple[str, ...]
    headline: str
    guarantee: str
    measure: str
    estimate: float
    bound: Bound
    counted: Literal["cases", "positives"] | None
    total: int | None
    expected: int | None
    at_least: int | None
    n_cases: int | None
    n_pos: int | None
    random: float
    times: float


@dataclass(frozen=True)
class Lead:
    """The winner's lead over a rival in the measure of the goal, with its interval."""

    low: float
    estimate: float
    high: float


@dataclass(frozen=True)
class ModelPart:
    """One of the models.

    Attributes
    ----------
    name : str
        Name of the model, such as "ranker".
    picked : bool
        Whether it is the winner.
    low, estimate, high : float
        Interval of the measure of the goal; the intervals of all models hold simultaneously.
    told_apart : bool or None
        Whether it is certified to be worse than the winner, with the stated confidence; None for the winner.
    p_value : float or None
        P-value of an asymptotic test against the winner, adjusted for the number of models; None for the winner.
    test : str
        "DeLong" or "bootstrap" if the difference from the winner is significant by this test, otherwise empty.
    lead : Lead or None
        The winner's lead over it; None for the winner, and if differences were not computed.
    auc, headline : float
        Area under the whole curve, and the measure of the headline.
    expected : int or None
        The count of the headline, as in `Answer`.
    collapsed : bool
        Whether it learned nothing.
    remark : str
        How it was selected, or what went wrong.
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
            words = "winner"
        elif self.told_apart:
            words = "worse (certified)"
        else:
            words = f"worse ({self.test})" if self.test else "not significant"
        return f"{words}; collapsed" if self.collapsed else words


@dataclass(frozen=True)
class FamiliesPart:
    """What the ranker was chosen from and is made of, the combination last; no families if there was no choice."""

    words: str = ""
    families: tuple[FamilyResult, ...] = ()


@dataclass(frozen=True)
class ThresholdPart:
    """The certified score threshold and its guarantee, or why there is none."""

    value: float | None
    words: str
    fpr: float | None = None
    fpr_high: float | None = None
    tpr: float | None = None
    tpr_low: float | None = None
    precision: float | None = None
    n_flagged: int | None = None


@dataclass(frozen=True)
class Confusion:
    """Cases at or above a score, and below it, by class; ``certified`` if the score is the certified threshold."""

    words: str
    tp: int
    fp: int
    fn: int
    tn: int
    certified: bool


@dataclass(frozen=True)
class Point:
    """How many cases are looked at, and what is found.

    Attributes
    ----------
    n_cases : int
        Cases looked at; with queries, results of each query.
    found, at_least : float
        Positives among them, and a lower limit that holds for all points simultaneously; None with queries. With
        queries the mean number.
    precision, recall : float
        Share of positives among the cases looked at, and share of all positives that is found.
    n_false, fpr : float or None
        Negatives among them, and their share in all negatives; None with queries.
    score : str
        Flagging this score and above flags these cases, as far as ties allow.
    tied : bool
        Whether more cases than these have this score; they count in part.
    is_goal : bool
        Whether it is the end of the part of the list that matters.
    lift, npv, lr_positive, lr_negative : float or None
        As in `headrank.OperatingPoints`, without intervals; None where they are not finite, and with queries.
    is_youden : bool
        Whether TPR - FPR is greatest here.
    """

    n_cases: int
    found: float
    at_least: int | None
    precision: float
    recall: float
    n_false: float | None
    fpr: float | None
    score: str
    tied: bool
    is_goal: bool
    lift: float | None = None
    npv: float | None = None
    lr_positive: float | None = None
    lr_negative: float | None = None
    is_youden: bool = False


@dataclass(frozen=True)
class PointsPart:
    """Operating points of the winner, from few cases to many."""

    words: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Driver:
    """A column and what it adds, with the values that raise the score in words, or a feature and its coefficient."""

    feature: str
    value: float
    direction: str = ""


@dataclass(frozen=True)
class DriversPart:
    """What the columns add to the scores of the first rows, or the largest coefficients, or why there are neither."""

    words: str
    coefficients: tuple[Driver, ...]
    n_all: int
    label: str = "coefficient"


@dataclass(frozen=True)
class FirstRow:
    """One of the first rows of the holdout, and the columns that raise its score most."""

    rank: int
    name: str
    score: float
    positive: bool
    why: str


@dataclass(frozen=True)
class Promise:
    """A guarantee or an assumption, with its title."""

    about: str
    words: str


@dataclass(frozen=True)
class RowsMeasure:
    """A measure on all rows of the held-out groups, with asymptotic limits; None if there are none."""

    measure: str
    low: float | None
    estimate: float
    high: float | None


@dataclass(frozen=True)
class AllRowsPart:
    """The winner on all rows of the held-out groups; the other numbers use one row of each.

    Attributes
    ----------
    words : str
        The result in a sentence.
    n_rows, n_pos, n_groups : int
        Number of rows, of positives and of groups.
    group : str
        What a group is called.
    measures : tuple of RowsMeasure
        The measure of the goal and that of the headline, with limits by the cluster bootstrap.
    """

    words: str
    n_rows: int
    n_pos: int
    n_groups: int
    group: str
    measures: tuple[RowsMeasure, ...]


@dataclass(frozen=True)
class MeasureRow:
    """A measure of a scorer and its limits, if it has any, on all rows (``group`` is empty) or on those of a group."""

    scorer: str
    group: str
    measure: str
    description: str
    low: float | None
    estimate: float
    high: float | None
    n_pos: int
    n_neg: int


@dataclass(frozen=True)
class MeasuresPart:
    """Measures of given scores."""

    words: str
    rows: tuple[MeasureRow, ...]


@dataclass(frozen=True)
class Period:
    """The measure of the goal in one period of the holdout; the intervals of all periods hold simultaneously."""

    first: str
    last: str
    n_rows: int
    n_pos: int
    low: float
    estimate: float
    high: float

    @property
    def words(self) -> str:
        """The period: one time, or from the first to the last."""
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True)
class PeriodsPart:
    """The periods of the holdout, in order, and whether the measure falls, by an asymptotic test of the trend."""

    words: str
    periods: tuple[Period, ...]
    p_value: float
    falls: bool


@dataclass(frozen=True)
class Summary:
    """The contents of a report, made by `headrank.reports.summarize`. Its fields are the keys of result.json.

    ``assumption`` says for which new rows the guarantees hold, ``split`` how the holdout was chosen. ``positives`` and
    ``others`` are what rows of both classes are called.
    """

    schema: int
    picked: str
    confidence: float
    goal: GoalPart
    answer: Answer
    entrants: tuple[ModelPart, ...]
    ranker: FamiliesPart
    threshold: ThresholdPart
    drivers: DriversPart
    first_rows: tuple[FirstRow, ...]
    data: TableInfo
    warnings: tuple[str, ...]
    promises: tuple[Promise, ...]
    reproduce: Provenance
    roc: RocChart
    histogram: Histogram
    control: Control | None
    no_control: str
    assumption: str
    split: str
    all_rows: AllRowsPart | None
    periods: PeriodsPart | None
    example_lists: ExampleLists | None
    positives: Nouns
    others: Nouns
    gains: Chart | None
    precision_recall: Chart | None
    points: PointsPart | None
    confusion: Confusion | None
    columns: tuple[ColumnSummary, ...]
    measures: MeasuresPart | None
