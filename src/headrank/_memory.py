"""How much memory there is, and sizes such as ``4GB``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_UNITS = {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_UNKNOWN = 4e9
"""If a system does not tell."""


def size_of(text: str) -> float:
    """Return a number of bytes from its text, or raise.

    >>> size_of("4GB"), size_of("0"), size_of("1.5 GiB")
    (4000000000.0, 0.0, 1610612736.0)
    """
    found = _SIZE.fullmatch(text)
    if found is None or found[2].lower() not in _UNITS:
        raise ValueError(f"expected a number of bytes such as 4GB or 500MB, got {text!r}")
    return float(found[1]) * _UNITS[found[2].lower()]


def free_memory() -> float:
    """Return about how many bytes of memory are free, within the limit of a container if there is one."""
    if sys.platform == "win32":
        return _free_on_windows()
    limits = [_available(Path("/proc/meminfo")), _left_in_container(Path("/sys/fs/cgroup"))]
    known = [limit for limit in limits if limit is not None]
    if known:
        return min(known)
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def _available(file: Path) -> float | None:
    """Return what Linux says is available; None elsewhere."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return float(found[0][1]) * 1024 if found else None


def _left_in_container(folder: Path) -> float | None:
    """Return what is left of the limit of a control group, with files that may leave the cache; None without one."""
    try:
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if limit == "max":
            return None
        facts = dict(line.split(maxsplit=1) for line in (folder / "memory.stat").read_text().splitlines())
    except OSError:
        return None
    return max(float(limit) - float(used) + float(facts.get("inactive_file", 0)), 0.0)


def _free_on_windows() -> float:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "pages", "free_pages", "space", "free_space")),
            ("free_extended", ctypes.c_ulonglong),
        ]

    status = Status()
    status.length = ctypes.sizeof(Status)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined,unused-ignore]
        return _UNKNOWN
    return float(status.free)
