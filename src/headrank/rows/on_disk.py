"""Blocks and results in files: mapped as long as the system can keep them in its cache, else read past the cache."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal
from weakref import finalize

import numpy as np

from headrank._types import Vector
from headrank.rows.block import Block

_PART = 1 << 20
"""Bytes to read at a time."""


@dataclass(frozen=True)
class StoredArray:
    """Where the values of an array are in a file.

    `numpy.load` would find out each time, by parsing a literal. Python 3.11 may fail to do so in several threads.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: Any
    offset: int = 0
    by_columns: bool = False

    @classmethod
    def of_npy(cls, path: str | PathLike[str]) -> StoredArray:
        """Look at a file as written by `numpy.save`."""
        array = np.load(path, mmap_mode="r")
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        return cls(Path(path), array.shape, array.dtype, array.offset, by_columns)

    @property
    def order(self) -> Literal["C", "F"]:
        """Which values are next to each other, as numpy says it."""
        return "F" if self.by_columns else "C"

    def mapped(self) -> Any:
        """Return the array, mapped: values are read when they are needed."""
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape, self.order)


@dataclass(frozen=True, eq=False)
class BlockOnDisk:
    """A block whose features are in a file, which is mapped as long as a function works on them.

    With ``buffers``, it is read past the system's cache instead, where the system can do so. Files that are larger than
    the cache push each other out of it in each pass, and filling it takes several times the processor time of reading.

    Attributes
    ----------
    beside : Block
        The block without its features.
    features : StoredArray
        Where they are.
    buffers : list of mmap, or None
        Memory that is not in use; it is used again for the next block, and never released before the blocks are.
    """

    beside: Block
    features: StoredArray
    buffers: list[mmap.mmap] | None = None

    @classmethod
    def of(cls, block: Block, path: Path) -> BlockOnDisk:
        """Write the features of a block."""
        np.save(path, block.X)
        by_columns = block.X.flags.f_contiguous and not block.X.flags.c_contiguous
        offset = path.stat().st_size - block.X.nbytes
        features = StoredArray(path, block.X.shape, block.X.dtype, offset, by_columns)
        return cls(replace(block, X=block.X[:0].copy()), features)

    @property
    def n_bytes(self) -> int:
        """Size of the features."""
        return int(np.prod(self.features.shape) * self.features.dtype.itemsize)

    def loaded(self) -> Block:
        """Return the block with its features, which are not to be changed."""
        X = None if self.buffers is None else self._read(self.buffers)
        if X is None:
            _fill_cache(self.features.path)
            X = self.features.mapped()
        return replace(self.beside, X=X)

    def _read(self, buffers: list[mmap.mmap]) -> Vector | None:
        """Return the features, or None if the system cannot read past its cache."""
        buffer = _read_past_cache(self.features.path, buffers)
        if buffer is None:
            return None
        where = self.features
        X: Vector = np.ndarray(where.shape, where.dtype, buffer, where.offset, order=where.order)
        X.flags.writeable = False
        finalize(X, buffers.append, buffer).atexit = False  # views of X refer to it, so that none is left
        return X


def leave_cache(path: str | PathLike[str]) -> None:
    """Make room for other files in the system's cache, where the system can do so."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError), open(path, "rb") as file:  # it is only advice
            os.fsync(file.fileno())  # what is not on disk yet cannot leave
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _fill_cache(path: Path) -> int:
    """Read a file that has left the cache from start to end; return the number of bytes, 0 if it is still there.

    Reading brings it back in large pages. Mapped, it would come back in small ones, when they are touched, and each
    later pass would take twice the processor time to map them.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return 0
    with path.open("rb", buffering=0) as file:
        try:
            os.preadv(file.fileno(), [bytearray(1)], path.stat().st_size // 2, os.RWF_NOWAIT)
        except BlockingIOError:
            part, n_read = bytearray(_PART), 0
            while n := file.readinto(part):
                n_read += n
            return n_read
        except OSError:  # a file system that does not tell
            pass
    return 0


def _read_past_cache(path: Path, buffers: list[mmap.mmap]) -> mmap.mmap | None:
    """Read a whole file into one of the buffers, or a new one; return None if the system cannot do so."""
    if not hasattr(os, "O_DIRECT"):
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return None
    try:
        size, n_read = os.fstat(file).st_size, 0
        buffer = _large_enough(size, buffers)
        with memoryview(buffer) as view:
            while n_read < size:
                n_new = os.readv(file, [view[n_read:]])
                if not n_new:
                    return None
                n_read += n_new
        return buffer
    except OSError:
        return None
    finally:
        os.close(file)


def _large_enough(size: int, buffers: list[mmap.mmap]) -> mmap.mmap:
    """Return a buffer of whole pages; one that is too small is given up."""
    with suppress(IndexError):  # another thread may have taken the last one
        buffer = buffers.pop()
        if len(buffer) >= size:
            return buffer
    n_bytes = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    buffer = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # not shared with forked processes
    with suppress(OSError, AttributeError):
        buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer


@dataclass(frozen=True, eq=False)
class ValuesOnDisk:
    """A result that stays with its block, in a file that is removed with this handle."""

    values: StoredArray

    @classmethod
    def of(cls, values: Any, folder: Path) -> ValuesOnDisk:
        """Write an array."""
        with NamedTemporaryFile(dir=folder, suffix=".values", delete=False) as file:
            values.tofile(file)
        stored = cls(StoredArray(Path(file.name), values.shape, values.dtype))
        finalize(stored, _removed, stored.values.path)
        return stored

    def loaded(self) -> Any:
        """Return the array, mapped."""
        return self.values.mapped()


def _removed(path: Path) -> None:
    with suppress(OSError):  # still mapped, on some systems, or gone with the folder: that is removed with the pool
        path.unlink()
