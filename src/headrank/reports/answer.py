"""The answer of the report: a headline and a few sentences, with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import Literal

from headrank._format import counted, percent, rounded_percent
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import interval_of_curves
from headrank.curve import share
from headrank.reports.contents import Answer, Bound
from headrank.reports.large_samples import LargeSampleTest
from headrank.reports.wording import listed, sentence, subject
from headrank.training.assumption import assumption_of
from headrank.training.naming import other_nouns
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


@dataclass(frozen=True)
class Baseline:
    """What a random pick of as many cases finds; with queries, the share that a random order has."""

    found: float
    random: float
    n_cases: int | None

    @property
    def times(self) -> float:
        """How many times what a random pick finds."""
        return self.found / self.random

    def in_words(self, what: str, verb: str) -> str:
        """Compare with the random pick, for the end of a sentence.

        >>> Baseline(60, 6.8, 185).in_words("a random pick", "finds")
        '8.8 times what a random pick finds'
        >>> Baseline(1, 1.02, 9).in_words("a random pick", "finds")
        'as many as a random pick finds'
        >>> Baseline(0, 2, 9).in_words("a random pick", "finds")
        'fewer than a random pick finds'
        """
        if self.times < _ALIKE:
            return f"{'fewer than' if self.times < 1 / _ALIKE else 'as many as'} {what} {verb}"
        times = f"{self.times:,.0f}" if self.times >= 9.95 else f"{self.times:.1f}".removesuffix(".0")
        return f"{times} times what {what} {verb}"


_ALIKE = 1.05
"""Up to this ratio, the winner finds as many as a random pick."""


def answer_of(result: TrainingResult, values: Mapping[str, float], test: LargeSampleTest | None) -> Answer:
    """Say how many positives are found, how many at least, and how the other models compare.

    Parameters
    ----------
    result : TrainingResult
        The trained models and the winner.
    values : mapping of str to float
        The headline's measure for each model.
    test : LargeSampleTest or None
        The winner against its rivals, if there are any.
    """
    picked = result.selection.picked
    interval = _lower_bound(result)
    count, base = count_of(result), _baseline(result, values[picked])
    headline, guarantee = (_by_query if result.qid is not None else _first)(result, interval, count, base)
    sentences = [
        f"{headline} ({guarantee}).",
        *_rivals(result, values, count),
        *_significance(result, test),
    ]
    return Answer(
        sentences=tuple(sentences),
        headline=f"{headline}.",
        guarantee=f"{sentence(guarantee)}.",
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
        n_cases=base.n_cases,
        n_pos=None if result.qid is not None else int(result.y.sum()),
        random=base.random,
        times=base.times,
    )


def _baseline(result: TrainingResult, value: float) -> Baseline:
    goal, y = result.goal, result.y
    if result.qid is not None:
        chances = [goal.headline.chance_on(curve) for curve in result.winner.holdout.each]
        return Baseline(value, sum(chances) / len(chances), None)
    n_pos = int(y.sum())
    if goal.top is not None:
        rows = share(goal.top, y.size)
        return Baseline(value * rows, rows * n_pos / y.size, floor(rows))
    assert goal.max_fpr is not None
    rows = share(goal.max_fpr, y.size - n_pos) + value * n_pos
    # At a rate of 0 with nothing found, no case is picked: nor is anything found by chance.
    return Baseline(value * n_pos, max(rows, 1.0) * n_pos / y.size, floor(rows))


def _lower_bound(result: TrainingResult) -> Interval:
    # The winner was selected on these rows. A union bound over the models, as in `select`, accounts for that.
    return interval_of_curves(
        result.winner.holdout, result.goal.headline, confidence=confidence_per_model(result), side="lower"
    )


def confidence_per_model(result: TrainingResult) -> float:
    """Return the confidence per model at which the guarantee holds for the selected one (union bound)."""
    return 1 - (1 - result.confidence) / result.selection.n_scorers


def selection_in_words(result: TrainingResult) -> str:
    """Say that the band accounts for the selection, if there was one, at the end of a sentence."""
    if result.selection.n_scorers == 1:
        return ""
    return "; the band accounts for selecting the winner on the same rows"


def _sure(result: TrainingResult) -> str:
    return f"with {percent(result.confidence)} confidence, {assumption_of(result.table)}"


def _first(result: TrainingResult, interval: Interval, count: Count | None, base: Baseline) -> tuple[str, str]:
    """Return the headline and its guarantee."""
    goal, sure, winner = result.goal, _sure(result), subject(result.selection.picked)
    nouns = result.table.positive_nouns
    if goal.top is not None:
        if count is None:
            low = _down(interval.low)
            least = f"at least {rounded_percent(low)} in a large population, {sure}" if low else _at_least(0, sure)
            return (
                f"The best {percent(goal.top)} of {result.y.size:,} is less than one case. With {winner}, "
                f"{rounded_percent(interval.estimate)} of such cases are expected to be {nouns.many}"
            ), least
        found = f"{count.expected(interval.estimate):,} of {nouns.counted(int(result.y.sum()))}"
        first = "case" if count.total == 1 else f"{count.total:,}"
        least = _at_least(count.at_least(interval.low), sure, f"of {count.total:,} in a large population")
        return (
            f"{sentence(winner)} finds {found} in the first {first} of {counted(result.y.size, 'case')}, "
            f"{base.in_words('a random pick', 'finds')}"
        ), least
    assert goal.max_fpr is not None
    assert count is not None
    found = f"{count.expected(interval.estimate):,} of {nouns.counted(count.total)}"
    return (
        f"With {_false_alarms(result)}, {winner} finds {found}, "
        f"{base.in_words('a random pick of as many cases', 'finds')}"
    ), _at_least(count.at_least(interval.low), sure)


def _false_alarms(result: TrainingResult) -> str:
    """Say what the false positive rate of the headline amounts to on the holdout."""
    assert result.goal.max_fpr is not None
    n_neg = int(result.y.size - result.y.sum())
    alarms = share(result.goal.max_fpr, n_neg)
    whole = floor(alarms)
    amount = "less than one" if not whole else f"{whole:,}" if whole == alarms else f"at most {whole:,}"
    others = other_nouns(result.table.positive_nouns).counted(n_neg)
    return f"{amount} false {'alarm' if whole <= 1 else 'alarms'} among {others} ({percent(result.goal.max_fpr)})"


def _at_least(low: int, sure: str, where: str = "on average") -> str:
    """Say what is guaranteed: a mean, since a single list varies by chance.

    The mean number of positives above a threshold is that of the population. The first cases of a finite list are
    cut where the list happens to end, and their mean is lower than the share in the best fraction of the population.
    """
    if low:
        return f"at least {low:,} {where}, {sure}"
    return f"none can be guaranteed {sure}"


def _by_query(result: TrainingResult, interval: Interval, _count: Count | None, base: Baseline) -> tuple[str, str]:
    """Return the headline and its guarantee."""
    goal, winner, nouns = result.goal, subject(result.selection.picked), result.table.positive_nouns
    value, low = rounded_percent(interval.estimate), _down(interval.low)
    mean = f"on average over {counted(interval.n_queries or 0, 'query', 'queries')}"
    least = f"at least {rounded_percent(low)}, {_sure(result)}" if low else f"nothing can be guaranteed {_sure(result)}"
    if goal.top is not None:
        ratio = base.in_words("a random order", "has")
        said = f"With {winner}, {value} of the first {percent(goal.top)} of a query's results are {_short(nouns.many)}"
    else:
        assert goal.max_fpr is not None
        ratio = base.in_words("a random order", "does")
        others = other_nouns(nouns).many
        said = (
            f"{sentence(winner)} ranks {value} of a query's {nouns.many} above all but {percent(goal.max_fpr)} of its "
            f"{others}"
        )
    return f"{said}, {mean}: {ratio}", least


def _short(results: str) -> str:
    """Return "relevant" for "relevant results", after a sentence has said that it is about results."""
    return "relevant" if results == "relevant results" else results


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
        return rounded_percent(values[name]) if count is None else f"{count.expected(values[name]):,}"

    verb = "finds" if count is not None else "has"
    each = [f"{subject(rivals[0])} {verb} {given(rivals[0])}"]
    each += [f"{subject(name)} {given(name)}" for name in rivals[1:]]
    sentences = [f"{sentence(listed(each))}."]
    if max(values[name] for name in rivals) > values[picked]:
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
            f"The lead of {subject(picked)} over {listed(tied)} in {measure} is not significant on "
            f"{'these rows' if result.table.is_given else 'this holdout'}."
        )
    return sentences
