"""How many fits are done, of how many: for a progress bar, or for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


class Tally:
    """Counts fits, and tells how many are done of all that are expected so far.

    Parameters
    ----------
    tell : callable
        Called with both numbers.
    """

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._next = count(1)  # threads count on it
        self._done = self._total = 0

    def expect(self, n_fits: int) -> None:
        """Some more fits are to come."""
        if n_fits:
            self._total += n_fits
            self._tell(self._done, self._total)

    def done(self) -> None:
        """One more fit is done."""
        self._done = next(self._next)
        self._tell(self._done, self._total)


@contextmanager
def tally_for(verbose: int | Callable[[int, int], None], name: str) -> Iterator[Tally]:
    """Show a progress bar of this name if asked for, tell who wants to know, or count in silence."""
    if callable(verbose):
        yield Tally(verbose)
    elif verbose:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task(name)
            yield Tally(lambda done, total: progress.update(task, completed=done, total=total))
    else:
        yield Tally(lambda _done, _total: None)
