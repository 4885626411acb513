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

_RESEND_AFTER = 0.01


@dataclass
class Received:
    """Whether an interrupt was received, even if its `KeyboardInterrupt` was swallowed."""

    interrupt: bool = False


@contextmanager
def interruptible(*, last: bool = False) -> Iterator[Received]:
    """Handle SIGTERM like Ctrl-C, so that unfinished files are removed, and lose neither.

    Python swallows exceptions raised in a finaliser or in the callback of a weak reference, which run after every
    import; an interrupt that arrives there is sent again. Libraries may convert it into an error of their own, so
    `Received` records it. If this is the ``last`` action of the process, interrupts are ignored afterwards, so that
    the exit code is kept.
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

    def resend(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            hook(unraisable)
            return
        # Not immediately, or it would be swallowed like the first; and as SIGTERM, since a command started in the
        # background may ignore Ctrl-C.
        again.append(threading.Timer(_RESEND_AFTER, _thread.interrupt_main, [signal.SIGTERM]))
        again[-1].start()

    hook, before = sys.unraisablehook, {number: signal.getsignal(number) for number in INTERRUPTS}
    try:
        sys.unraisablehook = resend
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
