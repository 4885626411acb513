"""Progress: the callback that reports the progress of a training."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a step, how much of it is done and how much there is, as far as known: first with 0 done,
last with all."""


def quiet(_step: str, _done: int, _total: int) -> None:
    """Show nothing."""
