"""Which scorer is best at the head of the list? The learners, as scikit-learn estimators."""

from headrank.estimators.combined.ranker_cv import RankerCV
from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.estimators.kernel import KernelRanker
from headrank.estimators.linear import LinearRanker
from headrank.estimators.path import RegularisationPath, path
from headrank.estimators.ranking_trees.forest_ranker import ForestRanker
from headrank.estimators.ranking_trees.tree_ranker import TreeRanker
from headrank.estimators.trees.boosted import BoostedRanker
from headrank.estimators.trees.boosted_cv import BoostedRankerCV

__all__ = [
    "BoostedRanker",
    "BoostedRankerCV",
    "ForestRanker",
    "KernelRanker",
    "LinearRanker",
    "LinearRankerCV",
    "RankerCV",
    "RegularisationPath",
    "TreeRanker",
    "path",
]
