"""DET axes: miss rate against false positive rate, both on normal deviate scales (Martin et al. 1997)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri

from headrank._extras import needs_extra
from headrank._format import shown
from headrank.curve import RocCurve
from headrank.plots.drawing import COLOURS, FONT_SIZE, LINE_STYLES
from headrank.plots.polyline import Polyline, Window, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from headrank.measures import Measure

TICKS = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8)
_PIECES = 40
"""Pieces of a tie between the classes, which these axes bend."""


def det_vertices(curve: RocCurve) -> Polyline:
    """Return the normal deviates of FPR and miss rate along the curve. O(n_levels).

    A rate of 0 or 1 lies at infinity. It is drawn at half a row of its class.

    >>> from scipy.special import ndtr
    >>> x, y = det_vertices(RocCurve.from_scores([1, 1, 0, 0], [4, 2, 3, 1]))
    >>> ndtr(x).round(2).tolist(), ndtr(y).round(2).tolist()
    ([0.25, 0.25, 0.5, 0.5, 0.75], [0.75, 0.5, 0.5, 0.25, 0.25])
    """
    fpr, tpr = visible(curve, Window(left=0.0, right=1.0, top=1.0))
    steps = np.linspace(0, 1, _PIECES + 1)[1:]
    slanted = (np.diff(fpr) > 0) & (np.diff(tpr) > 0)
    pieces = [steps if bent else steps[-1:] for bent in slanted]
    along = np.concatenate([[0.0], *(i + part for i, part in enumerate(pieces))])
    numbers = np.arange(fpr.size)
    ends = (0.5 / curve.n_neg, 0.5 / curve.n_pos)
    return tuple(
        ndtri(np.clip(np.interp(along, numbers, rates), low, 1 - low))
        for rates, low in zip((fpr, 1 - tpr), ends, strict=True)
    )


class DetAxes:
    """Draws the curves of a display on DET axes."""

    curves: dict[str, RocCurve]
    pos_label: Any
    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    chance_line_: Line2D | None

    def _labels(self, measure: Measure | None) -> list[str]:
        raise NotImplementedError

    def plot_det(
        self,
        ax: Axes | None = None,
        *,
        measure: Measure | str | None = None,
        chance: bool = True,
        despine: bool = False,
    ) -> Self:
        """Draw the curves on DET axes: miss rate, 1 - TPR, against FPR, both on normal deviate scales.

        Normal scores of equal variance give a straight line of slope -1, and the head is spread out: small rates take
        as much room as large ones. Lower is better. Rates of 0 and 1 lie at infinity and are drawn at half a row.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        measure : Measure or str, optional
            A measure or its short name, whose value is given in the legend.
        chance : bool
            Whether to draw the curve of a constant score.
        despine : bool
            Whether to remove the top and right spines.

        Examples
        --------
        >>> from headrank.plots import RocDisplay
        >>> curve = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])
        >>> display = RocDisplay({"toy": curve}).plot_det(measure="auc")
        >>> display.lines_[0].get_label(), display.ax_.get_ylabel()
        ('toy, auc = 0.750', 'Miss rate (1 - TPR)')
        >>> import matplotlib.pyplot as plt
        >>> plt.close(display.figure_)
        """
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        from headrank.measures import measure as measure_of

        labels = self._labels(None if measure is None else measure_of(measure))
        if not all(curve.complete for curve in self.curves.values()):
            raise ValueError("DET axes show whole curves, but at least one of these is a head; use plot()")
        if ax is None:
            _, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]  # axes one can draw on have one
        self.lines_ = []
        for i, (curve, label) in enumerate(zip(self.curves.values(), labels, strict=True)):
            look: dict[str, Any] = {
                "color": COLOURS[i % len(COLOURS)],
                "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
                "linewidth": 1.6,
            }
            self.lines_ += ax.plot(*det_vertices(curve), label=label, **look)
        low, high = self._limits()
        ends = np.array([low, high])
        self.chance_line_ = None
        if chance:
            look = {"color": "0.45", "linestyle": (0, (1, 2)), "linewidth": 1.2, "label": "chance", "zorder": 1.5}
            self.chance_line_ = ax.plot(ends, -ends, **look)[0]
        _frame(ax, low, high, self.pos_label, despine=despine)
        return self

    def _limits(self) -> tuple[float, float]:
        """The same for both axes, from the smallest rate drawn to just beyond chance."""
        lowest = min(float(np.min(line.get_xydata())) for line in self.lines_)
        return min(lowest, float(ndtri(0.02))), float(ndtri(0.9))


def _frame(ax: Axes, low: float, high: float, pos_label: Any, *, despine: bool) -> None:
    positive = "" if pos_label is None else f" (positive: {pos_label})"
    ticks = [tick for tick in TICKS if low <= ndtri(tick) <= high]
    names = [f"{shown(float(f'{100 * tick:.6g}'))} %" for tick in ticks]
    ax.set_xticks(ndtri(ticks), names)
    ax.set_yticks(ndtri(ticks), names)
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_xlabel("False positive rate" + positive)
    ax.set_ylabel("Miss rate (1 - TPR)" + positive)
    ax.set_aspect("equal")
    ax.tick_params(labelsize=FONT_SIZE)
    ax.grid(color="0.9", linewidth=0.6)
    ax.legend(loc="upper right", fontsize=FONT_SIZE)
    if despine:
        ax.spines[["top", "right"]].set_visible(False)
