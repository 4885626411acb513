"""TreeRank by nested loops: every cell, every feature, every threshold, row by row."""

import math


def regions(X, positive, weights=None, *, max_depth, min_samples_split, min_samples_leaf, max_cells, in_head=None):
    """Return the leaves from best to worst, each a sorted list of row numbers.

    ``in_head(before, region)`` says of two lists of row numbers whether the second, which comes after the first, is to
    be split.
    """
    weights = [1] * len(positive) if weights is None else list(weights)
    is_split = in_head or (lambda before, region: True)

    def count(rows, label):
        return sum(weights[i] for i in rows if positive[i] == label)

    def impurity(rows, totals):
        pos, neg = count(rows, True) / totals[0], count(rows, False) / totals[1]
        return pos * neg / (pos + neg)

    def sides(rows, feature, threshold, missing_low):
        def low(i):
            return missing_low if math.isnan(X[i][feature]) else X[i][feature] <= threshold

        return [i for i in rows if low(i)], [i for i in rows if not low(i)]

    def best_split(rows, totals):
        best = (1e-12, None)
        if not count(rows, True) or not count(rows, False):
            return best
        for missing_low in (False, True):
            for feature in range(len(X[0])):
                for threshold in sorted({X[i][feature] for i in rows if not math.isnan(X[i][feature])}):
                    low, high = sides(rows, feature, threshold, missing_low)
                    if min(len(low), len(high)) < min_samples_leaf:
                        continue
                    gain = impurity(rows, totals) - impurity(low, totals) - impurity(high, totals)
                    if gain > best[0]:
                        best = (gain, (low, high))
        return best

    def halves(rows):
        """The better and the worse part of a region, or None."""
        totals = count(rows, True), count(rows, False)
        cells = [rows]
        while len(cells) < max_cells:
            options = [best_split(cell, totals) for cell in cells]
            gain, parts = max(options, key=lambda option: option[0])
            if parts is None:
                break
            cells.remove(cells[options.index((gain, parts))])
            cells += parts
        better = [cell for cell in cells if count(cell, True) * totals[1] >= count(cell, False) * totals[0]]
        left = sorted(i for cell in better for i in cell)
        right = sorted(set(rows) - set(left))
        return (left, right) if left and right else None

    def leaves(rows, before, depth):
        small = depth >= max_depth or len(rows) < min_samples_split or not count(rows, True) or not count(rows, False)
        parts = None if small or not is_split(before, rows) else halves(rows)
        if parts is None:
            return [rows]
        left, right = parts
        return leaves(left, before, depth + 1) + leaves(right, before + left, depth + 1)

    return leaves(list(range(len(positive))), [], 0)


def best_pruning(left, right, gains, penalty, node=0):
    """Return the largest sum of gains minus the penalty per split over all subtrees with this root."""
    if left[node] < 0:
        return 0.0
    below = sum(best_pruning(left, right, gains, penalty, child) for child in (left[node], right[node]))
    return max(0.0, gains[node] - penalty + below)
