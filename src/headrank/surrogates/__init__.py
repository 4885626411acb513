"""What is minimised? A surrogate maps scores to a risk and its derivative in each score; it never sees features."""

from headrank.surrogates.asymmetric import AsymmetricSVM
from headrank.surrogates.cut import Cut, RowFacts, Surrogate
from headrank.surrogates.logistic import LogisticLoss
from headrank.surrogates.registry import KINDS, SurrogateKind, kind_of, surrogate_for
from headrank.surrogates.smooth import SmoothPairs, SmoothRisk
from headrank.surrogates.smooth_ranks import SmoothRanks, SmoothTop
from headrank.surrogates.squared_hinge import SquaredHinge
from headrank.surrogates.structural import StructuralHinge
from headrank.surrogates.threshold import PatMat, TauFPL, TopPush
from headrank.surrogates.tight import TightHinge

__all__ = [
    "KINDS",
    "AsymmetricSVM",
    "Cut",
    "LogisticLoss",
    "PatMat",
    "RowFacts",
    "SmoothPairs",
    "SmoothRanks",
    "SmoothRisk",
    "SmoothTop",
    "SquaredHinge",
    "StructuralHinge",
    "Surrogate",
    "SurrogateKind",
    "TauFPL",
    "TightHinge",
    "TopPush",
    "kind_of",
    "surrogate_for",
]
