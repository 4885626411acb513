"""Split off a holdout at random: of all rows, of each class, or of whole queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._numbers import real
from headrank._types import BoolVector, IntVector
from headrank.exceptions import InvalidSampleError

N_FOLDS = 5
"""Folds of the cross-validation that selects the ranker. Each fold needs a row of each class."""
LEAST_HELD_OUT = 2
"""Fewest rows of each class in a holdout."""
_LEAST_TO_CHOOSE = 200
USUAL_SHARE = 0.3
"""Share of the groups or queries that is held out by default, and of up to 1e7 rows."""
_MANY = 3_000_000
_ENOUGH = 10_000
_MIXED = "queries with both positive and negative rows"


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of the training rows and of the holdout, both in increasing order.

    Attributes
    ----------
    measured : int array or None
        Of a holdout of groups, the positions in ``holdout`` of the rows that are measured, one of each group; None for
        all rows.
    n_known : int
        Rows left out because their group occurs in training.
    """

    train: IntVector
    holdout: IntVector
    measured: IntVector | None = None
    n_known: int = 0

    @property
    def measured_rows(self) -> IntVector:
        """Row numbers of the rows that are measured."""
        return self.holdout if self.measured is None else self.holdout[self.measured]


def usual_share(n_pos: int, n_neg: int, head: float) -> float:
    """Return the share of independent rows that is held out by default: 0.3, or less where that is more than enough.

    Enough are 3 million rows with 10,000 of each class, and 10,000 in the head, which is the given fraction of the
    list. More would hardly narrow an interval, and the rows are worth more in training.

    >>> usual_share(100, 900, 0.01), usual_share(500_000, 49_500_000, 0.01)
    (0.3, 0.06)
    """
    n, rarest = n_pos + n_neg, max(min(n_pos, n_neg), 1)
    return min(USUAL_SHARE, max(_MANY / n, _ENOUGH / rarest, _ENOUGH / (head * n)))


def split(
    y: BoolVector,
    queries: IntVector | None = None,
    *,
    by_class: bool = True,
    holdout: float = 0.3,
    random_state: int = 0,
    names: tuple[str, str] = ("positive rows", "negative rows"),
) -> Split:
    """Split off a holdout: a share of each class, of all rows, or of the queries, none of which is split.

    Parameters
    ----------
    y : bool array of shape (n,)
        Which rows are positive.
    queries : int array of shape (n,), optional
        Query of each row. Queries with both classes, the only ones that can be measured, are a separate stratum.
    by_class : bool, default=True
        Without queries: whether the same share of both classes is drawn. Guarantees about rates within the classes then
        hold as for given numbers of positives and negatives. Those that depend on the share of positives in the
        population assume that the labels of the holdout are random, so they need ``by_class=False``: all sets of rows
        are then equally likely.
    holdout : float in (0, 1), default=0.3
        The share to hold out.
    random_state : int, default=0
        Seed; the same seed gives the same rows.
    names : pair of str
        What positives and negatives are called in errors.

    Raises
    ------
    InvalidSampleError
        If a side would have too few rows of a class, or too few queries with both, for training or evaluation.

    Examples
    --------
    >>> parts = split(np.arange(100) < 20, holdout=0.25)
    >>> parts.train.size, parts.holdout.size, int(sum(parts.holdout < 20))
    (75, 25, 5)
    """
    share = checked_share(holdout)
    rng = np.random.default_rng(random_state)
    strata = _strata(y, queries)
    if queries is None and not by_class:
        return _split_rows(y, share, rng, names)
    kept = [_drawn(members, share, rng) for members in strata]
    needed = names if queries is None else (_MIXED,)
    for name, members, aside in zip(needed, strata, kept, strict=False):
        _require_enough(name, members.size, aside.size, share)
    chosen = np.zeros(y.size, dtype=bool)
    if queries is None:
        for aside in kept:
            chosen[aside] = True
    else:
        chosen = np.isin(queries, np.concatenate(kept))
    return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen))


def _split_rows(y: BoolVector, share: float, rng: np.random.Generator, names: tuple[str, str]) -> Split:
    chosen = np.zeros(y.size, dtype=bool)
    chosen[_drawn(np.arange(y.size), share, rng)] = True
    for name, members in zip(names, (y, ~y), strict=True):
        n, n_aside = int(members.sum()), int((members & chosen).sum())
        if n - n_aside < N_FOLDS or n_aside < LEAST_HELD_OUT:
            raise InvalidSampleError(
                f"expected at least {N_FOLDS} {name} for training and {LEAST_HELD_OUT} for the holdout, but a random "
                f"holdout of {share:g} left {n - n_aside:,} and {n_aside:,} of {n:,}; use more rows, another share or "
                "another random state"
            )
    return Split(np.flatnonzero(~chosen), np.flatnonzero(chosen))


def checked_share(holdout: float) -> float:
    """Return the share to hold out, or raise."""
    share = real("holdout", holdout)
    if not 0 < share < 1:
        raise ValueError(f"holdout must lie strictly between 0 and 1, got {holdout!r}: it is a share of the rows")
    return share


def subsample(y: BoolVector, queries: IntVector | None, n_rows: int, *, random_state: int = 0) -> IntVector:
    """Draw about ``n_rows`` row numbers, in increasing order: the same share of both classes, or of the queries.

    More rows, if necessary all, are drawn if otherwise there would be too few of the rarer class, or too few queries
    with both classes, for a selection.

    >>> y = np.arange(10_000) < 1000
    >>> subsample(y, None, 2000).size, subsample(y & (np.arange(10_000) % 2 == 0), None, 1000).size
    (2000, 4000)
    """
    strata = _strata(y, queries)
    needed = strata if queries is None else strata[:1]
    share = max(n_rows / y.size, *(_LEAST_TO_CHOOSE / max(members.size, 1) for members in needed))
    if share >= 1:
        return np.arange(y.size)
    rng = np.random.default_rng(random_state)
    chosen = np.concatenate([_drawn(members, share, rng) for members in strata])
    return np.sort(chosen) if queries is None else np.flatnonzero(np.isin(queries, chosen))


def _strata(y: BoolVector, queries: IntVector | None) -> tuple[IntVector, IntVector]:
    """Return the numbers of positive and negative rows, or of the queries with both classes and the others."""
    if queries is None:
        return np.flatnonzero(y), np.flatnonzero(~y)
    with_pos, with_neg = np.unique(queries[y]), np.unique(queries[~y])
    return np.intersect1d(with_pos, with_neg), np.setxor1d(with_pos, with_neg)


def _drawn(members: IntVector, share: float, rng: np.random.Generator) -> IntVector:
    return rng.choice(members, size=round(share * members.size), replace=False)


def _require_enough(name: str, n: int, n_aside: int, share: float) -> None:
    if n - n_aside >= N_FOLDS and n_aside >= LEAST_HELD_OUT:
        return
    needed = next(
        (k for k in range(1, 100_000) if k - round(share * k) >= N_FOLDS and round(share * k) >= LEAST_HELD_OUT), None
    )
    remedy = "change the holdout share" if needed is None else f"use at least {needed:,}"
    other = ", or leave the queries out" if name == _MIXED else ""
    raise InvalidSampleError(
        f"expected at least {N_FOLDS} {name} for training and {LEAST_HELD_OUT} for the holdout, but the table has "
        f"{n:,}: a holdout of {share:g} gives {n - n_aside:,} and {n_aside:,}; {remedy}{other}"
    )
