"""Handover: transfers ownership of a table, so that the function that takes it can free it."""

from __future__ import annotations

from typing import Any


class Handover:
    """A table, or parts of one, that can be taken once.

    An argument stays in memory while its caller runs. A table passed in a `Handover` is freed as soon as the function
    that has taken it drops it.

    >>> given = Handover("a table")
    >>> given.take(), given.take()
    Traceback (most recent call last):
    ValueError: the features have already been taken; read them again
    """

    def __init__(self, features: Any) -> None:
        self._features = [features]

    @property
    def n_rows(self) -> int:
        """Number of rows, before the table is taken."""
        return int(self._features[0].shape[0])

    @property
    def kind(self) -> type:
        """Type of the features, before they are taken."""
        return type(self._features[0])

    def take(self) -> Any:
        """Return the features; raise if called again."""
        if not self._features:
            raise ValueError("the features have already been taken; read them again")
        return self._features.pop()
