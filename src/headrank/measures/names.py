"""Short names: ``measure("pauc@0.02:0.05")`` reads what ``str`` of a measure prints."""

from headrank.measures import area, early, local, ranks
from headrank.measures.measure import Measure

MEASURES: tuple[type[Measure], ...] = (
    area.AUC,
    area.PartialAUC,
    area.StandardizedPartialAUC,
    area.TwoWayPartialAUC,
    area.FROCArea,
    local.LocalAUC,
    local.TruncatedAUC,
    local.TopTPR,
    local.TopFPR,
    local.MassConstrainedError,
    local.LocalRankingError,
    local.LocalRankingRisk,
    ranks.WRanking,
    ranks.PNormPush,
    ranks.RankStatistic,
    early.TPRAtFPR,
    early.FPRAtTPR,
    early.PrecisionAt,
    early.RecallAt,
    early.EnrichmentFactor,
    early.Lift,
    early.BEDROC,
    early.KS,
)
_BY_PREFIX = {kind.prefix: kind for kind in MEASURES}


def measure(name: str) -> Measure:
    """Make a measure from its short name, and refuse names that are not one.

    >>> measure("pauc@0.05")
    <PartialAUC(min_fpr=0.0, max_fpr=0.05): mean TPR over FPR 0 to 0.05 (area / width), chance 0.025, perfect 1>
    >>> [str(measure(name)) for name in ("auc", "locauc@0.1", "tpr@fpr=0.01", "p@100", "bedroc@20")]
    ['auc', 'locauc@0.1', 'tpr@fpr=0.01', 'p@100', 'bedroc@20']
    """
    prefix, _, spec = name.strip().partition("@")
    if prefix not in _BY_PREFIX:
        raise ValueError(f"no measure is called {prefix!r}; known are {', '.join(sorted(_BY_PREFIX))}")
    try:
        return _BY_PREFIX[prefix].from_spec(spec)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot read the measure {name!r}: {error}") from None
