"""Plots of curves and their measures, intervals, certified lists, ranking trees, paths, power and cross-validation."""

from headrank.plots.cross_validation import CrossValidationDisplay
from headrank.plots.forest import ForestDisplay
from headrank.plots.lists import ListDisplay
from headrank.plots.path import PathDisplay
from headrank.plots.power import PowerDisplay
from headrank.plots.precision_recall import PrecisionRecallDisplay
from headrank.plots.roc import RocDisplay
from headrank.plots.sample_size import SampleSizeDisplay
from headrank.plots.tree import TreeDisplay

__all__ = [
    "CrossValidationDisplay",
    "ForestDisplay",
    "ListDisplay",
    "PathDisplay",
    "PowerDisplay",
    "PrecisionRecallDisplay",
    "RocDisplay",
    "SampleSizeDisplay",
    "TreeDisplay",
]
