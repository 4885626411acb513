"""PathDisplay: the measure and the coefficients of a ranker along a path of C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import listed, short_repr
from headrank._types import BoolVector, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NAMED = 8
"""Number of coefficients named in the legend: the largest ones at the last C."""


class Path(Protocol):
    """The object to plot, as returned by `headrank.path`."""

    Cs: Vector
    measures: Vector
    coefs: Vector
    collapsed: BoolVector
    name: str


class PathDisplay:
    """The measure on the training sample, and the coefficients, along a path of C.

    Parameters
    ----------
    path : RegularisationPath
        From `headrank.path`.
    feature_names : sequence of str, optional
        Names of the features for the legend; their indices by default.

    Attributes
    ----------
    path
        The underlying numbers.
    axes_ : array of two Axes
        The measure above, the coefficients below.
    figure_ : Figure
        The figure of the plot.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> from headrank.estimators import LinearRanker, path
    >>> X, y = coarse_eights()
    >>> display = PathDisplay(path(LinearRanker("pauc@0.3", standardize=True), X, y, Cs=[0.1, 1, 10])).plot()
    >>> display.axes_[0].get_ylabel()
    'pauc@0.3, training'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    axes_: Any
    figure_: Figure

    def __init__(self, path: Path, *, feature_names: Any = None) -> None:
        if getattr(getattr(path, "coefs", None), "ndim", 0) != 2:
            raise TypeError(f"expected the result of headrank.path, got {short_repr(path)}")
        n_features = path.coefs.shape[1]
        names = list(map(str, range(n_features) if feature_names is None else listed("feature_names", feature_names)))
        if len(names) != n_features:
            raise ValueError(f"expected one name for each of {n_features} features, got {len(names)}")
        self.path = path
        self.feature_names = names

    def plot(self) -> Self:
        """Draw both panels in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        self.figure_, self.axes_ = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True, layout="constrained")
        self._draw_measure(self.axes_[0])
        self._draw_coefficients(self.axes_[1])
        for ax in self.axes_:
            ax.grid(color="0.9")
            ax.set_axisbelow(True)
        self.axes_[1].set(xscale="log", xlabel="C")
        return self

    def _draw_measure(self, ax: Axes) -> None:
        path = self.path
        ax.plot(path.Cs, path.measures, marker="o", markersize=4, color="#0072B2")
        if path.collapsed.any():
            ax.plot(path.Cs[path.collapsed], path.measures[path.collapsed], "x", color="#D55E00", label="collapsed")
            ax.legend()
        ax.set_ylabel(f"{path.name}, training")

    def _draw_coefficients(self, ax: Axes) -> None:
        largest = np.argsort(-np.abs(self.path.coefs[-1]))
        for rank, feature in enumerate(largest):
            named = rank < _MOST_NAMED
            label = self.feature_names[feature] if named else "_rest"
            ax.plot(self.path.Cs, self.path.coefs[:, feature], color=None if named else "0.8", lw=1, label=label)
        ax.set_ylabel("coefficient")
        ax.legend(title="feature", ncols=2, fontsize="small", loc="best")
