"""Which rows to work on? Populations whose true curve is known, a small real example, and readers for files."""

from headrank.datasets.binormal import Binormal
from headrank.datasets.digits import ScoredRows, coarse_eights, scored_eights
from headrank.datasets.files import RankingData, Table, read_svmlight, read_table
from headrank.datasets.linear_eta import LinearEta
from headrank.datasets.population import Population

__all__ = [
    "Binormal",
    "LinearEta",
    "Population",
    "RankingData",
    "ScoredRows",
    "Table",
    "coarse_eights",
    "read_svmlight",
    "read_table",
    "scored_eights",
]
