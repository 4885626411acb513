"""Where are the rows stored? Every storage computes scores, combinations of rows and weighted Gram matrices."""

from headrank.rows.dense import DenseRows
from headrank.rows.open import open_rows
from headrank.rows.protocol import Rows
from headrank.rows.scaled import ScaledRows
from headrank.rows.shifted import ShiftedRows, shifted
from headrank.rows.spanned import spanned
from headrank.rows.sparse import SparseRows
from headrank.rows.subset import SubsetRows

__all__ = [
    "DenseRows",
    "Rows",
    "ScaledRows",
    "ShiftedRows",
    "SparseRows",
    "SubsetRows",
    "open_rows",
    "shifted",
    "spanned",
]
