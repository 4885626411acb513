"""Guarantees and assumptions of the report, in words."""

from __future__ import annotations

from headrank._format import percent
from headrank.bounds.inequalities.tail_limits import THEOREMS
from headrank.reports.answer import confidence_per_model
from headrank.reports.contents import Answer, Promise
from headrank.reports.points import knows_positive_rate
from headrank.reports.wording import sentence
from headrank.training.assumption import group_nouns, holdout_in_words
from headrank.training.result import TrainingResult

_GIVEN_LISTS = (
    "The numbers above are averages over many new rows. For a list at hand, headrank choose says how many of its first "
    "rows are positive, at least, from these labels and scores."
)
_LISTS = (
    "The numbers above are averages over many new rows. For a list at hand, headrank choose says how many of its first "
    "rows are positive, at least, from scores and labels of holdout rows that are kept in the model; it accounts for "
    "the selection of the model. One list of 20 may break a promise made with 95 % confidence, and promises for "
    "several lists from one model do not hold simultaneously."
)


_FOUND = (
    "The band of the cases found, and “at least” in the table of operating points, are limits of precision or recall, "
    "from a band of the whole curve and exact limits of the share of positives (Clopper & Pearson 1934). They hold "
    "simultaneously for any number of cases, in a large population, scaled to lists as long as the one measured."
)


def promises_of(result: TrainingResult, answer: Answer) -> tuple[Promise, ...]:
    """Describe what the report guarantees, by which theorem and under which assumptions."""
    promises = [
        Promise("The rows", _rows(result)),
        Promise("The headline", _headline(result, answer)),
        Promise(f"All {_models(result)}", _intervals(result)),
    ]
    if result.qid is None:
        promises.append(Promise("The band", _band(result)))
        if knows_positive_rate(result):
            promises.append(Promise("Cases found", _FOUND))
    promises.append(Promise("The threshold", _threshold(result)))
    if result.qid is None:
        promises.append(Promise("New lists", _GIVEN_LISTS if result.table.is_given else _LISTS))
    promises.append(Promise("Assumptions", _assumed(result)))
    promises.append(Promise("Not guaranteed", _not_promised(result)))
    return tuple(promises)


def _rows(result: TrainingResult) -> str:
    facts = result.table
    if facts.is_given:
        return (
            f"All numbers come from {facts.n_holdout:,} rows with given labels and scores. They are valid for scorers "
            "that were neither trained nor selected on these rows."
        )
    how = holdout_in_words(facts, by_class=result.goal.top is None)
    return (
        f"The models were trained on {facts.n_train:,} rows. All numbers come from the other {facts.n_holdout:,}, the "
        f"holdout, which no model has seen. {how} The saved model is the one that was measured: it was not refitted to "
        "all rows, because the guarantees would not apply to the refitted model."
    )


def _headline(result: TrainingResult, answer: Answer) -> str:
    n = result.selection.n_scorers
    union = (
        ""
        if n == 1
        else f", with a union bound over the {n} {_models(result)} because the winner was selected on these rows"
    )
    about = {
        "cases": "It applies to the share of positives in this best fraction of all future cases taken together. In "
        "lists of few cases the cut varies, so their average is lower: a perfect scorer with 5 % positives finds 100 % "
        "in the best 5 % of a large population, 96 % in the first 100 of 2,000 cases, 88 % in the first 10 of 200.",
        "positives": "It applies to the share of all positives that are found; a single batch varies by chance.",
        None: "It applies to the average over new queries or cases of this kind.",
    }[answer.counted]
    return (
        f"“At least” is a lower bound on {answer.measure} with {percent(result.confidence)} confidence that holds for "
        f"any distribution and sample size ({answer.bound.method}: {answer.bound.theorem}){union}. {about}"
    )


def _intervals(result: TrainingResult) -> str:
    interval = result.selection.interval
    return (
        f"The intervals of {interval.measure} hold simultaneously with {percent(interval.confidence)} confidence, "
        f"including that of the selected one ({interval.method}: {interval.theorem}). Another is certified worse if "
        "the interval of its difference from the winner, on the same rows and adjusted for the number of comparisons, "
        "excludes 0. “Worse (DeLong)” and “worse (bootstrap)” are asymptotic tests."
    )


def _band(result: TrainingResult) -> str:
    return (
        f"The band contains the whole true curve of the winner with {percent(result.confidence)} confidence "
        f"({THEOREMS['tail']}; computed at {confidence_per_model(result):.4g} to account for the selection)."
    )


def _threshold(result: TrainingResult) -> str:
    threshold = result.threshold
    if threshold is None:
        return f"No threshold is guaranteed. {result.no_threshold}"
    picked = "" if result.selection.n_scorers == 1 else ", although the winner was selected on the same rows"
    return (
        f"{sentence(threshold.budget.promise)} with {percent(threshold.confidence)} confidence{picked}, for any "
        "distribution (order statistics, exact binomial)."
    )


def _assumed(result: TrainingResult) -> str:
    table, info = result.table, result.table.holdout
    draws, many = ("queries", "queries") if result.qid is not None else ("rows", "rows")
    violated = "Several rows per person, a target that leaks into a feature, or a population that has changed since"
    if table.group_column is not None:
        one, many = group_nouns(table.group_column)
        draws = many
        violated = f"Copies of a {one} under another name, a target that leaks into a feature, or a changed population"
    population = f"the population that new {many} will come from"
    if info.kind == "latest":
        population = f"the distribution that {many} of the next period will have"
        violated = violated.replace("a population that has changed since", "a next period unlike the last").replace(
            "a changed population", "a next period unlike the last"
        )
    which = draws if table.is_given else f"{draws} of the holdout"
    return (
        f"The {which} are independent draws from {population}. {violated} violate this, and none of the numbers can "
        "detect it."
    )


def _not_promised(result: TrainingResult) -> str:
    return (
        f"Each guarantee holds with {percent(result.confidence)} confidence individually, not all of them "
        "simultaneously. Numbers without “at least” or limits are estimates on "
        f"{result.table.measured}."
    )


def _models(result: TrainingResult) -> str:
    return "scorers" if result.table.is_given else "models"
