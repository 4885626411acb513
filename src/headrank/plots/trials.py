"""How the trials of cross-validation are drawn: against C, along the trees, or by families."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._format import number, rounded_percent
from headrank.plots.drawing import COLOURS, FONT_SIZE
from headrank.plots.forest import frame_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_STYLES = ("-", "--", ":", "-.")
"""One for each bandwidth."""
_LEVELS = ("-.", ":", (0, (6, 1, 1, 1, 1, 1)))
"""One for each average."""
_RING: dict[str, Any] = {"marker": "o", "markersize": 13, "fillstyle": "none", "color": "0.2", "linestyle": "none"}


def against_c(ax: Axes, ranker: Any) -> None:
    """Draw the mean of each candidate against C, with a line for each surrogate and bandwidth."""
    sign = _sign(ranker)
    lines: dict[tuple[str, float | None], list[Any]] = {}
    for trial in ranker.trials_:
        if trial.candidate.C is not None:  # an average has no C
            lines.setdefault((trial.candidate.surrogate, trial.candidate.bandwidth), []).append(trial)
    _draw_averages(ax, ranker)
    colours = dict(zip(dict.fromkeys(name for name, _ in lines), COLOURS, strict=False))
    chosen = _chosen(ranker)
    for i, ((name, bandwidth), trials) in enumerate(lines.items()):
        dashes = [key for key in lines if key[0] == name].index((name, bandwidth)) % len(_LINE_STYLES)
        # Error bars at the same C are drawn side by side.
        Cs = np.array([trial.candidate.C for trial in trials]) * 1.06 ** (i - len(lines) / 2)
        means = np.array([sign * trial.mean for trial in trials])
        label = name if bandwidth is None else f"{name}, bandwidth {bandwidth:g}"
        look: dict[str, Any] = {"color": colours[name], "linestyle": _LINE_STYLES[dashes], "label": label}
        look |= {"marker": "o", "markersize": 3.5, "linewidth": 1.4, "elinewidth": 0.7}
        ax.errorbar(Cs, means, [trial.standard_error for trial in trials], **look)
        collapsed = np.array([trial.has_collapsed for trial in trials])
        if collapsed.any():
            look = {"color": colours[name], "markersize": 8, "label": f"{name}, collapsed"}
            ax.plot(Cs[collapsed], means[collapsed], "x", **look)
        for C, mean, trial in zip(Cs, means, trials, strict=True):
            if trial.candidate in chosen:
                ax.plot(C, mean, **_RING, label=f"{_verb(ranker)}: {trial.candidate}")
    ax.set(xscale="log", xlabel="C", ylabel=_measure_label(ranker))
    _finish(ax)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def along_trees(ax: Axes, ranker: Any) -> None:
    """Draw the mean of each setting against the number of trees, with an error bar at the number selected."""
    sign, chosen = _sign(ranker), _chosen(ranker)
    trials = [trial for trial in ranker.trials_ if not hasattr(trial.candidate, "members")]
    rings = []
    for i, (trial, (n_trees, means)) in enumerate(zip(trials, ranker.paths_, strict=True)):
        candidate, colour = trial.candidate, COLOURS[i % len(COLOURS)]
        look: dict[str, Any] = {"color": colour, "linestyle": _LINE_STYLES[i // len(COLOURS) % len(_LINE_STYLES)]}
        collapsed = ", collapsed" if trial.has_collapsed else ""
        ax.plot(n_trees, means, **look, linewidth=1.5, label=f"{candidate.label}{collapsed}: {candidate.n_trees} trees")
        at, value = candidate.n_trees, sign * trial.mean
        ax.errorbar(at, value, trial.standard_error, color=colour, marker="o", markersize=4.5, elinewidth=0.9)
        if candidate in chosen:
            rings.append((at, value))
    ax.plot(*zip(*rings, strict=True), **_RING, label=_verb(ranker))
    _draw_averages(ax, ranker)
    ax.set(xlabel="number of trees", ylabel=_measure_label(ranker))
    _finish(ax)
    ax.legend(fontsize=FONT_SIZE, loc="upper left", bbox_to_anchor=(0.0, -0.14), frameon=False, borderaxespad=0.0)


def of_families(ax: Axes, ranker: Any) -> None:
    """Draw the mean of each family and of the combination as a dot, one row each, with the weights beside them."""
    sign = _sign(ranker)
    weights = {part.family: part.weight for part in ranker.parts_}
    names, notes = [], []
    for row, trial in enumerate(ranker.trials_):
        together = row == len(ranker.trials_) - 1
        used = together or trial.candidate in weights
        colour = COLOURS[1] if together else COLOURS[0] if used else "0.55"
        look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 6.5, "capsize": 4, "linewidth": 1.8}
        mean = sign * trial.mean
        ax.errorbar(mean, row, xerr=trial.standard_error, **look, markerfacecolor=colour if used else "white")
        names.append(trial.candidate)
        share = "" if together else f", weight {rounded_percent(weights[trial.candidate])}" if used else ", not used"
        notes.append(f"{number(mean)}{share}")
    for family in ranker.left_out_:
        names.append(family)
        notes.append("left out")
    ax.axhline(len(ranker.trials_) - 1.5, color="0.75", linewidth=0.8)
    frame_rows(ax, names, notes, _measure_label(ranker))


def _sign(ranker: Any) -> int:
    """Trials hold what is to be maximised."""
    return 1 if ranker.measure_.greater_is_better else -1


def _chosen(ranker: Any) -> Any:
    """Return what was selected: the members of an average, or the only candidate."""
    return getattr(ranker.best_, "members", (ranker.best_,))


def _verb(ranker: Any) -> str:
    return "selected" if len(_chosen(ranker)) == 1 else "averaged"


def _draw_averages(ax: Axes, ranker: Any) -> None:
    """Draw the mean of each average as a horizontal line."""
    averages = [trial for trial in ranker.trials_ if hasattr(trial.candidate, "members")]
    for i, trial in enumerate(averages):
        look: dict[str, Any] = {"color": "0.4", "linewidth": 1.0, "linestyle": _LEVELS[i % len(_LEVELS)]}
        ax.axhline(_sign(ranker) * trial.mean, label=trial.candidate.surrogate, **look)


def _measure_label(ranker: Any) -> str:
    n_folds = ranker.trials_[0].values.size
    return f"{ranker.measure_}, mean over {n_folds} folds" if n_folds > 1 else f"{ranker.measure_}, one fold"


def _finish(ax: Axes) -> None:
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
