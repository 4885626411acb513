"""Which rows are in a file? CSV, TSV, Parquet, svmlight and LETOR files in, checked arrays and tables out."""

from headrank.readers.svmlight import RankingData, read_svmlight
from headrank.readers.tables import Table, read_columns, read_table

__all__ = ["RankingData", "Table", "read_columns", "read_svmlight", "read_table"]
