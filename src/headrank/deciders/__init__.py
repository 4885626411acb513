"""Whom to act on? Classifiers that put a threshold on a scorer: one that keeps a budget, or the best fraction."""

from headrank.deciders.fpr_budget import FPRBudgetClassifier
from headrank.deciders.top_fraction import TopFractionClassifier

__all__ = ["FPRBudgetClassifier", "TopFractionClassifier"]
