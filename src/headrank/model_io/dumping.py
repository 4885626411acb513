"""Dump with skops, each object once.

skops writes an object once for each reference to it, and skrub's TableVectorizer refers to each of its encoders, with
their vocabularies, a dozen times: 58 MB of text for a vocabulary of 9,000 words. The format of skops supports
references and its loader reads them, so they are written here. The payload is the same in both cases; see `canonical`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from headrank._extras import needs_extra

_LOCK = Lock()


def dumped(model: Any) -> bytes:
    """Return a model as a skops archive."""
    with needs_extra("cli"):
        import skops.io  # takes a second: it imports all of scikit-learn

    with _LOCK, _each_once():
        data: bytes = skops.io.dumps(model)
    return data


@contextmanager
def _each_once() -> Iterator[None]:
    from skops.io import _utils

    written: set[tuple[int, int]] = set()
    whole = _utils._get_state

    def state(each: Any, context: Any) -> Any:
        # skops keeps all objects alive until the end, so no id is used twice.
        number = (id(context), id(each))
        if number in written:
            return {"__class__": None, "__module__": None, "__loader__": "CachedNode"}
        if isinstance(each, BaseEstimator | dict | list | tuple | np.ndarray):
            written.add(number)
        return whole(each, context)

    _utils._get_state = state
    try:
        yield
    finally:
        _utils._get_state = whole
