"""summarize: all that a report says, as plain data, before anything is drawn or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from headrank.curve import RocCurve
from headrank.labels import check_binary
from headrank.measures import AUC, Measure
from headrank.report.answer import answer_of, count_of
from headrank.report.charts import control_of, histogram, roc_chart
from headrank.report.contents import (
    SCHEMA,
    ColumnPart,
    DataPart,
    Driver,
    DriversPart,
    EntrantPart,
    GoalPart,
    Lead,
    ReproducePart,
    Summary,
    ThresholdPart,
)
from headrank.report.large_samples import LargeSampleTest, large_sample_test
from headrank.report.promises import promises_of
from headrank.report.wording import goal_in_words, measure_in_words, sentence, subject
from headrank.training.contest import Contest, Facts

_DRIVERS = 20
"""Coefficients that are shown."""


def summarize(contest: Contest) -> Summary:
    """Say in plain data what came out of a contest. A few seconds: mostly the band of the winner's curve.

    The same contest gives an equal summary, and that the same bytes: it holds no time, no folder and nothing random.

    Parameters
    ----------
    contest : Contest
        Trained models and what they say of the holdout.

    Returns
    -------
    Summary
        Frozen dataclasses of Python's own numbers, strings and tuples.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from headrank.training.contest import Origin
    >>> from headrank.training.goal import Goal
    >>> from headrank.training.train import train
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> frame = pl.DataFrame({"size": rng.normal(size=400) + 2 * y, "weight": rng.normal(size=400)})
    >>> origin = Origin("parts.csv", sha256="", target="broken", positive="yes")
    >>> summary = summarize(train(frame, y, goal=Goal(max_fpr=0.2), origin=origin, models="linear"))
    >>> summary.answer.counted, summary.answer.total, summary.answer.at_least <= summary.answer.expected
    ('positives', 32, True)
    """
    curves = {each.name: _curves(contest, each.name) for each in contest.entrants}
    headline = contest.goal.headline if contest.qid is None else contest.goal.measure
    values = {name: _mean(headline, some) for name, some in curves.items()}
    control = control_of(contest, curves[contest.selection.picked])
    test = large_sample_test(contest)
    answer = answer_of(contest, {name: some[0] for name, some in curves.items()}, values, test)
    return Summary(
        schema=SCHEMA,
        picked=contest.selection.picked,
        confidence=float(contest.confidence),
        goal=_goal(contest),
        answer=answer,
        entrants=_entrants(contest, curves, values, test),
        threshold=_threshold(contest),
        drivers=_drivers(contest),
        data=_data(contest.facts),
        warnings=_warnings(contest),
        promises=promises_of(contest, answer),
        reproduce=ReproducePart(
            contest.facts.command,
            contest.facts.sha256,
            int(contest.facts.random_state),
            tuple((str(name), str(version)) for name, version in contest.facts.versions.items()),
        ),
        roc=roc_chart(contest, curves),
        histogram=histogram(contest),
        control=None if isinstance(control, str) else control,
        no_control=control if isinstance(control, str) else "",
    )


def _curves(contest: Contest, name: str) -> list[RocCurve]:
    """The entrant's curve, or one for each query that has both classes: the others say nothing of a ranking."""
    sample = check_binary(contest.y, contest.entrant(name).scores, qid=contest.qid)
    return [RocCurve.of_sample(part) for part in sample.by_query() if part.n_pos > 0 and part.n_neg > 0]


def _mean(measure: Measure, curves: list[RocCurve]) -> float:
    return float(sum(measure.value(curve) for curve in curves) / len(curves))


def _goal(contest: Contest) -> GoalPart:
    goal = contest.goal
    headline = goal.headline if contest.qid is None else goal.measure
    return GoalPart(
        words=goal_in_words(goal),
        option=goal.option,
        measure=str(goal.measure),
        measure_in_words=measure_in_words(goal),
        headline=str(headline),
        top=goal.top,
        min_fpr=goal.min_fpr,
        max_fpr=goal.max_fpr,
    )


def _entrants(
    contest: Contest,
    curves: Mapping[str, list[RocCurve]],
    values: Mapping[str, float],
    test: LargeSampleTest | None,
) -> tuple[EntrantPart, ...]:
    selection, count = contest.selection, count_of(contest)
    parts = []
    for entrant in contest.entrants:
        interval, name = selection.intervals[entrant.name], entrant.name
        picked = name == selection.picked
        parts.append(
            EntrantPart(
                name=name,
                picked=picked,
                low=float(interval.low),
                estimate=float(interval.estimate),
                high=float(interval.high),
                told_apart=None if picked else name not in selection.not_told_apart,
                p_value=None if picked or test is None else test.p_values[name],
                test=test.name if not picked and test is not None and test.tells(name) else "",
                lead=None if picked else _lead(contest, name),
                auc=_mean(AUC(), curves[name]),
                headline=values[name],
                expected=None if count is None else count.expected(values[name]),
                collapsed=bool(entrant.collapsed),
                remark=entrant.remark,
            )
        )
    # The winner first, the others by their value; `sorted` keeps the order of those that tie.
    return tuple(sorted(parts, key=lambda part: (not part.picked, -part.estimate)))


def _lead(contest: Contest, rival: str) -> Lead | None:
    picked = contest.selection.picked
    for each in contest.selection.differences or ():
        if each.names == (picked, rival):
            return Lead(float(each.low), float(each.estimate), float(each.high))
        if each.names == (rival, picked):
            return Lead(-float(each.high), -float(each.estimate), -float(each.low))
    return None


_STRICTER = (
    "It is stricter than the part of the list that matters, so that the promise holds on rows to come: what headrank "
    "score flags is fewer cases than the answer above counts."
)


def _threshold(contest: Contest) -> ThresholdPart:
    threshold = contest.threshold
    if threshold is None:
        return ThresholdPart(None, contest.no_threshold)
    return ThresholdPart(
        value=float(threshold.value),
        words=f"{sentence(str(threshold))}. {_STRICTER}",
        fpr=float(threshold.fpr),
        fpr_high=float(threshold.fpr_high),
        tpr=float(threshold.tpr),
        tpr_low=float(threshold.tpr_low),
        precision=None if threshold.precision is None else float(threshold.precision),
        n_flagged=int(threshold.n_flagged),
    )


def _drivers(contest: Contest) -> DriversPart:
    winner = contest.winner
    model, preface = winner, ""
    if winner.coefficients is None:
        preface = (
            f"{sentence(subject(winner.name))} has no coefficients: its score is a sum over many trees, in which each "
            "feature acts together with others."
        )
        linear = [each for each in contest.entrants if each.coefficients is not None]
        if not linear:
            return DriversPart(preface, (), 0)
        model = max(linear, key=lambda each: contest.selection.intervals[each.name].estimate)
        preface += " In its place, the best linear model, which orders the cases in another way: "
    assert model.coefficients is not None
    # By size and then by name, so that the order does not depend on how they came.
    ordered = sorted(model.coefficients, key=lambda each: (-abs(each.value), each.feature))
    moving = sum(each.value != 0 for each in ordered)
    if not moving:
        return DriversPart(f"{preface}All coefficients are 0: no feature moves the score.", (), len(ordered))
    shown = tuple(Driver(each.feature, float(each.value)) for each in ordered[:_DRIVERS] if each.value != 0)
    which = (
        f"the {len(shown)} largest of {len(ordered):,} coefficients" if len(ordered) > len(shown) else "coefficients"
    )
    words = (
        f"{which} of {subject(model.name)}, per unit of the scaled feature; to the right means towards the positives. "
        "They say what the score is made of, not what causes what, and features that go together share their weight."
    )
    return DriversPart(preface + words if preface else sentence(words), shown, len(ordered))


def _data(facts: Facts) -> DataPart:
    columns = tuple(
        ColumnPart(each.name, each.kind, int(each.n_missing), int(each.n_distinct)) for each in facts.columns
    )
    plain = {field.name: getattr(facts, field.name) for field in fields(DataPart) if field.name != "columns"}
    return DataPart(**plain, columns=columns)


def _warnings(contest: Contest) -> tuple[str, ...]:
    # Models that have collapsed and rankings too good to be true are among those of the facts.
    no_threshold = () if contest.threshold is not None else (contest.no_threshold,)
    return (*contest.facts.warnings, *no_threshold)
