"""CrossValidationDisplay: the measure of each candidate on the folds, and which was selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from headrank._extras import needs_extra
from headrank.measures import Measure
from headrank.plots.drawing import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE_STYLES = ("-", "--", ":", "-.")
"""One for each bandwidth."""
_LEVELS = ("-.", ":", (0, (6, 1, 1, 1, 1, 1)))
"""One for each average."""


class Chosen(Protocol):
    """The object to plot: a fitted `headrank.LinearRankerCV`."""

    measure_: Measure
    """As computed on the folds."""
    trials_: Sequence[Any]
    best_: Any


class CrossValidationDisplay:
    """The mean of the measure over the folds against C, with a line for each surrogate and bandwidth.

    The selected candidate is circled, or its members if it is an average; the mean of an average is a horizontal line.
    The error bars are one standard error of the mean over folds. They show how noisy a mean is, not whether two
    candidates differ: those are compared fold by fold. Crosses mark collapsed fits.

    Parameters
    ----------
    ranker : LinearRankerCV
        A fitted ranker.

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
        if not hasattr(ranker, "trials_"):
            raise ValueError("expected a fitted LinearRankerCV; call fit first")
        self.ranker = ranker

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on these axes, or in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
        self.ax_ = ax
        self.figure_ = ax.get_figure(root=True)  # type: ignore[assignment]  # axes one can draw on have one
        measure = self.ranker.measure_
        sign = 1 if measure.greater_is_better else -1
        lines: dict[tuple[str, float | None], list[Any]] = {}
        levels: list[Any] = []
        look: dict[str, Any]
        chosen = getattr(self.ranker.best_, "members", [self.ranker.best_])
        for trial in self.ranker.trials_:
            if trial.candidate.C is None:  # an average has no C
                look = {"color": "0.4", "linewidth": 1.0, "linestyle": _LEVELS[len(levels) % len(_LEVELS)]}
                levels.append(ax.axhline(sign * trial.mean, label=trial.candidate.surrogate, **look))
                continue
            lines.setdefault((trial.candidate.surrogate, trial.candidate.bandwidth), []).append(trial)
        colours = dict(zip(dict.fromkeys(name for name, _ in lines), COLOURS, strict=False))
        for i, ((name, bandwidth), trials) in enumerate(lines.items()):
            dashes = [key for key in lines if key[0] == name].index((name, bandwidth)) % len(_LINE_STYLES)
            # Error bars at the same C are drawn side by side.
            Cs = np.array([trial.candidate.C for trial in trials]) * 1.06 ** (i - len(lines) / 2)
            means = np.array([sign * trial.mean for trial in trials])
            label = name if bandwidth is None else f"{name}, bandwidth {bandwidth:g}"
            look = {"color": colours[name], "linestyle": _LINE_STYLES[dashes], "label": label}
            look |= {"marker": "o", "markersize": 3.5, "linewidth": 1.4, "elinewidth": 0.7}
            ax.errorbar(Cs, means, [trial.standard_error for trial in trials], **look)
            collapsed = np.array([trial.has_collapsed for trial in trials])
            if collapsed.any():
                look = {"color": colours[name], "markersize": 8, "label": f"{name}, collapsed"}
                ax.plot(Cs[collapsed], means[collapsed], "x", **look)
            for C, mean, trial in zip(Cs, means, trials, strict=True):
                if trial.candidate in chosen:
                    label = f"{'selected' if len(chosen) == 1 else 'averaged'}: {trial.candidate}"
                    ax.plot(C, mean, "o", markersize=13, fillstyle="none", color="0.2", label=label)
        n_folds = self.ranker.trials_[0].values.size
        ax.set(xscale="log", xlabel="C", ylabel=f"{measure}, mean over {n_folds} folds")
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self
