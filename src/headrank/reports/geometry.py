"""Layout of the figures: from the data of `contents` to positions in percent and SVG paths.

Lines are drawn in a square of 1000 by 1000 that the page stretches to any shape; labels and dots are positioned in
percent, so that they keep their size on a phone. The y axis points up in `contents`, and down here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from headrank._format import coefficient
from headrank.reports.charts import tick_step
from headrank.reports.contents import Driver, ModelPart
from headrank.reports.figures import Chart, Histogram, RocChart
from headrank.training.result import FamilyResult

SIDE = 1000
"""Length of both sides of the square that lines are drawn in."""
_MIDDLE = 0.55
"""Marks further right have their words on the left."""


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: str
    label: str


@dataclass(frozen=True)
class DrawnLine:
    """A curve: its name, its look (0 for the winner) and its path."""

    name: str
    look: int
    path: str


@dataclass(frozen=True)
class RocDrawing:
    """Layout of the head of the ROC curve."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[DrawnLine, ...]
    chance: str
    band: str
    shaded: tuple[str, str] | None
    control_line: str


@dataclass(frozen=True)
class MarkDrawing:
    """A place on the x axis, in percent, with its words, and the side of the line they stand on."""

    at: str
    height: str
    words: str
    side: str


@dataclass(frozen=True)
class ChartDrawing:
    """Layout of a `Chart`."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[DrawnLine, ...]
    chance: str
    band: str
    mark: MarkDrawing | None


@dataclass(frozen=True)
class ForestRow:
    """Layout of an interval: left end, width and estimate in percent of the axis."""

    low: str
    width: str
    estimate: str


@dataclass(frozen=True)
class Forest:
    """Layout of intervals on one axis."""

    ticks: tuple[Tick, ...]
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True)
class HistogramDrawing:
    """Layout of the histogram: positives upwards, negatives downwards."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    positives: str
    negatives: str
    threshold: str | None


@dataclass(frozen=True)
class Bar:
    """Layout of a coefficient: left end and width in percent, and its label."""

    feature: str
    left: str
    width: str
    label: str
    towards: str
    direction: str


def ticks(low: float, high: float, about: int = 5) -> tuple[Tick, ...]:
    """Place ticks at round numbers between two ends.

    >>> [(tick.at, tick.label) for tick in ticks(0.0, 0.05)]
    [('0', '0'), ('20', '0.01'), ('40', '0.02'), ('60', '0.03'), ('80', '0.04'), ('100', '0.05')]
    """
    step = tick_step(high - low, about)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    places = [number * step for number in range(first, last + 1)]
    return tuple(Tick(_percent((place - low) / (high - low)), f"{place:.6g}") for place in places)


def roc_drawing(chart: RocChart) -> RocDrawing:
    """Lay out the head of the ROC curve."""
    right = chart.right
    others = [line for line in chart.lines if not line.picked]
    lines = [
        DrawnLine(line.name, 0 if line.picked else 1 + others.index(line), _path(line.fpr, line.tpr, right))
        for line in chart.lines
    ]
    band = ""
    if chart.band is not None:
        above = _path(chart.band.fpr, chart.band.upper, right, rounding=floor)
        below = _path(chart.band.fpr[::-1], chart.band.lower[::-1], right, rounding=ceil)
        band = f"{above}L{below[1:]}Z"
    shaded = None
    if chart.shaded is not None:
        shaded = (_percent(chart.shaded[0] / right), _percent((chart.shaded[1] - chart.shaded[0]) / right))
    control_line = ""
    if chart.control_line is not None:
        (x0, y0), (x1, y1) = chart.control_line
        control_line = _path((x0, x1), (y0, y1), right)
    return RocDrawing(
        x_ticks=ticks(0.0, right),
        y_ticks=ticks(0.0, 1.0),
        lines=tuple(lines),
        chance=_path((0.0, right), (0.0, right), right),
        band=band,
        shaded=shaded,
        control_line=control_line,
    )


def chart_drawing(chart: Chart) -> ChartDrawing:
    """Lay out lines of counts or shares."""
    right, top = chart.right, chart.top
    others = [line for line in chart.lines if not line.picked]
    lines = [
        DrawnLine(line.name, 0 if line.picked else 1 + others.index(line), _path(line.x, line.y, right, top=top))
        for line in chart.lines
    ]
    band = ""
    if chart.band is not None:
        above = _path(chart.band.x, chart.band.upper, right, top=top, rounding=floor)
        below = _path(chart.band.x[::-1], chart.band.lower[::-1], right, top=top, rounding=ceil)
        band = f"{above}L{below[1:]}Z"
    mark = None
    if chart.mark is not None and chart.mark.x <= right:
        place = chart.mark.x / right
        side = "left" if place > _MIDDLE else "right"
        mark = MarkDrawing(_percent(place), _percent(chart.mark.y / top), chart.mark.words, side)
    in_percent = _in_percent if chart.shares else _counts
    return ChartDrawing(
        x_ticks=in_percent(right),
        y_ticks=in_percent(top),
        lines=tuple(lines),
        chance=_path(chart.chance.x, chart.chance.y, right, top=top),
        band=band,
        mark=mark,
    )


def _counts(end: float) -> tuple[Tick, ...]:
    """Ticks at whole numbers."""
    whole = [tick for tick in ticks(0.0, end) if float(tick.label).is_integer()]
    return tuple(Tick(tick.at, f"{float(tick.label):,.0f}") for tick in whole)


def _in_percent(end: float) -> tuple[Tick, ...]:
    return tuple(Tick(tick.at, f"{100 * float(tick.label):.6g} %") for tick in ticks(0.0, end))


def forest(models: Sequence[ModelPart | FamilyResult]) -> Forest:
    """Lay out intervals, one per row, on one axis that just contains them."""
    low, high = min(each.low for each in models), max(each.high for each in models)
    room = 0.04 * (high - low) if high > low else 0.5
    low, high = low - room, high + room
    rows = tuple(
        ForestRow(
            _percent((each.low - low) / (high - low)),
            _percent((each.high - each.low) / (high - low)),
            _percent((each.estimate - low) / (high - low)),
        )
        for each in models
    )
    return Forest(ticks(low, high, 4), rows)


def histogram_drawing(histogram: Histogram) -> HistogramDrawing:
    """Lay out the scores of both classes back to back, each as shares of its class."""
    edges = histogram.edges
    low, high = edges[0], edges[-1]
    most = max(*histogram.pos_shares, *histogram.neg_shares)
    places = [SIDE * (edge - low) / (high - low) for edge in edges]
    threshold = low if histogram.threshold is None else histogram.threshold
    seen = histogram.threshold is not None and low <= threshold <= high
    shares = [tick for tick in ticks(0.0, most, 3) if tick.label != "0"]
    y_ticks = [Tick("50", "0 %")]
    for tick in shares:
        label = f"{100 * float(tick.label):g} %"
        y_ticks += [
            Tick(_percent(0.5 + float(tick.at) / 200), label),
            Tick(_percent(0.5 - float(tick.at) / 200), label),
        ]
    return HistogramDrawing(
        x_ticks=ticks(low, high),
        y_ticks=tuple(y_ticks),
        positives=_bars(places, histogram.pos_shares, most, up=True),
        negatives=_bars(places, histogram.neg_shares, most, up=False),
        threshold=_percent((threshold - low) / (high - low)) if seen else None,
    )


def spark(pos_shares: Sequence[float], neg_shares: Sequence[float]) -> tuple[str, str]:
    """Lay out a small histogram of both classes back to back: positives upwards, the others downwards."""
    most = max(*pos_shares, *neg_shares)
    places = [SIDE * i / len(pos_shares) for i in range(len(pos_shares) + 1)]
    return _bars(places, pos_shares, most, up=True), _bars(places, neg_shares, most, up=False)


def bars(drivers: Sequence[Driver]) -> tuple[Bar, ...]:
    """Lay out coefficients on both sides of the middle; the longest fills its half."""
    longest = max((abs(each.value) for each in drivers), default=1.0)
    placed = []
    for each in drivers:
        width = abs(each.value) / longest / 2
        left = 0.5 if each.value > 0 else 0.5 - width
        towards = "positive" if each.value > 0 else "negative"
        placed.append(
            Bar(each.feature, _percent(left), _percent(width), coefficient(each.value), towards, each.direction)
        )
    return tuple(placed)


def _bars(places: Sequence[float], shares: Sequence[float], most: float, *, up: bool) -> str:
    middle, sign = SIDE / 2, -1 if up else 1
    path = [f"M{_short(places[0])} {_short(middle)}"]
    for left, right, share in zip(places[:-1], places[1:], shares, strict=True):
        height = _short(middle + sign * middle * share / most)
        path.append(f"L{_short(left)} {height}L{_short(right)} {height}")
    return "".join([*path, f"L{_short(places[-1])} {_short(middle)}Z"])


def _path(
    xs: Sequence[float],
    ys: Sequence[float],
    right: float,
    *,
    top: float = 1.0,
    rounding: Callable[[float], float] = round,
) -> str:
    """Join points by straight lines; ``rounding`` rounds heights, which grow downwards here."""
    points = (
        f"{_short(SIDE * x / right)} {_short(rounding(10 * SIDE * (1 - y / top)) / 10)}"
        for x, y in zip(xs, ys, strict=True)
    )
    return "M" + "L".join(points)


def _short(value: float) -> str:
    """Print a coordinate with one decimal, omitted if it is 0."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _percent(share: float) -> str:
    return f"{100 * share:.3f}".rstrip("0").rstrip(".")
