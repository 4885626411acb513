"""Which scorer is best at the head of the list? The learners, as scikit-learn estimators."""

from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.estimators.kernel import KernelRanker
from headrank.estimators.linear import LinearRanker
from headrank.estimators.path import RegularisationPath, path

__all__ = ["KernelRanker", "LinearRanker", "LinearRankerCV", "RegularisationPath", "path"]
