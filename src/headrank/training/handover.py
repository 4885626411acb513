"""Handover: a table that is given away, so that whoever takes it can free it."""

from __future__ import annotations

from typing import Any


class Handover:
    """A table, or parts of one, to be taken once.

    An argument stays alive while its caller runs. What is passed in one of these is freed as soon as the function that
    has taken it lets go.

    >>> given = Handover("a table")
    >>> given.take(), given.take()
    Traceback (most recent call last):
    ValueError: these features were handed over already; read them again
    """

    def __init__(self, features: Any) -> None:
        self._features = [features]

    @property
    def n_rows(self) -> int:
        """Rows of the table, while it is here."""
        return int(self._features[0].shape[0])

    def take(self) -> Any:
        """Return the features, once."""
        if not self._features:
            raise ValueError("these features were handed over already; read them again")
        return self._features.pop()
