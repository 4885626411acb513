"""The report of ``headrank monitor``: the contents as plain data, and the layout of its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil

from headrank._format import counted, decimal, lower_limit, percent, rounded_percent, upper_limit
from headrank.reports.geometry import Tick, ticks
from headrank.reports.wording import goal_in_words, listed, measure_in_words
from headrank.training.monitoring import Batch, Limits
from headrank.training.table_model import TableModel

SCHEMA = 1
"""Version of the layout of `MonitorSummary` and monitor.json."""
_MOST_LABELS = 8
_LONGEST_LABEL = 14
_MOST_NAMED = 5


@dataclass(frozen=True)
class MonitorSummary:
    """What the files say about the model, in the order given.

    Attributes
    ----------
    schema : int
        Version of the layout.
    model, target, positive : str
        Kind of model, and what it finds.
    goal, measure, measure_in_words : str
        The part of the list that matters, and how it is measured.
    confidence : float
        All statements hold simultaneously with this confidence.
    threshold : float or None
        Rows that score at least this are flagged.
    promise : str
        What fit promised of the threshold.
    holdout_flagged, holdout_measure, promised_measure : float or None
        Share of flagged rows, the measure, and its lower limit, on the holdout.
    unit : str or None
        With groups or queries, the column that names them.
    sentences : tuple of str
        The answer; the first is the headline.
    batches : tuple of Batch
        The files.
    """

    schema: int
    model: str
    target: str
    positive: str
    goal: str
    measure: str
    measure_in_words: str
    confidence: float
    threshold: float | None
    promise: str
    holdout_flagged: float | None
    holdout_measure: float | None
    promised_measure: float | None
    unit: str | None
    sentences: tuple[str, ...]
    batches: tuple[Batch, ...]


@dataclass(frozen=True)
class Mark:
    """Layout of an estimate with its limits: place, lower end, height and estimate, in percent; and its verdict."""

    at: str
    low: str
    height: str
    estimate: str
    verdict: str
    words: str


@dataclass(frozen=True)
class Course:
    """Layout of estimates over time, with the level of the holdout and what was promised, if they are known."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    holdout: str | None
    promised: str | None


def monitor_summary(model: TableModel, batches: Sequence[Batch], *, confidence: float) -> MonitorSummary:
    """Collect what the report says."""
    known = None if model.profile is None else model.profile.scores
    flagged = None if known is None or known.n_flagged is None else known.n_flagged / known.n_rows
    return MonitorSummary(
        schema=SCHEMA,
        model=model.name,
        target=model.target,
        positive=model.positive,
        goal=goal_in_words(model.goal),
        measure=str(model.goal.measure),
        measure_in_words=measure_in_words(model.goal),
        confidence=confidence,
        threshold=model.threshold,
        promise=model.promise,
        holdout_flagged=flagged,
        holdout_measure=None if known is None else known.estimate,
        promised_measure=None if known is None else known.low,
        unit=model.qid_column or model.group_column,
        sentences=_sentences(batches, confidence),
        batches=tuple(batches),
    )


def _sentences(batches: Sequence[Batch], confidence: float) -> tuple[str, ...]:
    broken = [each.name for each in batches if each.verdict == "broken"]
    drifted = [each.name for each in batches if each.drift is not None and each.drift.found]
    n, files = len(batches), counted(len(batches), "file")
    labelled = sum(each.labelled is not None for each in batches)
    drift = (
        f"Rows differ from those of the holdout in {len(drifted):,} of {files}."
        if drifted
        else f"In {'the file' if n == 1 else f'all {files}'}, rows look like those of the holdout."
    )
    if all(each.drift is None for each in batches):
        drift = "Drift could not be tested."
    if broken:
        start = [
            f"A promise of the model is broken in {len(broken):,} of {files}.",
            f"Broken: {_some(broken)}.",
        ]
        start += [drift] if drifted != broken else ["Rows differ from those of the holdout there."]
    else:
        start = [drift, *([f"Drift: {_some(drifted)}."] if drifted else []), "No promise is known to be broken."]
    labels = f"Labels have come in for {labelled:,} of {files}." if labelled else "No labels have come in."
    sure = f"All statements about all files hold simultaneously with {percent(confidence)} confidence."
    return (*start, labels, sure)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def flagged_course(summary: MonitorSummary) -> Course | None:
    """Lay out the share of flagged rows per file; None without a threshold."""
    return _course([each.flagged for each in summary.batches], summary, summary.holdout_flagged, as_percent=True)


def false_positive_course(summary: MonitorSummary) -> Course | None:
    """Lay out the false positive rate of the threshold per file; None if none was promised, or without labels."""
    some = [None if each.labelled is None else each.labelled.false_positive_rate for each in summary.batches]
    if all(each is None or each.promised is None for each in some):
        return None
    return _course(some, summary, None, as_percent=True)


def measure_course(summary: MonitorSummary) -> Course | None:
    """Lay out the measure per file; None without labels."""
    some = [None if each.labelled is None else each.labelled.measure for each in summary.batches]
    return _course(some, summary, summary.holdout_measure, as_percent=False)


def _course(
    some: Sequence[Limits | None], summary: MonitorSummary, holdout: float | None, *, as_percent: bool
) -> Course | None:
    present = [each for each in some if each is not None]
    if not present:
        return None
    promised = next((each.promised for each in present if each.promised is not None), None)
    highest = max([each.high for each in present] + [each for each in (promised, holdout) if each is not None])
    top = min(1.08 * highest, 1.0) if highest > 0 else 1.0
    every = max(ceil(len(some) / _MOST_LABELS), 1)
    labels = short_names([each.name for each in summary.batches])
    x_ticks = tuple(Tick(_percent(_place(i, len(some))), labels[i]) for i in range(0, len(some), every))
    y_ticks = tuple(
        Tick(tick.at, f"{100 * float(tick.label):g} %" if as_percent else tick.label) for tick in ticks(0.0, top)
    )
    marks = tuple(
        Mark(
            _percent(_place(i, len(some))),
            _percent(each.low / top),
            _percent((each.high - each.low) / top),
            _percent(each.estimate / top),
            each.verdict or "open",
            "{}: {} ({})".format(summary.batches[i].name, *estimate_and_limits(each, as_percent=as_percent)),
        )
        for i, each in enumerate(some)
        if each is not None
    )
    return Course(
        x_ticks,
        y_ticks,
        marks,
        None if holdout is None else _percent(holdout / top),
        None if promised is None else _percent(promised / top),
    )


def estimate_and_limits(limits: Limits, *, as_percent: bool = False) -> tuple[str, str]:
    """Print an estimate, and its limits, rounded outward.

    >>> estimate_and_limits(Limits(0.0101, 0.02, 0.0312, 0.05, "kept"), as_percent=True)
    ('2 %', '1 to 3.2 %')
    >>> estimate_and_limits(Limits(0.5678, 0.6, 0.65, None, None))
    ('0.600', '0.567 to 0.650')
    """
    if not as_percent:
        return decimal(limits.estimate), f"{lower_limit(limits.low)} to {upper_limit(limits.high)}"
    low, high = (float(each) for each in (lower_limit(100 * limits.low, 1), upper_limit(100 * limits.high, 1)))
    return rounded_percent(limits.estimate), f"{low:g} to {min(high, 100.0):g} %"


def _place(number: int, of: int) -> float:
    """Place of a file along the axis, from 0 to 1, with room at both ends."""
    return (number + 0.5) / of


def short_names(names: Sequence[str]) -> list[str]:
    """Return names of files without their suffix and what all of them begin with, up to a separator.

    >>> short_names(["week_2024-01.csv", "week_2024-12.csv"]), short_names(["may.csv", "mar.csv"])
    (['01', '12'], ['may', 'mar'])
    """
    stems = [name.split(".")[0] or name for name in names]
    n_shared = 0
    if len(set(stems)) > 1:
        alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*stems, strict=False))
        n_shared = max((i for i, letters in enumerate(alike, 1) if not letters[0].isalnum()), default=0)
    short = [stem[n_shared:] or stem for stem in stems]
    return [each if len(each) <= _LONGEST_LABEL else f"…{each[1 - _LONGEST_LABEL :]}" for each in short]


def _percent(share: float) -> str:
    return f"{100 * share:.3f}".rstrip("0").rstrip(".")
