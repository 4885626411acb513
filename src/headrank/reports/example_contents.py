"""What a report shows of a list that was certified from one half of the holdout."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExampleList:
    """The first k rows of a list: how many were promised to be positive, estimated to be, and are."""

    k: int
    at_least: int
    likely: float
    found: int


@dataclass(frozen=True)
class ExampleLists:
    """One half of the holdout as a list of new rows, certified from the other half.

    Attributes
    ----------
    words, outcome : str
        What was done, before the table, and what came of it, after it.
    lists : tuple of ExampleList
        By length; all from one certificate.
    kept : bool
        Whether the promise was kept for every length of the list, also those not shown.
    n_neg, n_new : int
        Labelled negatives, and rows of the list.
    """

    words: str
    outcome: str
    lists: tuple[ExampleList, ...]
    kept: bool
    n_neg: int
    n_new: int
