"""How do other papers learn the head of the list? Their methods, as scikit-learn estimators."""

from headrank.rivals.column_generation import ColumnGeneration
from headrank.rivals.greedy_combination import GreedyCombination
from headrank.rivals.partial_auc_boost import PartialAUCBoost

__all__ = ["ColumnGeneration", "GreedyCombination", "PartialAUCBoost"]
