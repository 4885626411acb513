"""Plots of ROC curves and their measures, of intervals, regularisation paths and cross-validation results."""

from headrank.plots.cross_validation import CrossValidationDisplay
from headrank.plots.forest import ForestDisplay
from headrank.plots.path import PathDisplay
from headrank.plots.roc import RocDisplay
from headrank.plots.sample_size import SampleSizeDisplay

__all__ = ["CrossValidationDisplay", "ForestDisplay", "PathDisplay", "RocDisplay", "SampleSizeDisplay"]
