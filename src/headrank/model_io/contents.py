"""Check a rebuilt model before use: indices that compiled code does not check must be in range.

Classes are checked before anything is built, but objects are built without their constructors, so attributes can be
anything that the file contains. Wrong numbers can only give wrong scores, with a few exceptions: scikit-learn's trees,
vocabularies and one-hot encoders contain array indices that are used unchecked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from headrank.estimators.frame_categories import FrameCategories
from headrank.estimators.trees.boosted import BoostedRanker
from headrank.estimators.trees.boosted_cv import BoostedRankerCV
from headrank.estimators.trees.forests import FoldForests
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.estimators.trees.tree_text import faults_of, n_features_of


def faults(model: Any) -> list[str]:
    """Return everything that is wrong with a model or its parts; empty if nothing is."""
    found = []
    for each in _everything_in(model):
        try:
            found += [f"{type(each).__name__}: {fault}" for fault in (*_common_faults(each), *_own_faults(each))]
        except Exception as error:  # attributes may be missing or of any type
            found.append(f"{type(each).__name__}: {type(error).__name__}: {error}")
    return found or [f"{type(each).__name__}: {fault}" for each in _everything_in(model) for fault in _misfits(each)]


def _everything_in(model: Any) -> Iterator[Any]:
    """Yield all objects of the model, each once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, str | int | float | type | None):
            continue
        seen.add(id(each))
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, np.ndarray):
            waiting += each.ravel().tolist() if each.dtype == object else []
        elif hasattr(each, "__dict__"):
            yield each
            waiting += vars(each).values()


def _common_faults(each: Any) -> Iterator[str]:
    kind = type(each)
    if dataclasses.is_dataclass(each) and kind.__module__.startswith("headrank."):
        # Built without its constructor: run the checks of the constructor now.
        names = {field.name for field in dataclasses.fields(each)}
        if not names >= set(vars(each)):
            yield f"unknown attributes {', '.join(sorted(set(vars(each)) - names))}"
        kind(**{field.name: getattr(each, field.name) for field in dataclasses.fields(each) if field.init})
    elif isinstance(each, BaseEstimator):
        hidden = [name for name in vars(each) if callable(getattr(kind, name, None))]
        if hidden:
            yield f"values in place of the methods {', '.join(hidden)}"
        missing = [name for name in kind._get_param_names() if not hasattr(each, name)]
        if missing:
            yield f"the parameters {', '.join(missing)} are missing; the file was written by another version"


def _misfits(each: Any) -> Iterator[str]:
    """Yield which parts, each without fault, do not belong together."""
    if isinstance(each, BoostedRanker | BoostedRankerCV | FoldForests):
        every = (
            *getattr(each, "trees_", ()),
            *(trees for member in getattr(each, "members_", ()) for trees in member.trees),
        )
        for n_features in {n_features_of(trees.text) for trees in every if isinstance(trees, LightGBMTrees)}:
            if n_features != each.n_features_in_:
                yield f"trees for {n_features} features in a model for {each.n_features_in_}"


@singledispatch
def _own_faults(_each: Any) -> Iterator[str]:
    """Yield what is wrong with an object, by its class."""
    return iter(())


@_own_faults.register
def _(pipeline: Pipeline) -> Iterator[str]:
    if pipeline.memory is not None:  # joblib would read pickles from a folder named in the file
        yield "it caches results in a folder; set memory=None"


@_own_faults.register
def _(model: HistGradientBoostingClassifier) -> Iterator[str]:
    n_features = model.n_features_in_
    if type(n_features) is not int or n_features < 1 or hasattr(model, "_in_fit"):
        yield "the number of features is missing"
    if model._preprocessor is not None or np.any(model._bin_mapper.is_categorical_):
        yield "it uses category features; encode categories before it, for example with TableVectorizer"
    for each in (predictor for group in model._predictors for predictor in group):
        nodes = each.nodes
        inner, own = nodes[nodes["is_leaf"] == 0], np.flatnonzero(nodes["is_leaf"] == 0)
        # Children come after their parents, so every path ends.
        below = (np.minimum(inner["left"], inner["right"]) > own) & (
            np.maximum(inner["left"], inner["right"]) < nodes.size
        )
        known = (inner["feature_idx"] >= 0) & (inner["feature_idx"] < n_features)
        if nodes.ndim != 1 or not nodes.size or not below.all() or not known.all() or nodes["is_categorical"].any():
            yield "a tree with invalid nodes"


@_own_faults.register
def _(trees: LightGBMTrees) -> Iterator[str]:
    if trees.letters.dtype != np.uint8 or trees.letters.ndim != 1:
        yield "its text is not an array of letters"
    else:
        yield from faults_of(trees.text)


@_own_faults.register
def _(categories: FrameCategories) -> Iterator[str]:
    if not all(isinstance(each, list) for each in categories.values.values()):
        yield "its categories are not listed by column"


@_own_faults.register
def _(vectorizer: TfidfVectorizer) -> Iterator[str]:
    if vectorizer.input != "content":
        yield "it reads files; input must be 'content'"
    words = getattr(vectorizer, "vocabulary_", {})
    if type(words) is not dict or sorted(words.values()) != list(range(len(words))):
        yield "the words of the vocabulary are not numbered from 0"


@_own_faults.register
def _(encoder: OneHotEncoder) -> Iterator[str]:
    if not hasattr(encoder, "categories_"):
        return
    if encoder._infrequent_enabled:
        yield "it groups rare categories, which cannot be saved: set max_categories and min_frequency to None"
    dropped = encoder._drop_idx_after_grouping
    dropped = [None] * len(encoder.categories_) if dropped is None else list(dropped)
    for known, drop, n_out in zip(encoder.categories_, dropped, encoder._n_features_outs, strict=True):
        n = len(known) if drop is None else len(known) - 1
        if n_out != n or not (drop is None or 0 <= drop < len(known)):
            yield f"{n_out} columns for {n} categories"
        if known.dtype.kind not in "OUS" and not np.array_equal(np.searchsorted(known, known), np.arange(known.size)):
            yield "categories that are not in order"
