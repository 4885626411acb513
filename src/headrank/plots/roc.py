"""RocDisplay: a plot of ROC curves and their measures, after scikit-learn's conventions for displays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypedDict, Unpack

import numpy as np

from headrank._extras import needs_extra
from headrank._format import number
from headrank._numbers import rate
from headrank._types import ArrayLike
from headrank.curve import RocCurve
from headrank.measures import AUC, Measure
from headrank.measures import measure as measure_of
from headrank.plots.bands import Band, check_band, limits_of, named
from headrank.plots.det import DetAxes
from headrank.plots.drawing import Contents, Pen
from headrank.plots.named_curves import named_curves, scored_curves
from headrank.plots.polyline import Window, clip, first_false_positive
from headrank.plots.regions import point_of, region_of, top_of
from headrank.plots.responses import fold_curves, positive_scores

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

UNNAMED = "ROC curve"
_MOST_SHADED = 3
"""More overlaid shades than this cannot be distinguished."""
Styles: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Keyword arguments of matplotlib's ``plot``, for all curves or for each."""


class PlotOptions(TypedDict, total=False):
    """The options of `RocDisplay.plot`, which all constructors pass on."""

    measure: Measure | str | None
    top: float | None
    max_fpr: float | None
    log: bool
    chance: bool
    band: Band | None
    confidence: float
    curve_kwargs: Styles | None
    despine: bool


class RocDisplay(DetAxes):
    """Plot of ROC curves: with the range of a partial AUC, the best fraction, a band, or zoomed in on the head.

    Made from curves, or with `from_predictions`, `from_estimator` or `from_cv_results`, which draw immediately.
    `plot_det` draws the same curves on DET axes.

    Parameters
    ----------
    curves : RocCurve or mapping of str to RocCurve
        One curve, or several by their name in the legend. A head is drawn down to its depth.
    pos_label : optional
        The label of the positive class, for the axes.
    folds_of : str, optional
        Name of the scorer if the curves are its folds: they are drawn alike, with one legend entry that gives the mean
        and standard deviation of the measure.

    Attributes
    ----------
    curves : dict of str to RocCurve
        The full curves; only the visible vertices are drawn.
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.
    lines_ : list of Line2D
        One per curve, in the order of ``curves``.
    shades_ : list of PolyCollection
        The measure's range under each curve; empty if the measure has none.
    bands_ : list of PolyCollection
        The band of each curve, if requested.
    points_ : list of Line2D
        The point of each curve at its best fraction ``top``, then the point of the measure.
    control_line_ : list of Line2D or None
        The control lines of ``top``, one if all curves share it.
    chance_line_ : Line2D or None
        The curve of a constant score.

    Examples
    --------
    >>> from headrank.measures import PartialAUC
    >>> curve = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])
    >>> display = RocDisplay({"toy": curve}).plot(measure=PartialAUC(max_fpr=0.5))
    >>> display.lines_[0].get_label()
    'toy, pauc@0.5 = 0.500'
    >>> display.to_frame().columns
    ['name', 'threshold', 'fpr', 'tpr']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    shades_: list[PolyCollection]
    bands_: list[PolyCollection]
    points_: list[Line2D]
    control_line_: list[Line2D] | None

    def __init__(
        self, curves: RocCurve | Mapping[str, RocCurve], *, pos_label: Any = None, folds_of: str | None = None
    ) -> None:
        self.curves: dict[str, RocCurve] = named_curves(curves, UNNAMED)
        self.pos_label = pos_label
        self.folds_of = folds_of

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Unpack[PlotOptions],
    ) -> Self:
        """Plot the curve of one scorer, or of several scorers on the same rows.

        Parameters
        ----------
        y : array-like of shape (n,)
            0/1, -1/+1, bool, or any two values with ``pos_label``.
        scores : array-like of shape (n,), or mapping of str to such
            Finite numbers, higher = more positive. The direction is never flipped.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is equivalent to repeating the row.
        pos_label : optional
            The label of the positive class in ``y``.
        name : str, optional
            Name of a single scorer; several are named by the keys of the mapping.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **plot_options
            See `plot`.

        Examples
        --------
        >>> display = RocDisplay.from_predictions([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 2, 3, 1]}, measure=AUC())
        >>> [line.get_label() for line in display.lines_]
        ['a, auc = 0.750', 'b, auc = 1.000']
        >>> import matplotlib.pyplot as plt
        >>> plt.close(display.figure_)
        """
        curves = scored_curves(y, scores, sample_weight, pos_label=pos_label, name=name, unnamed=UNNAMED)
        return cls(curves, pos_label=pos_label).plot(ax, **plot_options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Unpack[PlotOptions],
    ) -> Self:
        """Plot the curve of a fitted estimator, which should be evaluated on held-out rows.

        The scores are those of ``decision_function``, or else ``predict_proba``, for the class ``pos_label``. The
        name is the estimator's class unless given; the other parameters are those of `from_predictions`.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> model = LogisticRegression().fit([[0], [1]], ["ham", "spam"])
        >>> display = RocDisplay.from_estimator(model, [[0], [1]], ["ham", "spam"], pos_label="spam", measure=AUC())
        >>> display.lines_[0].get_label()
        'LogisticRegression, auc = 1.000'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(display.figure_)
        """
        scores = positive_scores(estimator, X, pos_label=pos_label)
        curve = RocCurve.from_scores(y, scores, sample_weight, pos_label=pos_label)
        named = {type(estimator).__name__ if name is None else name: curve}
        return cls(named, pos_label=pos_label).plot(ax, **plot_options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Unpack[PlotOptions],
    ) -> Self:
        """Plot one curve per fold of a cross-validation, each on its test rows.

        The legend gives the mean and standard deviation over the folds of ``measure``, by default the AUC.

        Parameters
        ----------
        cv_results : dict
            From scikit-learn's ``cross_validate`` with ``return_estimator=True`` and ``return_indices=True``.
        X, y, sample_weight
            All rows that were cross-validated, in the same order.
        pos_label, name, ax, **plot_options
            See `from_estimator`.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_validate
        >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 1, 1, 0]
        >>> results = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
        >>> display = RocDisplay.from_cv_results(results, X, y)
        >>> list(display.curves)
        ['fold 1', 'fold 2', 'fold 3']
        >>> import matplotlib.pyplot as plt
        >>> plt.close(display.figure_)
        """
        curves = list(fold_curves(cv_results, X, y, sample_weight, pos_label=pos_label))
        folds_of = type(cv_results["estimator"][0]).__name__ if name is None else name
        named = {f"fold {number}": curve for number, curve in enumerate(curves, start=1)}
        return cls(named, pos_label=pos_label, folds_of=folds_of).plot(ax, **plot_options)

    def to_frame(self, *, drop_intermediate: bool = False) -> pl.DataFrame:
        """Return the vertices of all curves as a polars data frame: name, threshold, fpr, tpr."""
        with needs_extra("cli"):
            import polars as pl

        frames = []
        for name, curve in self.curves.items():
            columns = pl.lit(name).alias("name"), pl.col("threshold").cast(pl.Float64), "fpr", "tpr"
            frames.append(curve.to_frame(drop_intermediate=drop_intermediate).select(*columns))
        result: pl.DataFrame = pl.concat(frames)
        return result

    def plot(
        self,
        ax: Axes | None = None,
        *,
        measure: Measure | str | None = None,
        top: float | None = None,
        max_fpr: float | None = None,
        log: bool = False,
        chance: bool = True,
        band: Band | None = None,
        confidence: float = 0.95,
        curve_kwargs: Styles | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the curves. O(n_levels); at most a few thousand vertices per curve are drawn.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        measure : Measure or str, optional
            A measure or its short name. Its value is given in the legend. If it covers a range of false positive
            rates, that area is shaded under up to three curves; `TPRAtFPR` and `FPRAtTPR` mark their point.
        top : float in (0, 1], optional
            Marks the best fraction of all rows on each curve, with its control line: all classifiers that predict
            this share of rows positive. Rows tied at the border count in part.
        max_fpr : float in (0, 1], optional
            Show the head only, up to this false positive rate and the highest true positive rate there, including the
            band. By default the whole curve, or the depth of the deepest head.
        log : bool
            Whether the false positive rates are on a logarithmic scale, which starts at half the rate of one negative.
            A point at rate 0 is drawn on the left edge.
        chance : bool
            Whether to draw the curve of a constant score.
        band : {"simultaneous", "pointwise"}, optional
            Shades a confidence band for the true curve, valid for any distribution: for the whole curve
            simultaneously, or for each point separately, which is narrower but guarantees less. For whole curves of
            unweighted rows. The range of the measure is then not shaded.
        confidence : float
            Confidence level of the band.
        curve_kwargs : dict or list of dict, optional
            Keyword arguments for matplotlib's ``plot``: for all curves, or one dict per curve.
        despine : bool
            Whether to remove the top and right spines.
        """
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        # Validate everything before drawing, so that an error leaves no empty or half-drawn figure.
        top = None if top is None else rate("top", top, above_zero=True)
        contents = self._contents(measure, top, max_fpr, log, band, confidence, curve_kwargs)
        if ax is None:
            _, ax = plt.subplots(figsize=(5.2, 5.2) if contents.square else (6.4, 4.8), layout="constrained")
        pen = Pen(ax, contents.window)
        self.ax_, self.figure_ = ax, pen.figure
        self._draw(pen, contents)
        self.chance_line_ = pen.chance(contents.measure) if chance else None
        self.control_line_ = None if top is None else pen.controls(top, contents.controls)
        pen.frame(self.lines_, self.pos_label, square=contents.square, despine=despine)
        return self

    def _contents(
        self,
        measure: Measure | str | None,
        top: float | None,
        max_fpr: float | None,
        log: bool,
        band: Band | None,
        confidence: float,
        curve_kwargs: Styles | None,
    ) -> Contents:
        """Check all options and compute what to draw."""
        curves = list(self.curves.values())
        measure = None if measure is None else measure_of(measure)
        if max_fpr is None and not any(curve.complete for curve in curves):
            max_fpr = max(float(curve.fpr[-1]) for curve in curves)
        window = self._window(max_fpr, log)
        labels = self._labels(measure)
        tops = [] if top is None else [top_of(curve, top) for curve in curves]
        points = [point for point, _ in tops]
        if measure is not None:
            points += [point for curve in curves if (point := point_of(measure, curve))]
        styles = self._styles(curve_kwargs)
        check_band(band)
        limits = [] if band is None else [limits_of(curve, band, confidence, window) for curve in curves]
        window = replace(window, top=max([window.top, *(float(each.upper.max()) for each in limits)]))
        square = max_fpr is None and not log
        band_name = "" if band is None else named(band, confidence)
        controls = [control for _, control in tops]
        return Contents(measure, window, labels, styles, limits, band_name, controls, points, square)

    def _draw(self, pen: Pen, contents: Contents) -> None:
        """Draw the curves with their shades or bands, and points."""
        curves = list(self.curves.values())
        self.lines_ = pen.curves(curves, contents.labels, contents.styles, alike=self.folds_of is not None)
        colours = [line.get_color() for line in self.lines_]
        region = None if contents.measure is None else region_of(contents.measure)
        shaded = self.folds_of is None and len(curves) <= _MOST_SHADED and not contents.limits
        self.shades_ = [] if region is None or not shaded else pen.shades(curves, region, colours)
        self.bands_ = pen.bands(contents.limits, colours, contents.band)
        self.points_ = pen.points(contents.points, colours)

    def _window(self, max_fpr: float | None, log: bool) -> Window:
        right = 1.0 if max_fpr is None else rate("max_fpr", max_fpr, above_zero=True)
        left = min(first_false_positive(curve) for curve in self.curves.values()) / 2 if log else 0.0
        if left >= right:
            raise ValueError(
                f"max_fpr={right:g} leaves nothing to draw on a logarithmic axis: the first false positive is at "
                f"{2 * left:g}; use a larger max_fpr or log=False"
            )
        if max_fpr is None:
            return Window(left, right, 1.0, log)
        # The scale starts at 0, since areas are shaded; it ends at the highest curve in the window.
        heights = [clip((curve.fpr, curve.tpr), 0.0, right)[1][-1] for curve in self.curves.values()]
        return Window(left, right, float(max(heights)) or 1.0, log)

    def _labels(self, measure: Measure | None) -> list[str]:
        if measure is None and self.folds_of is not None:
            measure = AUC()
        if measure is None:
            return list(self.curves)
        values = [measure.value(curve) for curve in self.curves.values()]
        if self.folds_of is None:
            return [f"{name}, {measure} = {number(value)}" for name, value in zip(self.curves, values, strict=True)]
        mean, std = number(float(np.mean(values))), number(float(np.std(values)))
        first = f"{self.folds_of}, {measure} = {mean} ± {std} ({len(values)} folds)"
        return [first, *(f"_{name}" for name in list(self.curves)[1:])]  # an underscore hides it from the legend

    def _styles(self, curve_kwargs: Styles | None) -> list[Mapping[str, Any]]:
        if curve_kwargs is None or isinstance(curve_kwargs, Mapping):
            return [curve_kwargs or {}] * len(self.curves)
        if len(curve_kwargs) != len(self.curves):
            raise ValueError(
                f"curve_kwargs must be one dict or one per curve: there are {len(self.curves)} curves, got "
                f"{len(curve_kwargs)} dicts"
            )
        return list(curve_kwargs)
