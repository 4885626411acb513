"""Stored tables of frames in memory: each part is a frame, as if it came from a file."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from headrank.rows.pool import LocalPool
from headrank.training.stored_table import StoredTable


@dataclass(frozen=True, eq=False)
class FramePart:
    """A part whose frame is in memory."""

    frame: Any
    name: str
    first_row: int


def stored_table(frame, at, *, n_jobs=1, memory=0.0, place="in a test"):
    """Cut a frame at these rows."""
    parts = [FramePart(frame[i:j], f"part {number}", i + 1) for number, (i, j) in enumerate(pairwise(at))]
    loaders = tuple(partial(_itself, part) for part in parts)
    sizes = tuple(part.frame.height for part in parts)
    return StoredTable(loaders, sizes, partial(LocalPool, n_jobs=n_jobs, spare=memory), place)


def _itself(part):
    return part
