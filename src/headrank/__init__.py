"""Learn, measure and certify the head of a ranked list."""

from typing import TYPE_CHECKING, Any

from headrank.curve import RocCurve
from headrank.measures import (
    AUC,
    BEDROC,
    KS,
    EnrichmentFactor,
    FPRAtTPR,
    FROCArea,
    Lift,
    LocalAUC,
    LocalRankingError,
    LocalRankingRisk,
    MassConstrainedError,
    Measure,
    PartialAUC,
    PNormPush,
    PrecisionAt,
    QueryMean,
    RankStatistic,
    RecallAt,
    StandardizedPartialAUC,
    TopFPR,
    TopTPR,
    TPRAtFPR,
    TruncatedAUC,
    TwoWayPartialAUC,
    WRanking,
    measure,
)
from headrank.plots import PathDisplay, RocDisplay

if TYPE_CHECKING:
    from headrank.estimators import KernelRanker, LinearRanker, LinearRankerCV, path

__version__ = "0.1.0"
__all__ = [
    "AUC",
    "BEDROC",
    "KS",
    "EnrichmentFactor",
    "FPRAtTPR",
    "FROCArea",
    "KernelRanker",
    "Lift",
    "LinearRanker",
    "LinearRankerCV",
    "LocalAUC",
    "LocalRankingError",
    "LocalRankingRisk",
    "MassConstrainedError",
    "Measure",
    "PNormPush",
    "PartialAUC",
    "PathDisplay",
    "PrecisionAt",
    "QueryMean",
    "RankStatistic",
    "RecallAt",
    "RocCurve",
    "RocDisplay",
    "StandardizedPartialAUC",
    "TPRAtFPR",
    "TopFPR",
    "TopTPR",
    "TruncatedAUC",
    "TwoWayPartialAUC",
    "WRanking",
    "measure",
    "path",
]


def __getattr__(name: str) -> Any:
    # The learners need scikit-learn, which takes a second to import; measuring does not.
    if name in {"KernelRanker", "LinearRanker", "LinearRankerCV", "path"}:
        from headrank import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'headrank' has no attribute {name!r}")
