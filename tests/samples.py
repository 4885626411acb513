"""Rows to learn from, small and made up."""

import numpy as np


def gaussians(n_pos=40, n_neg=160, n_features=4, shift=1.0, seed=0):
    """Unit Gaussians, the positives shifted along the first direction; the rows are in no order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(y.size, n_features))
    X[y == 1, 0] += shift
    return X, y


def with_outlying_negatives(n_pos=200, n_neg=3000, seed=0):
    """Overlapping Gaussians; a few negatives lie far out along the best direction, which the head cannot afford."""
    X, y = gaussians(n_pos, n_neg, 3, shift=1.0, seed=seed)
    rng = np.random.default_rng(seed + 1)
    X[y == 1, 1] += 0.7
    far = rng.random(y.size) < 0.03 * (y == 0)
    X[far, 0] += 4
    return X, y


def few_gaussians(n_pos=30, n_neg=90, n_features=3, shift=1.5, seed=0):
    """Fewer of them, better separated."""
    return gaussians(n_pos, n_neg, n_features, shift, seed)


def separated_gaussians(n_pos=20, n_neg=60, n_features=4, shift=2.0, seed=0):
    """Two standard deviations apart."""
    return gaussians(n_pos, n_neg, n_features, shift, seed)
