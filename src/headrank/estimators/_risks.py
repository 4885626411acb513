"""Which risk of a surrogate: of scores in memory, or of scores that stay with their blocks."""

from __future__ import annotations

from typing import Any

from headrank.estimators._head_risk import HeadRisk, SmoothHeadRisk, StructuralRisk
from headrank.estimators._held_risk import blocks_in
from headrank.estimators._pair_risk import PairRisk
from headrank.estimators._risk import LinearRisk
from headrank.estimators._sum_risk import SumRisk
from headrank.rows import Rows
from headrank.surrogates.row_loss import RowLoss
from headrank.surrogates.smooth import SmoothPairs
from headrank.surrogates.structural import StructuralHinge

MOST_GATHERED = 10_000_000
"""Up to this number of rows, the scores of all of them are gathered: each takes some 100 bytes in a fit."""


def risk_of(rows: Rows, surrogate: Any, positive: Any) -> LinearRisk:
    """Return the risk of a surrogate on some rows, whose scores stay with their blocks if they are many.

    The threshold surrogates and a smooth one over all rates gather all scores, and so do all with weights or queries.
    """
    blocks = blocks_in(rows)
    if blocks is not None and blocks.n_rows > MOST_GATHERED:
        if isinstance(surrogate, RowLoss) and surrogate.rows.plain:
            return SumRisk(rows, surrogate, positive)
        if isinstance(surrogate, StructuralHinge) and surrogate.rows.plain:
            if (surrogate.min_fpr, surrogate.max_fpr) == (0, 1):
                return PairRisk(rows, surrogate, positive)
            return (HeadRisk if surrogate.only_reached else StructuralRisk)(rows, surrogate, positive)
        if isinstance(surrogate, SmoothPairs) and surrogate.rows.plain and surrogate.max_fpr < 1:
            return SmoothHeadRisk(rows, surrogate, positive)
    return LinearRisk(rows, surrogate, positive)
