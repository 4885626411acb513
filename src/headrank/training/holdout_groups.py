"""Split off whole groups, such as patients, and draw the one row of each that is measured."""

from __future__ import annotations

import numpy as np

from headrank._types import BoolVector, IntVector
from headrank.exceptions import InvalidSampleError
from headrank.training.holdout import Split, split

_NAMES = ("groups whose drawn row is positive", "groups whose drawn row is negative")


def split_groups(
    y: BoolVector, groups: IntVector, *, by_class: bool, holdout: float = 0.3, random_state: int = 0
) -> Split:
    """Hold out a share of the groups. Of each of them one row, drawn by `one_row_each`, is measured.

    *Why the guarantees hold.* Let the groups be independent draws from one distribution; rows of a group may depend on
    each other in any way. One row is drawn from each group, without looking at the features, before anything is split
    or trained. A drawn row is a function of its group and of randomness of its own, so the drawn rows are independent
    draws from one distribution: that of the drawn row of a new group. Given their labels, the positive ones are
    independent draws, and so are the negative ones. The split depends on these labels at most and the models see only
    rows of other groups, so the drawn rows of the holdout are to every model what independent new rows are.
    Everything that holds for independent rows (the threshold, intervals, band and comparisons) therefore holds for
    them, for any sample size, with the number of groups in the role of the number of rows. Rows of a group that were
    not drawn add nothing to these statements; they are only used by the cluster bootstrap, which is asymptotic.

    Parameters
    ----------
    y : bool array of shape (n,)
        Which rows are positive.
    groups : int array of shape (n,)
        Group of each row, numbered from 0.
    by_class : bool
        As for `one_row_each` and `split`.
    holdout : float in (0, 1), default=0.3
        Share of the groups to hold out.
    random_state : int, default=0
        Seed; the same seed gives the same rows.

    Examples
    --------
    >>> groups = np.repeat(np.arange(40), 5)
    >>> parts = split_groups(groups % 4 == 0, groups, by_class=True)
    >>> parts.train.size, parts.holdout.size, parts.measured.size
    (140, 60, 12)
    """
    chosen = one_row_each(y, groups, by_class=by_class, random_state=random_state)
    sides = split(y[chosen], by_class=by_class, holdout=holdout, random_state=random_state, names=_NAMES)
    aside = np.isin(groups, sides.holdout)
    held_out = np.flatnonzero(aside)
    measured = np.searchsorted(held_out, np.sort(chosen[sides.holdout]))
    return Split(np.flatnonzero(~aside), held_out, measured)


def one_row_each(y: BoolVector, groups: IntVector, *, by_class: bool, random_state: int = 0) -> IntVector:
    """Draw one row of each group; return their numbers, in the order of the groups. O(n log n).

    Parameters
    ----------
    y, groups
        As for `split_groups`; every number up to the highest must occur.
    by_class : bool
        If True, the class is drawn first, with equal probability if the group has both, then a row of this class. This
        is for measures of rates within the classes, for which the share of positives does not matter: a group with one
        positive among a hundred rows would otherwise hardly ever contribute it. If False, all rows of the group are
        equally likely.
    random_state : int
        Seed.

    Examples
    --------
    >>> one_row_each(np.array([True, False, False, False]), np.array([0, 1, 1, 1]), by_class=True)
    array([0, 2])
    """
    rng = np.random.default_rng([random_state, 1])  # a stream of its own: the split uses the seed itself
    n_groups = int(groups.max()) + 1
    rows = np.arange(y.size)
    if by_class:
        n_pos = np.bincount(groups[y], minlength=n_groups)
        n_neg = np.bincount(groups[~y], minlength=n_groups)
        coin = rng.random(n_groups) < 0.5
        positive = np.where((n_pos > 0) & (n_neg > 0), coin, n_pos > 0)
        rows = np.flatnonzero(y == positive[groups])
    order = np.lexsort((rng.random(rows.size), groups[rows]))
    first = np.flatnonzero(np.diff(groups[rows[order]], prepend=-1))
    return rows[order[first]]


def without_known(parts: Split, groups: IntVector, y: BoolVector, *, by_class: bool, random_state: int) -> Split:
    """Remove the groups that occur in training from a given holdout; draw one row of each of the others, and count."""
    known = np.isin(groups[parts.holdout], groups[parts.train])
    left = parts.holdout[~known]
    if not left.size:
        raise InvalidSampleError(
            f"all groups of the {known.size:,} holdout rows also occur in training, so no new group is left to "
            "measure; omit --group if new rows will come from known groups"
        )
    numbers = np.unique(groups[left], return_inverse=True)[1]
    chosen = one_row_each(y[left], numbers, by_class=by_class, random_state=random_state)
    return Split(parts.train, left, np.sort(chosen), int(known.sum()))
