"""Where are the rows stored? Every storage computes scores, combinations of rows and their moments."""

from headrank.rows.blocks import Blocks
from headrank.rows.dense import DenseRows
from headrank.rows.mixed import MixedRows
from headrank.rows.open import is_distributed, open_for_many_passes, open_rows
from headrank.rows.protocol import Rows
from headrank.rows.scaled import ScaledRows
from headrank.rows.shifted import ShiftedRows, shifted
from headrank.rows.spanned import spanned
from headrank.rows.sparse import SparseRows
from headrank.rows.subset import SubsetRows

__all__ = [
    "Blocks",
    "DenseRows",
    "MixedRows",
    "Rows",
    "ScaledRows",
    "ShiftedRows",
    "SparseRows",
    "SubsetRows",
    "is_distributed",
    "open_for_many_passes",
    "open_rows",
    "shifted",
    "spanned",
]
