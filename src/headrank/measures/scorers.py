"""Measures as scikit-learn scorers."""

from typing import Any

from sklearn.metrics import make_scorer

from headrank.measures.measure import Measure


def make_scorer_of(measure: Measure, *, pos_label: Any = None) -> Any:
    """Wrap a measure for ``scoring=``; see `Measure.scorer`."""
    return make_scorer(
        measure,
        response_method=("decision_function", "predict_proba"),
        greater_is_better=measure.greater_is_better,
        **({} if pos_label is None else {"pos_label": pos_label}),
    )
