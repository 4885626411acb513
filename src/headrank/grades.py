"""Validation of grades of relevance: the labels of measures that tell more than two classes apart."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from headrank._types import ArrayLike
from headrank.labels import Sample, check_binary

HIGHEST = 30
"""The highest grade, as in LightGBM."""


def are_grades(y: ArrayLike) -> bool:
    """Whether labels are whole numbers from 0 to 30, and not only 0 and 1.

    >>> are_grades([0, 2, 1]), are_grades([0, 1]), are_grades([0, 2.5])
    (True, False, False)
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and all(isinstance(each, Real) and not isinstance(each, bool) for each in labels.flat):
        labels = labels.astype(np.float64)  # whole numbers that shared a list with missing ones
    if labels.ndim != 1 or labels.dtype.kind not in "iuf" or not labels.size:
        return False
    in_range = 1 < labels.max() <= HIGHEST and labels.min() >= 0
    return bool(in_range and (labels.dtype.kind != "f" or not (labels % 1).any()))


def check_graded(
    y: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
) -> Sample:
    """Validate a sample whose labels may be grades of relevance; see `headrank.labels.check_binary`.

    Grades are whole numbers from 0 (not relevant) to 30; rows of a grade above 0 are the positives.
    """
    if pos_label is not None or not are_grades(y):
        return check_binary(y, scores, sample_weight, qid=qid, pos_label=pos_label)
    grades = np.asarray(y).astype(np.intp)
    sample = check_binary(grades > 0, scores, sample_weight, qid=qid)
    if sample.scores.size < grades.size:  # without the rows of weight 0
        grades = grades[np.asarray(sample_weight, dtype=np.float64).ravel() > 0]
    return replace(sample, grades=grades)
