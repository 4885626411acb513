"""ForestDisplay: a forest plot of intervals, one row per name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from headrank._extras import needs_extra
from headrank._format import number, percent
from headrank._numbers import short_repr
from headrank.bounds.interval import Interval
from headrank.plots.drawing import COLOURS, FONT_SIZE

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_INCHES_OF_ROW = 3.8
"""Width of the intervals, excluding the text beside them."""
_INCHES_PER_LETTER = 0.075
_HALF_ROW = 0.35
"""Half the height of a row's chance mark."""


class ForestDisplay:
    """Forest plot of estimates and intervals, of several scorers, measures or methods.

    Finite-sample intervals are solid with a filled dot; asymptotic ones are dashed with a hollow dot, as the legend
    explains. The open end of a one-sided interval is an arrow. The value of a constant score is a dotted line, if it
    does not depend on the sample.

    Parameters
    ----------
    intervals : mapping of str to Interval
        The intervals by row name, from top to bottom.

    Attributes
    ----------
    intervals : dict of str to Interval
        The underlying numbers.
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.
    lines_, points_ : lists of Line2D
        One per row.
    chance_lines_ : list of Line2D
        One for all rows if they share the value, else one for each row that has a chance value.

    Examples
    --------
    >>> from headrank.bounds.fixed.auc import hoeffding, kl
    >>> from headrank.curve import RocCurve
    >>> curve = RocCurve.from_scores([1] * 50 + [0] * 50, [1] * 50 + [0] * 50)
    >>> display = ForestDisplay({"Hoeffding": hoeffding(curve), "Chernoff": kl(curve)}).plot()
    >>> display.ax_.get_xlabel()
    'auc, 95 % confidence'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    points_: list[Line2D]
    chance_lines_: list[Line2D]

    def __init__(self, intervals: Mapping[str, Interval]) -> None:
        if not isinstance(intervals, Mapping):
            raise TypeError(f"intervals must be a mapping of names to Interval, got {short_repr(intervals)}")
        if not intervals:
            raise ValueError("expected at least one interval, got none")
        for name, interval in intervals.items():
            if not isinstance(interval, Interval):
                raise TypeError(f"expected an Interval for {name!r}, got {type(interval).__name__}")
        self.intervals = dict(intervals)

    def to_frame(self) -> pl.DataFrame:
        """Return the intervals as a polars data frame, one row each."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([{"name": name} | each.as_dict() for name, each in self.intervals.items()])

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one row per interval, on these axes or in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        intervals = list(self.intervals.values())
        names, numbers, common = self._texts()
        if ax is None:
            text_width = (max(map(len, names)) + max(map(len, numbers))) * _INCHES_PER_LETTER
            size = (_INCHES_OF_ROW + text_width, 1.3 + 0.34 * len(intervals))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]  # axes have one
        self.lines_, self.points_ = [], []
        for row, interval in enumerate(intervals):
            self._draw(ax, row, interval)
        self.chance_lines_ = self._draw_chance(ax, intervals)
        frame_rows(ax, names, numbers, common)
        _draw_legend(ax)
        return self

    def _draw(self, ax: Axes, row: int, interval: Interval) -> None:
        colour = COLOURS[0] if interval.finite_sample else COLOURS[1]
        dashes = "-" if interval.finite_sample else (0, (3, 1.5))
        self.lines_ += ax.plot([interval.low, interval.high], [row, row], color=colour, linestyle=dashes, linewidth=1.8)
        for end, open_side, arrow in ((interval.low, "upper", "<"), (interval.high, "lower", ">")):
            marker, size = (arrow, 6) if interval.side == open_side else ("|", 9)
            ax.plot(end, row, marker=marker, markersize=size, markeredgewidth=1.8, color=colour, clip_on=False)
        inside = colour if interval.finite_sample else "white"
        self.points_ += ax.plot(
            interval.estimate,
            row,
            marker="o",
            markersize=6.5,
            color=colour,
            markerfacecolor=inside,
            linestyle=dashes,  # for the legend, which shows line and dot together
            label="any sample size" if interval.finite_sample else "asymptotic",
            clip_on=False,
            zorder=3,
        )

    def _draw_chance(self, ax: Axes, intervals: list[Interval]) -> list[Line2D]:
        look: dict[str, Any] = {"color": "0.45", "linestyle": (0, (1, 2)), "linewidth": 1.2, "zorder": 1.5}
        values = [interval.measure.chance for interval in intervals]
        if None not in values and len(set(values)) == 1:
            return [ax.axvline(values[0], **look, label=f"chance, {number(values[0])}")]  # type: ignore[arg-type]
        lines: list[Line2D] = []
        for row, value in enumerate(values):
            if value is not None:
                label = "_chance" if lines else "chance"
                lines += ax.plot([value, value], [row - _HALF_ROW, row + _HALF_ROW], **look, label=label)
        return lines

    def _texts(self) -> tuple[list[str], list[str], str]:
        """Return the text to the left and right of each row, and the axis label: what all rows have in common."""
        intervals = list(self.intervals.values())
        measures, confidences, methods = (
            {getattr(interval, name) for interval in intervals} for name in ("measure", "confidence", "method")
        )
        names, numbers, common = list(self.intervals), [_where(interval) for interval in intervals], []
        if len(measures) == 1:
            common.append(str(intervals[0].measure))
        else:
            names = [f"{name}, {interval.measure}" for name, interval in self.intervals.items()]
        if len(confidences) == 1:
            common.append(f"{percent(intervals[0].confidence)} confidence")
        else:
            numbers = [f"{text}, {percent(each.confidence)}" for text, each in zip(numbers, intervals, strict=True)]
        if len(methods) == 1:
            common.append(f"method {intervals[0].method}")
        else:
            numbers = [f"{text}, {each.method}" for text, each in zip(numbers, intervals, strict=True)]
        return names, numbers, ", ".join(common)


def _where(interval: Interval) -> str:
    low, estimate, high = (number(value) for value in (interval.low, interval.estimate, interval.high))
    ends = {"two-sided": f"{low} to {high}", "lower": f"at least {low}", "upper": f"at most {high}"}
    return f"{estimate} ({ends[interval.side]})"


def frame_rows(ax: Axes, names: list[str], notes: list[str], label: str) -> None:
    """Write a text to the left and to the right of each row, from top to bottom, and the label below."""
    rows = range(len(names))
    ax.set_yticks(rows, names)
    right = ax.secondary_yaxis("right")
    right.set_yticks(rows, notes)
    for axis, spine in ((ax, "left"), (right, "right")):
        axis.tick_params(axis="y", length=0)
        axis.spines[spine].set_visible(False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(label)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _draw_legend(ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))  # one entry for each style
    above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    ax.legend(list(known.values()), list(known), **above, fontsize=FONT_SIZE, ncols=3, frameon=False)
