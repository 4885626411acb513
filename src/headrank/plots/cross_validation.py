"""CrossValidationDisplay: the measure of each candidate on the folds, and which was selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from headrank._extras import needs_extra
from headrank._numbers import short_repr
from headrank.measures import Measure
from headrank.plots.trials import against_c, along_trees, of_families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Drawing:
    """How one kind of ranker is drawn, and in a figure of which size in inches."""

    draw: Callable[[Axes, Any], None]
    size: Callable[[Any], tuple[float, float]]


_DRAWINGS = {
    "parts_": _Drawing(of_families, lambda ranker: (7.6, 1.2 + 0.36 * (len(ranker.trials_) + len(ranker.left_out_)))),
    "paths_": _Drawing(along_trees, lambda ranker: (7.6, 4.6 + 0.18 * len(ranker.trials_))),
    "trials_": _Drawing(against_c, lambda _ranker: (8.4, 4.6)),
}
"""By the attribute that a fitted ranker has; the first that it has counts."""


class Chosen(Protocol):
    """The object to plot: a ranker that was selected by cross-validation."""

    measure_: Measure
    """As computed on the folds."""
    trials_: Sequence[Any]


class CrossValidationDisplay:
    """The mean of the measure over the folds for everything that was tried, and what was selected.

    - `headrank.LinearRankerCV`: against C, with a line for each surrogate and bandwidth. Crosses mark collapsed fits.
    - `headrank.BoostedRankerCV`: against the number of trees, with a line for each setting.
    - `headrank.RankerCV`: each family alone and the combination, with the weights of the families.

    The selected candidate is circled, or its members if it is an average; the mean of an average is a horizontal line.
    The error bars are one standard error of the mean over folds. They show how noisy a mean is, not whether two
    candidates differ: those are compared fold by fold.

    Parameters
    ----------
    ranker : LinearRankerCV, BoostedRankerCV or RankerCV
        A fitted ranker; one that was loaded from a file will do. The families of a `headrank.RankerCV` can be plotted
        one by one: ``ranker.parts_[0].scorer`` is a `headrank.BoostedRankerCV` if that family is boosted trees.

    Attributes
    ----------
    ranker
        The underlying numbers.
    ax_, figure_
        The axes and figure of the plot.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> from headrank.estimators import LinearRankerCV
    >>> ranker = LinearRankerCV("pauc@0.3", surrogates=("logistic", "tight"), Cs=(0.1, 1.0), cv=3).fit(*coarse_eights())
    >>> display = CrossValidationDisplay(ranker).plot()
    >>> display.ax_.get_ylabel()
    'pauc@0.3, mean over 3 folds'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, ranker: Chosen) -> None:
        drawing = next((each for attribute, each in _DRAWINGS.items() if hasattr(ranker, attribute)), None)
        if drawing is None:
            raise ValueError(
                f"expected a fitted LinearRankerCV, BoostedRankerCV or RankerCV, got {short_repr(ranker)}; call fit "
                "first, or pass the last step of a pipeline (model.estimator[-1] for a model of headrank fit)"
            )
        self.ranker = ranker
        self._drawing = drawing

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on these axes, or in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=self._drawing.size(self.ranker), layout="constrained")
        self.ax_ = ax
        self.figure_ = ax.get_figure(root=True)  # type: ignore[assignment]  # axes one can draw on have one
        self._drawing.draw(ax, self.ranker)
        return self
