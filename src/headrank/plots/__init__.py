"""What does it look like? Pictures of ROC curves and of what is measured on them, and of paths of C."""

from headrank.plots.cross_validation import CrossValidationDisplay
from headrank.plots.path import PathDisplay
from headrank.plots.roc import RocDisplay

__all__ = ["CrossValidationDisplay", "PathDisplay", "RocDisplay"]
