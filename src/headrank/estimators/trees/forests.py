"""Random forests and extremely randomized trees, grown by scikit-learn, kept and scored as LightGBM's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2, sqrt
from typing import Any, Self

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import check_random_state

from headrank._numbers import option, seed
from headrank._types import ArrayLike, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.candidates import Trial
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.tally import tally_for
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.estimators.trees.tree_text import END_OF_TREES
from headrank.measures import Measure
from headrank.measures import measure as measure_of

KINDS = {"random forest": RandomForestClassifier, "extra trees": ExtraTreesClassifier}
_N_TREES = 100
_MOST_LEAVES = 400
"""Of a tree. With 1,000, explaining a row takes two to three times as long, and files are larger. What it does to the
ranking is in docs/trees.md: more gains than losses on seven real sets, of one split each."""
_COST_OF_TREE = 500_000
"""Rows times their binary logarithm times features tried per split, beyond which a tree sees a sample of the rows."""
_LARGEST = float(np.finfo(np.float32).max)
_NAN_LEFT, _NAN_RIGHT = 2 | 2 << 2, 2 << 2
"""How LightGBM writes a split at a threshold that NaN passes to the left or to the right."""


class FoldForests(Scorer):
    """A forest, judged by forests of the folds. The score is the mean share of positives in the leaves.

    A forest is grown on every fold and scores the rows left out; then one on all rows, which scores. It ranks as well
    as the average of those of the folds (docs/trees.md), in a fifth of the time if there are five. On many rows each
    tree sees a sample, and the forests of the folds are averaged.

    Cost: ``cv`` + 1 forests of 100 trees.

    Parameters
    ----------
    measure : Measure or str
        What to be good at; measured on the folds, not used in training.
    kind : {"random forest", "extra trees"}
        Which forest.
    cv, n_jobs, random_state
        As in `LinearRankerCV`.
    verbose : int or callable, default=0
        1 shows a progress bar; a function is called with the number of folds done and of all.

    Attributes
    ----------
    trial_ : Trial
        What it is worth on each fold.
    out_of_fold_ : tuple of arrays
        Of each fold, the scores of the rows left out, in their order.
    trees_ : tuple of LightGBMTrees
        Of the forest that scores, or of each fold.
    """

    out_of_fold_: tuple[Vector, ...]
    measure_: Measure
    _needs_finite = False

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        kind: str = "random forest",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.measure = measure
        self.kind = kind
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Grow the forests of the folds, and one on all rows."""
        measure = measure_of(self.measure)
        given, (X, positive) = X, admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        folds = FoldRows.of(measure, labelled, self.cv, given, y, sample_weight, qid, random_state=self.random_state)
        splits, self.measure_ = folds.splits, folds.measure
        X = _single(X if labelled.present is None else X[labelled.present])
        drawn = int(check_random_state(seed(self.random_state)).randint(2**31 - 1))
        sampled = _sampled(*X.shape)
        options = {"random_state": drawn, "n_jobs": self.n_jobs, "max_leaf_nodes": _MOST_LEAVES, **sampled}
        forest = KINDS[option("kind", self.kind, KINDS)](_N_TREES, **options)
        with tally_for(self.verbose, f"growing a {self.kind}") as tally:
            tally.expect(len(splits) + (not sampled))
            of_folds = []
            for train, _ in splits:
                of_folds.append(_grown(forest, X[train], labelled.take(train)))
                tally.done()
            self.trees_ = tuple(of_folds)
            if not sampled:
                self.trees_ = (_grown(forest, X, labelled),)
                tally.done()
        self.out_of_fold_ = tuple(each.scores(X[test]) for each, (_, test) in zip(of_folds, splits, strict=True))
        collapsed = np.array([each.learned_nothing for each in of_folds])
        values = folds.values(self.out_of_fold_)
        self.trial_ = Trial(self.kind, values, collapsed, np.full(len(splits), _N_TREES))
        self.collapsed_ = all(each.learned_nothing for each in self.trees_)
        self.intercept_ = -folds.threshold(self.out_of_fold_)
        return self

    def _scores(self, X: Any) -> Vector:
        X = _single(X)
        scores: Vector = np.mean([each.scores(X) for each in self.trees_], axis=0)
        return scores + self.intercept_

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row, and in the last column the rest: Shapley values."""
        X = _single(checked_matrix(self, X, reset=False, finite=False))
        result: Vector = np.mean([each.contributions(X) for each in self.trees_], axis=0)
        result[:, -1] += self.intercept_
        return result


def _grown(forest: Any, X: Any, labelled: Labelled) -> LightGBMTrees:
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks for NaN by adding up X
        forest.fit(X, labelled.positive, labelled.weights)
    return LightGBMTrees.of(_text_of(forest, X.shape[1]))


def _sampled(n_rows: int, n_features: int) -> dict[str, Any]:
    """Return how many rows each tree sees: all, or as many as the cost of a tree allows."""
    n_tried = max(1, int(sqrt(n_features)))
    if n_rows * log2(max(n_rows, 2)) * n_tried <= _COST_OF_TREE:
        return {}
    allowed = _COST_OF_TREE / n_tried
    n_kept = int(allowed / log2(max(allowed, 4)))
    return {"bootstrap": True, "max_samples": min(1.0, max(n_kept, 1000) / n_rows)}


def _single(X: Any) -> Any:
    """Return X in single precision, as scikit-learn's trees compare it; what is beyond becomes the largest number."""
    if hasattr(X, "toarray"):
        places = (each.astype(np.int32) for each in (X.indices, X.indptr))  # the only ones scikit-learn's trees take
        return type(X)((_single(X.data), *places), shape=X.shape)
    return X if X.dtype == np.float32 and not np.isinf(X).any() else np.clip(X, -_LARGEST, _LARGEST).astype(np.float32)


def _text_of(forest: Any, n_features: int) -> str:
    """Write a forest as LightGBM would: trees that add up to the mean share of positives; NaN as in scikit-learn."""
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        "objective=regression",
        f"feature_names={' '.join(f'Column_{j}' for j in range(n_features))}",
        f"feature_infos={' '.join(['none'] * n_features)}",
        "",
        "",
    ]
    trees = forest.estimators_
    blocks = ["\n".join(_lines(i, tree.tree_, len(trees))) for i, tree in enumerate(trees)]
    return "\n".join(head) + "\n\n\n".join(blocks) + f"\n\n\n{END_OF_TREES}"


def _lines(number: int, tree: Any, n_trees: int) -> Iterator[str]:
    inner = tree.children_left >= 0
    # The number of each node among its kind: LightGBM counts splits and leaves apart, and writes leaf i as -i - 1.
    places = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    values = tree.value[:, 0, -1] / tree.value[:, 0].sum(axis=1) / n_trees
    yield f"Tree={number}"
    yield f"num_leaves={int((~inner).sum())}"
    yield "num_cat=0"
    if inner.any():
        yield f"split_feature={_joined(tree.feature[inner])}"
        yield f"split_gain={_joined(np.ones(inner.sum(), dtype=int))}"
        yield f"threshold={_joined(np.minimum(tree.threshold[inner], _LARGEST))}"  # infinite if only NaN goes right
        yield f"decision_type={_joined(np.where(tree.missing_go_to_left[inner], _NAN_LEFT, _NAN_RIGHT))}"
        yield f"left_child={_joined(places[tree.children_left[inner]])}"
        yield f"right_child={_joined(places[tree.children_right[inner]])}"
    yield f"leaf_value={_joined(values[~inner])}"
    yield f"leaf_weight={_joined(tree.n_node_samples[~inner])}"
    yield f"leaf_count={_joined(tree.n_node_samples[~inner])}"
    if inner.any():
        yield f"internal_value={_joined(values[inner])}"
        yield f"internal_weight={_joined(tree.n_node_samples[inner])}"
        yield f"internal_count={_joined(tree.n_node_samples[inner])}"
    yield "is_linear=0"
    yield "shrinkage=1"


def _joined(values: Any) -> str:
    return " ".join(map(repr, values.tolist()))
