"""The number of fits done and expected, for a progress bar or a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from headrank._extras import needs_extra


class Tally:
    """Counts the fits that are done and those expected so far.

    Parameters
    ----------
    tell : callable
        Called with both numbers after each change, by one thread at a time.
    """

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._lock = Lock()
        self._done = self._total = 0

    def expect(self, n_fits: int) -> None:
        """Add expected fits."""
        with self._lock:
            self._total += n_fits
            self._tell(self._done, self._total)

    def left(self, n_fits: int) -> None:
        """Set the number of remaining fits."""
        with self._lock:
            self._total = self._done + n_fits
            self._tell(self._done, self._total)

    def done(self) -> None:
        """Count a finished fit."""
        with self._lock:
            self._done += 1
            self._tell(self._done, self._total)


@contextmanager
def tally_for(verbose: int | Callable[[int, int], None], name: str) -> Iterator[Tally]:
    """Return a tally that calls a callable, shows a progress bar of this name, or is silent."""
    with bar_for(verbose, name) as show:
        yield Tally(show)


@contextmanager
def bar_for(verbose: int | Callable[[int, int], None], name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of the fits done and expected: a callable itself, a bar of this name, or a silent one."""
    if callable(verbose):
        yield verbose
    elif verbose:
        with needs_extra("cli"):
            from rich.console import Console
            from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task(name)
            yield lambda done, total: progress.update(task, completed=done, total=total)
    else:
        yield lambda _done, _total: None
