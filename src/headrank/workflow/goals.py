"""The part of the list that matters, from the arguments of a Python function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrank.training.goal import Goal


def goal_of(fpr: float | Sequence[float] | None, top: float | None, default_fpr: float) -> Goal:
    """Return the goal of ``fpr``, a rate or a pair of rates, or of ``top``; raise if both are given.

    >>> goal_of(0.02, None, 0.1).option, goal_of((0.01, 0.05), None, 0.1).option, goal_of(None, None, 0.1).option
    ('--fpr 0:0.02', '--fpr 0.01:0.05', '--fpr 0:0.1')
    """
    from headrank.training.goal import Goal

    if fpr is not None and top is not None:
        raise TypeError("expected one of fpr and top, got both; omit one")
    if top is not None:
        return Goal(top=top)
    if fpr is None:
        return Goal(max_fpr=default_fpr)
    if isinstance(fpr, Sequence):
        if isinstance(fpr, str) or len(fpr) != 2:
            raise TypeError(f"fpr must be a rate, such as 0.02, or a pair of rates, such as (0.01, 0.05), got {fpr!r}")
        return Goal(min_fpr=fpr[0], max_fpr=fpr[1])
    return Goal(max_fpr=fpr)


def called(function: str, first: str, given: dict[str, object]) -> str:
    """Return a call as text, without arguments that are None or empty.

    >>> called("hr.fit", "table", {"target": "ill", "fpr": None, "top": 0.05, "drop": ()})
    "hr.fit(table, target='ill', top=0.05)"
    """
    words = [f"{name}={value!r}" for name, value in given.items() if value is not None and value not in ((), [], "")]
    return f"{function}({', '.join([first, *words])})"
