"""From results to figures: mean, standard error and rank of each method, and whether it differs from the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from scipy.stats import wilcoxon

from experiments.tables.protocol import Outcome

LEVEL = 0.05


@dataclass(frozen=True)
class Line:
    """One method over the splits of a task, or of several tasks pooled."""

    method: str
    mean: float
    standard_error: float
    deviation: float
    rank: int
    p_value: float
    """Of Wilcoxon's signed-rank test against the first method, paired over tasks and splits; NaN for that method."""
    ahead: bool
    """Whether its mean is above that of the first method."""
    seconds: float
    n: int
    n_collapsed: int
    n_unfinished: int

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at 95 %."""
        return self.p_value < LEVEL


def lines_of(found: Sequence[Outcome], *, measure: str, methods: Sequence[str]) -> list[Line]:
    """Summarise the results of a measure on the pairs of task and split that all methods have finished."""
    values: dict[str, dict[tuple[str, int], Outcome]] = {name: {} for name in methods}
    for each in found:
        if each.measure == measure and each.method in values:
            values[each.method][each.task, each.split] = each
    pairs = sorted(set.intersection(*(set(by_pair) for by_pair in values.values())))
    if not pairs:
        return []
    columns = {name: np.array([values[name][pair].value for pair in pairs]) for name in methods}
    order = sorted(methods, key=lambda name: -columns[name].mean())
    first = columns[methods[0]]
    return [
        Line(
            method=name,
            mean=float(column.mean()),
            standard_error=float(column.std(ddof=1)) / sqrt(len(pairs)) if len(pairs) > 1 else nan,
            deviation=float(column.std(ddof=1)) if len(pairs) > 1 else nan,
            rank=order.index(name) + 1,
            p_value=signed_rank(column, first) if name != methods[0] else nan,
            ahead=bool(column.mean() > first.mean()),
            seconds=float(np.mean([values[name][pair].seconds for pair in pairs])),
            n=len(pairs),
            n_collapsed=sum(values[name][pair].remark == "collapsed" for pair in pairs),
            n_unfinished=sum(values[name][pair].remark == "not converged" for pair in pairs),
        )
        for name, column in columns.items()
    ]


def signed_rank(values: np.ndarray, others: np.ndarray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; 1 if all pairs are equal."""
    differences = values - others
    return 1.0 if not differences.any() else float(wilcoxon(differences).pvalue)
