"""Threads that stay between passes over blocks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import getpid
from threading import Lock
from typing import Any


class StandingThreads:
    """Threads that work on one pass after the other, and end with this object: new ones cost memory and time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of_process: dict[int, ThreadPoolExecutor] = {}

    def map(self, call: Callable[[int], Any], n: int, *, n_threads: int) -> list[Any]:
        """Return ``call(0)``, ..., ``call(n - 1)``.

        After an error or an interrupt, nothing goes on, and no thread is left. The number of threads is that of the
        first pass.
        """
        with self._lock:
            if getpid() not in self._of_process:  # a forked process has a copy of this object, but none of its threads
                self._of_process[getpid()] = ThreadPoolExecutor(n_threads, "headrank-blocks")
            threads = self._of_process[getpid()]
            begun = [threads.submit(call, number) for number in range(n)]
        try:
            return [future.result() for future in begun]
        except BaseException:
            for future in begun:
                future.cancel()
            with self._lock:
                self._of_process.clear()
            threads.shutdown()
            raise
