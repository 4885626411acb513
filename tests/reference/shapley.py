"""Shapley values of a tree, slowly: by all sets of known features, and by integrals."""

from itertools import combinations
from math import comb

import numpy as np

from headrank.estimators.trees.tree_nodes import TreeNodes


def expected(tree: TreeNodes, goes_left, known, split=0):
    """What is expected of a tree if only some features of a row are known: training rows decide at the other splits."""
    if not tree.features.size:
        return tree.values[0]
    children = []
    for child in (int(tree.left[split]), int(tree.right[split])):
        if child >= 0:
            children.append((tree.split_counts[child], lambda child=child: expected(tree, goes_left, known, child)))
        else:
            children.append((tree.leaf_counts[-child - 1], lambda child=child: tree.values[-child - 1]))
    if tree.features[split] in known:
        return children[0 if goes_left[split] else 1][1]()
    return sum(count * value() for count, value in children) / tree.split_counts[split]


def by_sets(tree: TreeNodes, row):
    """The definition: the mean, over all orders of the features, of what each adds when it becomes known."""
    goes_left, n = tree.goes_left(row), row.size
    values = np.zeros(n + 1)
    values[-1] = expected(tree, goes_left, ())
    for j in range(n):
        others = [k for k in range(n) if k != j]
        for size in range(n):
            for known in combinations(others, size):
                gain = expected(tree, goes_left, (*known, j)) - expected(tree, goes_left, known)
                values[j] += gain / (n * comb(n - 1, size))
    return values


def by_integrals(tree: TreeNodes, row):
    """Leaf by leaf, the integral of the product over the other features: for deep trees, of which sets are too many."""
    goes_left = tree.goes_left(row)
    values = np.zeros(row.size + 1)
    points, weights = np.polynomial.legendre.leggauss(200)
    points, weights = (points + 1) / 2, weights / 2
    ways = [(0, [])]
    while ways:
        node, way = ways.pop()
        if node >= 0:
            ways += [(int(tree.left[node]), [*way, (node, True)]), (int(tree.right[node]), [*way, (node, False)])]
            continue
        value = tree.values[-node - 1]
        counts = [*(tree.split_counts[split] for split, _ in way), tree.leaf_counts[-node - 1]]
        values[-1] += value * counts[-1] / counts[0]
        shares, taken = {}, {}
        for (split, left), before, after in zip(way, counts, counts[1:], strict=False):
            feature = int(tree.features[split])
            shares[feature] = shares.get(feature, 1.0) * after / before
            taken[feature] = taken.get(feature, True) and bool(goes_left[split]) == left
        for j in shares:
            others = [shares[k] + points * (taken[k] - shares[k]) for k in shares if k != j]
            values[j] += value * (taken[j] - shares[j]) * (np.prod(others, axis=0) * np.ones_like(points) @ weights)
    return values
