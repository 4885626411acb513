"""Weakest-link pruning of ranking trees, with the penalty chosen on rows that were not used to grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.ranking_trees.region_tree import RankingTree


@dataclass(frozen=True, eq=False)
class Pruning:
    """The subtrees that pruning goes through, from the whole tree to its root, and what each is worth.

    Attributes
    ----------
    penalties : array of shape (n_subtrees,)
        Smallest penalty per split, in AUC, at which each subtree is the best one on the training rows.
    n_leaves : int array of shape (n_subtrees,)
        Leaves of each subtree.
    values : array of shape (n_subtrees, n_folds)
        The measure on the rows left out, of trees grown on the others and pruned with the same penalty; negated if
        lower is better.
    chosen : int
        Number of the subtree with the highest mean over the folds; the smallest one if several have it.
    """

    penalties: Vector
    n_leaves: IntVector
    values: Vector
    chosen: int


def breaking_points(tree: RankingTree) -> Vector:
    """Return the penalty per split from which on each region is a leaf; infinite for leaves.

    The subtree without the regions at most some penalty maximises the sum of its gains minus the penalty times the
    number of its splits. At each step the region with the least gain per split below it is pruned: CART's weakest
    link. O(n_regions) for each.
    """
    left, right, inner = tree.left, tree.right, tree.is_inner
    gains, n_splits = tree.gains, inner.astype(np.float64)
    parent = np.full(left.size, -1)
    for i in np.flatnonzero(inner)[::-1]:
        parent[[left[i], right[i]]] = i
        gains[i] += gains[left[i]] + gains[right[i]]
        n_splits[i] += n_splits[left[i]] + n_splits[right[i]]
    points = np.full(left.size, np.inf)
    penalty = 0.0
    while n_splits[0] > 0:
        rates = np.divide(gains, n_splits, out=np.full(gains.size, np.inf), where=n_splits > 0)
        weakest = int(np.argmin(rates))
        penalty = max(penalty, float(rates[weakest]))
        lost_gain, lost_splits = gains[weakest], n_splits[weakest]
        waiting = [weakest]
        while waiting:  # everything below goes, too
            i = waiting.pop()
            if n_splits[i] > 0:
                points[i], n_splits[i] = penalty, 0
                waiting += [left[i], right[i]]
        above = int(parent[weakest])
        while above >= 0:
            gains[above] -= lost_gain
            n_splits[above] -= lost_splits
            above = int(parent[above])
    return points


def pruned_by_folds(
    tree: RankingTree,
    grow: Callable[[IntVector], RankingTree],
    leaf_of: Callable[[RankingTree, IntVector], IntVector],
    folds: FoldRows,
) -> tuple[RankingTree, Pruning]:
    """Prune a tree with the penalty that is best on the rows left out, and say what each penalty is worth there.

    ``grow`` grows a tree on some rows, ``leaf_of`` returns the leaves of other rows. Between two penalties at which the
    tree changes, their geometric mean is tried.
    """
    points = breaking_points(tree)
    steps = np.unique(points[tree.is_inner])
    tried = np.concatenate([[0.0], np.sqrt(steps[:-1] * steps[1:]), [np.inf]])
    scores: list[list[Vector]] = [[] for _ in tried]
    for train, test in folds.splits:
        fold_tree = grow(train)
        fold_points, leaves = breaking_points(fold_tree), leaf_of(fold_tree, test)
        for of_penalty, penalty in zip(scores, tried, strict=True):
            # An infinite penalty prunes all inner regions; leaves cannot be pruned further.
            merged = fold_tree.leaves_after(fold_points <= penalty)
            of_penalty.append(-merged[leaves].astype(np.float64))
    values = np.array([folds.values(each) for each in scores])
    return _chosen(tree, points, np.concatenate([[0.0], steps]), values)


def _chosen(tree: RankingTree, points: Vector, penalties: Vector, values: Vector) -> tuple[RankingTree, Pruning]:
    means = values.mean(axis=1)
    chosen = int(np.flatnonzero(means >= means.max() - 1e-12)[-1])  # equal means may differ by rounding
    subtrees: Sequence[int] = [int(tree.leaves_after(points <= penalty).max()) + 1 for penalty in penalties]
    pruning = Pruning(penalties, np.array(subtrees, dtype=np.intp), values, chosen)
    return tree.pruned(points <= penalties[chosen]), pruning
