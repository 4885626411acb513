"""What is promised and what is assumed, in plain words."""

from __future__ import annotations

from headrank._format import percent
from headrank.bounds.inequalities.tail_limits import THEOREMS
from headrank.report.answer import paid_for_all
from headrank.report.contents import Answer, Promise
from headrank.report.wording import sentence
from headrank.training.result import TrainingResult


def promises_of(result: TrainingResult, answer: Answer) -> tuple[Promise, ...]:
    """Put into words what the numbers of the report promise, by which theorem, and what must hold for it."""
    promises = [
        Promise("The rows", _rows(result)),
        Promise("The first number", _headline(result, answer)),
        Promise("All models", _intervals(result)),
    ]
    if result.qid is None:
        promises.append(Promise("The band", _band(result)))
    promises.append(Promise("The threshold", _threshold(result)))
    promises.append(Promise("What is assumed", _assumed(result)))
    promises.append(Promise("What is not promised", _not_promised(result)))
    return tuple(promises)


def _rows(result: TrainingResult) -> str:
    facts = result.table
    return (
        f"The models were trained on {facts.n_train:,} rows. All numbers here come from the other {facts.n_holdout:,}, "
        "the holdout, which no model has seen. The model that was written is the very one that was measured: it was "
        "not trained again on all rows, because then nothing would be certain of it."
    )


def _headline(result: TrainingResult, answer: Answer) -> str:
    n = result.selection.n_scorers
    paid = "" if n == 1 else f", after a union bound over the {n} models, since the winner was picked on the same rows"
    about = {
        "cases": "It is about the average over many such lists; in a single list chance adds to it.",
        "positives": "It is about the share of all positives that are found; a single batch adds chance to it.",
        None: "It is about the average over new cases of this kind.",
    }[answer.counted]
    return (
        f"“At least” is a lower bound of {answer.measure} with {percent(result.confidence)} confidence that holds for "
        f"any distribution and any number of rows ({answer.bound.method}: {answer.bound.theorem}){paid}. {about}"
    )


def _intervals(result: TrainingResult) -> str:
    interval = result.selection.interval
    return (
        f"The intervals of {interval.measure} hold all at once with {percent(interval.confidence)} confidence, also "
        f"for the model that was picked ({interval.method}: {interval.theorem}). A model is proved worse where its "
        "difference from the winner, compared on the same rows and allowing for the number of comparisons, has an "
        "interval without 0. “Worse by DeLong” or “by bootstrap” is a test that promises this for large samples only."
    )


def _band(result: TrainingResult) -> str:
    return (
        f"The band holds the whole true curve of the winner with {percent(result.confidence)} confidence "
        f"({THEOREMS['tail']}; at {paid_for_all(result):.4g}, so that it holds for whichever model was picked)."
    )


def _threshold(result: TrainingResult) -> str:
    threshold = result.threshold
    if threshold is None:
        return f"None is promised. {result.no_threshold}"
    picked = "" if result.selection.n_scorers == 1 else ", although the model was picked on the same rows"
    return (
        f"{sentence(threshold.budget.promise)} with {percent(threshold.confidence)} confidence{picked}, for any "
        "distribution (order statistics, exact binomial)."
    )


def _assumed(result: TrainingResult) -> str:
    draws = "queries" if result.qid is not None else "rows"
    return (
        f"The {draws} of the holdout are independent draws from the population that new {draws} will come from. "
        "Several rows of one person, a target that leaks into a feature, or a world that has changed since break this, "
        "and no number here notices."
    )


def _not_promised(result: TrainingResult) -> str:
    return (
        f"Each promise holds with {percent(result.confidence)} confidence by itself, not all of them together. "
        "Numbers without “at least” or limits are estimates on the holdout."
    )
