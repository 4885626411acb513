"""TreeDisplay: the regions of a ranking tree, and the ROC polyline that each level of splits adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._format import number, rounded_percent
from headrank._numbers import short_repr
from headrank._types import Vector
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.measures.local import TopMeasure
from headrank.plots.drawing import FONT_SIZE
from headrank.plots.regions import region_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

_ROOM = 1.15
"""How much further than the last region but one, or the range of the measure, the axes go."""
_WIDE_ENOUGH = 0.09
"""For its share of positives to be printed: width of a region in the visible part of the list."""
_DARK = 0.55
"""From this place on the colour scale, print in white."""


class FittedTree(Protocol):
    """The object to plot: a fitted `headrank.TreeRanker`."""

    measure: Measure | str
    tree_: Any

    def better_part(self, region: int = 0) -> str:
        """How a region is split."""


class TreeDisplay:
    """The regions of a ranking tree, and the ROC polyline of the training rows that each level of splits adds.

    On the left, the list from its best rows on: each level of splits is a row of boxes, as wide as the share of all
    rows in the region, as dark as its share of positives, which is printed where there is room. A region that is not
    split reaches down to the last level. The axis ends after the head, that is, within the last region.

    On the right, a polyline for each level, with a vertex after each region, and the range of the measure if it has
    one. The values are those of the training rows, so they are optimistic.

    Parameters
    ----------
    ranker : TreeRanker
        A fitted ranker; one that was loaded from a file will do.

    Attributes
    ----------
    ranker
        The underlying numbers.
    axes_ : array of two Axes
        Regions and polylines.
    figure_ : Figure
        The figure of the plot.
    boxes_ : list of Rectangle
        One for each region, in the order of ``ranker.tree_``.
    polylines_ : list of Line2D
        One for each level, from the diagonal to the whole tree.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> from headrank.estimators import TreeRanker
    >>> ranker = TreeRanker("pauc@0.3", cv=None).fit(*coarse_eights())
    >>> display = TreeDisplay(ranker).plot()
    >>> len(display.boxes_) == ranker.tree_.left.size
    True
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    axes_: Any
    figure_: Figure
    boxes_: list[Rectangle]
    polylines_: list[Line2D]

    def __init__(self, ranker: FittedTree) -> None:
        if not hasattr(getattr(ranker, "tree_", None), "gains"):
            raise TypeError(f"expected a fitted TreeRanker, got {short_repr(ranker)}; call fit first")
        self.ranker = ranker

    def to_frame(self) -> pl.DataFrame:
        """Return the regions: where each lies in the list and on the ROC curve, how it is split, and what that adds.

        One row per region in the order of ``ranker.tree_``. ``first`` and ``last`` are shares of all rows, and
        ``better_part`` is the condition for its better part.
        """
        with needs_extra("cli"):
            import polars as pl

        tree = self.ranker.tree_
        (first, last), (pos, neg) = self._extent(), tree.before
        return pl.DataFrame(
            {
                "region": np.arange(tree.left.size),
                "depth": tree.depths,
                "first": first,
                "last": last,
                "positives": tree.pos,
                "negatives": tree.neg,
                "share_of_positives": self._shares(),
                "fpr": (neg + tree.neg) / tree.neg[0],
                "tpr": (pos + tree.pos) / tree.pos[0],
                "gain_in_auc": tree.gains,
                "better_part": [self.ranker.better_part(i) for i in range(tree.left.size)],
            }
        )

    def plot(self) -> Self:
        """Draw both panels in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        self.figure_, self.axes_ = plt.subplots(
            1, 2, figsize=(10.4, 4.4), layout="constrained", gridspec_kw={"width_ratios": [1.25, 1], "wspace": 0.08}
        )
        self._draw_regions(self.axes_[0])
        self._draw_polylines(self.axes_[1])
        return self

    def _extent(self) -> tuple[Vector, Vector]:
        """Where each region begins and ends, in shares of all rows."""
        tree = self.ranker.tree_
        pos, neg = tree.before
        n = tree.pos[0] + tree.neg[0]
        return (pos + neg) / n, (pos + neg + tree.pos + tree.neg) / n

    def _shares(self) -> Vector:
        tree = self.ranker.tree_
        return np.asarray(tree.pos / (tree.pos + tree.neg))

    def _end_of_head(self) -> float | None:
        """The share of all rows at which the range or the best fraction of the measure ends; None if it has none."""
        measure, tree = measure_of(self.ranker.measure), self.ranker.tree_
        if isinstance(measure, TopMeasure):
            return measure.top
        region = region_of(measure)
        if region is None or region.max_fpr == 1:
            return None
        curve = tree.curve()
        tpr = float(np.interp(region.max_fpr, curve.fpr, curve.tpr))
        return float((tpr * curve.n_pos + region.max_fpr * curve.n_neg) / curve.n)

    def _draw_regions(self, ax: Axes) -> None:
        import matplotlib as mpl
        from matplotlib.cm import ScalarMappable
        from matplotlib.patches import Rectangle

        tree, shares = self.ranker.tree_, self._shares()
        first, last = self._extent()
        deepest = int(tree.depths.max())
        head_end = self._end_of_head()
        right = min(1.0, _ROOM * max(float(first[-1]), head_end or 0.0)) if tree.n_leaves > 1 else 1.0
        scale = ScalarMappable(mpl.colors.Normalize(0, float(shares.max())), mpl.colormaps["Blues"])
        self.boxes_ = []
        for i, depth in enumerate(tree.depths):
            height = 1 if tree.is_inner[i] else deepest - depth + 1
            place: Any = (float(first[i]), float(depth)), float(last[i] - first[i]), float(height)
            look: dict[str, Any] = {"facecolor": scale.to_rgba(shares[i]), "edgecolor": "white", "linewidth": 0.7}
            self.boxes_.append(Rectangle(*place, **look))
            ax.add_patch(self.boxes_[-1])
            end = min(float(last[i]), right)
            if end - first[i] >= _WIDE_ENOUGH * right:
                colour = "white" if shares[i] > _DARK * shares.max() else "0.15"
                at = (float(first[i]) + end) / 2, depth + height / 2
                ax.text(*at, rounded_percent(shares[i]), color=colour, ha="center", va="center", fontsize=FONT_SIZE)
        label = "Share of all rows, best first"
        if head_end is not None:
            ax.axvline(head_end, color="0.25", linewidth=0.9, linestyle=(0, (4, 2)))
            label += f" (dashed: end of {measure_of(self.ranker.measure)})"
        ax.set(xlim=(0, right), ylim=(deepest + 1, 0), xlabel=label, ylabel="Splits")
        ax.set_yticks(np.arange(deepest + 1) + 0.5, [str(depth) for depth in range(deepest + 1)])
        ax.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: f"{100 * value:.3g} %"))
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        bar = ax.figure.colorbar(scale, ax=ax, shrink=0.8, pad=0.02, format=lambda value, _: f"{100 * value:.0f} %")
        bar.set_label("Share of positives")

    def _draw_polylines(self, ax: Axes) -> None:
        import matplotlib as mpl

        tree, measure = self.ranker.tree_, measure_of(self.ranker.measure)
        region, deepest = region_of(measure), int(tree.depths.max())
        right = 1.0
        if region is not None and region.max_fpr < 1:
            ax.axvspan(region.min_fpr, region.max_fpr, color="0.94", zorder=0)
            right = min(1.0, _ROOM * region.max_fpr)
        self.polylines_ = []
        for depth in range(deepest + 1):
            curve = tree.curve(max_depth=depth)
            last = depth == deepest
            colour = mpl.colormaps["Blues"](0.25 + 0.75 * depth / max(deepest, 1))
            name = "no split" if depth == 0 else f"{depth} split{'s' if depth > 1 else ''} deep"
            look: dict[str, Any] = {"color": "0.6" if depth == 0 else colour, "linewidth": 2.0 if last else 1.2}
            look |= {"marker": "o", "markersize": 4.5 if last else 3, "clip_on": True}
            self.polylines_ += ax.plot(curve.fpr, curve.tpr, **look, label=f"{name}: {number(measure.value(curve))}")
        ax.set(xlim=(0, right), ylim=(0, 1.02), xlabel="False positive rate", ylabel="True positive rate")
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(title=f"{measure}, training", fontsize=FONT_SIZE, title_fontsize=FONT_SIZE, loc="lower right")
