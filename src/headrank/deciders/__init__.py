"""Classifiers that put a threshold on a scorer: within a false positive budget, or for the best fraction."""

from headrank.deciders.fpr_budget import FPRBudgetClassifier
from headrank.deciders.top_fraction import TopFractionClassifier

__all__ = ["FPRBudgetClassifier", "TopFractionClassifier"]
