"""Hold back Ctrl-C and SIGTERM while files are in an intermediate state."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class HeldInterrupts:
    """Defer SIGINT and SIGTERM until the ``with`` block ends, or until `lifted`.

    Ignored signals stay ignored. Python delivers signals to the main thread only, so in other threads this has no
    effect.

    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> try:
    ...     with HeldInterrupts():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("finished first")
    ... except KeyboardInterrupt:
    ...     print("interrupted then")
    finished first
    interrupted then
    >>> _ = signal.signal(signal.SIGINT, before)
    """

    def __init__(self) -> None:
        self._handlers: dict[signal.Signals, Any] = {}
        self._waiting: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in INTERRUPTS}
            self._handlers = {
                number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)
            }
            try:
                self._hold()
            except BaseException:
                self._release()
                raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._release()

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Deliver the pending signal, and handle new ones as usual inside this block."""
        try:
            self._release()
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        for number in self._handlers:
            signal.signal(number, self._note)

    def _release(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            signal.raise_signal(waiting)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._waiting = number
