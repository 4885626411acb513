"""Drift: do new rows differ from those of the holdout, and in which columns?

Each column is asked several questions: which share of the rows lies above each cut, is of each category, is missing?
For each, `log_p_of_counts` compares the counts of both samples exactly. The questions depend on the training rows alone
(see `headrank.training.profile`). The scores are compared at fixed ranks by `log_p_above_ranks`, as their cuts are
scores of the holdout, and pay for the number of models from which the holdout selected one.

*Theorem.* If holdout rows and new rows are independent draws from one distribution, given the training rows, the
probability that any column or the scores are named is at most ``risk``, for any sample sizes, with ties and categories.

*Proof.* Each p-value is at most u with probability at most u, given the training rows. A column is named if one of its
q questions has a p-value of at most risk / (c q), where c is the number of columns, plus 1 for the scores. Add them up.
Questions without any row of both samples, or with all of them, are not counted in q: this depends only on the two
samples put together, given which the p-values are valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any

import numpy as np

from headrank._format import counted, rounded_percent
from headrank._types import BoolVector, IntVector, Vector
from headrank.bounds.inequalities.hypergeometric import log_p_above_ranks, log_p_of_counts
from headrank.training.profile import ColumnProfile, Profile, ScoreProfile, feature_counts

RISK = 0.05
"""Probability of a false alarm, at most."""
SCORES = "scores"
_LONGEST_EXAMPLE = 40


@dataclass(frozen=True)
class Change:
    """A column that differs, and the question whose answers differ most significantly.

    Attributes
    ----------
    column : str
        Name of the column, or "scores".
    what : str
        The rows that are counted: "above 90", "'Tesla'".
    share, expected : float
        Their share of the new rows, and of the holdout.
    p_value : float
        Accounts for all questions about all columns.
    log_p : float
        Its logarithm, for p-values that are too small for a number.
    of_scores : bool
        Whether it is the scores that differ, not a column.
    """

    column: str
    what: str
    share: float
    expected: float
    p_value: float
    log_p: float
    of_scores: bool = False

    @property
    def words(self) -> str:
        """What has changed, without the name of the column."""
        return f"{rounded_percent(self.share)} {self.what} (holdout: {rounded_percent(self.expected)})"

    def __str__(self) -> str:
        return f"{self.column}: {self.words}"


@dataclass(frozen=True)
class Drift:
    """How new rows differ from the holdout.

    Attributes
    ----------
    n_rows, n_reference : int
        Rows that were compared; with groups or queries, one of each.
    n_columns : int
        Columns that were compared, in addition to the scores.
    changes : tuple of Change
        The columns that differ significantly, the most significant first.
    risk : float
        Probability that any is named although nothing has changed, at most.
    """

    n_rows: int
    n_reference: int
    n_columns: int
    changes: tuple[Change, ...]
    risk: float

    @property
    def found(self) -> bool:
        """Whether anything has changed."""
        return bool(self.changes)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("column", "what", "share", "expected", "p_value")
        changes = [{name: getattr(each, name) for name in names} for each in self.changes]
        return vars(self) | {"found": self.found, "changes": changes}


@dataclass(frozen=True, eq=False)
class _Answered:
    """The most significant question about a column, its p-value, and the answers to all questions by both samples."""

    question: int
    log_p: float
    new: Vector
    old: Vector


class RowCounts:
    """New rows counted per bin of a profile, block by block; memory does not grow with their number.

    >>> import polars as pl
    >>> from headrank.training.columns import Column
    >>> from headrank.training.profile import table_profile
    >>> ages = pl.DataFrame({"age": np.arange(1000.0) % 80})
    >>> counts = RowCounts(table_profile(ages, ages, [Column("age", "number", 0, 80)]))
    >>> counts.add(ages[:100] * 1000, np.zeros(100))
    >>> print(counts.drift().changes[0])
    age: 98 % above 79 (holdout: 0 %)
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.n_rows = 0
        self._columns = profile.columns()
        self._counts = [np.zeros(each.n_bins, dtype=np.int64) for each in self._columns]
        self._examples: dict[int, str] = {}
        n_ranks = 0 if profile.scores is None else profile.scores.ranks.size
        self._above, self._at_or_above = np.zeros(n_ranks, dtype=np.int64), np.zeros(n_ranks, dtype=np.int64)

    def add(self, rows: Any, scores: Vector) -> None:
        """Count more rows, as `TableModel.conformed` returns them, and their scores."""
        self.n_rows += scores.size
        if self.profile.features is None:
            self._add_table(rows)
        else:
            found = feature_counts(rows, self.profile.features, [each.cuts for each in self._columns])
            for counts, more in zip(self._counts, found, strict=True):
                counts += more
        if self.profile.scores is not None:
            ascending = np.sort(scores)
            values = self.profile.scores.values
            self._above += scores.size - np.searchsorted(ascending, values, side="right")
            self._at_or_above += scores.size - np.searchsorted(ascending, values, side="left")

    def _add_table(self, rows: Any) -> None:
        for number, (column, counts) in enumerate(zip(self._columns, self._counts, strict=True)):
            values = rows[column.name]
            bins = column.bins(values)
            counts += np.bincount(bins, minlength=column.n_bins)
            if column.kind == "text" and number not in self._examples:
                others = values.filter(bins == len(column.categories))
                if others.len():
                    self._examples[number] = str(others.mode().sort()[0])

    def drift(self, *, risk: float = RISK) -> Drift:
        """Compare the rows with those of the profile."""
        budget = log(max(len(self._columns) + (self.profile.scores is not None), 1))
        changes = []
        for number, answered in enumerate(self._answered()):
            if answered.log_p + budget <= log(risk):
                column = self._columns[number]
                what, share, expected = _in_shares(column, answered, self._examples.get(number))
                changes.append(_change(column.name, what, share, expected, answered.log_p + budget))
        if self.profile.scores is not None and self.n_rows:
            changes += self._score_change(self.profile.scores, budget, log(risk))
        changes.sort(key=lambda each: each.log_p)
        return Drift(self.n_rows, self.profile.n_rows, len(self._columns), tuple(changes), risk)

    def _answered(self) -> Iterator[_Answered]:
        """Yield the most significant question about each column; all are tested in one call, as there may be many."""
        n_old, n_new = self.profile.n_rows, self.n_rows
        if not self._columns or not n_new:
            return
        old = [_answers(each, each.counts) for each in self._columns]
        new = [_answers(each, counts) for each, counts in zip(self._columns, self._counts, strict=True)]
        every = log_p_of_counts(np.concatenate(old), n_old, np.concatenate(new), n_new)
        ends = np.cumsum([each.size for each in old])[:-1]
        for mine, its, log_p in zip(old, new, np.split(every, ends), strict=True):
            asked = (mine + its > 0) & (mine + its < n_old + n_new)
            at, least = _worst(log_p, asked)
            yield _Answered(at, least, its / n_new, mine / n_old)

    def _score_change(self, profile: ScoreProfile, budget: float, limit: float) -> list[Change]:
        every = log_p_above_ranks(profile.ranks, profile.n_rows, self._above, self._at_or_above, self.n_rows)
        at, log_p = _worst(every, np.ones(every.size, dtype=bool))
        if log_p + budget + log(profile.n_models) > limit:
            return []
        share = float(self._at_or_above[at] / self.n_rows)
        expected = float(profile.ranks[at] / profile.n_rows)
        what = f"at or above {profile.values[at]:.4g}"
        change = _change(SCORES, what, share, expected, log_p + budget + log(profile.n_models))
        return [replace(change, of_scores=True)]


def _change(column: str, what: str, share: float, expected: float, log_p: float) -> Change:
    return Change(column, what, share, expected, exp(log_p), log_p)


def _answers(column: ColumnProfile, counts: IntVector) -> IntVector:
    """Number of missing values, then of rows above each cut, or of each category and of no category."""
    present = counts[:-1]
    return np.append(counts[-1], np.cumsum(present[::-1])[::-1][1:] if column.is_ordered else present)


def _worst(log_p: Vector, asked: BoolVector) -> tuple[int, float]:
    """Number of the most significant question, and the logarithm of its p-value times the number of questions."""
    if not asked.any():
        return 0, 0.0
    at = int(np.argmin(np.where(asked, log_p, np.inf)))
    return at, float(min(log_p[at] + log(np.count_nonzero(asked)), 0.0))


def _in_shares(column: ColumnProfile, answered: _Answered, example: str | None) -> tuple[str, float, float]:
    """Name the rows that have become more, or less, with their shares of the new rows and of the holdout."""
    at, new, old = answered.question - 1, answered.new, answered.old
    share, expected = float(new[at + 1]), float(old[at + 1])
    if at < 0:
        return "missing", share, expected
    if column.is_ordered:
        cut = float(column.cuts[at])
        if share >= expected:
            return f"above {_printed(column, cut)}", share, expected
        # Those that are not above it have become more: all rows without these and the missing ones.
        shares = [round(max(1 - float(each[at + 1]) - float(each[0]), 0.0), 12) for each in (new, old)]
        least = _printed(column, float(np.nextafter(cut, np.inf)))
        return (f"up to {_printed(column, cut)}" if at else f"below {least}"), shares[0], shares[1]
    if at < len(column.categories):
        return repr(column.categories[at]), share, expected
    which = "not seen in training" if column.complete else "new or rare in training"
    return (which if example is None else f"{which}, such as {_short(example)!r}"), share, expected


def _printed(column: ColumnProfile, value: float) -> str:
    if column.kind == "date":
        moment = np.datetime64(round(value), "us")
        return str(moment.astype("datetime64[D]" if round(value) % 86_400_000_000 == 0 else "datetime64[s]"))
    value += 0.0  # not -0
    return f"{value:.6g}" if abs(value) >= 1e15 or value != round(value) else f"{value:.0f}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 3]}..."


def in_words(drift: Drift, *, most: int = 3) -> tuple[str, ...]:
    """Return a sentence, and lines for the most significant changes."""
    if not drift.found:
        return (f"No drift: {counted(drift.n_columns, 'column')} and the scores look like those of the holdout.",)
    n, more = sum(not each.of_scores for each in drift.changes), len(drift.changes) - most
    where = [f"{n:,} of {counted(drift.n_columns, 'column')}"] if n else []
    where += ["the scores"] if n < len(drift.changes) else []
    tail = f" (the {most} most significant)" if more > 0 else ""
    start = f"drift in {' and '.join(where)}: the guarantees of the model are for rows like those of its holdout{tail}"
    return (start, *map(str, drift.changes[:most]))
