"""Which model? From a table to models trained for the head, held out, judged and certified."""

from headrank.training.columns import Column, columns_of, conformed
from headrank.training.contest import Coefficient, Contest, Entrant, Facts, Origin
from headrank.training.goal import Goal
from headrank.training.results import ranked, table_model
from headrank.training.table_model import TableModel
from headrank.training.train import Handover, train

__all__ = [
    "Coefficient",
    "Column",
    "Contest",
    "Entrant",
    "Facts",
    "Goal",
    "Handover",
    "Origin",
    "TableModel",
    "columns_of",
    "conformed",
    "ranked",
    "table_model",
    "train",
]
