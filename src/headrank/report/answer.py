"""The answer in a sentence or two, with the numbers in them."""

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
from headrank.training.result import TrainingResult


@dataclass(frozen=True)
class Count:
    """What a share of the headline is a share of, in the holdout.

    Attributes
    ----------
    of : {"cases", "positives"}
        Cases that are looked at, or positives that can be found.
    total : int
        How many there are.
    """

    of: Literal["cases", "positives"]
    total: int

    def expected(self, value: float) -> int:
        """The count that a share stands for, rounded."""
        return round(value * self.total)

    def at_least(self, low: float) -> int:
        """The count that a lower bound of the share promises: rounded down."""
        return floor(low * self.total)


def count_of(result: TrainingResult) -> Count | None:
    """Say what the headline counts, or None where it counts nothing: with queries, or less than one case."""
    if result.qid is not None:
        return None
    if result.goal.top is None:
        return Count("positives", int(result.y.sum()))
    cases = floor(share(result.goal.top, result.y.size))
    return Count("cases", cases) if cases else None


def answer_of(result: TrainingResult, values: Mapping[str, float], test: LargeSampleTest | None) -> Answer:
    """Answer what was asked: how many will be found, how many at least, and what plain models would give.

    Parameters
    ----------
    result : TrainingResult
        With its winner.
    values : mapping of str to float
        The headline's measure for each model: that of the goal where there are queries.
    test : LargeSampleTest or None
        The winner against its rivals, if it has any.
    """
    picked = result.selection.picked
    interval = _lower_bound(result)
    count = count_of(result)
    first = _by_query(result, interval) if result.qid is not None else _first(result, interval, count)
    sentences = [first, *_rivals(result, values, count), *_told_apart(result, test)]
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
    # The winner was picked on these rows: each model's bound takes its share of the risk, so that whichever is
    # picked, its own holds (union bound, as in `select`).
    confidence = paid_for_all(result)
    asked = result.goal.headline if result.qid is None else result.goal.measure
    return interval_of_curves(result.winner.holdout, asked, confidence=confidence, side="lower")


def paid_for_all(result: TrainingResult) -> float:
    """Return the confidence each model needs so that the promise holds for whichever of them was picked."""
    return 1 - (1 - result.confidence) / result.selection.n_scorers


def _first(result: TrainingResult, interval: Interval, count: Count | None) -> str:
    goal, sure = result.goal, f"with {percent(result.confidence)} confidence"
    if goal.top is not None:
        best = f"the best {percent(goal.top)} of {result.y.size:,}"
        if count is None:
            low = _down(interval.low)
            least = f"on average at least {rounded_percent(low)} {sure}" if low else _at_least(0, sure)
            return (
                f"{sentence(best)} is less than one case; of such cases {rounded_percent(interval.estimate)} are "
                f"expected to be positive with {subject(result.selection.picked)}; {least}."
            )
        expected = count.expected(interval.estimate)
        looked_at = f"Of the {count.total:,} {'case' if count.total == 1 else 'cases'} you can look at ({best})"
        are = "is" if expected == 1 else "are"
        least = _at_least(count.at_least(interval.low), sure)
        with_whom = f"with {subject(result.selection.picked)}"
        return f"{looked_at}, {expected:,} {are} expected to be positive {with_whom}; {least}."
    assert goal.max_fpr is not None
    assert count is not None
    expected = count.expected(interval.estimate)
    positives = f"{count.total:,} {'positive' if count.total == 1 else 'positives'}"
    return (
        f"If you accept a false positive rate of {percent(goal.max_fpr)} ({_false_alarms(result)}), "
        f"{subject(result.selection.picked)} finds {expected:,} of {positives}; "
        f"{_at_least(count.at_least(interval.low), sure)}."
    )


def _false_alarms(result: TrainingResult) -> str:
    assert result.goal.max_fpr is not None
    n_neg = int(result.y.size - result.y.sum())
    alarms = share(result.goal.max_fpr, n_neg)
    whole = floor(alarms)
    negatives = f"among the {n_neg:,} {'negative' if n_neg == 1 else 'negatives'} of the holdout"
    if not whole:
        return f"less than one false alarm {negatives}"
    about = "" if whole == alarms else "at most "
    return f"{about}{whole:,} false {'alarm' if whole == 1 else 'alarms'} {negatives}"


def _at_least(low: int, sure: str) -> str:
    """Say what is promised: of the mean over many such lists, since in a single one chance adds to it."""
    if low:
        return f"on average at least {low:,} {sure}"
    return f"none can be promised {sure}"


def _by_query(result: TrainingResult, interval: Interval) -> str:
    n = interval.n_queries
    return (
        f"On average over {n:,} holdout {'query' if n == 1 else 'queries'} {subject(result.selection.picked)} has "
        f"{interval.measure} {decimal(interval.estimate)}; at least {lower_limit(interval.low)} with "
        f"{percent(result.confidence)} confidence."
    )


def _down(value: float) -> float:
    """Round a lower bound down to the digits that are printed."""
    return floor(value * 1000) / 1000


def _rivals(result: TrainingResult, values: Mapping[str, float], count: Count | None) -> list[str]:
    """Say what the other models would give: logistic regression first, as it is what most people would do."""
    picked = result.selection.picked
    rivals = sorted((name for name in values if name != picked), key=lambda name: name != "logistic regression")
    if not rivals:
        return []

    def given(name: str) -> str:
        if count is not None:
            return f"{count.expected(values[name]):,}"
        return decimal(values[name]) if result.qid is not None else rounded_percent(values[name])

    verb = "has" if result.qid is not None else "would find" if result.goal.top is None else "would give"
    alone = " alone" if rivals[0] == "logistic regression" else ""
    each = [f"{subject(rivals[0])}{alone} {verb} {given(rivals[0])}"]
    each += [f"{subject(name)} {given(name)}" for name in rivals[1:]]
    them = listed(each)
    if picked == "logistic regression":
        best = "the better of the two" if len(rivals) == 1 else f"the best of the {_spelled(len(values))}"
        said = [f"Logistic regression is {best}: {them}."]
    elif picked == "gradient boosting":
        said = [f"Trees are ahead here: {them}."]
    else:
        said = [f"{sentence(them)}."]
    if result.qid is None and max(values[name] for name in rivals) > values[picked]:
        said.append(
            f"{sentence(subject(picked))} was chosen by {result.goal.measure}, which looks at the whole part of the "
            "list that matters and not at this one number."
        )
    return said


def _spelled(number: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(number, str(number))


def _told_apart(result: TrainingResult, test: LargeSampleTest | None) -> list[str]:
    """Say which rivals are certainly worse, which are by a test for large samples alone, and which by none."""
    selection, measure = result.selection, result.goal.measure
    picked, unproved = selection.picked, selection.not_told_apart
    worse = [subject(name) for name in selection.intervals if name != picked and name not in unproved]
    hinted = [subject(name) for name in unproved if test is not None and test.tells(name)]
    alike = [subject(name) for name in unproved if test is None or not test.tells(name)]
    said = []
    if worse:
        sure = f"with {percent(result.confidence)} confidence"
        said.append(f"{sentence(subject(picked))} is better than {listed(worse)} by {measure}, {sure}.")
    if hinted:
        assert test is not None
        said.append(
            f"That {subject(picked)} is better than {listed(hinted)} by {measure} is no chance by {test.in_words}, "
            "which is made for large samples; to prove it for any distribution would take more rows."
        )
    if alike:
        said.append(
            f"On this holdout {subject(picked)} cannot be told apart from {listed(alike)}: the difference by {measure} "
            "may be chance."
        )
    return said
