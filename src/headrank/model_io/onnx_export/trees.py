"""Trees, which headrank keeps as LightGBM's text, as ONNX's TreeEnsemble."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.estimators.trees.tree_nodes import ALMOST_ZERO, nodes_of_trees
from headrank.exceptions import ModelFileError
from headrank.model_io.onnx_export.graph import ML, Graph

_AT_MOST, _MEMBER, _SUM = 0, 6, 1
"""Codes of ONNX: a split at a threshold, a split by a set, and the aggregation of trees."""
_NOT_A_CODE = -0.5
_TREES_IN_SINGLE_PRECISION = 100
"""Most trees that are added up by one operator in float32."""
_WHOLE = {np.dtype(np.float32): 2**24, np.dtype(np.float64): 2**53}
"""Up to which whole numbers are exact."""


@dataclass(frozen=True, eq=False)
class _Splits:
    """Splits and leaves of one tree or of several; children are numbers of splits, or of leaves where these say so."""

    features: IntVector
    thresholds: Vector
    is_set: BoolVector
    missing_left: BoolVector
    left: IntVector
    left_is_leaf: BoolVector
    right: IntVector
    right_is_leaf: BoolVector
    leaves: Vector
    sets: tuple[Vector, ...]


def ensemble(graph: Graph, x: str, weighted: Sequence[tuple[Any, float]], constant: float) -> str:
    """Add trees whose values are multiplied by weights and added to a constant; return the name of the sum.

    A row takes the same branches as in LightGBM: thresholds are exact in float64, and in float32 the greatest number
    that is not above them.
    """
    trees, known = [], 0.0
    for grown, weight in weighted:
        if not isinstance(grown, LightGBMTrees):
            raise ModelFileError(
                "trees grown by scikit-learn, where LightGBM could not be loaded, cannot be exported to ONNX; fit the "
                "model where LightGBM works"
            )
        for splits in _trees(grown.text, weight, graph.precision):
            if splits.features.size:
                trees.append(splits)
            else:  # a tree without a split
                known += float(splits.leaves[0])
    offset = graph.constant([[constant + known]])
    if not trees:
        n_rows = graph.add("Shape", x, end=1)
        shape = graph.add("Concat", n_rows, graph.constant([1], np.int64), axis=0)
        return graph.add("Expand", offset, shape)
    if any(splits.sets for splits in trees):
        x = _whole_codes(graph, x, {int(j) for each in trees for j in each.features[each.is_set]})
    step = len(trees) if graph.precision == np.float64 else _TREES_IN_SINGLE_PRECISION
    sums = [_operator(graph, x, trees[start : start + step]) for start in range(0, len(trees), step)]
    return graph.add("Add", graph.total(sums), offset)


def _trees(text: str, weight: float, precision: np.dtype[Any]) -> Iterator[_Splits]:
    for tree in nodes_of_trees(text):
        leaves = tree.values * weight
        if leaves.size == 1:
            nothing = {field.name: np.empty(0) for field in fields(_Splits)}
            yield _Splits(**{**nothing, "leaves": leaves, "sets": ()})  # type: ignore[arg-type]
            continue
        if tree.zero_is_missing.any():
            raise ModelFileError("trees that take zeros for missing values cannot be exported to ONNX")
        yield _Splits(
            features=tree.features,
            thresholds=np.where(tree.is_set, 0.0, _same_branches(tree.thresholds, precision)),
            is_set=tree.is_set,
            missing_left=tree.missing_left,
            left=np.where(tree.left < 0, -tree.left - 1, tree.left),
            left_is_leaf=tree.left < 0,
            right=np.where(tree.right < 0, -tree.right - 1, tree.right),
            right_is_leaf=tree.right < 0,
            leaves=leaves,
            sets=tuple(_in_precision(codes, precision) for codes in tree.sets),
        )


def _same_branches(thresholds: Vector, precision: np.dtype[Any]) -> Vector:
    """Return thresholds in a precision at which its numbers take the same branches.

    Values almost 0 are 0 for LightGBM.
    """
    moved = np.where((thresholds >= 0) & (thresholds < ALMOST_ZERO), ALMOST_ZERO, thresholds)
    moved = np.where((moved >= -ALMOST_ZERO) & (moved < 0), np.nextafter(-ALMOST_ZERO, -1), moved)
    with np.errstate(over="ignore"):
        rounded = moved.astype(precision)
        result: Vector = np.where(rounded > moved, np.nextafter(rounded, -np.inf, dtype=precision), rounded)
    return result


def _in_precision(codes: IntVector, precision: np.dtype[Any]) -> Vector:
    """Return the categories that go to the left at a split by a set."""
    if codes.size and codes[-1] > _WHOLE[precision]:
        raise ModelFileError(
            f"the code {codes[-1]} of a category cannot be written in {precision}; export with precision='float64'"
        )
    return codes.astype(precision) if codes.size else np.array([_NOT_A_CODE], dtype=precision)


def _whole_codes(graph: Graph, x: str, columns: Iterable[int]) -> str:
    """Cut the decimals of codes of categories off, as LightGBM does."""
    numbers = np.array(sorted(columns), dtype=np.int64)
    codes = graph.columns(x, numbers)
    whole = graph.add("Mul", graph.add("Floor", graph.add("Abs", codes)), graph.add("Sign", codes))
    rows = graph.add("Transpose", x, perm=[1, 0])
    scattered = graph.add(
        "ScatterND", rows, graph.constant(numbers[:, None], np.int64), graph.add("Transpose", whole, perm=[1, 0])
    )
    return graph.add("Transpose", scattered, perm=[1, 0])


def _operator(graph: Graph, x: str, trees: Sequence[_Splits]) -> str:
    """Add one TreeEnsemble. Its nodes and leaves are numbered over all trees."""
    n_splits, n_leaves = (
        np.array([each.features.size for each in trees]),
        np.array([each.leaves.size for each in trees]),
    )
    first_split, first_leaf = np.cumsum(n_splits) - n_splits, np.cumsum(n_leaves) - n_leaves

    def joined(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in trees])

    def children(side: str) -> list[int]:
        places = np.where(joined(f"{side}_is_leaf"), np.repeat(first_leaf, n_splits), np.repeat(first_split, n_splits))
        numbers: list[int] = (joined(side) + places).tolist()
        return numbers

    sets = [one for each in trees for one in each.sets]
    end_of_set = np.array([np.nan], dtype=graph.precision)
    parts = [part for one in sets for part in (one, end_of_set)]
    return graph.add(
        "TreeEnsemble",
        x,
        domain=ML,
        n_targets=1,
        aggregate_function=_SUM,
        post_transform=0,
        tree_roots=first_split.tolist(),
        nodes_splits=graph.tensor(joined("thresholds").astype(graph.precision)),
        nodes_featureids=joined("features").tolist(),
        nodes_modes=graph.tensor(np.where(joined("is_set"), _MEMBER, _AT_MOST).astype(np.uint8)),
        nodes_truenodeids=children("left"),
        nodes_trueleafs=joined("left_is_leaf").astype(int).tolist(),
        nodes_falsenodeids=children("right"),
        nodes_falseleafs=joined("right_is_leaf").astype(int).tolist(),
        nodes_missing_value_tracks_true=joined("missing_left").astype(int).tolist(),
        leaf_targetids=[0] * int(n_leaves.sum()),
        leaf_weights=graph.tensor(joined("leaves").astype(graph.precision)),
        **({"membership_values": graph.tensor(np.concatenate(parts))} if sets else {}),
    )
