"""summarize: the contents of a report as plain data, before rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from headrank._format import counted, percent, rounded_down, rounded_percent, rounded_up
from headrank.curve import RocCurve
from headrank.measures import AUC, Measure
from headrank.reports.answer import answer_of, count_of
from headrank.reports.by_group import all_rows_of
from headrank.reports.by_period import periods_of
from headrank.reports.charts import control_of, histogram, roc_chart
from headrank.reports.contents import (
    SCHEMA,
    AllRowsPart,
    Driver,
    DriversPart,
    FamiliesPart,
    FirstRow,
    GoalPart,
    Lead,
    MeasuresPart,
    ModelPart,
    PeriodsPart,
    Summary,
    ThresholdPart,
)
from headrank.reports.example_list import example_lists_of
from headrank.reports.gains import gains_chart, precision_recall_chart
from headrank.reports.large_samples import LargeSampleTest, large_sample_test
from headrank.reports.points import confusion_of, points_of
from headrank.reports.promises import promises_of
from headrank.reports.wording import goal_in_words, measure_in_words, sentence, subject
from headrank.training.assumption import assumption_of, holdout_in_words
from headrank.training.naming import other_nouns
from headrank.training.reasons import HeadReasons
from headrank.training.result import TrainingResult

_DRIVERS = 20
"""Number of coefficients in the report."""
_FIRST_ROWS = 20
"""Number of rows that are explained in the report."""


def summarize(result: TrainingResult, *, measures: MeasuresPart | None = None) -> Summary:
    """Summarize a training result as plain data. Takes a few seconds, mostly for the band of the winner's curve.

    Equal results give equal summaries, and these the same bytes: there are no times, folders or random ids in them.

    Parameters
    ----------
    result : TrainingResult
        Trained models and their scores on the holdout, or given scores.
    measures : MeasuresPart, optional
        Intervals of other measures, for given scores.

    Returns
    -------
    Summary
        Frozen dataclasses of built-in numbers, strings and tuples.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from headrank.training.goal import Goal
    >>> from headrank.training.table_info import DataSource
    >>> from headrank.training.train import train
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> frame = pl.DataFrame({"size": rng.normal(size=400) + 2 * y, "weight": rng.normal(size=400)})
    >>> source = DataSource(source="parts.csv", target="broken", positive="yes")
    >>> summary = summarize(train(frame, y, goal=Goal(max_fpr=0.2), source=source, models="linear"))
    >>> summary.answer.counted, summary.answer.total, summary.answer.at_least <= summary.answer.expected
    ('positives', 32, True)
    """
    curves = {each.name: each.holdout.each for each in result.models}
    values = {name: _mean(result.goal.headline, some) for name, some in curves.items()}
    control = control_of(result, curves[result.selection.picked])
    test = large_sample_test(result)
    all_rows, periods = all_rows_of(result), periods_of(result)
    answer = answer_of(result, values, test)
    answer = replace(answer, sentences=(*answer.sentences, *_more(all_rows, periods)))
    return Summary(
        schema=SCHEMA,
        picked=result.selection.picked,
        confidence=float(result.confidence),
        goal=_goal(result),
        answer=answer,
        entrants=_models(result, curves, values, test),
        ranker=_families(result),
        threshold=_threshold(result),
        drivers=_drivers(result),
        first_rows=_first_rows(result),
        data=result.table,
        warnings=_warnings(result),
        promises=promises_of(result, answer),
        reproduce=result.provenance,
        roc=roc_chart(result, curves),
        histogram=histogram(result),
        control=None if isinstance(control, str) else control,
        no_control=control if isinstance(control, str) else "",
        assumption=assumption_of(result.table),
        split=holdout_in_words(result.table, by_class=result.goal.top is None),
        all_rows=all_rows,
        periods=periods,
        example_lists=example_lists_of(result),
        positives=result.table.positive_nouns,
        others=other_nouns(result.table.positive_nouns),
        gains=gains_chart(result, curves),
        precision_recall=precision_recall_chart(result, curves),
        points=points_of(result),
        confusion=confusion_of(result),
        columns=result.summaries,
        measures=measures,
    )


def _more(all_rows: AllRowsPart | None, periods: PeriodsPart | None) -> list[str]:
    """What the answer says of all rows of the groups, and of a fall over time."""
    sentences = []
    if all_rows is not None:
        sentences.append(
            f"These limits count one row per {all_rows.group} and hold for any number of them, however much rows of "
            f"one {all_rows.group} depend on each other. {all_rows.words}"
        )
    if periods is not None and periods.falls:
        sentences.append(periods.words)
    return sentences


def _mean(measure: Measure, curves: Sequence[RocCurve]) -> float:
    return float(sum(measure.value(curve) for curve in curves) / len(curves))


def _goal(result: TrainingResult) -> GoalPart:
    goal = result.goal
    return GoalPart(
        words=goal_in_words(goal),
        option=goal.option,
        measure=str(goal.measure),
        measure_in_words=measure_in_words(goal),
        headline=str(goal.headline),
        top=goal.top,
        min_fpr=goal.min_fpr,
        max_fpr=goal.max_fpr,
    )


def _models(
    result: TrainingResult,
    curves: Mapping[str, Sequence[RocCurve]],
    values: Mapping[str, float],
    test: LargeSampleTest | None,
) -> tuple[ModelPart, ...]:
    selection, count = result.selection, count_of(result)
    parts = []
    for model in result.models:
        interval, name = selection.intervals[model.name], model.name
        picked = name == selection.picked
        parts.append(
            ModelPart(
                name=name,
                picked=picked,
                low=float(interval.low),
                estimate=float(interval.estimate),
                high=float(interval.high),
                told_apart=None if picked else name not in selection.not_told_apart,
                p_value=None if picked or test is None else test.p_values[name],
                test=test.name if not picked and test is not None and test.is_significant(name) else "",
                lead=None if picked else _lead(result, name),
                auc=_mean(AUC(), curves[name]),
                headline=values[name],
                expected=None if count is None else count.expected(values[name]),
                collapsed=bool(model.collapsed),
                remark=model.remark,
            )
        )
    # The winner first, the others by their estimate; `sorted` keeps the order of ties.
    return tuple(sorted(parts, key=lambda part: (not part.picked, -part.estimate)))


def _lead(result: TrainingResult, rival: str) -> Lead | None:
    picked = result.selection.picked
    for each in result.selection.differences or ():
        if each.names == (picked, rival):
            return Lead(float(each.low), float(each.estimate), float(each.high))
        if each.names == (rival, picked):
            return Lead(-float(each.high), -float(each.estimate), -float(each.low))
    return None


def _families(result: TrainingResult) -> FamiliesPart:
    families = next((each.families for each in result.models if each.families), ())
    if len(families) <= 2:  # one family and the combination, which is the same: the remark has its value
        return FamiliesPart()
    words = (
        f"Each family is tuned for {result.goal.measure} by cross-validation on the training rows; then they are "
        "combined. The table has the means over the folds, on the rows left out, with one standard error. As the best "
        "of several they are somewhat optimistic; the holdout gives the honest value."
    )
    return FamiliesPart(words, families)


_STRICTER = "To keep this guarantee on future rows, the threshold is stricter than the part of the list that matters"
_FLAGS = ": headrank score flags fewer cases than the headline counts."


def _threshold(result: TrainingResult) -> ThresholdPart:
    threshold = result.threshold
    if threshold is None:
        return ThresholdPart(None, result.no_threshold)
    sure, together = percent(threshold.confidence), percent(threshold.joint_confidence)
    nouns = result.table.positive_nouns
    n_fp, others = round(threshold.fpr * threshold.n_neg), other_nouns(nouns).counted(threshold.n_neg)
    words = (
        f"Flag scores of at least {threshold.value!r}: {threshold.budget.promise} with {sure} confidence. On "
        f"{result.table.measured} this flags {n_fp:,} of {others} ({rounded_percent(threshold.fpr)}; in the long run "
        f"at most {rounded_up(100 * threshold.fpr_high)} %) and finds {threshold.n_flagged - n_fp:,} of "
        f"{nouns.counted(threshold.n_pos)} ({rounded_percent(threshold.tpr)}; in the long run at least "
        f"{rounded_down(100 * threshold.tpr_low)} %). Each limit holds with {sure} confidence, the budget and the last "
        f"one together with {together}. {_STRICTER}{'.' if result.table.is_given else _FLAGS}"
    )
    return ThresholdPart(
        value=float(threshold.value),
        words=words,
        fpr=float(threshold.fpr),
        fpr_high=float(threshold.fpr_high),
        tpr=float(threshold.tpr),
        tpr_low=float(threshold.tpr_low),
        precision=None if threshold.precision is None else float(threshold.precision),
        n_flagged=int(threshold.n_flagged),
    )


def _first_rows(result: TrainingResult) -> tuple[FirstRow, ...]:
    if result.reasons is None:
        return ()
    scores = result.winner.scores
    return tuple(
        FirstRow(
            rank=1 + int(np.count_nonzero(scores > scores[row])),
            name=str(result.ids[row]),
            score=float(scores[row]),
            positive=bool(result.y[row]),
            why=why,
        )
        for row, why in zip(result.reasons.rows[:_FIRST_ROWS].tolist(), result.reasons.texts, strict=False)
    )


def _drivers(result: TrainingResult) -> DriversPart:
    if result.table.is_given:
        return DriversPart("", (), 0)
    if result.reasons is not None:
        return _contributions(result.reasons)
    winner = result.winner
    model, preface = winner, ""
    if winner.coefficients is None:
        preface = (
            f"{sentence(subject(winner.name))} has no coefficients: its score is a sum over many trees, in which "
            "features interact."
        )
        linear = [each for each in result.models if each.coefficients is not None]
        if not linear:
            return DriversPart(preface, (), 0)
        model = max(linear, key=lambda each: result.selection.intervals[each.name].estimate)
        preface += " The best linear model is shown instead; it ranks the cases differently: "
    assert model.coefficients is not None
    # By magnitude, then by name, so that the result does not depend on the input order.
    ordered = sorted(model.coefficients, key=lambda each: (-abs(each.value), each.feature))
    moving = sum(each.value != 0 for each in ordered)
    if not moving:
        return DriversPart(f"{preface}All coefficients are 0: no feature affects the score.", (), len(ordered))
    shown = tuple(Driver(each.feature, float(each.value)) for each in ordered[:_DRIVERS] if each.value != 0)
    which = (
        f"the {len(shown)} largest of {len(ordered):,} coefficients" if len(ordered) > len(shown) else "coefficients"
    )
    words = (
        f"{which} of {subject(model.name)}, per unit of the scaled feature; bars to the right raise the score. "
        "Coefficients describe the score, not cause and effect, and correlated features share their weight."
    )
    return DriversPart(preface + words if preface else sentence(words), shown, len(ordered))


def _contributions(reasons: HeadReasons) -> DriversPart:
    """What the columns add to the scores of the first rows."""
    moved = reasons.directions or ("",) * len(reasons.columns)
    values = zip(reasons.columns, reasons.lifts.tolist(), moved, strict=True)
    ordered = sorted(values, key=lambda each: (-abs(each[1]), each[0]))
    shown = tuple(Driver(*each) for each in ordered[:_DRIVERS] if each[1] != 0)
    which = "all columns"
    if len(ordered) > len(shown):
        which = f"the {len(shown)} largest of {counted(len(ordered), 'column')}"
    words = (
        f"What sets the first {counted(reasons.rows.size, 'row')} apart: what each column adds to their score on "
        f"average, minus what it adds to that of {counted(reasons.n_others, 'row')} drawn from behind the head; "
        f"{which}. Bars to the right raise the score. This describes the score, not cause and effect, and correlated "
        "columns share their contribution."
    )
    return DriversPart(words, shown, len(ordered), label="contribution")


def _warnings(result: TrainingResult) -> tuple[str, ...]:
    # Those of the result already cover collapsed models and suspiciously good rankings.
    no_threshold = () if result.threshold is not None else (result.no_threshold,)
    return (*result.warnings, *no_threshold)
