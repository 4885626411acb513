"""How long did an experiment take? Every command says so when it has finished."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

Arguments = ParamSpec("Arguments")


def timed(main: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Print the time that a command took, on the standard error stream."""

    @wraps(main)
    def wrapped(*arguments: Arguments.args, **named: Arguments.kwargs) -> None:
        clock, processor = time.perf_counter(), time.process_time()
        main(*arguments, **named)
        seconds = (time.perf_counter() - clock, time.process_time() - processor)
        print(f"took {seconds[0]:.0f} s, {seconds[1]:.0f} s of processor time in this process", file=sys.stderr)

    return wrapped
