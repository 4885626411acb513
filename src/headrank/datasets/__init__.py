"""Which rows to work on? Populations whose true curve is known, a small real example, and readers for files."""

from headrank.datasets.binormal import Binormal
from headrank.datasets.digits import ScoredRows, coarse_eights, coarse_eights_table, scored_eights
from headrank.datasets.linear_eta import LinearEta
from headrank.datasets.population import Population
from headrank.datasets.svmlight import RankingData, read_svmlight
from headrank.datasets.tables import Table, read_columns, read_table

__all__ = [
    "Binormal",
    "LinearEta",
    "Population",
    "RankingData",
    "ScoredRows",
    "Table",
    "coarse_eights",
    "coarse_eights_table",
    "read_columns",
    "read_svmlight",
    "read_table",
    "scored_eights",
]
