"""Which rows are in a file? Readers of CSV, TSV, Parquet, svmlight and LETOR files that validate what they return."""

from headrank.readers.svmlight import RankingData, read_svmlight
from headrank.readers.tables import Table, read_columns, read_table

__all__ = ["RankingData", "Table", "read_columns", "read_svmlight", "read_table"]
