"""Where blocks are, and how a function is applied to each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from headrank.rows.block import Block


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

    def start(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Call ``function(block, *each_of_block, *same)`` for each block; return a handle of each result.

        A handle may be passed in ``each`` to another call: the function then gets the result.
        """

    def start_without(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Call ``function(*each_of_block, *same)`` for each block, which is not loaded for it."""

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""


@dataclass(frozen=True, eq=False)
class MappedPool:
    """Blocks made of those of another pool, each time that they are needed: ``make(block, *given_of_block)``.

    What is made is not kept, except by a `LocalPool` around it.
    """

    pool: Pool
    make: Callable[..., Block]
    given: tuple[Sequence[Any], ...] = ()

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.pool.n_blocks

    def start(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Apply a function to each block; see `Pool`."""
        made_of = self.make, len(self.given), function, tuple(same)
        return self.pool.start(_after, *self.given, *each, same=made_of)

    def start_without(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Apply a function to values of each block; see `Pool`."""
        return self.pool.start_without(function, *each, same=same)

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""
        return self.pool.collect(handles)


def _after(block: Any, *arguments: Any) -> Any:
    """Make a block of another one, and apply a function to it."""
    *values, make, n_given, function, same = arguments
    return function(make(block, *values[:n_given]), *values[n_given:], *same)


@dataclass(frozen=True, eq=False)
class LocalPool:
    """Blocks that are loaded in this process, one for each thread at a time; a handle is the result itself.

    The first blocks to be loaded stay in memory, as many as fit in ``memory`` bytes.
    """

    loaders: tuple[Callable[[], Block], ...]
    n_jobs: int = 1
    memory: float = 0
    _kept: dict[int, Block] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.loaders)

    def start(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Apply a function to each block; see `Pool`."""
        return self._each(lambda number: function(self._block(number), *(values[number] for values in each), *same))

    def start_without(self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = ()) -> list[Any]:
        """Apply a function to values of each block; see `Pool`."""
        return self._each(lambda number: function(*(values[number] for values in each), *same))

    def _block(self, number: int) -> Block:
        block = self._kept.get(number)
        if block is None:
            block = self.loaders[number]()
            with self._lock:
                if self.memory and self._n_bytes(block) <= self.memory:
                    self._kept[number] = block
        return block

    def _n_bytes(self, another: Block) -> int:
        return sum(block.X.nbytes for block in (*self._kept.values(), another))

    def _each(self, call: Callable[[int], Any]) -> list[Any]:
        if min(self.n_jobs, self.n_blocks) <= 1:
            return [call(number) for number in range(self.n_blocks)]
        with ThreadPoolExecutor(min(self.n_jobs, self.n_blocks)) as threads:
            return list(threads.map(call, range(self.n_blocks)))  # after an interrupt, what is not begun is cancelled

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""
        return list(handles)
