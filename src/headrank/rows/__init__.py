"""Where are the rows stored? Every storage computes scores, combinations of rows and their moments."""

from headrank.rows.dense import DenseRows
from headrank.rows.mixed import MixedRows
from headrank.rows.open import open_rows
from headrank.rows.protocol import Rows
from headrank.rows.scaled import ScaledRows
from headrank.rows.spanned import spanned
from headrank.rows.sparse import SparseRows
from headrank.rows.subset import SubsetRows

__all__ = ["DenseRows", "MixedRows", "Rows", "ScaledRows", "SparseRows", "SubsetRows", "open_rows", "spanned"]
