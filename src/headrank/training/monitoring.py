"""A model in use: what each new file says about its promises.

All statements about all files hold simultaneously: the risk is divided by their number (union bound).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.bounds.inequalities.binomial import clopper_pearson
from headrank.bounds.intervals import interval_of_curves
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_binary, check_queries
from headrank.training.drift import Drift
from headrank.training.goal import Goal
from headrank.training.holdout_groups import one_row_each
from headrank.training.profile import ScoreProfile

Verdict = Literal["kept", "open", "broken"]
"""Whether a promise holds: the limits are within it, contain its boundary, or are beyond it."""

N_STATEMENTS = 4
"""Statements about a file: its drift, and limits of flagged rows, of the measure and of false positives."""

_TRUTH = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0", "-1"))


@dataclass(frozen=True)
class Limits:
    """An estimate with limits, what was promised of it, and the verdict; None where nothing was promised."""

    low: float
    estimate: float
    high: float
    promised: float | None
    verdict: Verdict | None


@dataclass(frozen=True)
class LabelledPart:
    """What the labels of a file say.

    Attributes
    ----------
    n_rows, n_pos : int
        Labelled rows that count, and positives among them; with groups, one row of each.
    measure : Limits or None
        The measure of the goal; None if the labels have one class.
    false_positive_rate : Limits or None
        Of the threshold; None without a threshold or labelled negatives.
    """

    n_rows: int
    n_pos: int
    measure: Limits | None
    false_positive_rate: Limits | None


@dataclass(frozen=True)
class Batch:
    """One file.

    Attributes
    ----------
    name : str
        Name of the file.
    n_rows, n_counted : int
        Its rows, and those that count: with groups, one of each.
    flagged : Limits or None
        Share of flagged rows; None without a threshold.
    drift : Drift or None
        How it differs from the holdout; None if that cannot be tested.
    labelled : LabelledPart or None
        What the labels say; None without labels.
    """

    name: str
    n_rows: int
    n_counted: int
    flagged: Limits | None
    drift: Drift | None
    labelled: LabelledPart | None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts about all promises."""
        every = [self.flagged]
        if self.labelled is not None:
            every += [self.labelled.measure, self.labelled.false_positive_rate]
        return tuple(each.verdict for each in every if each is not None and each.verdict is not None)

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict; None without any promise."""
        order: tuple[Verdict, ...] = ("broken", "open", "kept")
        return next((each for each in order if each in self.verdicts), None)


def rate_limits(n: int, of: int, *, risk: float, most: float | None) -> Limits:
    """Return exact limits of a rate (Clopper & Pearson 1934), and whether it is at most ``most``.

    >>> rate_limits(0, 100, risk=0.05, most=0.05).verdict, rate_limits(30, 100, risk=0.05, most=0.05).verdict
    ('kept', 'broken')
    """
    low, high = clopper_pearson(n, of, risk / 2)
    verdict: Verdict | None = None
    if most is not None:
        verdict = "broken" if low > most else "kept" if high <= most else "open"
    return Limits(low, n / of, high, most, verdict)


def labelled_part(
    y: BoolVector,
    scores: Vector,
    units: npt.NDArray[Any] | None,
    *,
    goal: Goal,
    by_query: bool,
    threshold: float | None,
    reference: ScoreProfile | None,
    risk: float,
) -> LabelledPart:
    """Measure labelled rows.

    Parameters
    ----------
    y, scores : arrays of shape (n,)
        Labels and scores, n > 0.
    units : array of shape (n,) or None
        Query or group of each row. Measures are means over queries; of each group one row counts, as in the holdout.
    goal : Goal
        The goal of the model.
    by_query : bool
        Whether ``units`` are queries.
    threshold : float or None
        Rows that score at least this are flagged.
    reference : ScoreProfile or None
        Its lower limit is what was promised of the measure.
    risk : float
        Each interval fails with at most this probability.
    """
    if units is not None and not by_query:
        chosen = one_row_each(y, check_queries(units, "groups"), by_class=goal.top is None)
        y, scores = y[chosen], scores[chosen]
    n_neg = int(np.count_nonzero(~y))
    rate = None
    if threshold is not None and n_neg:
        n_false = int(np.count_nonzero(scores[~y] >= threshold))
        rate = rate_limits(n_false, n_neg, risk=risk, most=goal.max_fpr)
    measured = _measured(y, scores, units if by_query else None, goal, reference, risk)
    return LabelledPart(y.size, y.size - n_neg, measured, rate)


def _measured(
    y: BoolVector,
    scores: Vector,
    queries: npt.NDArray[Any] | None,
    goal: Goal,
    reference: ScoreProfile | None,
    risk: float,
) -> Limits | None:
    numbers = np.zeros(y.size, dtype=np.intp) if queries is None else check_queries(queries)
    n_pos, n_rows = np.bincount(numbers[y], minlength=int(numbers.max()) + 1), np.bincount(numbers)
    if not ((n_pos > 0) & (n_pos < n_rows)).any():
        return None
    found = interval_of_curves(SampleCurves(check_binary(y, scores, qid=queries)), goal.measure, confidence=1 - risk)
    promised = None if reference is None else reference.low
    verdict: Verdict | None = None
    if promised is not None:
        verdict = "broken" if found.high < promised else "kept" if found.low >= promised else "open"
    return Limits(float(found.low), float(found.estimate), float(found.high), promised, verdict)


def labels_of(values: Any, positive: str, where: str) -> tuple[BoolVector, BoolVector]:
    """Return which rows are positive, and which have a label at all.

    Parameters
    ----------
    values : polars.Series
        The target column, as text; missing values and empty text are rows whose label has not come in.
    positive : str
        The positive value of the training table, as printed. All others are negative, unless they spell truth in
        another way: yes and no where 1 was positive are refused.
    where : str
        Names the column and its file in errors.

    Examples
    --------
    >>> import polars as pl
    >>> labels_of(pl.Series(["1", None, "0", "1.0"]), "1", "column 'ill'")
    (array([ True, False, False,  True]), array([ True, False,  True,  True]))
    """
    found = {each: None if each is None else _is_positive(str(each), positive) for each in values.unique().to_list()}
    spelled = _spelling(positive)
    for each in found:
        other = None if each is None else _spelling(str(each))
        if spelled is not None and other is not None and other != spelled:
            raise InvalidSampleError(
                f"{where} has {each!r}, but in training {positive!r} was positive; spell the labels as in training"
            )
    column = values.to_list()
    known = np.array([found[each] is not None and str(each).strip() != "" for each in column], dtype=bool)
    return np.array([bool(found[each]) for each in column], dtype=bool) & known, known


def _is_positive(value: str, positive: str) -> bool:
    text = value.strip()
    if text == positive.strip() or (_spelling(positive) is not None and text.lower() == positive.strip().lower()):
        return True
    try:
        return float(text) == float(positive)
    except ValueError:
        return False


def _spelling(value: str) -> tuple[str, ...] | None:
    """Return the words for true and false to which a value belongs; None if it is none of them."""
    text = value.strip().lower()
    text = text.removesuffix(".0") if text in ("1.0", "0.0", "-1.0") else text
    return next((words for words in _TRUTH if text in words), None)
