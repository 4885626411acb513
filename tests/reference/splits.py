"""Slow, obvious versions of what divides rows: blocks of time, and pairs that share a cell."""

import numpy as np


def time_blocks(times, y, counted, n_blocks):
    """Take one time after the other, until the block has its share and both classes; a rest without joins the last."""
    n_pos, n_neg = np.count_nonzero(counted & y), np.count_nonzero(counted & ~y)
    mass = counted * np.where(y, 1 / n_pos, 1 / n_neg)
    block, result, left, open_rows = 0, np.zeros(y.size, dtype=int), 2.0, np.zeros(y.size, dtype=bool)
    for time in np.unique(times):
        open_rows |= times == time
        result[times == time] = block
        has_both = (open_rows & counted & y).any() and (open_rows & counted & ~y).any()
        if has_both and mass[open_rows].sum() >= left / max(n_blocks - block, 1) * (1 - 1e-9):
            left -= mass[open_rows].sum()
            block, open_rows = block + 1, np.zeros(y.size, dtype=bool)
    later = times > times[result < block].max() if block else np.zeros(y.size, dtype=bool)
    if not ((later & counted & y).any() and (later & counted & ~y).any()):
        result[later] = max(block - 1, 0)
    return result


def near_pairs(cells, keys, train, holdout):
    """Look at every pair."""
    return sum(cells[i] == cells[j] and keys[i] != keys[j] for i in train for j in holdout)
