"""Measures as XGBoost metrics and stopping rules, surrogates as XGBoost objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrank._extras import needs_extra
from headrank._numbers import whole
from headrank.integrations._rows import Objective, of_call
from headrank.measures import Measure
from headrank.measures import measure as measure_of

__all__ = ["early_stopping", "metric", "objective"]


def metric(measure: Measure | str) -> Metric:
    """Return a metric for ``xgboost.train(custom_metric=...)`` and ``XGBClassifier(eval_metric=...)``.

    Weights of the data count, and with groups it is the mean over the groups that have both classes. XGBoost minimises
    a metric unless told otherwise: stop by `early_stopping`, which knows the direction. XGBoost logs six decimals.

    Only the head that the measure depends on is sorted, except with weights. With XGBoost's own log loss it sees
    probabilities in single precision: margins above 17 all become 1 and tie.
    """
    return Metric(measure_of(measure))


def early_stopping(measure: Measure | str, *, rounds: int, **options: Any) -> Any:
    """Return XGBoost's ``EarlyStopping`` callback for `metric` of this measure, with name and direction set.

    Parameters
    ----------
    measure : Measure or str
        The measure of `metric`.
    rounds : int
        Rounds without improvement after which training stops.
    **options
        Others of ``xgboost.callback.EarlyStopping``: ``data_name``, ``save_best``, ``min_delta``.
    """
    with needs_extra("xgboost"):
        from xgboost.callback import EarlyStopping

    target = measure_of(measure)
    rounds = whole("rounds", rounds, at_least=1)
    return EarlyStopping(rounds=rounds, metric_name=_name(target), maximize=target.greater_is_better, **options)


def objective(
    kind: str = "push", *, measure: Measure | str | None = None, power: float = 4.0, bandwidth: float = 0.3
) -> Objective:
    """Return an objective for ``xgboost.train(obj=...)`` and ``XGBClassifier(objective=...)``.

    The intercept is always the optimal one, so ``base_score`` does not matter. The scores are for ranking: they are not
    log odds. Second derivatives have mean 1/4, as those of the log loss have at most.

    Parameters
    ----------
    kind : {"push", "smooth"}, default="push"
        ``"push"`` is the log loss with a power for the negatives, which presses the highest of them down. ``"smooth"``
        is 1 - measure with soft counts. It is not convex and needs a start: give the data the margins of a model
        trained with the log loss as ``base_margin``, and the data to measure on theirs.
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
    """A measure as XGBoost calls it, made by `metric`."""

    measure: Measure

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        """Return name and value; the value alone if called with labels and predictions, as by ``XGBClassifier``."""
        rows, scores = of_call(first, second, sample_weight, None)
        value = rows.value(self.measure, scores)
        return (_name(self.measure), value) if scores is first else value

    @property
    def __name__(self) -> str:  # XGBClassifier logs a metric by the name of its function
        return _name(self.measure)


def _name(measure: Measure) -> str:
    return str(measure).replace(":", "-")  # XGBoost splits what it logs at a colon
