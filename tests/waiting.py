"""Waiting for what ends soon, but not at once."""

import gc
import threading
import time


def threads_end(n, *, seconds=10):
    """Whether only so many threads are left, at once or soon."""
    gc.collect()
    until = time.monotonic() + seconds
    while threading.active_count() > n and time.monotonic() < until:
        time.sleep(0.01)
    return threading.active_count() == n
