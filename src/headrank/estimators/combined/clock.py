"""Time and progress of a fit that tries one family after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrank._types import Vector
from headrank.estimators.cv.fold_rows import FoldRows

INTERRUPTED = "interrupted"
"""Why a family was left out after an interrupt from the keyboard."""
_SHORTEST = 1e-3
"""Seconds: the first family is finished even if no time is left."""


class OutOfTimeError(Exception):
    """The time is over; what was begun is left out."""


@dataclass(frozen=True)
class RankerProgress:
    """How far `RankerCV` is: for whoever shows it.

    Attributes
    ----------
    family : str
        The family at work.
    n_to_follow : int
        Families to be tried after it.
    done, total : int
        Fits done, and expected so far, within the family.
    best : float or None
        The best value out of fold so far; None before the first family is done.
    seconds_left : float or None
        Of ``max_seconds``; None without a limit.
    """

    family: str
    n_to_follow: int
    done: int
    total: int
    best: float | None
    seconds_left: float | None


class Clock:
    """Time and progress of a fit."""

    def __init__(self, limit: float | None, told: Callable[[RankerProgress], None]) -> None:
        self.limit = limit
        self._started, self._told = time.monotonic(), told
        self._family, self._n_to_follow, self._must_finish = "", 0, True
        self._best: float | None = None
        self._state = 0, 1

    @property
    def left(self) -> float | None:
        """Seconds left; None without a limit."""
        return None if self.limit is None else self.limit - (time.monotonic() - self._started)

    def share(self) -> float | None:
        """Return the seconds for boosted trees: half of what is left if others follow; None without a limit."""
        return None if self.left is None else max(self.left / (2 if self._n_to_follow else 1), _SHORTEST)

    def start(self, family: str, *, n_to_follow: int, must_finish: bool) -> None:
        """A family begins."""
        self._family, self._n_to_follow, self._must_finish = family, n_to_follow, must_finish
        self.tell(0, 1)

    def tell(self, done: int, total: int) -> None:
        """Tell how far the family is, or raise if the time is over."""
        if not self._must_finish and self.left is not None and self.left <= 0:
            raise OutOfTimeError
        self._state = done, total
        self._show(done, total)

    def finish(self) -> None:
        """The family is done, if need be with fewer fits than were expected."""
        done, total = self._state
        if done < total:
            self._show(total, total)

    def _show(self, done: int, total: int) -> None:
        self._told(RankerProgress(self._family, self._n_to_follow, done, total, self._best, self.left))

    def see(self, scores: Sequence[Vector], folds: FoldRows) -> None:
        """A family is done."""
        better, sign = (max, 1) if folds.measure.greater_is_better else (min, -1)
        value = sign * float(folds.values(scores).mean())
        self._best = value if self._best is None else better(self._best, value)
