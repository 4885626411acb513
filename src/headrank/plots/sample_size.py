"""SampleSizeDisplay: the number of rows needed to estimate an AUC, by precision and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, rounded_percent
from headrank._numbers import listed, ordered
from headrank._types import Vector
from headrank.bounds.planning.auc import Method, Plan, error_rate_factor
from headrank.plots.drawing import COLOURS, FONT_SIZE, LINE_STYLES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_N_POINTS = 60
"""Number of precisions at which a line is computed."""


class SampleSizeDisplay:
    """Plot of the sample size for an AUC: Figures 1 and 2 of Agarwal, Graepel, Herbrich & Roth (2004).

    A panel for each confidence shows the rows needed against the precision, with a line for each share of positives and
    one for the error rate (Figure 1). The last panel shows the factor by which the AUC needs more rows than the error
    rate, by Corollary 2 and by `hoeffding`, for every share of positives (Figure 2).

    Parameters
    ----------
    positive_rates : sequence of float in (0, 1)
        Shares of positives, one line each.
    confidences : sequence of float in (0, 1)
        One panel each; the paper's by default.
    min_epsilon, max_epsilon : float in (0, 1]
        Range of precisions.
    method, n_scorers, auc
        As in `headrank.bounds.planning.auc.plan`.

    Attributes
    ----------
    axes_ : array of Axes
        One for each confidence, then that of the factor.
    figure_ : Figure
        The figure of the plot.

    Examples
    --------
    >>> display = SampleSizeDisplay(positive_rates=[0.5, 0.02], confidences=[0.95]).plot()
    >>> [line.get_label() for line in display.axes_[0].lines]
    ['50 % positives', '2 % positives', 'error rate']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    axes_: Any
    figure_: Figure

    def __init__(
        self,
        *,
        positive_rates: Sequence[float] = (0.5, 0.1, 0.02, 0.001),
        confidences: Sequence[float] = (0.99, 0.999),
        min_epsilon: float = 0.01,
        max_epsilon: float = 0.2,
        method: Method = "mcdiarmid",
        n_scorers: int = 1,
        auc: float | None = None,
    ) -> None:
        for name, values in (("positive_rates", positive_rates), ("confidences", confidences)):
            if not listed(name, values):
                raise ValueError(f"{name} must have at least one value, got none")
        low, high = ordered("epsilon", min_epsilon, max_epsilon)
        if low == 0:
            raise ValueError("min_epsilon must be above 0: no sample is large enough to determine the AUC exactly")
        self.epsilons: Vector = np.geomspace(low, high, _N_POINTS)
        self.method, self.n_scorers, self.auc = method, n_scorers, auc
        self.plans = {
            confidence: {share: self._plans(confidence, share) for share in positive_rates}
            for confidence in confidences
        }

    def _plans(self, confidence: float, positive_rate: float) -> list[Plan]:
        return [
            Plan(
                epsilon=float(epsilon),
                confidence=confidence,
                positive_rate=positive_rate,
                method=self.method,
                n_scorers=self.n_scorers,
                auc=self.auc,
            )
            for epsilon in self.epsilons
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return the underlying numbers: confidence, positive_rate, epsilon, n, error_rate_n."""
        with needs_extra("cli"):
            import polars as pl

        plans = [plan for lines in self.plans.values() for line in lines.values() for plan in line]
        columns = ("confidence", "positive_rate", "epsilon", "n", "error_rate_n")
        return pl.DataFrame({name: [getattr(plan, name) for plan in plans] for name in columns})

    def plot(self) -> Self:
        """Draw all panels in a new figure."""
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        n_panels = len(self.plans) + 1
        self.figure_, self.axes_ = plt.subplots(1, n_panels, figsize=(3.7 * n_panels, 3.9), layout="constrained")
        sizes = list(self.axes_[:-1])
        for ax, (confidence, lines) in zip(sizes, self.plans.items(), strict=True):
            self._draw_sizes(ax, confidence, lines)
            ax.sharey(sizes[0])
        # One legend below the panels, since their lines leave no room inside.
        handles, labels = sizes[0].get_legend_handles_labels()
        below: dict[str, Any] = {"loc": "outside lower center", "ncols": 2 * n_panels, "frameon": False}
        self.figure_.legend(handles, labels, **below, fontsize=FONT_SIZE)
        sizes[0].set_ylabel(f"Rows needed ({self.method})")
        self._draw_factor(self.axes_[-1])
        for ax in self.axes_:
            ax.grid(color="0.9", linewidth=0.6)
            ax.set_axisbelow(True)
        return self

    def _draw_sizes(self, ax: Axes, confidence: float, lines: dict[float, list[Plan]]) -> None:
        for i, (share, plans) in enumerate(lines.items()):
            ax.plot(
                self.epsilons,
                [plan.n for plan in plans],
                color=COLOURS[i % len(COLOURS)],
                linestyle=LINE_STYLES[i % len(LINE_STYLES)],
                linewidth=1.6,
                label=f"{rounded_percent(share)} positives",
            )
        any_share = next(iter(lines.values()))
        ax.plot(
            self.epsilons,
            [plan.error_rate_n for plan in any_share],
            color="0.45",
            linestyle=(0, (1, 2)),
            linewidth=1.2,
            label="error rate",
        )
        ax.set(xscale="log", yscale="log", xlabel="Precision ε", title=f"{percent(confidence)} confidence")
        ticks = [
            tick
            for tick in (1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
            if self._shows(tick)
        ]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)

    def _shows(self, epsilon: float) -> bool:
        return bool(self.epsilons[0] * 0.999 <= epsilon <= self.epsilons[-1] * 1.001)

    def _draw_factor(self, ax: Axes) -> None:
        shares = np.linspace(0.005, 0.995, 397)
        factors = [error_rate_factor(float(share)) for share in shares]
        ax.plot(shares, factors, color="0.25", linewidth=1.6, label="mcdiarmid: 1/(ρ(1-ρ))")
        rarer = np.minimum(shares, 1 - shares)
        ax.plot(shares, 1 / rarer, color="0.25", linestyle="--", linewidth=1.2, label="hoeffding: 1/min(ρ, 1-ρ)")
        ax.set(xlabel="Share of positives ρ", xlim=(0, 1), yscale="log", title="Rows, AUC over error rate")
        ax.set_yticks([2, 4, 10, 20, 50, 100, 200], ["2", "4", "10", "20", "50", "100", "200"])
        ax.set_yticks([], minor=True)
        ax.legend(fontsize=FONT_SIZE, loc="upper center")
