"""Isotonic regression by its formula."""

import numpy as np


def isotonic(positive, scores):
    """Of each row, the largest over lower ends of the smallest over upper ends of the mean between: O(n^3)."""
    levels = np.unique(scores)
    means = [
        [np.mean([p for p, s in zip(positive, scores, strict=True) if low <= s <= high]) for high in levels[i:]]
        for i, low in enumerate(levels)
    ]
    of_level = {level: max(min(means[i][k - i :]) for i in range(k + 1)) for k, level in enumerate(levels)}
    return np.array([of_level[score] for score in scores])
