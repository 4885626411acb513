"""What the figures show, as plain data: curves, bands, histograms, and the curve for the interactive figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Line:
    """A curve to draw."""

    name: str
    picked: bool
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]


@dataclass(frozen=True)
class BandPart:
    """The confidence band as drawn, never narrower than computed."""

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
        Caption of the figure.
    """

    right: float
    lines: tuple[Line, ...]
    band: BandPart | None
    shaded: tuple[float, float] | None
    control_line: tuple[tuple[float, float], tuple[float, float]] | None
    note: str


@dataclass(frozen=True)
class Histogram:
    """Share of each class per bin of scores; the outermost bins include everything beyond them."""

    edges: tuple[float, ...]
    pos_shares: tuple[float, ...]
    neg_shares: tuple[float, ...]
    threshold: float | None


@dataclass(frozen=True)
class Levels:
    """Distinct scores, descending, with the rows of each class: a `RocCurve`, or its head, as plain data."""

    scores: tuple[float, ...]
    pos: tuple[int, ...]
    neg: tuple[int, ...]
    n_pos: int
    n_neg: int
    complete: bool


@dataclass(frozen=True)
class Control:
    """Data for the interactive figure, which computes measures of the winner for other goals.

    Attributes
    ----------
    curves : tuple of Levels
        One, or one per query; the page then shows means over queries.
    by_query : bool
        Whether there are queries, even if there is only one.
    max_fpr, max_top : float
        Range over which the curves are known.
    right : float
        Initial right end of the figure, a false positive rate.
    start_min_fpr, start_max_fpr, start_top : float
        Initial values; ``lead`` says which of the last two applies.
    lead : {"fpr", "top"}
        Whether a false positive rate or a best fraction is given; the other is computed.
    note : str
        Where the range ends, and why.
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
class ChartLine:
    """A line to draw, through points from left to right."""

    name: str
    picked: bool
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class ChartBand:
    """A confidence band as drawn, never narrower than computed."""

    confidence: float
    x: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@dataclass(frozen=True)
class Mark:
    """A place on the x axis, and what is there."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Chart:
    """Lines from (0, 0) to ``right`` and ``top``, in counts or in shares.

    Attributes
    ----------
    x_title, y_title : str
        What the axes show.
    right, top : float
        Ends of the axes.
    shares : bool
        Whether both axes are shares, shown in percent; otherwise they are counts.
    lines : tuple of ChartLine
        One per model, the winner last.
    chance : ChartLine
        What a random order gives.
    band : ChartBand or None
        Around the winner's line.
    mark : Mark or None
        The end of the part that matters.
    note : str
        Caption of the figure.
    """

    x_title: str
    y_title: str
    right: float
    top: float
    shares: bool
    lines: tuple[ChartLine, ...]
    chance: ChartLine
    band: ChartBand | None
    mark: Mark | None
    note: str
