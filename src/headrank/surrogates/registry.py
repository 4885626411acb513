"""The surrogates and the measures they apply to. Register a function to make a measure learnable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from headrank._numbers import option, real, short_repr
from headrank._types import Vector
from headrank.curve import shares
from headrank.measures import (
    NDCG,
    AveragePrecision,
    EnrichmentFactor,
    LocalAUC,
    LocalRankingRisk,
    MassConstrainedError,
    Measure,
    PNormPush,
    PrecisionAt,
    RankStatistic,
    RecallAt,
    TopTPR,
    TPRAtFPR,
    TwoWayPartialAUC,
    WRanking,
)
from headrank.measures.area import AreaMeasure
from headrank.surrogates.asymmetric import AsymmetricSVM
from headrank.surrogates.cut import RowFacts, Surrogate
from headrank.surrogates.logistic import LogisticLoss
from headrank.surrogates.smooth import SmoothPairs, SmoothRisk
from headrank.surrogates.smooth_places import SmoothGain, SmoothPlaces, discount_at_rank, precision_at_rank
from headrank.surrogates.smooth_ranks import Reward, SizeOfTop, SmoothRanks, SmoothTop, differenced, power
from headrank.surrogates.squared_hinge import SquaredHinge
from headrank.surrogates.structural import StructuralHinge
from headrank.surrogates.threshold import PatMat, TauFPL, TopPush
from headrank.surrogates.tight import TightHinge


def fpr_range(measure: Measure) -> tuple[float, float]:
    """Return the range of false positive rates whose hinge is the convex surrogate of the measure, or raise.

    >>> from headrank.measures import AUC
    >>> fpr_range(AUC())
    (0.0, 1.0)
    """
    if isinstance(measure, AreaMeasure):
        return measure.fpr_range
    or_smoothly = "it with surrogate='smooth', or " if KINDS["smooth"].supports(measure) else ""
    raise ValueError(
        f"{measure!r} has no convex surrogate; learn {or_smoothly}"
        "PartialAUC(max_fpr=...) over the range of interest, and evaluate the result by any measure"
    )


def head_of(measure: Measure) -> float:
    """Return the false positive rate up to which the measure looks, for surrogates of the highest negatives, or raise.

    >>> head_of(TPRAtFPR(0.05))
    0.05
    """
    low, high = (0.0, measure.fpr) if isinstance(measure, TPRAtFPR) else fpr_range(measure)
    if low > 0 or high == 0:
        raise ValueError(
            f"{measure!r} has no convex surrogate of this kind: these press the highest negatives down, from the first "
            f"on, so the range must start at 0 and end above it, got {low:g} to {high:g}; use "
            + ("surrogate='tight', or PartialAUC(max_fpr=...)" if low > 0 else "surrogate='toppush'")
        )
    return high


@singledispatch
def smooth_for(measure: Measure, _bandwidth: float, _rows: RowFacts) -> SmoothRisk:
    """Return the smooth surrogate of the measure, or raise."""
    raise ValueError(
        f"{measure!r} has no smooth surrogate; use 'logistic' or 'svc', which work for every measure, or learn one of "
        "AUC, a partial AUC, LocalAUC, WRanking, PNormPush, RankStatistic, MassConstrainedError, LocalRankingRisk, "
        "TopTPR, AveragePrecision, NDCG, or a measure of the first rows"
    )


@smooth_for.register
def _(measure: AreaMeasure, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    least, greatest = measure.possible_values
    return SmoothPairs(bandwidth, *measure.fpr_range, scale=greatest - least, rows=rows)


@smooth_for.register
def _(measure: TwoWayPartialAUC, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    tprs = {"min_tpr": measure.min_tpr, "max_tpr": measure.max_tpr}
    return SmoothPairs(bandwidth, max_fpr=measure.max_fpr, **tprs, rows=rows)


@smooth_for.register
def _(measure: PNormPush, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothRanks(bandwidth, power(measure.power), rows=rows)


@smooth_for.register
def _(measure: AveragePrecision, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothPlaces(bandwidth, precision_at_rank(measure.k), rows=rows)


@smooth_for.register
def _(measure: NDCG, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothGain(bandwidth, discount_at_rank(measure.k), measure, rows=rows)


@smooth_for.register
def _(measure: RankStatistic, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothRanks(bandwidth, differenced(measure.phi), rows=rows)


@smooth_for.register
def _(measure: LocalAUC, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, _n_top: Vector) -> Reward:
        return Reward(offset=1, per_neg=1 / (n_pos * n_neg))

    return SmoothTop(bandwidth, _share(measure.top), reward, rows=rows)


@smooth_for.register
def _(measure: WRanking, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, _n_top: Vector) -> Reward:
        per_row = 1 / (n_pos * (n_pos + n_neg + 1))
        # All positives and half a row, minus the positives above it in the top: one for each pair of these.
        return Reward(offset=1, base=per_row * (n_pos + 0.5), per_neg=per_row, per_pair=per_row)

    return SmoothTop(bandwidth, _share(measure.top), reward, rows=rows)


@smooth_for.register
def _(measure: MassConstrainedError, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _share(measure.top), _mass_reward, rows=rows)


@smooth_for.register
def _(measure: LocalRankingRisk, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
        n = n_pos + n_neg
        if np.any(n <= 1):
            raise ValueError(
                f"expected a total weight above 1 to count pairs of rows, got {n.min():g}; weights are multiplicities "
                "here: rescale them so that they count rows"
            )
        mass, per_pair = _mass_reward(n_pos, n_neg, n_top), 2 / (n * (n - 1))
        share = n_neg / n
        return Reward(offset=share * mass.offset, base=share * mass.base - per_pair * n_neg, per_neg=per_pair)

    return SmoothTop(bandwidth, _share(measure.top), reward, rows=rows)


@smooth_for.register
def _(measure: TopTPR, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _share(measure.top), _found_reward, rows=rows)


@smooth_for.register
def _(measure: RecallAt, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    return SmoothTop(bandwidth, _first(measure), _found_reward, rows=rows)


@smooth_for.register
def _(measure: PrecisionAt, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(_n_pos: Vector, _n_neg: Vector, n_top: Vector) -> Reward:
        # A list shorter than k is still divided by k: the missing rows are not positives.
        return Reward(offset=1, base=1 / (measure.k if measure.is_count else n_top))

    return SmoothTop(bandwidth, _first(measure), reward, rows=rows)


@smooth_for.register
def _(measure: EnrichmentFactor, bandwidth: float, rows: RowFacts) -> SmoothRisk:
    def reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
        per_found = (n_pos + n_neg) / (n_pos * n_top)
        # The mean factor may exceed 1, so it is divided by the best possible value: one number for all lists, as the
        # factors of two lists must keep their ratio.
        best = np.mean(per_found * np.minimum(n_pos, n_top))
        return Reward(offset=1, base=per_found / best)

    return SmoothTop(bandwidth, _first(measure), reward, rows=rows)


def _first(measure: PrecisionAt | RecallAt | EnrichmentFactor) -> SizeOfTop:
    """Return the size of the top for measures of the first rows."""
    if measure.is_count:
        return lambda n_rows: np.full_like(n_rows, measure.k)
    size = _share(measure.k)
    if isinstance(measure, EnrichmentFactor) and measure.rounding == "up":
        return lambda n_rows: np.minimum(np.ceil(size(n_rows)), n_rows)
    return size


def _share(top: float) -> SizeOfTop:
    """Return the size of the top as a share of all rows; a row at its border counts in part."""
    return lambda n_rows: np.asarray(shares(top, n_rows))


def _found_reward(n_pos: Vector, _n_neg: Vector, _n_top: Vector) -> Reward:
    return Reward(offset=1, base=1 / n_pos)


def _mass_reward(n_pos: Vector, n_neg: Vector, n_top: Vector) -> Reward:
    # Positives below the border are n_pos - found, negatives above it n_top - found.
    return Reward(offset=(n_pos + n_top) / (n_pos + n_neg), base=2 / (n_pos + n_neg))


@dataclass(frozen=True)
class Parameter:
    """A number that belongs to a surrogate, written after its name: ``"push@8"``."""

    name: str
    default: float
    includes_zero: bool = False

    def read(self, kind: str, text: str) -> float:
        """Return the number that a text means, or raise."""
        try:
            value = real(self.name, float(text))
        except (TypeError, ValueError):
            value = -1.0
        if value < 0 or (value == 0 and not self.includes_zero):
            limit = "at least 0" if self.includes_zero else "above 0"
            raise ValueError(
                f"the {self.name} of {kind!r} must be a number {limit}, as in '{kind}@{self.default:g}', "
                f"got {short_repr(text)}"
            )
        return value


@dataclass(frozen=True)
class SurrogateKind:
    """Properties of a surrogate that do not depend on the measure.

    Attributes
    ----------
    make : callable
        Takes a measure, weights and queries, and a parameter; raises if the measure is not supported. The parameter is
        the one in the name, or the bandwidth if names have none.
    Cs : tuple of float
        The grid that cross-validation tries by default.
    measures : tuple of type
        The measures that it can learn; `Measure` means all.
    convex : bool
        Whether its minimum is certified. If not, a local search starts from another scorer.
    needs_range : bool
        Whether it is a hinge over a range of false positive rates. It applies only to measures with such a range
        (`fpr_range`).
    needs_head : bool
        Whether it looks at the highest negatives up to a false positive rate (`head_of`). It applies only to measures
        with a range that starts at 0, and to `TPRAtFPR`.
    collapses : bool
        Whether zero weights may be optimal. These are the piecewise linear ones; the certified solver minimises them.
    sums : bool
        Whether it is a sum of losses over rows, so that C means the same as for a classifier; else it is a mean.
    default : bool
        Whether cross-validation tries it if not told which to try.
    parameter : Parameter, optional
        The number that may follow the name.
    """

    make: Callable[[Measure, RowFacts, float], Surrogate]
    Cs: tuple[float, ...]
    measures: tuple[type[Measure], ...] = (Measure,)
    convex: bool = True
    needs_range: bool = False
    needs_head: bool = False
    collapses: bool = False
    sums: bool = False
    default: bool = True
    parameter: Parameter | None = None

    def supports(self, measure: Measure) -> bool:
        """Whether the measure can be learned by this surrogate."""
        if self.needs_head and isinstance(measure, AreaMeasure) and measure.fpr_range[0] > 0:
            return False
        if self.needs_head and isinstance(measure, TPRAtFPR) and measure.fpr == 0:
            return False
        return isinstance(measure, self.measures)


_OF_ROWS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
_OF_MEANS = (1.0, 10.0, 100.0, 1000.0)
_WITH_A_HEAD = (AreaMeasure, TPRAtFPR)

KINDS = {
    "logistic": SurrogateKind(lambda _measure, rows, _: LogisticLoss(rows=rows), Cs=_OF_ROWS, sums=True),
    "svc": SurrogateKind(
        lambda _measure, rows, _: SquaredHinge(rows=rows), Cs=(1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0), sums=True
    ),
    "push": SurrogateKind(
        lambda _measure, rows, power: LogisticLoss(power, rows=rows),
        Cs=_OF_ROWS,
        sums=True,
        default=False,
        parameter=Parameter("power", default=4.0),
    ),
    "tight": SurrogateKind(
        lambda measure, rows, _: TightHinge(*fpr_range(measure), rows),
        Cs=_OF_MEANS,
        measures=(AreaMeasure,),
        needs_range=True,
        collapses=True,
    ),
    "structural": SurrogateKind(
        lambda measure, rows, _: StructuralHinge(*fpr_range(measure), rows),
        Cs=_OF_MEANS,
        measures=(AreaMeasure,),
        needs_range=True,
        collapses=True,
    ),
    "toppush": SurrogateKind(lambda _measure, rows, _: TopPush(rows=rows), Cs=_OF_MEANS, collapses=True, default=False),
    "tau-fpl": SurrogateKind(
        lambda measure, rows, _: TauFPL(head_of(measure), rows=rows),
        Cs=_OF_MEANS,
        measures=_WITH_A_HEAD,
        needs_head=True,
        collapses=True,
        default=False,
    ),
    "patmat": SurrogateKind(
        lambda measure, rows, beta: PatMat(head_of(measure), beta, rows=rows),
        Cs=_OF_MEANS,
        measures=_WITH_A_HEAD,
        needs_head=True,
        collapses=True,
        default=False,
        parameter=Parameter("beta", default=1.0),
    ),
    "asymmetric": SurrogateKind(
        lambda measure, rows, core: AsymmetricSVM(head_of(measure), core, rows=rows),
        Cs=(10.0,),  # the direction of the weights does not depend on C
        measures=_WITH_A_HEAD,
        needs_head=True,
        collapses=True,
        default=False,
        parameter=Parameter("core", default=1.0, includes_zero=True),
    ),
    "smooth": SurrogateKind(
        lambda measure, rows, bandwidth: smooth_for(measure, bandwidth, rows),
        Cs=(0.1, 1.0, 10.0, 100.0),
        measures=tuple(kind for kind in smooth_for.registry if kind is not object),
        convex=False,
    ),
}
"""All surrogates by name, from the simplest to the most complex."""


def kind_of(surrogate: str) -> SurrogateKind:
    """Return the properties of a surrogate, or raise for an unknown name. A number in the name becomes the default.

    >>> kind_of("push@8").parameter.default
    8.0
    """
    name, at, text = surrogate.partition("@") if isinstance(surrogate, str) else (surrogate, "", "")
    kind = KINDS[option("surrogate", name if at and name in KINDS else surrogate, KINDS)]
    if not at:
        return kind
    if kind.parameter is None:
        instead = "; set bandwidth instead" if not kind.convex else ""
        raise ValueError(f"surrogate {name!r} takes no parameter, got {short_repr(surrogate)}{instead}")
    return replace(kind, parameter=replace(kind.parameter, default=kind.parameter.read(name, text)))


def surrogate_for(measure: Measure, kind: str, rows: RowFacts | None = None, *, bandwidth: float = 0.3) -> Surrogate:
    """Return the surrogate of a measure by its name in `KINDS`, which a parameter may follow.

    ``bandwidth`` applies to ``"smooth"``. ``"logistic"``, ``"svc"``, ``"push"`` and ``"toppush"`` are the same for all
    measures.

    >>> from headrank.measures import PartialAUC
    >>> surrogate_for(PartialAUC(max_fpr=0.1), "tight").max_fpr
    0.1
    >>> surrogate_for(PartialAUC(max_fpr=0.1), "patmat@0.5").beta
    0.5
    """
    its = kind_of(kind)
    parameter = bandwidth if its.parameter is None else its.parameter.default
    return its.make(measure, RowFacts() if rows is None else rows, parameter)
