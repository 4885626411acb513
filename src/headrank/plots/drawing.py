"""Appearance of curves, ranges, lines and points on matplotlib axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import number, shown
from headrank.curve import RocCurve
from headrank.measures import Measure
from headrank.plots.bands import Limits
from headrank.plots.polyline import CELL, Window, clip, visible
from headrank.plots.regions import Control, Point, Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Okabe & Ito (2008): distinguishable with any kind of colour vision. The line styles are for greyscale print; there is
# one fewer, so that the seventh curve does not look like the first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINE_STYLES = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (1.5, 1)), (0, (9, 2)))

FONT_SIZE = 8.5
"""Of the legend, in points."""


@dataclass(frozen=True)
class Contents:
    """What to draw: one label, style and band per curve."""

    measure: Measure | None
    window: Window
    labels: list[str]
    styles: list[Mapping[str, Any]]
    limits: list[Limits]
    band: str
    controls: list[Control]
    points: list[Point]
    square: bool


@dataclass(frozen=True)
class Pen:
    """Draws the visible window on the axes."""

    ax: Axes
    window: Window

    @property
    def figure(self) -> Figure:
        """The figure of the axes, also if they are in a subfigure."""
        figure: Figure = self.ax.get_figure(root=True)  # type: ignore[assignment]  # axes one can draw on have one
        return figure

    def curves(
        self, curves: list[RocCurve], labels: list[str], styles: list[Mapping[str, Any]], *, alike: bool
    ) -> list[Line2D]:
        """Draw each curve in its own colour and line style, or all alike with thin lines."""
        with needs_extra("cli"):
            from matplotlib.cbook import normalize_kwargs
            from matplotlib.lines import Line2D

        # A second display on the same axes continues with the unused colours.
        used = {line.get_color() for line in self.ax.lines}
        colours = [colour for colour in COLOURS if colour not in used] or list(COLOURS)
        lines: list[Line2D] = []
        for i, (curve, label, style) in enumerate(zip(curves, labels, styles, strict=True)):
            look: dict[str, Any] = {"color": colours[0], "linewidth": 0.9, "alpha": 0.7}
            if not alike:
                dashes = LINE_STYLES[i % len(LINE_STYLES)]
                look = {"color": colours[i % len(colours)], "linewidth": 1.6, "linestyle": dashes}
            look |= {"label": label} | normalize_kwargs(dict(style), Line2D)
            lines += self.ax.plot(*visible(curve, self.window), **look)
        return lines

    def shades(self, curves: list[RocCurve], region: Region, colours: list[Any]) -> list[PolyCollection]:
        """Shade the region under each curve."""
        tint = 1 - 0.82 ** (1 / len(curves))  # so that all overlaid are as dark as a single one
        shades: list[PolyCollection] = []
        for curve, colour in zip(curves, colours, strict=True):
            # The curve covers the edge, as its line is wider than the cell, so the shade needs fewer vertices.
            fpr, tpr = visible(curve, self.window, min_fpr=region.min_fpr, max_fpr=region.max_fpr, cell=4 * CELL)
            right = fpr[-1:][tpr[-1:] > region.max_tpr]  # where the upper side of the region ends, if it is reached
            tpr, fpr = clip((tpr, fpr), region.min_tpr, region.max_tpr)
            tpr, fpr = np.append(tpr, np.full(right.size, region.max_tpr)), np.append(fpr, right)
            shades.append(self.ax.fill_between(fpr, region.min_tpr, tpr, color=colour, alpha=tint, linewidth=0))
        return shades

    def bands(self, limits: list[Limits], colours: list[Any], label: str) -> list[PolyCollection]:
        """Shade the band of each curve, with one entry in the legend."""
        tint = 1 - 0.8 ** (1 / max(len(limits), 1))
        bands: list[PolyCollection] = []
        for each, colour in zip(limits, colours, strict=len(limits) > 0):
            name = label if not bands else f"_{label}"
            look: dict[str, Any] = {"color": colour, "alpha": tint, "linewidth": 0, "zorder": 1.2}
            bands.append(self.ax.fill_between(each.fpr, each.lower, each.upper, label=name, **look))
        return bands

    def chance(self, measure: Measure | None) -> Line2D:
        """Draw the chance line, with the chance value of the measure in the legend."""
        value = None if measure is None else measure.chance
        label = "chance" if value is None else f"chance, {measure} = {number(value)}"
        fpr = self.window.spread(self.window.left, self.window.right)
        return self.ax.plot(fpr, fpr, color="0.45", linestyle=(0, (1, 2)), linewidth=1.2, label=label, zorder=1.5)[0]

    def controls(self, top: float, controls: list[Control]) -> list[Line2D]:
        """Draw each distinct control line; curves of the same rows share one."""
        lines: list[Line2D] = []
        for control in dict.fromkeys(controls):
            label = f"best {shown(top)} of all rows"
            known = {line.get_label() for line in lines}
            start = max(control.start, self.window.left)
            fpr = self.window.spread(start, max(control.end, start))
            lines += self.ax.plot(
                fpr,
                control.tpr(fpr),
                color="0.25",
                linewidth=0.9,
                label="_" + label if label in known else label,  # an underscore hides it from the legend
                zorder=1.8,
            )
        return lines

    def points(self, points: list[Point], colours: list[Any]) -> list[Line2D]:
        """Mark the points, without clipping those on the frame."""
        marks: list[Line2D] = []
        for point, colour in zip(points, cycle(colours), strict=False):
            fpr = max(point.fpr, self.window.left)
            inside = fpr <= self.window.right and point.tpr <= self.window.top
            look: dict[str, Any] = {"marker": "o", "markersize": 6.5, "markeredgecolor": "white"}
            marks += self.ax.plot(fpr, point.tpr, **look, color=colour, clip_on=not inside, zorder=4, label="_point")
        return marks

    def frame(self, lines: list[Line2D], pos_label: Any, *, square: bool, despine: bool) -> None:
        """Set labels, limits and spines, and place the legend where it covers no lines."""
        ax, window = self.ax, self.window
        positive = "" if pos_label is None else f" (positive: {pos_label})"
        ax.set_xlabel("False positive rate" + positive)
        ax.set_ylabel("True positive rate" + positive)
        if window.log:
            ax.set_xscale("log")
            ax.set_xlim(window.left, window.right)
        else:
            # A margin on the left, so that the frame does not hide a curve that starts vertically.
            ax.set_xlim(-0.01 * window.right, window.right * (1.01 if square else 1))
        ax.set_ylim(-0.01 * window.top, window.top * (1.01 if square else 1.04))
        ax.set_aspect("equal" if square else "auto", adjustable="box")
        ax.set_axisbelow(True)
        ax.grid(color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(not despine)
        ax.legend(**self._free_place(lines, square=square), fontsize=FONT_SIZE, framealpha=0.9)

    def _free_place(self, lines: list[Line2D], *, square: bool) -> dict[str, Any]:
        """Find the corner where the legend covers no curve, or else place it beside the axes.

        Curves rise from the lower left to the upper right, so only the other two corners can be free. Matplotlib's
        "best" would avoid the chance line and the edges of shades as much as the head of a curve.
        """
        _, labels = self.ax.get_legend_handles_labels()
        axes = self.ax.get_window_extent().transformed(self.figure.dpi_scale_trans.inverted())
        em = FONT_SIZE / 72  # in inches, as the axes
        width = (0.5 * max(map(len, labels)) + 4) * em / axes.width
        height = (1.5 * len(labels) + 1.5) * em / axes.height
        lowest, highest = 1.0, 0.0
        for line in lines:
            fpr, tpr = line.get_data()
            right, up = self.window.across(np.asarray(fpr)), np.asarray(tpr) / self.window.top
            lowest = min(lowest, float(np.interp(1 - width, right, up)))
            highest = max(highest, float(np.interp(width, right, up)))
        covered = {"upper left": max(highest - (1 - height), 0.0), "lower right": max(height - lowest, 0.0)}
        preferred = "lower right" if square else "upper left"
        corner = min(covered, key=lambda name: (covered[name], name != preferred))
        if covered[corner] > 0.05 and self.figure.get_layout_engine() is not None:  # a layout engine makes room for it
            return {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        return {"loc": corner}
