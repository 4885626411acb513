"""How good is a scorer, and where? One number read off its ROC curve."""

from headrank.measures.area import AUC, FROCArea, PartialAUC, StandardizedPartialAUC, TwoWayPartialAUC
from headrank.measures.early import (
    BEDROC,
    KS,
    EnrichmentFactor,
    FPRAtTPR,
    Lift,
    PrecisionAt,
    RecallAt,
    TPRAtFPR,
)
from headrank.measures.local import (
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    TopFPR,
    TopTPR,
    TruncatedAUC,
)
from headrank.measures.measure import Measure, QueryMean
from headrank.measures.names import measure
from headrank.measures.ranks import PNormPush, RankStatistic, WRanking

__all__ = [
    "AUC",
    "BEDROC",
    "KS",
    "EnrichmentFactor",
    "FPRAtTPR",
    "FROCArea",
    "Lift",
    "LocalAUC",
    "LocalRankingError",
    "LocalRankingRisk",
    "MassConstrainedError",
    "Measure",
    "PNormPush",
    "PartialAUC",
    "PrecisionAt",
    "QueryMean",
    "RankStatistic",
    "RecallAt",
    "StandardizedPartialAUC",
    "TPRAtFPR",
    "TopFPR",
    "TopTPR",
    "TruncatedAUC",
    "TwoWayPartialAUC",
    "WRanking",
    "measure",
]
