"""What does the curve look like, and its head? Displays of ROC curves that keep the numbers they draw."""

from headrank.plots.roc import RocDisplay

__all__ = ["RocDisplay"]
