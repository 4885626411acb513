"""Drift of the rows of a file, counted while they are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headrank.cli._failures import CommandError
from headrank.cli._printing import console
from headrank.cli._scoring import SCORE, Copied, ScoredBlock

if TYPE_CHECKING:
    import polars as pl

    from headrank._types import IntVector
    from headrank.cli._inputs import Input
    from headrank.training.drift import Drift
    from headrank.training.table_model import TableModel


class DriftCounter:
    """Counts rows for the test of drift; with groups or queries, one row of each.

    Rows of a group depend on each other, so of each group one row is drawn, as in the holdout: at random from those in
    the block in which the group first occurs. Rows without a group are not counted.
    """

    def __init__(self, fitted: TableModel) -> None:
        from headrank.training.drift import RowCounts

        assert fitted.profile is not None
        self._fitted = fitted
        self._counts = RowCounts(fitted.profile)
        self._seen: set[object] = set()
        self._rng = np.random.default_rng(0)

    def add(self, block: ScoredBlock) -> IntVector | slice:
        """Count the rows of a block, and return which of them are counted."""
        rows = self._fitted.conformed(block.features, block.first_row)
        scores = block.frame[SCORE].to_numpy()
        drawn = slice(None) if block.units is None else self._drawn(block.units)
        self._counts.add(rows[drawn], scores[drawn])
        return drawn

    def _drawn(self, units: pl.Series) -> IntVector:
        """Draw one row of each group or query that has not occurred before."""
        import polars as pl

        order = self._rng.permutation(units.len())
        rows = pl.DataFrame({"unit": units[order], "row": order}).drop_nulls("unit")
        rows = rows.unique("unit", keep="first", maintain_order=True)
        new = {unit: row for unit, row in rows.iter_rows() if unit not in self._seen}
        self._seen.update(new)
        return np.sort(np.fromiter(new.values(), dtype=np.intp, count=len(new)))

    def drift(self, **options: float) -> Drift:
        """Compare all rows with the holdout."""
        return self._counts.drift(**options)


def why_not_tested(fitted: TableModel, data: Input, copied: Copied) -> str:
    """Say why drift cannot be tested; empty if it can."""
    if fitted.profile is None:
        return "the model has no profile of its holdout: it was written by an earlier version; fit it again"
    unit = fitted.qid_column or fitted.group_column
    if unit is not None and copied.unit is None:
        return f"{data.name} lacks the column {unit!r}; rows of the same {unit!r} are not independent draws"
    return ""


def counter_of(fitted: TableModel, data: Input, copied: Copied, *, required: bool = False) -> DriftCounter | None:
    """Return a counter; None, or an error if it is required, if drift cannot be tested."""
    why_not = why_not_tested(fitted, data, copied)
    if why_not and required:
        raise CommandError(f"drift cannot be tested: {why_not}, or omit --fail-on-drift")
    return None if why_not else DriftCounter(fitted)


def print_drift(drift: Drift, *, as_json: bool = False) -> None:
    """Print what has changed, on stderr, or that nothing has."""
    from headrank.training.drift import in_words

    first, *changes = in_words(drift)
    if not drift.found:
        console(as_json=as_json).print(first)
        return
    screen = console(stderr=True)
    screen.print(f"headrank: warning: {first}")
    for change in changes:
        screen.print(f"  {change}")
