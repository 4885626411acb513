"""PrecisionRecallDisplay: precision against recall, for the share of positives that there will be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent
from headrank._numbers import inner_rate
from headrank._types import ArrayLike, Vector
from headrank.curve import RocCurve
from headrank.measures import AveragePrecision, PrecisionRecallArea
from headrank.plots.drawing import COLOURS, FONT_SIZE, LINE_STYLES
from headrank.plots.named_curves import named_curves, scored_curves
from headrank.plots.responses import positive_scores

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_UNNAMED = "precision-recall curve"
_POINTS = 1000


class PrecisionRecallDisplay:
    """Plot of precision against recall, with a certified band.

    The precision is read where each positive is found, tied rows in random order. It depends on the share of positives:
    with ``positive_rate`` the curve is drawn for a population in which that share is another one than in the sample,
    which leaves the ROC curve as it is.

    Parameters
    ----------
    curves : RocCurve or mapping of str to RocCurve
        One whole curve, or several by their name in the legend.
    positive_rate : float in (0, 1), optional
        The share of positives in the population. By default that of each sample.

    Attributes
    ----------
    curves : dict of str to RocCurve
        The curves.
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.
    lines_ : list of Line2D
        One per curve, in the order of ``curves``.
    bands_ : list of PolyCollection
        The band of each curve, if requested.
    chance_lines_ : list of Line2D
        The precision of a constant score, the share of positives: one line, or one for each different share.

    Examples
    --------
    >>> curve = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])
    >>> display = PrecisionRecallDisplay({"toy": curve}).plot()
    >>> display.lines_[0].get_label()
    'toy, ap = 0.833'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    bands_: list[PolyCollection]
    chance_lines_: list[Line2D]

    def __init__(self, curves: RocCurve | Mapping[str, RocCurve], *, positive_rate: float | None = None) -> None:
        self.curves = named_curves(curves, _UNNAMED)
        for name, curve in self.curves.items():
            curve.require_complete(f"precision against recall of {name!r}")
        self.positive_rate = None if positive_rate is None else inner_rate("positive_rate", positive_rate)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        positive_rate: float | None = None,
        ax: Axes | None = None,
        band: bool = False,
        confidence: float = 0.95,
    ) -> Self:
        """Plot the curve of one scorer, or of several scorers on the same rows; see `RocDisplay.from_predictions`.

        >>> display = PrecisionRecallDisplay.from_predictions([1, 0, 1, 0], [4, 3, 2, 1], positive_rate=0.01)
        >>> display.lines_[0].get_label()
        'precision-recall curve, prauc = 0.507 with 1 % positives'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(display.figure_)
        """
        curves = scored_curves(y, scores, sample_weight, pos_label=pos_label, name=name, unnamed=_UNNAMED)
        return cls(curves, positive_rate=positive_rate).plot(ax, band=band, confidence=confidence)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, pos_label: Any = None, **options: Any) -> Self:
        """Plot the curve of a fitted estimator, on held-out rows; the options are those of `from_predictions`."""
        scores = positive_scores(estimator, X, pos_label=pos_label)
        name = options.pop("name", None) or type(estimator).__name__
        return cls.from_predictions(y, scores, pos_label=pos_label, name=name, **options)

    def to_frame(self) -> pl.DataFrame:
        """Return what is drawn as a polars data frame: name, recall, precision."""
        with needs_extra("cli"):
            import polars as pl

        frames = []
        for name, curve in self.curves.items():
            recall, precision = precisions(curve, self.positive_rate)
            frames.append(pl.DataFrame({"name": [name] * recall.size, "recall": recall, "precision": precision}))
        result: pl.DataFrame = pl.concat(frames)
        return result

    def plot(self, ax: Axes | None = None, *, band: bool = False, confidence: float = 0.95) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        band : bool
            Whether to shade a band that holds the true curve everywhere, for any distribution: from the band of the ROC
            curve and limits of the share of positives (`headrank.interval` of ``prauc`` is the area between its
            edges). For unweighted rows; a random sample of the population unless ``positive_rate`` is given.
        confidence : float
            Confidence level of the band.
        """
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        # Validate everything before drawing, so that an error leaves no empty or half-drawn figure.
        limits = [self._limits(curve, confidence) for curve in self.curves.values()] if band else []
        if ax is None:
            _, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]  # axes have one
        styles = [(COLOURS[i % len(COLOURS)], LINE_STYLES[i % len(LINE_STYLES)]) for i in range(len(self.curves))]
        label: str | None = f"{percent(confidence)} confidence, whole curve"
        self.bands_ = []
        for (recall, low, high), (colour, _) in zip(limits, styles, strict=False):
            look: dict[str, Any] = {"color": colour, "alpha": 0.15, "linewidth": 0}
            self.bands_.append(ax.fill_between(recall, low, high, label=label, **look))
            label = None  # one entry for all bands
        self.lines_ = []
        for (name, curve), (colour, dashes) in zip(self.curves.items(), styles, strict=True):
            drawn = precisions(curve, self.positive_rate)
            words = f"{name}, {self._value(curve)}"
            self.lines_ += ax.plot(*drawn, color=colour, linestyle=dashes, linewidth=1.6, label=words)
        self._frame(ax)
        return self

    def _value(self, curve: RocCurve) -> str:
        if self.positive_rate is None:
            return f"ap = {AveragePrecision().value(curve):.3f}"
        p = self.positive_rate
        pos, neg = curve.pos * (p / curve.n_pos), curve.neg * ((1 - p) / curve.n_neg)
        elsewhere = RocCurve(curve.scores, pos, neg, p, 1 - p, weighted=True)
        return f"prauc = {PrecisionRecallArea().value(elsewhere):.3f} with {percent(p)} positives"

    def _limits(self, curve: RocCurve, confidence: float) -> tuple[Vector, Vector, Vector]:
        from headrank.bounds.band.precision import precision_limits
        from headrank.bounds.confidence import check_confidence

        within = precision_limits(curve, confidence=check_confidence(confidence), positive_rate=self.positive_rate)
        recall = np.linspace(0.0, 1.0, _POINTS + 1)[1:]
        return recall, within.lower(recall), within.upper(recall)

    def _frame(self, ax: Axes) -> None:
        rates = {self.positive_rate or float(curve.positive_rate) for curve in self.curves.values()}
        thin: dict[str, Any] = {"color": "0.45", "linewidth": 1.0, "zorder": 1.5, "linestyle": (0, (1, 2))}
        self.chance_lines_ = []
        for rate in sorted(rates):
            self.chance_lines_ += ax.plot([0, 1], [rate, rate], **thin, label=f"chance, {rate:.3g}")
        ax.set_xlabel("Recall")
        ax.set_ylabel("Precision")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1.02)
        ax.set_axisbelow(True)
        ax.grid(color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="best", fontsize=FONT_SIZE, framealpha=0.9)


def precisions(
    curve: RocCurve, positive_rate: float | None = None, *, n_points: int = _POINTS
) -> tuple[Vector, Vector]:
    """Return recalls and the precision at each: where so many positives have been found, ties in random order.

    The first 20 positives, and about ``n_points`` of all.

    >>> recall, precision = precisions(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> recall, precision.round(3)
    (array([0.5, 1. ]), array([1.   , 0.667]))
    """
    p = float(curve.positive_rate) if positive_rate is None else positive_rate
    # By weight there may be less than one positive: as many points as there are scores with positives.
    n = int(np.count_nonzero(curve.pos)) if curve.weighted else int(curve.n_pos)
    hits = np.unique(np.concatenate([np.arange(1, 21), np.linspace(1, n, n_points).round()]))
    recall = hits[hits <= n] / n
    fpr = np.array([curve.fpr_at(float(min(each, 1.0))) for each in recall])
    return recall, np.asarray(p * recall / (p * recall + (1 - p) * fpr))
