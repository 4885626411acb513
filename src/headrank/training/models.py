"""The models that are trained: ranker, logistic regression and gradient boosting."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from headrank._format import rounded
from headrank._types import BoolVector, IntVector, Vector
from headrank.bounds.sample_curves import SampleCurves
from headrank.estimators import BoostedRanker, RankerCV
from headrank.estimators.combined.clock import INTERRUPTED, RankerProgress
from headrank.estimators.combined.families import FAMILIES as ALL_FAMILIES
from headrank.estimators.threads import limit_blas_threads
from headrank.estimators.trees.regrowing import why_kept
from headrank.exceptions import CollapsedFitWarning
from headrank.labels import Sample, check_scores
from headrank.measures import Measure
from headrank.training.choice_folds import ChoiceFolds
from headrank.training.evaluations import Evaluations
from headrank.training.features import Features, linear_features, scores_of
from headrank.training.goal import Goal
from headrank.training.holdout import N_FOLDS, subsample
from headrank.training.progress import Note, Progress
from headrank.training.result import Coefficient, FamilyResult, ModelResult

Models = Literal["all", "linear", "trees"]
FAMILIES: dict[Models, tuple[str, ...]] = {
    "all": ALL_FAMILIES,
    "linear": ("linear",),
    "trees": ("boosted trees", "extra trees", "random forest"),
}
"""What the ranker is chosen from."""
ROWS_TO_CHOOSE = 100_000
"""Most rows used to select the ranker: more would take longer and hardly improve the selection."""
_LOGISTIC_ITERATIONS = 1000


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Features of the training and holdout rows, their labels and queries, and the goal.

    ``folds`` are those of the ranker's choice, None for random ones; ``measured`` are the positions of the holdout rows
    that are measured, None for all. Of a stored table, the rows are a sample of ``n_train`` training rows, with
    ``weights`` if its classes were not drawn alike.
    """

    features: Features
    y: BoolVector
    queries: IntVector | None
    holdout_y: BoolVector
    holdout_queries: IntVector | None
    goal: Goal
    random_state: int
    folds: ChoiceFolds | None = None
    measured: IntVector | None = None
    weights: Vector | None = None
    n_train: int = 0

    @property
    def of_sample(self) -> str:
        """Which rows a model was trained on, if not on all training rows; else empty."""
        return "" if self.features.every is None else f" Trained on {self.y.size:,} of {self.n_train:,} training rows."


def trained_models(
    rows: TrainingRows, models: Models, progress: Progress, *, max_seconds: float | None = None
) -> Iterator[ModelResult]:
    """Train one model after the other, and score the holdout with each."""
    yield _scored(_ranker, rows, models, progress, max_seconds)
    yield _scored(_logistic_regression, rows, progress)
    if models != "linear":
        yield _scored(_gradient_boosting, rows, progress)


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A trained model: its pipeline steps after the encoding, and remarks for the report."""

    name: str
    steps: Sequence[tuple[str, Any]]
    remark: str = ""
    collapsed: bool = False
    coefficients: tuple[Coefficient, ...] | None = None
    families: tuple[FamilyResult, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def _scored(fit: Callable[..., _Fitted], rows: TrainingRows, *others: Any) -> ModelResult:
    fitted = fit(rows, *others)
    scores = check_scores(scores_of(Pipeline(list(fitted.steps)), rows.features.holdout))
    every = measured = SampleCurves(Sample(rows.holdout_y, scores, None, rows.holdout_queries))
    if rows.measured is not None:
        measured = SampleCurves(Sample(rows.holdout_y[rows.measured], scores[rows.measured]))
    return ModelResult(
        name=fitted.name,
        estimator=Pipeline([*rows.features.steps, *fitted.steps]),
        holdout=measured,
        all_rows=every,
        remark=fitted.remark,
        collapsed=fitted.collapsed,
        coefficients=fitted.coefficients,
        families=fitted.families,
        left_out=fitted.left_out,
    )


# -- the ranker ----------------------------------------------------------------------------------------------------


def _ranker(rows: TrainingRows, models: Models, progress: Progress, max_seconds: float | None) -> _Fitted:
    """Choose and combine the ranker by cross-validation, on a subsample if there are many rows."""
    X = rows.features.train
    few = subsample(rows.y, rows.queries, ROWS_TO_CHOOSE, random_state=rows.random_state)
    all_rows = few.size == rows.y.size
    y, queries = rows.y[few], None if rows.queries is None else rows.queries[few]
    ranker = RankerCV(
        rows.goal.measure,
        families=FAMILIES[models],
        max_seconds=max_seconds,
        cv=N_FOLDS if rows.folds is None else rows.folds.splits(rows.y, rows.queries, few),
        random_state=rows.random_state,
        verbose=lambda state: progress(
            f"training the ranker: {state.family}", state.done, state.total, _note(state, rows.goal.measure)
        ),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CollapsedFitWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        weights = None if rows.weights is None else rows.weights[few]
        ranker.fit(X if all_rows else X[few], y, weights, queries)
        if INTERRUPTED in ranker.left_out_.values():
            raise KeyboardInterrupt  # a command that was stopped writes nothing
        remark = ranker.choice_
        if not all_rows and not _grows_on_every(ranker, rows):
            step = f"fitting the ranker to {'all' if rows.features.every is None else 'more'} rows"
            progress(step, 0, 1)
            ranker.refit(X, rows.y, rows.weights, rows.queries)
            progress(step, 1, 1)
            remark = f"{ranker.choice_} Selected on {few.size:,} of {rows.y.size:,} training rows, then fitted to all."
            remark = f"{remark} {ranker.grown_on_}".rstrip()
        if rows.features.every is not None:
            fitted = _spread(ranker, rows, progress)
            remark = f"{ranker.choice_} Selected on {few.size:,} of {rows.n_train:,} training rows. {fitted}"
    ranker.set_params(verbose=0, cv=N_FOLDS)  # a model file cannot store a function, and needs no row numbers
    coefficients = None
    for part in ranker.parts_:
        part.scorer.set_params(cv=N_FOLDS)
        if hasattr(part.scorer, "ranker_"):
            part.scorer.ranker_.set_params(cv=N_FOLDS)
    for scorer in (part.scorer for part in ranker.parts_ if part.family == "linear"):
        for member in scorer.ranker_.rankers_:
            member.trace_ = ()  # it contains times: equal runs give equal files
        if len(ranker.parts_) == 1:
            coefficients = _coefficients(scorer.ranker_.coef_, scorer.feature_names(rows.features.names))
    return _Fitted(
        "ranker",
        (("model", ranker),),
        remark=_with_warnings(remark, caught),
        collapsed=bool(ranker.collapsed_),
        coefficients=coefficients,
        families=_families(ranker),
        left_out=ranker.left_out_,
    )


def _grows_on_every(ranker: RankerCV, rows: TrainingRows) -> bool:
    """Whether boosted trees will be grown on all rows of a stored table, so that growing them on more is in vain."""
    every = rows.features.every
    has_trees = "boosted trees" in (part.family for part in ranker.parts_)
    return every is not None and has_trees and not why_kept(every, rows.features.memory)


def _spread(ranker: RankerCV, rows: TrainingRows, progress: Progress) -> str:
    """Fit the linear part and boosted trees to all rows of a stored table; return what was fitted to which rows."""
    every = rows.features.every
    assert every is not None
    families = [part.family for part in ranker.parts_]
    said = []
    if "linear" in families or "boosted trees" in families:
        name = f"fitting the {'linear part' if 'linear' in families else 'trees'} to all rows"
        progress(name, 0, 1)
        tol = next((part.scorer.ranker_.tol for part in ranker.parts_ if part.family == "linear"), 0.0)
        ranker.refit(every, callback=Evaluations(name, rows.n_train, tol, progress), memory=rows.features.memory)
        progress(name, 1, 1)
    if "linear" in families:
        said.append(
            "Then fitted to all of them." if len(families) == 1 else "Its linear part was fitted to all of them."
        )
    if "boosted trees" in families:
        said.append(ranker.grown_on_)
    if any(each not in ("linear", "boosted trees") for each in families):
        said.append("Its other parts are those of the selection.")
    return " ".join(said)


def _families(ranker: RankerCV) -> tuple[FamilyResult, ...]:
    """List what each family is worth out of fold, and last the combination."""
    sign = 1 if ranker.measure_.greater_is_better else -1
    weights = dict.fromkeys(ranker.families, 0.0) | {part.family: part.weight for part in ranker.parts_}
    return tuple(
        FamilyResult(trial.candidate, sign * trial.mean, trial.standard_error, weights.get(trial.candidate))
        for trial in ranker.trials_
    )


def _note(state: RankerProgress, measure: Measure) -> Note:
    best = "" if state.best is None else f"{measure} {rounded(state.best)} out of fold"
    return Note(best, state.n_to_follow, state.seconds_left)


# -- the others ----------------------------------------------------------------------------------------------------


def _logistic_regression(rows: TrainingRows, progress: Progress) -> _Fitted:
    from sklearn.linear_model import LogisticRegression

    linear = linear_features(rows.features)
    progress("fitting logistic regression", 0, 1)
    model = LogisticRegression(max_iter=_LOGISTIC_ITERATIONS)
    with warnings.catch_warnings(record=True) as caught, limit_blas_threads(rows.y.size * len(linear.names)):
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(linear.train, rows.y, rows.weights)
    progress("fitting logistic regression", 1, 1)
    return _Fitted(
        "logistic regression",
        (*linear.steps, ("model", model)),
        remark=_with_warnings(f"scikit-learn's default (C = 1), trained for the whole list.{rows.of_sample}", caught),
        collapsed=not model.coef_.any(),
        coefficients=_coefficients(model.coef_[0], linear.names),
    )


def _gradient_boosting(rows: TrainingRows, progress: Progress) -> _Fitted:
    progress("fitting gradient boosting", 0, 1)
    model = BoostedRanker(rows.goal.measure, random_state=rows.random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedFitWarning)  # said by the report
        model.fit(rows.features.train, rows.y, rows.weights)
    progress("fitting gradient boosting", 1, 1)
    return _Fitted(
        "gradient boosting",
        (("model", model),),
        remark=f"{model.n_estimators} trees with default settings, trained for the whole list.{rows.of_sample}",
        collapsed=bool(model.collapsed_),
    )


def _coefficients(weights: Vector, names: Sequence[str]) -> tuple[Coefficient, ...]:
    order = np.argsort(-np.abs(weights), kind="stable")
    return tuple(Coefficient(names[i], float(weights[i])) for i in order)


def _with_warnings(remark: str, caught: Sequence[warnings.WarningMessage]) -> str:
    """Append known warnings to the remark; re-emit all others."""
    texts = []
    for each in caught:
        if issubclass(each.category, CollapsedFitWarning | ConvergenceWarning):
            texts.append(_first_sentence(str(each.message)))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return " ".join([remark, *(f"Warning: {text}." for text in dict.fromkeys(texts))])


def _first_sentence(text: str) -> str:
    # Messages of scikit-learn have several lines, with links.
    return text.strip().splitlines()[0].split(". ")[0].rstrip(".:")
