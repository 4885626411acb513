"""What ``headrank evaluate`` measures: each measure of each column of scores, on all rows and on each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from headrank._types import BoolVector
from headrank.cli._failures import about_input
from headrank.cli._printing import shows_progress

if TYPE_CHECKING:
    from headrank.bounds.interval import Interval
    from headrank.cli._samples import ScoredSample
    from headrank.measures import Measure
    from headrank.reports.contents import MeasureRow

NO_INTERVAL = (
    "a single list has no counterpart for a population; --qid gives the interval of a mean over queries, "
    "--method bootstrap an asymptotic one"
)
"""Why a measure has a value but no interval."""


@dataclass(frozen=True)
class By:
    """How intervals are computed."""

    method: str
    confidence: float


@dataclass(frozen=True)
class Rows:
    """One column of scores and one group of rows (None: all rows), with its counts."""

    score: str
    group: str | None
    n_pos: int
    n_neg: int


@dataclass(frozen=True)
class Found:
    """A measure, with its interval if there is one."""

    rows: Rows
    measure: Measure
    value: float
    interval: Interval | None

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers; without an interval its ends are None."""
        named = {"score": self.rows.score, "group": self.rows.group}
        if self.interval is not None:
            return named | self.interval.as_dict()
        ends = {"low": None, "estimate": self.value, "high": None}
        return named | ends | {"measure": str(self.measure), "no_interval": NO_INTERVAL}

    def as_row(self) -> MeasureRow:
        """Return the row of a report."""
        from headrank.reports.measured import measure_row, value_row

        score, group, n_pos, n_neg = self.rows.score, self.rows.group, self.rows.n_pos, self.rows.n_neg
        if self.interval is None:
            return value_row(score, group, self.measure, self.value, n_pos, n_neg)
        return measure_row(score, group, self.interval)


@dataclass(frozen=True)
class NotMeasured:
    """Rows of a group that have no measure, and why."""

    rows: Rows
    reason: str


def findings(sample: ScoredSample, measures: Sequence[Measure], by: By) -> Iterator[Found | NotMeasured]:
    """Measure all rows, then each group, for each column of scores."""
    everything = np.ones(sample.y.size, dtype=bool)
    groups: list[tuple[str | None, BoolVector]] = [(None, everything)]
    if sample.groups is not None:
        groups += [(str(name), sample.groups == name) for name in np.unique(sample.groups)]
    for group, chosen in groups:
        n_rows, n_pos = int(chosen.sum()), int(np.count_nonzero(sample.y[chosen]))
        for score in sample.scores:
            rows = Rows(score, group, n_pos, n_rows - n_pos)
            if n_pos in (0, n_rows):
                kind = "positive" if n_pos else "negative"
                yield NotMeasured(rows, f"all {n_rows:,} rows are {kind}")
                continue
            for measure in measures:
                yield _measured(sample, rows, chosen, measure, by)


def _measured(sample: ScoredSample, rows: Rows, chosen: BoolVector, measure: Measure, by: By) -> Found | NotMeasured:
    from headrank.bounds.intervals import interval
    from headrank.exceptions import InvalidSampleError, NoIntervalError, NoVarianceError, OneClassError

    y, scores = sample.y[chosen], sample.scores[rows.score][chosen]
    with about_input():
        try:
            found = interval(
                y,
                scores,
                measure=measure,
                confidence=by.confidence,
                method=by.method,
                qid=None if sample.qid is None else sample.qid[chosen],
                clusters=None if sample.clusters is None else sample.clusters[chosen],
                random_state=0,
                progress=by.method == "bootstrap" and shows_progress(),
            )
        except NoIntervalError:
            return Found(rows, measure, float(measure(y, scores)), None)
        except (OneClassError, NoVarianceError) as error:
            if rows.group is None:
                raise
            return NotMeasured(rows, str(error))
        except InvalidSampleError:
            raise
        except ValueError as error:
            if by.method == "auto":
                raise
            raise typer.BadParameter(str(error), param_hint="'--method'") from error
    return Found(rows, measure, found.estimate, found)
