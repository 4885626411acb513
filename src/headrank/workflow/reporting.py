"""report: what `headrank evaluate --out` writes, in Python; and Report, which `fit` gives too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._extras import needs_extra
from headrank._types import ArrayLike
from headrank._whole_files import write_file
from headrank.labels import with_labels
from headrank.workflow.goals import called, goal_of

if TYPE_CHECKING:
    from headrank.reports import Summary

_DEFAULT_FPR = 0.05


class Report:
    """A report: as HTML, as text and as plain data. Made by `headrank.report` and by `headrank.fit`.

    In a notebook it is shown as it looks in a browser.

    Attributes
    ----------
    summary : Summary
        All numbers and sentences, as frozen dataclasses of built-in types.
    """

    def __init__(self, summary: Summary) -> None:
        self.summary = summary

    @property
    def html(self) -> str:
        """The report as one self-contained HTML page; the figures need no JavaScript."""
        from headrank.reports import render_html

        return render_html(self.summary)

    @property
    def text(self) -> str:
        """The report as plain text."""
        from headrank.reports import render_text

        return render_text(self.summary)

    @property
    def json(self) -> str:
        """All numbers as JSON, as in result.json."""
        from headrank.reports import render_json

        return render_json(self.summary)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the HTML page to a file; an existing file is replaced when the new one is complete."""
        page = self.html
        write_file(path, lambda unfinished: unfinished.write_text(page, encoding="utf-8"))

    def __str__(self) -> str:
        return " ".join(self.summary.answer.sentences)

    def __repr__(self) -> str:
        return f"<Report: {self.summary.answer.sentences[0]}>"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, so that its style and the notebook's do not mix."""
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40rem;border:0"></iframe>'


def report(
    y: ArrayLike,
    scores: ArrayLike | Mapping[str, ArrayLike],
    path: str | PathLike[str] | None = None,
    *,
    fpr: float | Sequence[float] | None = None,
    top: float | None = None,
    measures: Sequence[Any] | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    missing: str = "refuse",
    positive_name: str = "",
    name: str = "scores",
) -> Report:
    """Report how good scores are, from labelled rows that the scorers were neither trained nor selected on.

    The report has what that of ``headrank fit`` has, except what needs a model: the answer with its guarantee, cases
    looked at and found with a certified band, ROC and precision-recall curves, operating points, a certified threshold
    with its confusion table, and intervals of the measures. Of several scorers the best is selected, and the
    guarantees account for the selection. Needs the extra ``cli``.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,), or mapping of str to array-like
        Finite numbers, higher = more positive; of several scorers by name.
    path : str or path, optional
        File to write the HTML page to; see also `Report.save`.
    fpr : float or pair of float, optional
        Largest false positive rate that matters, or a range of them. By default 0.05.
    top : float in (0, 1], optional
        Best fraction of all rows that matters, instead of ``fpr``.
    measures : sequence of str or Measure, optional
        Measures to give intervals of; by default AUC and those of the part of the list that matters.
    qid : array-like of shape (n,), optional
        Query of each row; measures are then means over queries.
    groups : array-like of shape (n,), optional
        Group of each row, such as the hospital; each is also measured separately.
    confidence : float, default=0.95
        Confidence of each guarantee.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows; a warning and the report say how many.
    positive_name : str, optional
        What a positive row is called: ``"fraud"``, or ``"diagnosis/diagnoses"``.
    name : str, default="scores"
        What the data are called in the report.

    Examples
    --------
    >>> import headrank as hr
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0, positive_rate=0.1).sample_scores(2000, random_state=0)
    >>> report = hr.report(y, scores, top=0.05, positive_name="fraud")
    >>> print(report)
    The scorer finds 78 of 210 frauds in the first 100 of 2,000 cases, 7.4 times what a random pick finds (at least 68
    of 100 in a large population, with 95 % confidence, if new rows are drawn like these).
    >>> report.summary.confusion.tp + report.summary.confusion.fn
    210
    """
    with needs_extra("cli"):
        import jinja2  # noqa: F401

        from headrank.reports import summarize
        from headrank.reports.measured import measured
        from headrank.training.given_scores import result_of_scores
        from headrank.training.naming import nouns_of
        from headrank.training.table_info import DataSource
    if positive_name:
        nouns_of(positive_name)
    goal = goal_of(fpr, top, _DEFAULT_FPR)
    named = dict(scores) if isinstance(scores, Mapping) else {"scorer": scores}
    n_given = np.size(y)
    y, qid, groups, *kept = with_labels(missing, y, qid, groups, *named.values())
    named = dict(zip(named, kept, strict=True))
    given = {"fpr": fpr, "top": top, "confidence": None if confidence == 0.95 else confidence, "pos_label": pos_label}
    result = result_of_scores(
        y,
        named,
        goal=goal,
        source=DataSource(
            source=name,
            target="y",
            positive=str(1 if pos_label is None else pos_label),
            positive_name=positive_name,
            qid_column=None if qid is None else "qid",
        ),
        qid=qid,
        confidence=confidence,
        command=called(
            "hr.report",
            "y, scores",
            given | {"missing": None if missing == "refuse" else missing, "positive_name": positive_name},
        ),
        pos_label=pos_label,
        n_without_label=n_given - np.size(y),
    )
    labels = None if groups is None else np.asarray(groups)
    made = Report(summarize(result, measures=measured(result, measures, labels)))
    if path is not None:
        made.save(Path(path))
    return made
