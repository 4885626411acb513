"""Progress: what a training tells whoever shows it."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a step in words, how much of it is done, and how much there is, as far as known; first with 0, last with
all of it."""


def quiet(_step: str, _done: int, _total: int) -> None:
    """Show nothing."""
