"""ListDisplay: how many of the first k new rows are positive, promised and likely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, rounded_percent
from headrank._numbers import rate, short_repr, whole
from headrank.bounds.lists.certificate import ListCertificate
from headrank.plots.drawing import COLOURS, FONT_SIZE, LINE_STYLES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_MOST_POINTS = 2000
"""Lengths of the list that are drawn; of longer lists every n-th."""
_ROOM = 1.15
"""How much further than the list needs the axis goes, by default."""


class ListDisplay:
    """Plot of the positives among the first k new rows against k: promised, likely, and at most.

    The diagonal is a list of positives only. The largest list with the given promised precision is marked, on the line
    of that precision.

    Parameters
    ----------
    certificate : ListCertificate
        The promises, from `headrank.certify_list`.
    precision : float in (0, 1], default=0.9
        The promised precision to be marked.

    Attributes
    ----------
    certificate : ListCertificate
        The underlying numbers.
    ax_, figure_ : matplotlib Axes and Figure
        The axes and figure of the plot.
    promised_, likely_, diagonal_, precision_ : Line2D
        The lines.
    mark_ : Line2D or None
        The largest list with the promised precision, if there is one.

    Examples
    --------
    >>> import headrank as hr
    >>> certificate = hr.certify_list([0] * 500 + [1] * 9, range(509), range(400, 520))
    >>> display = ListDisplay(certificate, precision=0.5).plot()
    >>> display.ax_.get_xlabel()
    'First k of 120 new rows'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure
    promised_: Line2D
    likely_: Line2D
    diagonal_: Line2D
    precision_: Line2D
    mark_: Line2D | None

    def __init__(self, certificate: ListCertificate, *, precision: float = 0.9) -> None:
        if not isinstance(certificate, ListCertificate):
            raise TypeError(f"certificate must be a ListCertificate, got {short_repr(certificate)}")
        self.certificate = certificate
        self.precision = rate("precision", precision, above_zero=True)

    def to_frame(self) -> pl.DataFrame:
        """Return the promised and likely numbers of positives for each k; see `ListCertificate.to_frame`."""
        frame: pl.DataFrame = self.certificate.to_frame()
        return frame

    def plot(self, ax: Axes | None = None, *, max_k: int | None = None) -> Self:
        """Draw the lines on these axes or in a new figure, for lists of up to ``max_k`` rows.

        By default, up to the length at which nothing more is promised.
        """
        with needs_extra("cli"):
            import matplotlib.pyplot as plt

        longest = self._longest() if max_k is None else min(whole("max_k", max_k, at_least=1), self.certificate.n_new)
        if ax is None:
            _, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]  # axes have one
        k = np.unique(np.linspace(1, longest, min(longest, _MOST_POINTS)).round().astype(int))
        sure = percent(self.certificate.confidence)
        self._draw(ax, k, longest, f"promised, {sure} confidence")
        self._frame(ax, longest)
        return self

    def _longest(self) -> int:
        """Return the length of the list from which on nothing more is promised, and some room."""
        promised = self.certificate.promised
        if not promised[-1]:
            return self.certificate.n_new
        last = int(np.searchsorted(promised, promised[-1])) + 1
        return min(int(np.ceil(_ROOM * last)), self.certificate.n_new)

    def _draw(self, ax: Axes, k: Any, longest: int, label: str) -> None:
        found = self.certificate
        thin: dict[str, Any] = {"color": "0.45", "linewidth": 1.0, "zorder": 1.5}
        (self.diagonal_,) = ax.plot([0, longest], [0, longest], **thin, linestyle=(0, (1, 2)), label="all positive")
        (self.likely_,) = ax.plot(
            np.append(0, k),
            np.append(0, found.likely[k - 1]),
            color=COLOURS[1],
            linestyle=LINE_STYLES[1],
            linewidth=1.6,
            label="likely (estimate)",
        )
        (self.promised_,) = ax.plot(
            np.append(0, k), np.append(0, found.promised[k - 1]), color=COLOURS[0], linewidth=1.8, label=label
        )
        ax.fill_between(
            self.promised_.get_xdata(), self.promised_.get_ydata(), color=COLOURS[0], alpha=0.12, linewidth=0
        )
        best = found.largest_list(self.precision)
        name = f"precision {rounded_percent(self.precision)}" + ("" if best else ", not promised for any k")
        (self.precision_,) = ax.plot([0, longest], [0, self.precision * longest], **thin, linestyle="-", label=name)
        self.mark_ = None
        if 0 < best <= longest:
            where = f"first {best:,}: at least {found.at_least(best):,} positive"
            look: dict[str, Any] = {"marker": "o", "markersize": 6.5, "linestyle": "none", "zorder": 4}
            (self.mark_,) = ax.plot(best, found.at_least(best), color=COLOURS[0], **look, label=where)

    def _frame(self, ax: Axes, longest: int) -> None:
        ax.set_xlabel(f"First k of {self.certificate.n_new:,} new rows")
        ax.set_ylabel("Positives among them")
        ax.set_xlim(0, longest)
        ax.set_ylim(0, longest)
        ax.set_axisbelow(True)
        ax.grid(color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", fontsize=FONT_SIZE, framealpha=0.9)
