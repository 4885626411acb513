"""Where blocks are, and how a function is applied to each of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from os import PathLike
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from typing import Any, Protocol
from weakref import finalize

import numpy as np

from headrank._memory import free_memory
from headrank.rows.block import Block
from headrank.rows.on_disk import BlockOnDisk, ValuesOnDisk, leave_cache
from headrank.rows.standing_threads import StandingThreads

_WORTH_FILES = 32_000_000
"""Bytes from which results that stay with all blocks are written to the folder of the copies, if there is one."""

_CACHED = 0.7
"""Share of the free memory in which the system is to keep copies; those beyond it are read past the cache."""


@dataclass(frozen=True)
class FoundBlocks:
    """How to load each block, and what all of them share."""

    loaders: tuple[Callable[[], Block], ...]
    n_features: int
    dtype: Any
    feature_names: tuple[str, ...] | None = None
    dense: bool = True


class Pool(Protocol):
    """Blocks that can be mapped over. What a function returns may stay where its block is."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""

    def start(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Call ``function(block, *each_of_block, *same)`` for each block; return a handle of each result.

        A handle may be passed in ``each`` to another call: the function then gets the result. If it ``stays``, the
        result is not to be collected soon, and need not be in memory.
        """

    def start_without(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Call ``function(*each_of_block, *same)`` for each block, which is not loaded for it."""

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""

    def reduce(self, function: Callable[..., Any], merge: Callable[..., Any], *, same: Sequence[Any] = ()) -> Any:
        """Merge ``function(block, *same)`` of all blocks in pairs, where these are, and return the result."""

    def load(self, number: int) -> Any:
        """Return one block, in this process."""

    def mapped(self, make: Callable[..., Any], *given: Sequence[Any]) -> Pool:
        """Return the blocks ``make(block, *given_of_block)``, made when they are needed."""

    def kept(self) -> Pool:
        """Return the same blocks, kept from now on as far as there is memory, for many passes over them."""


@dataclass(frozen=True, eq=False)
class LocalPool:
    """Blocks that are loaded in this process, one for each thread at a time; a handle is the result itself.

    The first blocks to be loaded stay in memory, as many as fit in ``memory`` bytes; of blocks that are made of these
    and are to be `kept`, as many as fit in ``spare`` bytes. If there is a ``folder``, all others that are kept are
    copied to files in ``copies``, and so are large results that stay with their blocks. Later passes map the files, and
    read those of blocks beyond ``cached`` bytes past the system's cache. The files are removed with the pool.
    """

    loaders: tuple[Callable[[], Any], ...]
    n_jobs: int = 1
    memory: float = 0
    spare: float = 0
    folder: str | PathLike[str] | None = None
    copies: Path | None = None
    cached: float = 0
    _kept: dict[int, Any] = field(default_factory=dict)
    _buffers: list[Any] = field(default_factory=list)
    _threads: StandingThreads = field(default_factory=StandingThreads)
    _lock: Any = field(default_factory=Lock)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.loaders)

    def start(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to each block; see `Pool`."""
        return self._each(lambda number: function(self.load(number), *_found(each, number), *same), stays=stays)

    def start_without(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to values of each block; see `Pool`."""
        return self._each(lambda number: function(*_found(each, number), *same), stays=stays)

    def reduce(self, function: Callable[..., Any], merge: Callable[..., Any], *, same: Sequence[Any] = ()) -> Any:
        """Merge the results of all blocks as soon as they are there; see `Pool`.

        A binary counter: a result is merged with the one before it once both are of equally many blocks, so that about
        log2(n_blocks) of them exist at a time.
        """
        pending: list[tuple[int, Any]] = []
        for result in self._in_order(lambda number: function(self.load(number), *same)):
            size = 1
            while pending and pending[-1][0] == size:
                result, size = merge(pending.pop()[1], result), 2 * size
            pending.append((size, result))
        return reduce(lambda last, before: merge(before, last), [result for _, result in reversed(pending)])

    def mapped(self, make: Callable[..., Any], *given: Sequence[Any]) -> LocalPool:
        """Return blocks made of these; see `Pool`."""
        loaders = (
            partial(_made, partial(self.load, number), make, tuple(values[number] for values in given))
            for number in range(self.n_blocks)
        )
        spare = max(self.spare, self.memory)
        return LocalPool(tuple(loaders), self.n_jobs, spare=spare, folder=self.folder, _threads=self._threads)

    def kept(self) -> LocalPool:
        """Return the same blocks, which are kept in memory or on disk."""
        in_memory = max(self.memory, self.spare)
        if self.folder is None:
            return LocalPool(self.loaders, self.n_jobs, in_memory, _threads=self._threads)
        copies, cached = Path(mkdtemp(prefix="headrank-", dir=self.folder)), _CACHED * free_memory()
        kept: dict[str, Any] = {"folder": self.folder, "copies": copies, "cached": cached, "_threads": self._threads}
        pool = LocalPool(self.loaders, self.n_jobs, in_memory, **kept)
        finalize(pool, rmtree, copies, ignore_errors=True)
        return pool

    def load(self, number: int) -> Any:
        """Return one block; it is kept if it is among those to be kept."""
        found = self._kept.get(number)
        if found is not None:
            return found.loaded() if isinstance(found, BlockOnDisk) else found
        block = self.loaders[number]()
        with self._lock:
            if self.memory and self._n_bytes(block) <= self.memory:
                self._kept[number] = block
                return block
        if self.copies is not None and isinstance(block.X, np.ndarray):
            self._copy(number, block, self.copies)
        return block

    def _copy(self, number: int, block: Any, folder: Path) -> None:
        """Copy a block to a file, which is mapped if there is room for it in the system's cache."""
        copy = BlockOnDisk.of(block, folder / f"{number}.npy")
        with self._lock:
            copies = [one for one in self._kept.values() if isinstance(one, BlockOnDisk) and one.buffers is None]
            fits = sum(one.n_bytes for one in (*copies, copy)) <= self.cached
            self._kept[number] = copy if fits else replace(copy, buffers=self._buffers)
        if not fits:
            leave_cache(copy.features.path)
        if block.last_of is not None and 2 * copy.n_bytes * self.n_blocks > self.cached:
            leave_cache(block.last_of)  # it is not read again, and would push copies out of the cache

    def _n_bytes(self, another: Any) -> int:
        in_memory = (block for block in self._kept.values() if not isinstance(block, BlockOnDisk))
        return sum(block.X.nbytes for block in (*in_memory, another))

    def _each(self, call: Callable[[int], Any], *, stays: bool) -> list[Any]:
        one = (lambda number: self._stored(call(number))) if stays and self.copies is not None else call
        if min(self.n_jobs, self.n_blocks) <= 1:
            return [one(number) for number in range(self.n_blocks)]
        return self._threads.map(one, self.n_blocks, n_threads=self.n_jobs)

    def _stored(self, value: Any) -> Any:
        """Write a result that takes much memory to the folder of the copies, and return a handle of it."""
        assert self.copies is not None
        if not isinstance(value, np.ndarray) or not any(value.strides):  # one number for all rows takes no memory
            return value
        return ValuesOnDisk.of(value, self.copies) if value.nbytes * self.n_blocks >= _WORTH_FILES else value

    def _in_order(self, call: Callable[[int], Any]) -> Iterator[Any]:
        """Yield the results in the order of the blocks, with at most one for each thread waiting."""
        if self.n_jobs == 1:
            yield from map(call, range(self.n_blocks))
            return
        with ThreadPoolExecutor(self.n_jobs) as threads:  # not those that stay: who asks may stop in the middle
            ahead: deque[Any] = deque()
            for number in range(self.n_blocks):
                ahead.append(threads.submit(call, number))
                if len(ahead) > self.n_jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""
        return [_at_hand(handle) for handle in handles]


def _at_hand(handle: Any) -> Any:
    return handle.loaded() if isinstance(handle, ValuesOnDisk) else handle


def _found(each: Sequence[Sequence[Any]], number: int) -> tuple[Any, ...]:
    """Return the values of a block."""
    return tuple(_at_hand(values[number]) for values in each)


def _made(load: Callable[[], Any], make: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Load a block and make another one of it."""
    return make(load(), *given)
