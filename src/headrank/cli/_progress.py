"""Progress on stderr: bars in a terminal, a line every half minute in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol, TextIO

from headrank._format import counted, minutes
from headrank.cli._printing import progress_bar
from headrank.training.progress import NO_NOTE, Note, Progress

if TYPE_CHECKING:
    from rich.progress import Task, TaskID

_SECONDS_BETWEEN_LINES = 30.0
_PARTS_OF_A_FILE = 1000
"""A file has no countable parts; its progress is shown in percent."""


class Step:
    """A step of the work: how much is done, what else is known, and how long it may still take."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self.name = f"{name[:1].upper()}{name[1:]}"
        self.done, self.total, self.note = 0, 1, NO_NOTE
        self._clock = clock
        self._started = self._changed = self._told = clock()

    def update(self, done: int, total: int, note: Note) -> None:
        """How far the step is now."""
        self._told = self._clock()
        if done != self.done:
            self._changed = self._told
        self.done, self.total, self.note = done, total, note

    def leave_out(self) -> None:
        """It was not finished, and another one has begun."""
        self.name, self.done, self.total = f"{self.name} (left out)", 0, 0

    @property
    def limit_left(self) -> float | None:
        """Seconds left of the time limit; None without one."""
        if self.note.seconds_left is None:
            return None
        return max(0.0, self.note.seconds_left - (self._clock() - self._told))

    @property
    def seconds_left(self) -> float | None:
        """An estimate: what is left takes as long as the mean of what is done, but no longer than the limit.

        None before the first part is done, and when all are.
        """
        if not 0 < self.done < self.total:
            return None
        mean = (self._changed - self._started) / self.done
        at_work = max(0.0, mean - (self._clock() - self._changed))
        left = at_work + mean * (self.total - self.done - 1)
        return left if self.limit_left is None else min(left, self.limit_left)

    @property
    def time_left(self) -> str:
        """The estimate in a few words; empty if there is none."""
        return "" if self.seconds_left is None else f"about {minutes(self.seconds_left)} left"

    @property
    def context(self) -> list[str]:
        """What is known besides: the best result so far, what follows, and the time limit."""
        note, limit = self.note, self.limit_left
        parts = [
            f"{note.detail[:1].upper()}{note.detail[1:]}",
            f"Best so far: {note.best}" if note.best else "",
            f"{counted(note.n_to_follow, 'family', 'families')} to follow" if note.n_to_follow else "",
            "" if limit is None else f"Time limit in {minutes(limit)}" if limit > 0 else "Time limit reached",
        ]
        return [part for part in parts if part]

    @property
    def line(self) -> str:
        """All of it in one line."""
        amount = f", {self.done} of {self.total} done" if self.total > 1 else ""
        if self.total == _PARTS_OF_A_FILE:
            amount = f", {100 * self.done // self.total} % done"
        left = f", {self.time_left}" if self.time_left else ""
        return ". ".join([f"{self.name}{amount}{left}", *self.context])


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Yield a callback that shows progress on stderr, as bars or, if it is not a terminal, as lines."""
    with bars() if sys.stderr.isatty() else lines(sys.stderr) as show:
        yield show


@contextmanager
def shown_share(name: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback for the share of a file that is done, and show it as `shown_progress` does."""
    with shown_progress() as show:
        show(name, 0, _PARTS_OF_A_FILE)
        yield lambda share: show(name, int(share * _PARTS_OF_A_FILE), _PARTS_OF_A_FILE)


@contextmanager
def bars(clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Yield a callback that draws one bar per step, with the time left, and what else is known below them."""
    steps: dict[str, Step] = {}

    def time_left(task: Task) -> str:
        return steps[task.fields["step"]].time_left

    def below() -> str:
        return "\n".join(list(steps.values())[-1].context) if steps else ""

    with progress_bar(time_left, below) as drawn:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int, note: Note = NO_NOTE, /) -> None:
            if name not in steps:
                for begun, step in steps.items():
                    if step.done < step.total:  # its time was over
                        step.leave_out()
                        drawn.stop_task(tasks[begun])
                        drawn.update(tasks[begun], description=step.name)
                steps[name] = Step(name, clock)
                tasks[name] = drawn.add_task(steps[name].name, total=total, step=name)
            steps[name].update(done, total, note)
            drawn.update(tasks[name], completed=done, total=total)

        yield show


class _Pause(Protocol):
    """Waits between two lines."""

    def wait(self, timeout: float) -> bool:
        """Wait for at most ``timeout`` seconds; return whether the work is over."""

    def set(self) -> None:
        """The work is over."""


@contextmanager
def lines(
    stream: TextIO, pause: _Pause | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Progress]:
    """Yield a callback; every half minute, a line with the elapsed time says how far the work is.

    A thread writes them, as a single fit may take minutes.
    """
    pause = Event() if pause is None else pause
    started, present = clock(), Step("starting", clock)

    def speak() -> None:
        while not pause.wait(_SECONDS_BETWEEN_LINES):
            try:
                stream.write(f"[{minutes(clock() - started)}] {present.line}\n")
                stream.flush()
            except (OSError, ValueError):  # the stream is closed
                return

    def show(name: str, done: int, total: int, note: Note = NO_NOTE, /) -> None:
        nonlocal present
        step = present if done else Step(name, clock)
        step.update(done, total, note)
        present = step

    thread = Thread(target=speak, name="progress", daemon=True)
    thread.start()
    try:
        yield show
    finally:
        pause.set()
        thread.join()
