"""Blocks on the workers of a Dask cluster: the only place that imports Dask."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial, reduce
from itertools import accumulate, chain, pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import short_repr
from headrank.rows.block import Block
from headrank.rows.block_scores import itself

_SECONDS_TO_CONNECT = 20
_GROUPED = 128_000_000
"""Bytes of small blocks that one task works on. A task takes some 3 ms on top of its work."""
_NARROW = ("float32", "int8", "int16", "uint8", "uint16", "bool")


class _Piece(NamedTuple):
    """A handle: one of the results of a task."""

    task: Any
    number: int


class DaskPool:
    """Blocks that stay on the workers, in groups of neighbours: a call is one task for each group.

    Blocks are computed once, and tasks are sent to the worker that has them. No graph is built for an evaluation.
    Everything that a task needs is a group or a small array that is sent with it, so the scheduler computes again what
    a lost worker had.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    groups : list
        Futures of lists of blocks, or lists of blocks.
    sizes : list of int
        How many blocks each group has.
    """

    def __init__(self, client: Any, groups: Sequence[Any], sizes: Sequence[int]) -> None:
        self.client = client
        self.groups = list(groups)
        self.sizes = list(sizes)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return sum(self.sizes)

    def start(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to each block; see `Pool`."""
        del stays
        return self._pieces(self._tasks(_of_each, function, self.groups, *map(self._by_group, each), same=same))

    def start_without(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to values of each block; see `Pool`. All results stay on the workers until collected."""
        del stays
        return self._pieces(self._tasks(_of_each, function, *map(self._by_group, each), same=same))

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""
        return list(chain.from_iterable(self._gather(self._by_group(handles))))

    def reduce(self, function: Callable[..., Any], merge: Callable[..., Any], *, same: Sequence[Any] = ()) -> Any:
        """Merge the results of all blocks in pairs, on the workers; only the last one travels. See `Pool`."""
        left = self._tasks(_merged, function, self.groups, same=(merge, *same))
        while len(left) > 1:
            n = len(left) // 2
            with _connected(self.client):
                merged = list(self.client.map(merge, left[: 2 * n : 2], left[1 : 2 * n : 2], pure=False))
            left = merged + left[2 * n :]
        return self._gather(left)[0]

    def load(self, number: int) -> Any:
        """Return one block, which is copied to this process."""
        group, at = self._pieces(self.groups)[number]
        with _connected(self.client):
            return self.client.submit(getitem, group, at, pure=False).result()

    def mapped(self, make: Callable[..., Any], *given: Sequence[Any]) -> DaskPool:
        """Return blocks made of these, once, on the workers."""
        return DaskPool(self.client, self._by_group(self.start(make, *given)), self.sizes)

    def kept(self) -> DaskPool:
        """Return the same blocks: they stay on the workers."""
        return self

    def _tasks(
        self, run: Callable[..., Any], function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any]
    ) -> list[Any]:
        """Start ``run(function, same, *each_of_group)`` for all groups."""
        with _connected(self.client), warnings.catch_warnings():
            # Coefficients, one for each row, go with their task: scattered, they would be lost with their worker.
            warnings.filterwarnings("ignore", "Sending large graph")
            run = partial(run, function, tuple(same))
            return list(self.client.map(run, *each, pure=False))  # one message for all tasks

    def _gather(self, tasks: Sequence[Any]) -> list[Any]:
        with _connected(self.client):
            return list(self.client.gather(list(tasks)))

    def _pieces(self, tasks: Sequence[Any]) -> list[_Piece]:
        return [_Piece(task, at) for task, size in zip(tasks, self.sizes, strict=True) for at in range(size)]

    def _by_group(self, values: Sequence[Any]) -> list[Any]:
        """Return the tasks behind handles of all blocks, or values of all blocks as a list for each group."""
        first = [0, *accumulate(self.sizes)]
        if isinstance(values[0], _Piece):
            return [values[start].task for start in first[:-1]]
        return [list(values[start:stop]) for start, stop in pairwise(first)]


def _of_each(function: Callable[..., Any], same: tuple[Any, ...], *each: Sequence[Any]) -> list[Any]:
    return [function(*of_block, *same) for of_block in zip(*each, strict=True)]


def _merged(function: Callable[..., Any], same: tuple[Any, ...], blocks: Sequence[Any]) -> Any:
    merge, *others = same
    return reduce(merge, (function(block, *others) for block in blocks))


def _grouped(client: Any, blocks: Sequence[Any]) -> DaskPool:
    """Wait for blocks, and group neighbours on one worker up to a size, without moving or copying them."""
    from distributed import wait

    with _connected(client):
        wait(blocks)
        places, sizes = client.who_has(blocks), client.nbytes(summary=False)
        groups: list[list[Any]] = []
        last, total = None, 0
        for block in blocks:
            place, size = places.get(block.key), sizes.get(block.key, 0)
            if groups and place == last and total + size <= _GROUPED:
                groups[-1].append(block)
                total += size
            else:
                groups.append([block])
                last, total = place, size
        return DaskPool(client, client.map(itself, groups, pure=False), [len(group) for group in groups])


class LoadedPool:
    """Blocks that a worker loads each time that they are needed, such as parts of files that all workers can read."""

    def __init__(self, client: Any, loaders: Sequence[Callable[[], Any]]) -> None:
        self.client = client
        self.loaders = list(loaders)
        self._tasks = DaskPool(client, [[load] for load in loaders], [1] * len(loaders))  # loaders go with their tasks

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.loaders)

    def start(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to each block; see `Pool`."""
        return self._tasks.start(partial(_loaded, function), *each, same=same, stays=stays)

    def start_without(
        self, function: Callable[..., Any], *each: Sequence[Any], same: Sequence[Any] = (), stays: bool = False
    ) -> list[Any]:
        """Apply a function to values of each block; see `Pool`."""
        return self._tasks.start_without(function, *each, same=same, stays=stays)

    def collect(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results, in the order of the blocks."""
        return self._tasks.collect(handles)

    def reduce(self, function: Callable[..., Any], merge: Callable[..., Any], *, same: Sequence[Any] = ()) -> Any:
        """Merge the results of all blocks in pairs, on the workers; see `Pool`."""
        return self._tasks.reduce(partial(_loaded, function), merge, same=same)

    def load(self, number: int) -> Any:
        """Return one block, which a worker loads and sends to this process."""
        return LoadedPool(self.client, self.loaders[number : number + 1]).kept().load(0)

    def mapped(self, make: Callable[..., Any], *given: Sequence[Any]) -> LoadedPool:
        """Return blocks made of these; see `Pool`."""
        made = [partial(_loaded, make, load, *of_block) for load, *of_block in zip(self.loaders, *given, strict=True)]
        return LoadedPool(self.client, made)

    def kept(self) -> DaskPool:
        """Load all blocks once; they stay on the workers."""
        return self._tasks.mapped(partial(_loaded, itself))


def _loaded(function: Callable[..., Any], load: Callable[[], Any], *arguments: Any) -> Any:
    return function(load(), *arguments)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a cluster, or start one of the cores of this machine if the address is ``"local"``; yield the client.

    A cluster that was started is closed at the end, with its workers and their temporary files.
    """
    with needs_extra("dask"):
        import distributed
    if address == "local":
        with (
            distributed.LocalCluster(dashboard_address=None, silence_logs=logging.ERROR) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address} ({error}); expected an address such as tcp://host:8786, or 'local'"
        ) from error
    with client:
        yield client


def has_client() -> bool:
    """Return whether a client is connected."""
    with needs_extra("dask"):
        import distributed
    try:
        distributed.get_client()
    except ValueError:
        return False
    return True


def n_workers(client: Any) -> int:
    """Return the number of workers that are connected now."""
    return len(client.nthreads())


@contextmanager
def _connected(client: Any) -> Iterator[None]:
    """Say what happened if the cluster goes away."""
    try:
        yield
    except Exception as error:
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise ConnectionError(
            f"the Dask cluster went away ({type(error).__name__}: {error}); start it again and connect a new Client"
        ) from error


class DaskBlocks(NamedTuple):
    """Blocks on workers, and what all of them share."""

    pool: DaskPool
    n_features: int
    dtype: Any
    feature_names: tuple[str, ...] | None
    dense: bool


def dask_blocks(X: Any, y: Any, sample_weight: Any, qid: Any, client: Any) -> DaskBlocks:
    """Load the partitions of a collection on the workers, together with those of labels, weights and queries."""
    with needs_extra("dask"):
        import distributed
        from dask.delayed import delayed

    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise ValueError(
                "Dask blocks are kept on the workers of a cluster, but no client is connected; start one: "
                "client = dask.distributed.Client()"
            ) from None
    kind = X
    if _are_futures(X):
        with _connected(client):
            kind = client.submit(_without_rows, X[0]).result()
    names, dtype = _columns_of(kind)
    parts = _parts_of("X", X)
    beside = [
        [None] * len(parts) if values is None else _parts_of(name, values)
        for name, values in (("y", y), ("sample_weight", sample_weight), ("qid", qid))
    ]
    for name, others in zip(("y", "sample_weight", "qid"), beside, strict=True):
        if len(others) != len(parts):
            raise ValueError(
                f"{name} has {len(others)} partitions, X has {len(parts)}; take both from the same data frame, or "
                "rechunk one like the other"
            )
    make = delayed(_block_of, pure=False)
    blocks = [make(*those, dtype.name, number) for number, those in enumerate(zip(parts, *beside, strict=True))]
    futures = client.compute(blocks)
    dense = not hasattr(getattr(kind, "_meta", kind), "nnz")
    return DaskBlocks(_grouped(client, futures), int(kind.shape[1]), dtype, names, dense)


def _are_futures(values: Any) -> bool:
    from distributed import Future

    return isinstance(values, (list, tuple)) and len(values) > 0 and all(isinstance(each, Future) for each in values)


def _without_rows(part: Any) -> Any:
    """Return the kind of a part, on a worker: its columns and types."""
    return part[:0]


def _columns_of(X: Any) -> tuple[tuple[str, ...] | None, np.dtype[Any]]:
    """Return the names of the features and their float type, or raise if they are not numbers."""
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, got a Dask collection of {len(X.shape)} dimension(s)")
    kinds = list(X.dtypes) if hasattr(X, "columns") else [X.dtype]
    names = tuple(str(name) for name in X.columns) if hasattr(X, "columns") else None
    for number, kind in enumerate(kinds):
        if getattr(kind, "kind", "O") not in "biuf":
            what = f"column {names[number]!r}" if names is not None else "X"
            raise ValueError(f"{what} is {kind}, not a number; encode it, or leave it out")
    return names, np.dtype(np.float32 if all(str(kind) in _NARROW for kind in kinds) else np.float64)


def _parts_of(name: str, values: Any) -> list[Any]:
    if _are_futures(values):
        return list(values)
    if not hasattr(values, "to_delayed"):
        raise TypeError(f"{name} must be a Dask collection or a list of futures, like X, got {short_repr(values)}")
    if hasattr(values, "chunks") and len(values.shape) == 2 and len(values.chunks[1]) > 1:
        values = values.rechunk({1: -1})
    return list(np.ravel(values.to_delayed()))


def _block_of(X: Any, y: Any, sample_weight: Any, qid: Any, dtype: str, number: int) -> Block:
    """Make a block of the partitions that belong together, on a worker."""
    name = f"partition {number}"
    if hasattr(X, "nnz"):
        matrix = X.tocsr().astype(dtype, copy=False)
    elif hasattr(X, "to_numpy"):
        matrix = X.to_numpy(dtype=dtype, na_value=np.nan)  # missing whole numbers are refused by name, as others are
    else:
        # An array out of a message may start at any byte, and then products of it do not go through BLAS.
        matrix = np.require(X, dtype=dtype, requirements=["ALIGNED"])
    given = {"y": y, "sample_weight": sample_weight, "qid": qid}
    columns: dict[str, Any] = {
        what: np.asarray(values).reshape(-1) for what, values in given.items() if values is not None
    }
    for what, column in columns.items():
        if column.size != matrix.shape[0]:
            raise ValueError(
                f"{what} has {column.size} values for the {matrix.shape[0]} rows of {name}; rechunk it like X"
            )
    return Block(matrix, name=name, **columns)
