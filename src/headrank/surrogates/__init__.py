"""What is minimised? A surrogate maps scores to a risk and its derivative in each score; it never sees features."""

from headrank.surrogates.cut import Cut, RowFacts, Surrogate
from headrank.surrogates.logistic import LogisticLoss
from headrank.surrogates.registry import KINDS, SurrogateKind, kind_of, surrogate_for
from headrank.surrogates.smooth import SmoothPairs, SmoothRisk
from headrank.surrogates.smooth_ranks import SmoothRanks, SmoothTop
from headrank.surrogates.squared_hinge import SquaredHinge
from headrank.surrogates.structural import StructuralHinge
from headrank.surrogates.tight import TightHinge

__all__ = [
    "KINDS",
    "Cut",
    "LogisticLoss",
    "RowFacts",
    "SmoothPairs",
    "SmoothRanks",
    "SmoothRisk",
    "SmoothTop",
    "SquaredHinge",
    "StructuralHinge",
    "Surrogate",
    "SurrogateKind",
    "TightHinge",
    "kind_of",
    "surrogate_for",
]
