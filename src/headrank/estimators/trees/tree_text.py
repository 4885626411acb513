"""LightGBM's text of trees: brought to one form when it is written, checked line by line before it is read.

LightGBM's reader takes numbers of the text for positions in memory. So a text from a file is read only if every number
is in its range, every node has one parent, and no line is there that is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from headrank._types import IntVector, Vector

END_OF_TREES = "end of trees\n"
_VERSION = "v4"
_FIXED = {"version": _VERSION, "num_class": "1", "num_tree_per_iteration": "1", "label_index": "0"}
_HEAD = (*_FIXED, "max_feature_idx", "objective", "feature_names", "feature_infos")
_OBJECTIVES = ("binary sigmoid:1", "custom", "lambdarank", "regression")
_OF_SPLITS = ("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child")
_OF_INNER = ("internal_value", "internal_weight", "internal_count")
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_OF_CATEGORIES = ("cat_boundaries", "cat_threshold")
_SINGLE = ("num_leaves", "num_cat", "is_linear", "shrinkage")
_MOST_FEATURES = 2**31 - 1
DEEPEST = 1000
"""Splits on the way to a leaf, at most: LightGBM follows them by recursion."""
_NOT_PLAIN = re.compile(r"[^\n -~]")
_NOT_NUMERIC = re.compile(r"[^0-9e+. -]")
"""Python reads "1_0" as 10 and skips tabs, LightGBM does not."""
_INFINITE = re.compile(r"(?<![^ ])-?inf(?![^ ])")
"""A threshold that parts known values from missing ones. No split of categories has a negative one."""
_CATEGORICAL = 1
"""The bit of ``decision_type`` that says so."""


def canonical(text: str) -> str:
    """Return a text of LightGBM without what scores do not depend on: sizes, constraints, parameters, importances."""
    head, _, trees = text[: text.index(END_OF_TREES)].partition("\n\n")
    kept = [line for line in head.splitlines() if line == "tree" or line.partition("=")[0] in _HEAD]
    if not any(line.startswith("objective=") for line in kept):
        kept.append("objective=custom")
    return "\n".join(kept) + f"\n\n{trees.strip()}\n\n\n{END_OF_TREES}"


def fields_of_trees(text: str) -> Iterator[dict[str, str]]:
    """Yield the lines of each tree of a text, as `canonical` returns it, by their names."""
    _, _, rest = text.partition("\n\n")
    for block in rest.removesuffix(f"\n\n\n{END_OF_TREES}").split("\n\n\n"):
        yield dict(line.partition("=")[::2] for line in block.split("\n"))


def n_features_of(text: str) -> int:
    """Return the number of features of the rows that trees take, by their text as `canonical` returns it."""
    head = text.partition("\n\n")[0]
    (largest,) = (line.partition("=")[2] for line in head.split("\n") if line.startswith("max_feature_idx="))
    return _integer(largest, 0, _MOST_FEATURES) + 1


def faults_of(text: str) -> Iterator[str]:
    """Say what is wrong with a text, as `canonical` returns it, that was read from a file. O(length)."""
    if _NOT_PLAIN.search(text):  # LightGBM also ends lines at carriage returns
        yield "it has characters that are not expected"
        return
    head, _, rest = text.partition("\n\n")
    lines = head.split("\n")
    fields = dict(line.partition("=")[::2] for line in lines[1:])
    if lines[0] != "tree" or len(fields) != len(lines) - 1 or set(fields) != set(_HEAD):
        yield "its head has lines that are not expected"
        return
    fixed = all(fields[name] == value for name, value in _FIXED.items())
    if not fixed or fields["objective"] not in _OBJECTIVES or any("=" in value for value in fields.values()):
        yield "its head has values that are not expected"
        return
    n_features = _integer(fields["max_feature_idx"], 0, _MOST_FEATURES) + 1
    if any(len(fields[name].split(" ")) != n_features for name in ("feature_names", "feature_infos")):
        yield f"it does not name {n_features} features"
    if not rest.endswith(f"\n\n\n{END_OF_TREES}"):
        yield "it does not end with its trees"
        return
    blocks = rest.removesuffix(f"\n\n\n{END_OF_TREES}").split("\n\n\n")
    for i, block in enumerate(blocks):
        of_tree = dict(line.partition("=")[::2] for line in block.split("\n"))
        if len(of_tree) != block.count("\n") + 1 or of_tree.pop("Tree", "") != str(i):
            yield f"tree {i} has lines twice, or another number"
            return
        for fault in _faults_of_tree(of_tree, n_features):
            yield f"tree {i} {fault}"
            return


def _faults_of_tree(fields: Mapping[str, str], n_features: int) -> Iterator[str]:
    known = {*_SINGLE, *_OF_SPLITS, *_OF_INNER, *_OF_LEAVES, *_OF_CATEGORIES}
    if not set(fields) <= known or not {*_SINGLE, "leaf_value"} <= set(fields):
        yield "has lines that are not expected, or lacks some"
        return
    n_leaves, n_cat = (_integer(fields[name], 0, 2**31) for name in ("num_leaves", "num_cat"))
    n_splits = n_leaves - 1
    if n_leaves < 1 or fields["is_linear"] != "0" or _floats(fields["shrinkage"]).size != 1:
        yield "is not a tree of constants"
        return
    sizes = dict.fromkeys(_OF_LEAVES, n_leaves) | dict.fromkeys((*_OF_SPLITS, *_OF_INNER), n_splits)
    fields = {**fields, "threshold": _INFINITE.sub("-1", fields.get("threshold", ""))}
    given = {name: fields[name] for name in sizes if fields.get(name)}
    _floats(" ".join(given.values()))  # one call for all of them: a model has thousands of trees
    for name, size in sizes.items():
        n_values = given[name].count(" ") + 1 if name in given else 0
        if n_values not in ((size,) if name == "leaf_value" or n_splits else (size, 0)):
            yield f"has another number of values in {name} than its {n_leaves} leaves need"
            return
    if n_splits:
        yield from _faults_of_splits(fields, n_splits, n_features)
        yield from _faults_of_categories(fields, n_cat)
    elif n_cat:
        yield "has categories without a split"


def _faults_of_splits(fields: Mapping[str, str], n_splits: int, n_features: int) -> Iterator[str]:
    _integers(fields["split_feature"], 0, n_features)
    _integers(fields["leaf_count"], 0, 2**31)
    _integers(fields["internal_count"], 0, 2**31)
    left, right = (_integers(fields[name], -n_splits - 1, n_splits) for name in ("left_child", "right_child"))
    children = np.concatenate([left, right])
    if not np.array_equal(np.sort(children), np.delete(np.arange(-n_splits - 1, n_splits), n_splits + 1)):
        yield "has nodes with no parent or with several"
    if any(np.any((child >= 0) & (child <= np.arange(n_splits))) for child in (left, right)):
        yield "has a node before its parent"
    elif depth(left, right) > DEEPEST:
        yield f"has leaves below more than {DEEPEST} splits"


def depth(left: IntVector, right: IntVector) -> int:
    """Return the number of splits on the way to the deepest leaf, or one more than allowed."""
    here, levels = np.array([0]), 0
    while here.size and levels <= DEEPEST:
        below = np.concatenate([left[here], right[here]])
        here, levels = below[below >= 0], levels + 1
    return levels


def _faults_of_categories(fields: Mapping[str, str], n_cat: int) -> Iterator[str]:
    kinds = _integers(fields["decision_type"], 0, 16)
    of_categories = (kinds & _CATEGORICAL) == _CATEGORICAL
    if of_categories.any():
        numbers = _floats(fields["threshold"])[of_categories]
        if np.any((numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= n_cat)):
            yield "has a split of categories that it does not list"
    if n_cat == 0:
        if any(name in fields for name in _OF_CATEGORIES):
            yield "lists categories without a split of them"
        return
    words = _integers(fields.get("cat_threshold", ""), 0, 2**32)
    ends = _integers(fields.get("cat_boundaries", ""), 0, words.size + 1)
    if ends.size != n_cat + 1 or ends[0] != 0 or ends[-1] != words.size or np.any(np.diff(ends) < 1):
        yield "lists categories at other places than it says"


def _floats(values: str) -> Vector:
    """Return finite numbers, or raise."""
    numbers = np.array(list(map(float, _words(values))))  # NumPy reads texts five times as slowly
    if not np.all(np.isfinite(numbers)):
        raise ValueError("a number is not finite")
    return numbers


def _integers(values: str, low: int, end: int) -> IntVector:
    """Return whole numbers from ``low`` to ``end - 1``, or raise."""
    numbers = list(map(int, _words(values)))
    if not numbers or min(numbers) < low or max(numbers) >= end:
        raise ValueError(f"a number is not between {low} and {end - 1}")
    return np.array(numbers)


def _integer(values: str, low: int, end: int) -> int:
    """Return one whole number, or raise."""
    (number,) = _integers(values, low, end)
    return int(number)


def _words(values: str) -> list[str]:
    if _NOT_NUMERIC.search(values):
        raise ValueError("a number has characters that are not expected")
    return values.split(" ") if values else []
