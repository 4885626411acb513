"""The answer of the report: a headline and a few sentences, with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import Literal

from headrank._format import decimal, lower_limit, percent, rounded_percent
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import interval_of_curves
from headrank.curve import share
from headrank.report.contents import Answer, Bound
from headrank.report.large_samples import LargeSampleTest
from headrank.report.wording import listed, sentence, subject
from headrank.training.assumption import assumption_of
from headrank.training.result import TrainingResult


@dataclass(frozen=True)
class Count:
    """The holdout count that the headline's share refers to.

    Attributes
    ----------
    of : {"cases", "positives"}
        Selected cases, or positives.
    total : int
        Their number.
    """

    of: Literal["cases", "positives"]
    total: int

    def expected(self, value: float) -> int:
        """Return the share as a count, rounded."""
        return round(value * self.total)

    def at_least(self, low: float) -> int:
        """Return a lower bound of the share as a count, rounded down."""
        return floor(low * self.total)


def count_of(result: TrainingResult) -> Count | None:
    """Return what the headline counts, or None with queries or if the best fraction is less than one case."""
    if result.qid is not None:
        return None
    if result.goal.top is None:
        return Count("positives", int(result.y.sum()))
    cases = floor(share(result.goal.top, result.y.size))
    return Count("cases", cases) if cases else None


def answer_of(result: TrainingResult, values: Mapping[str, float], test: LargeSampleTest | None) -> Answer:
    """Say how many positives are found, how many at least, and how the other models compare.

    Parameters
    ----------
    result : TrainingResult
        The trained models and the winner.
    values : mapping of str to float
        The headline's measure for each model; with queries, the measure of the goal.
    test : LargeSampleTest or None
        The winner against its rivals, if there are any.
    """
    picked = result.selection.picked
    interval = _lower_bound(result)
    count = count_of(result)
    first = _by_query(result, interval) if result.qid is not None else _first(result, interval, count)
    sentences = [first, *_false_alarms(result), *_rivals(result, values, count), *_significance(result, test)]
    return Answer(
        sentences=tuple(sentences),
        measure=str(interval.measure),
        estimate=float(values[picked]),
        bound=Bound(
            float(interval.low),
            result.confidence,
            interval.method,
            interval.theorem,
            interval.assumptions,
        ),
        counted=None if count is None else count.of,
        total=None if count is None else count.total,
        expected=None if count is None else count.expected(values[picked]),
        at_least=None if count is None else count.at_least(interval.low),
    )


def _lower_bound(result: TrainingResult) -> Interval:
    # The winner was selected on these rows. A union bound over the models, as in `select`, accounts for that.
    confidence = confidence_per_model(result)
    asked = result.goal.headline if result.qid is None else result.goal.measure
    return interval_of_curves(result.winner.holdout, asked, confidence=confidence, side="lower")


def confidence_per_model(result: TrainingResult) -> float:
    """Return the confidence per model at which the guarantee holds for the selected one (union bound)."""
    return 1 - (1 - result.confidence) / result.selection.n_scorers


def _first(result: TrainingResult, interval: Interval, count: Count | None) -> str:
    goal, sure = result.goal, f"with {percent(result.confidence)} confidence, {assumption_of(result.table)}"
    if goal.top is not None:
        best = f"the best {percent(goal.top)} of {result.y.size:,}"
        if count is None:
            low = _down(interval.low)
            least = f"at least {rounded_percent(low)} in a large population, {sure}" if low else _at_least(0, sure)
            return (
                f"{sentence(best)} is less than one case. With {subject(result.selection.picked)}, "
                f"{rounded_percent(interval.estimate)} of such cases are expected to be positive ({least})."
            )
        expected = count.expected(interval.estimate)
        highest = f"Of the {count.total:,} highest-ranked {'case' if count.total == 1 else 'cases'} ({best})"
        are = "is" if expected == 1 else "are"
        least = _at_least(count.at_least(interval.low), sure, "in a large population")
        model = f"with {subject(result.selection.picked)}"
        return f"{highest}, {expected:,} {are} expected to be positive {model} ({least})."
    assert goal.max_fpr is not None
    assert count is not None
    expected = count.expected(interval.estimate)
    positives = f"{count.total:,} {'positive' if count.total == 1 else 'positives'}"
    return (
        f"At a false positive rate of {percent(goal.max_fpr)}, {subject(result.selection.picked)} finds "
        f"{expected:,} of {positives} ({_at_least(count.at_least(interval.low), sure)})."
    )


def _false_alarms(result: TrainingResult) -> list[str]:
    """Say what the false positive rate of the headline amounts to on the holdout."""
    if result.qid is not None or result.goal.max_fpr is None:
        return []
    n_neg = int(result.y.size - result.y.sum())
    alarms = share(result.goal.max_fpr, n_neg)
    whole = floor(alarms)
    amount = "less than one" if not whole else f"{whole:,}" if whole == alarms else f"at most {whole:,}"
    negatives = f"among the {n_neg:,} {'negative' if n_neg == 1 else 'negatives'} of the holdout"
    return [f"This rate means {amount} false {'alarm' if whole <= 1 else 'alarms'} {negatives}."]


def _at_least(low: int, sure: str, where: str = "on average") -> str:
    """Say what is guaranteed: a mean, since a single list varies by chance.

    The mean number of positives above a threshold is that of the population. The first cases of a finite list are
    cut where the list happens to end, and their mean is lower than the share in the best fraction of the population.
    """
    if low:
        return f"at least {low:,} {where}, {sure}"
    return f"none can be guaranteed {sure}"


def _by_query(result: TrainingResult, interval: Interval) -> str:
    n = interval.n_queries
    return (
        f"On average over {n:,} holdout {'query' if n == 1 else 'queries'}, {subject(result.selection.picked)} has "
        f"{interval.measure} {decimal(interval.estimate)} (at least {lower_limit(interval.low)}, with "
        f"{percent(result.confidence)} confidence, {assumption_of(result.table)})."
    )


def _down(value: float) -> float:
    """Round a lower bound down to the printed digits."""
    return floor(value * 1000) / 1000


def _rivals(result: TrainingResult, values: Mapping[str, float], count: Count | None) -> list[str]:
    """Say how the other models do, starting with logistic regression, the usual baseline."""
    picked = result.selection.picked
    rivals = sorted((name for name in values if name != picked), key=lambda name: name != "logistic regression")
    if not rivals:
        return []

    def given(name: str) -> str:
        if count is not None:
            return f"{count.expected(values[name]):,}"
        return decimal(values[name]) if result.qid is not None else rounded_percent(values[name])

    verb = "finds" if result.qid is None and result.goal.top is None else "has"
    each = [f"{subject(rivals[0])} {verb} {given(rivals[0])}"]
    each += [f"{subject(name)} {given(name)}" for name in rivals[1:]]
    sentences = [f"{sentence(listed(each))}."]
    if result.qid is None and max(values[name] for name in rivals) > values[picked]:
        sentences.append(
            f"{sentence(subject(picked))} was selected by {result.goal.measure}, which covers the whole part of the "
            "list that matters rather than this single number."
        )
    return sentences


def _significance(result: TrainingResult, test: LargeSampleTest | None) -> list[str]:
    """Say which rivals are worse for any distribution, which by an asymptotic test only, and which by neither."""
    selection, measure = result.selection, result.goal.measure
    picked, unproved = selection.picked, selection.not_told_apart
    worse = [subject(name) for name in selection.intervals if name != picked and name not in unproved]
    asymptotic = [subject(name) for name in unproved if test is not None and test.is_significant(name)]
    tied = [subject(name) for name in unproved if test is None or not test.is_significant(name)]
    sentences = []
    if worse:
        sure = f"with {percent(result.confidence)} confidence"
        sentences.append(f"{sentence(subject(picked))} has a better {measure} than {listed(worse)}, {sure}.")
    if asymptotic:
        assert test is not None
        sentences.append(
            f"The lead of {subject(picked)} over {listed(asymptotic)} in {measure} is significant by {test.in_words}; "
            "a guarantee for any distribution would need more rows."
        )
    if tied:
        sentences.append(
            f"The lead of {subject(picked)} over {listed(tied)} in {measure} is not significant on this holdout."
        )
    return sentences
