"""Measures as LightGBM metrics, surrogates as LightGBM objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrank.integrations._rows import Objective, of_call
from headrank.measures import Measure
from headrank.measures import measure as measure_of

__all__ = ["metric", "objective"]


def metric(measure: Measure | str) -> Metric:
    """Return a metric for ``lightgbm.train(feval=...)`` and ``LGBMClassifier.fit(eval_metric=...)``.

    Its name is the short name of the measure, and it carries its direction. Weights of the data count,
    and with groups it is the mean over the groups that have both classes. Set ``metric="None"`` among the parameters:
    otherwise LightGBM also stops early on the objective's own metric.

    Only the head that the measure depends on is sorted, except with weights.

    >>> metric("pauc@0.5")([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    ('pauc@0.5', 0.5, True)
    """
    return Metric(measure_of(measure))


def objective(
    kind: str = "push", *, measure: Measure | str | None = None, power: float = 4.0, bandwidth: float = 0.3
) -> Objective:
    """Return an objective for ``params={"objective": ...}`` of ``lightgbm.train`` and for ``LGBMClassifier``.

    The intercept is always the optimal one, so ``boost_from_average`` and a constant ``init_score`` do not matter. The
    scores are for ranking: they are not log odds. Second derivatives have mean 1/4, as those of the log loss have at
    most.

    Parameters
    ----------
    kind : {"push", "smooth"}, default="push"
        ``"push"`` is the log loss with a power for the negatives, which presses the highest of them down. ``"smooth"``
        is 1 - measure with soft counts. It is not convex and needs a start: give the data set the raw scores of a model
        trained with the log loss as ``init_score``, and the data to measure on theirs.
    measure : Measure or str
        What ``"smooth"`` is trained for. With groups, the mean over those that have both classes.
    power : float, default=4.0
        Of ``"push"``; 1 is the log loss.
    bandwidth : float, default=0.3
        Of ``"smooth"``: half-width of a soft step, in standard deviations of the scores.
    """
    return Objective.of(kind, measure, power, bandwidth)


@dataclass(frozen=True)
class Metric:
    """A measure as LightGBM calls it, made by `metric`."""

    measure: Measure

    def __call__(
        self, first: Any, second: Any, sample_weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Return name, value, and whether higher is better."""
        rows, scores = of_call(first, second, sample_weight, group)
        return str(self.measure), rows.value(self.measure, scores), self.measure.greater_is_better
