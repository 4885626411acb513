"""Output: text on stdout, or one JSON object on stdout and the text on stderr."""

from __future__ import annotations

import json
import sys
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headrank._text_tables import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.progress import Progress, Task

_WIDTH_OF_BAR = 12
"""Leaves room for words and times beside it in 80 columns."""
_WIDTH_OF_FILES = 160
_WIDEST = 100
"""Longer lines are hard to read, however wide the terminal is."""


class _Screen(Console):
    """A console that leaves closed pipes to `headrank.cli._failures`; rich would exit with code 1."""

    def on_broken_pipe(self) -> None:
        """Re-raise the error; rich calls this where it caught it."""
        raise


def console(*, as_json: bool = False, stderr: bool = False) -> Console:
    """Return the console for text: stdout, or stderr if stdout is reserved for JSON."""
    to_stderr = as_json or stderr
    stream = sys.stderr if to_stderr else sys.stdout
    # Column names come from the user, so markup is off. Output that is not a terminal has no width to fit.
    screen = _Screen(
        stderr=to_stderr,
        width=None if stream.isatty() else _WIDTH_OF_FILES,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=not stream.isatty(),
    )
    if stream.isatty():
        screen.width = min(screen.width, _WIDEST)
    return screen


def print_table(screen: Console, rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table with aligned columns, the first ``left`` of them flush left, that fits the screen."""
    for line in aligned(rows, screen.width, left=left):
        screen.print(line, soft_wrap=True)


def shows_progress() -> bool:
    """Whether there is a terminal to show progress in."""
    return sys.stderr.isatty()


def progress_bar(time_left: Callable[[Task], str] | None = None, below: Callable[[], str] | None = None) -> Progress:
    """Return a progress bar on stderr, silent if stderr is not a terminal.

    Parameters
    ----------
    time_left : callable, optional
        Called with each task; what it returns is shown behind the elapsed time.
    below : callable, optional
        What it returns is shown below all bars.
    """
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class TimeLeftColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if time_left is None else time_left(task), style="progress.remaining")

    class Bars(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            if below is not None and (line := below()):
                yield Text(line)

    silent = not sys.stderr.isatty()
    screen = console(stderr=True)
    screen.quiet = silent  # rich before 14.3 prints an empty line at the end of a disabled bar
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(_WIDTH_OF_BAR),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeLeftColumn(),
        console=screen,
        transient=True,
        disable=silent,
    )


def print_json(answer: dict[str, Any]) -> None:
    """Print one JSON object in one line on stdout; numbers that are not finite become null."""
    print(json.dumps(plain(answer), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Return the value as JSON types.

    >>> plain({"low": float("-inf"), "names": ("a", "b")})
    {'low': None, 'names': ['a', 'b']}
    """
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "item"):  # a NumPy scalar
        return plain(value.item())
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    return value
