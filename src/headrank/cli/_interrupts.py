"""Ctrl-C and SIGTERM: both interrupt a command, and neither is lost."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from headrank._interrupts import INTERRUPTS

_A_MOMENT = 0.01


@dataclass
class Received:
    """Whether an interrupt has come, whatever became of the `KeyboardInterrupt`."""

    interrupt: bool = False


@contextmanager
def interruptible(*, last: bool = False) -> Iterator[Received]:
    """Let SIGTERM do what Ctrl-C does, so that unfinished files are removed, and let neither be lost.

    Python swallows whatever is raised while it runs a finaliser or the callback of a weak reference, as it does after
    every import; an interrupt that arrives there is sent once more. Libraries may turn it into an error of their own,
    so `Received` remembers it. If this is the ``last`` thing that the process does, interrupts are ignored afterwards:
    the exit code stands.
    """
    received = Received()
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    again: list[threading.Timer] = []
    over = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if over:
            return
        received.interrupt = True
        raise KeyboardInterrupt

    def heed(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            hook(unraisable)
            return
        # Not at once, or it would be swallowed like the first; and as SIGTERM, since a command that was started in the
        # background may ignore Ctrl-C.
        again.append(threading.Timer(_A_MOMENT, _thread.interrupt_main, [signal.SIGTERM]))
        again[-1].start()

    hook, before = sys.unraisablehook, {number: signal.getsignal(number) for number in INTERRUPTS}
    try:
        sys.unraisablehook = heed
        for number in INTERRUPTS:
            if number == signal.SIGTERM or before[number] is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield received
    finally:
        over = True
        for timer in again:
            timer.cancel()
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if last else handler)
