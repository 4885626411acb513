"""A table with everything in it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl


def messy_frame(rng: np.random.Generator, y: Any) -> pl.DataFrame:
    """Numbers, gaps, categories, many-valued text, dates, truth values, constant and empty columns, infinities."""
    n = y.size
    some = rng.random(n)
    hours = rng.integers(0, 9000, n)
    return pl.DataFrame(
        {
            "size": rng.normal(size=n) + 1.5 * y,
            "gaps": [None if gone else x for gone, x in zip(some < 0.2 + 0.3 * y, rng.normal(size=n), strict=True)],
            "count": rng.integers(0, 9, n),
            "flag": [("yes", "no", None)[k] for k in rng.integers(0, 3, n)],
            "street": [f"{k} {'Oak' if k % 2 else 'Elm'} street" for k in rng.integers(0, 300, n)],
            "since": [datetime(2020, 1, 1) + timedelta(hours=int(k)) for k in hours],
            "day": [str((datetime(2020, 1, 1) + timedelta(hours=int(k))).date()) for k in hours],
            "member": [(True, False, None)[k] for k in rng.integers(0, 3, n)],
            "constant": np.ones(n),
            "empty": pl.Series([None] * n, dtype=pl.String),
            "wild": np.where(some < 0.05, np.inf, np.where(some > 0.97, -1e300, some)),
        }
    )
