"""PowerDisplay: the power of a test of areas against the number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import inner_rate, whole
from headrank.bounds.planning.planned_test import TestPlan
from headrank.bounds.planning.power import power
from headrank.plots.drawing import COLOURS, FONT_SIZE, LINE_STYLES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N_SIZES = 40
"""Sample sizes at which a line is computed; a simulated one has six."""
_N_SIMULATED = 6


class PowerDisplay:
    """Plot of the power of tests against the number of rows, one line per test.

    Parameters
    ----------
    tests : mapping of str to dict
        A name and the arguments of `headrank.power` for each line, without ``n_pos`` and ``n_neg``. With
        ``method="finite"`` the line is simulated at a few sizes, which takes seconds to minutes.
    positive_rate : float in (0, 1)
        Share of positives among the rows.
    min_rows, max_rows : int
        Range of the number of rows.

    Attributes
    ----------
    plans : dict of str to list of TestPlan
        The powers of each line.
    ax_ : Axes
        The axes of the plot.
    figure_ : Figure
        The figure of the plot.

    Examples
    --------
    >>> tests = {"same rows": {"auc": (0.9, 0.85)}, "two samples": {"auc": (0.9, 0.85), "paired": False}}
    >>> display = PowerDisplay(tests, positive_rate=0.1, max_rows=5000).plot()
    >>> [line.get_label() for line in display.ax_.lines]
    ['same rows', 'two samples']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        tests: Mapping[str, Mapping[str, Any]],
        *,
        positive_rate: float = 0.5,
        min_rows: int = 40,
        max_rows: int = 4000,
    ) -> None:
        if not isinstance(tests, Mapping) or not tests:
            raise ValueError("tests must map at least one name to the arguments of headrank.power")
        rate = inner_rate("positive_rate", positive_rate)
        low, high = whole("min_rows", min_rows, at_least=4), whole("max_rows", max_rows, at_least=5)
        if low >= high:
            raise ValueError(f"min_rows must be less than max_rows, got {low} and {high}")
        self.positive_rate = rate
        self.plans = {name: self._line(dict(arguments), low, high) for name, arguments in tests.items()}

    def _line(self, arguments: dict[str, Any], low: int, high: int) -> list[TestPlan]:
        n_sizes = _N_SIMULATED if arguments.get("method") == "finite" else _N_SIZES
        sizes = np.unique(np.geomspace(low, high, n_sizes).round().astype(int)).tolist()
        classes = [(min(max(round(self.positive_rate * n), 2), n - 2), n) for n in sizes]
        return [power(n_pos=n_pos, n_neg=n - n_pos, **arguments) for n_pos, n in classes]

    def to_frame(self) -> pl.DataFrame:
        """Return the underlying numbers, one row per test and size."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([{"name": name} | plan.as_dict() for name, line in self.plans.items() for plan in line])

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw all lines, in a new figure if no axes are given; simulated ones with two standard errors."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for number, (name, line) in enumerate(self.plans.items()):
            rows, powers = [plan.n for plan in line], [plan.power for plan in line]
            look: dict[str, Any] = {
                "color": COLOURS[number % len(COLOURS)],
                "linestyle": LINE_STYLES[number % len(LINE_STYLES)],
            }
            ax.plot(rows, powers, label=name, linewidth=1.6, **look)
            if any(plan.standard_error for plan in line):
                spread = [2 * plan.standard_error for plan in line]
                low, high = np.clip([np.subtract(powers, spread), np.add(powers, spread)], 0.0, 1.0)
                ax.fill_between(rows, low, high, color=look["color"], alpha=0.15, linewidth=0)
        each = (
            " in each sample"
            if all(plan.test == "two samples" for line in self.plans.values() for plan in line)
            else ""
        )
        ax.set(
            xscale="log",
            xlabel=f"Rows{each}, {100 * self.positive_rate:.3g} % positive",
            ylabel="Power",
            ylim=(0, 1.02),
        )
        ax.legend(fontsize=FONT_SIZE, loc="best")
        ax.grid(visible=True, alpha=0.25)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self
