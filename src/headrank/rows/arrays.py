"""Blocks of arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from headrank._numbers import short_repr
from headrank.rows.block import Block
from headrank.rows.block_scores import itself
from headrank.rows.pool import FoundBlocks


def array_loaders(
    X: Sequence[Any],
    y: Sequence[Any] | None,
    sample_weight: Sequence[Any] | None,
    qid: Sequence[Any] | None,
    feature_names: Sequence[str] | None,
) -> FoundBlocks:
    """Check the arrays of all blocks, and return them as blocks; nothing is copied but what is not float."""
    matrices = _matrices(X)
    n_features = matrices[0].shape[1]
    feature_names = _names_of(X) if feature_names is None else feature_names
    if feature_names is not None and len(feature_names) != n_features:
        raise ValueError(f"feature_names has {len(feature_names)} names for {n_features} features; pass one each")
    given = {"y": y, "sample_weight": sample_weight, "qid": qid}
    columns = [
        {name: _column(name, values, number, len(matrices)) for name, values in given.items()}
        for number in range(len(matrices))
    ]
    blocks = [
        _whole_block(Block(matrix, name=f"block {number}", **values))
        for number, (matrix, values) in enumerate(zip(matrices, columns, strict=True))
    ]
    return FoundBlocks(
        tuple(partial(itself, block) for block in blocks),
        n_features,
        matrices[0].dtype,
        None if feature_names is None else tuple(feature_names),
        dense=not any(hasattr(matrix, "nnz") for matrix in matrices),
    )


def _matrices(X: Sequence[Any]) -> list[Any]:
    """Return the features of each block in one float type, or raise."""
    if hasattr(X, "shape") or isinstance(X, str) or not isinstance(X, Sequence):
        raise TypeError(f"X must be a list with one array for each block, got {short_repr(X)}; pass [X] for one block")
    if not X:
        raise ValueError("X has no blocks; pass at least one array")
    matrices = []
    for number, part in enumerate(X):
        matrix: Any = part if hasattr(part, "nnz") or isinstance(part, np.ndarray) else np.asarray(part)
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or getattr(matrix, "format", "csr") != "csr":
            raise TypeError(
                f"block {number} of X must be a 2-D array of numbers or a CSR matrix, got {type(part).__name__} of "
                f"dtype {matrix.dtype} and shape {matrix.shape}"
            )
        if not getattr(matrix, "has_canonical_format", True):
            matrix = matrix.copy()  # ends and variances take entries one by one; the matrix given is not modified
            matrix.sum_duplicates()
        matrices.append(matrix)
        if (width := matrix.shape[1]) != matrices[0].shape[1]:
            raise ValueError(
                f"block {number} of X has {width} features, block 0 has {matrices[0].shape[1]}; all need the same"
            )
    single = all(matrix.dtype == np.float32 for matrix in matrices)
    return [matrix.astype(np.float32 if single else np.float64, copy=False) for matrix in matrices]


def _names_of(X: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the columns of data frames, or raise if they differ; None for arrays."""
    names = [tuple(map(str, getattr(part, "columns", ()))) for part in X]
    for number, each in enumerate(names):
        if each != names[0]:
            raise ValueError(
                f"block {number} of X has the columns {short_repr(each)}, block 0 has {short_repr(names[0])}; all need "
                "the same, in the same order"
            )
    return names[0] or None


def _column(name: str, values: Sequence[Any] | None, number: int, n_blocks: int) -> Any:
    if values is None:
        return None
    if len(values) != n_blocks:
        raise ValueError(f"{name} must have one array for each of the {n_blocks} blocks of X, got {len(values)}")
    return np.asarray(values[number])


def _whole_block(block: Block) -> Block:
    """Return the block, or raise if labels, weights or queries are not one for each row."""
    for name in ("y", "sample_weight", "qid"):
        values = getattr(block, name)
        if values is not None and values.shape != (block.n_rows,):
            raise ValueError(
                f"{name} of {block.name} must have one value for each of its {block.n_rows} rows, got shape "
                f"{values.shape}"
            )
    return block
