"""The best rows of a table that is read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrank.cli._scoring import SCORE

if TYPE_CHECKING:
    import polars as pl


class BestRows:
    """The n rows with the highest scores so far, best first; tied rows are in the order of the file.

    Memory is that of n rows and a block. Rows that come later in the file than n rows of at least the same score are
    left out, so the n rows are determined by the scores and the order of the file.

    Attributes
    ----------
    frame : polars.DataFrame or None
        The rows; None before the first block.
    features : data frame or CSR matrix, or None
        Their features, if they are kept.
    n_tied : int
        Rows that were left out with the same score as the last one that is kept.
    """

    def __init__(self, n: int, *, with_features: bool = False) -> None:
        self.n = n
        self.frame: pl.DataFrame | None = None
        self.features: Any = None
        self.n_tied = 0
        self._with_features = with_features

    @property
    def lowest(self) -> float | None:
        """The score of the last row, if there are n; any other row needs a higher one."""
        full = self.frame is not None and self.frame.height == self.n
        return float(self.frame[SCORE][-1]) if full and self.frame is not None else None

    def add(self, frame: pl.DataFrame, features: Any) -> None:
        """Consider more rows. O(rows) if few of them are among the best."""
        import polars as pl

        scores, before = frame[SCORE].to_numpy(), self.lowest
        if before is not None:
            self.n_tied += int(np.count_nonzero(scores == before))
            candidates = np.flatnonzero(scores > before)
            if not candidates.size:
                return
            frame, features = frame[candidates], features[candidates] if self._with_features else None
        if self.frame is not None:
            frame = pl.concat([self.frame, frame])
            features = _stacked(self.features, features) if self._with_features else None
        order = np.argsort(-frame[SCORE].to_numpy(), kind="stable")
        kept, left = order[: self.n], order[self.n :]
        left_scores = frame[SCORE].to_numpy()[left]
        self.frame = frame[kept]
        self.features = features[kept] if self._with_features else None
        if self.lowest != before:
            self.n_tied = 0
        self.n_tied += int(np.count_nonzero(left_scores == self.lowest))


def _stacked(above: Any, below: Any) -> Any:
    if hasattr(above, "columns"):
        import polars as pl

        return pl.concat([above, below])
    from scipy.sparse import vstack

    return vstack([above, below], format="csr")
