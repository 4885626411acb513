"""Progress: the callback that reports the progress of a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Note:
    """What is known besides how much of a step is done.

    Attributes
    ----------
    best : str
        The best result so far, with what it measures; empty if there is none.
    n_to_follow : int
        Families to be tried after this step.
    seconds_left : float or None
        Of a time limit; None without one.
    detail : str
        The state of the step in a few words; empty if there is none.
    """

    best: str = ""
    n_to_follow: int = 0
    seconds_left: float | None = None
    detail: str = ""


NO_NOTE = Note()


class Progress(Protocol):
    """Called with the name of a step, how much of it is done and how much there is, as far as known.

    First with 0 done, last with all.
    """

    def __call__(self, step: str, done: int, total: int, note: Note = NO_NOTE, /) -> None:
        """Show it."""


def quiet(_step: str, _done: int, _total: int, _note: Note = NO_NOTE, /) -> None:
    """Show nothing."""
