"""fit: what `headrank fit` does, in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headrank._extras import needs_extra
from headrank._whole_files import write_folder
from headrank.workflow.goals import called, goal_of
from headrank.workflow.reporting import Report

if TYPE_CHECKING:
    import polars as pl

    from headrank.reports import Summary
    from headrank.training.result import TrainingResult
    from headrank.training.table_model import TableModel

_DEFAULT_FPR = 0.1


class FitResult:
    """Models trained, measured on a holdout and certified: what `fit` returns.

    Attributes
    ----------
    training : TrainingResult
        All models, their scores of the holdout and the selection.
    """

    def __init__(self, training: TrainingResult) -> None:
        self.training = training

    @cached_property
    def model(self) -> TableModel:
        """The winner, a scikit-learn classifier of tables: the model that was certified, for `save` and for scoring."""
        from headrank.training.outputs import table_model

        return table_model(self.training)

    @cached_property
    def summary(self) -> Summary:
        """All numbers and sentences of the report, as frozen dataclasses of built-in types."""
        from headrank.reports import summarize

        return summarize(self.training)

    @cached_property
    def ranked(self) -> pl.DataFrame:
        """The holdout as the winner ranks it, best first, with reasons for the first rows."""
        from headrank.training.outputs import ranked

        return ranked(self.training)

    def report(self, path: str | PathLike[str] | None = None) -> Report:
        """Return the report, and write it to an HTML file if a path is given."""
        made = Report(self.summary)
        if path is not None:
            made.save(path)
        return made

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False, keep_scores: bool = True) -> None:
        """Write report.html, ranked.csv, model and result.json to a folder, all or none of them.

        Parameters
        ----------
        folder : str or path
            It must be empty or not exist, unless ``overwrite``.
        overwrite : bool, default=False
            Whether to replace the files of an earlier run.
        keep_scores : bool, default=True
            Whether the model contains scores and labels of holdout rows, for ``headrank choose``.
        """
        from headrank.workflow.files import write_training

        def fill(unfinished: Path) -> None:
            write_training(self.training, self.summary, unfinished, keep_scores=keep_scores)

        write_folder(folder, fill, overwrite=overwrite)

    def __str__(self) -> str:
        return " ".join(self.summary.answer.sentences)

    def __repr__(self) -> str:
        return f"<FitResult: {self.summary.answer.sentences[0]}>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def fit(
    frame: Any,
    *,
    target: str,
    fpr: float | Sequence[float] | None = None,
    top: float | None = None,
    group: str | None = None,
    time: str | None = None,
    qid: str | None = None,
    id: str | None = None,  # noqa: A002  # what the column is called in every table
    fold: str | None = None,
    drop: Sequence[str] = (),
    test: Any = None,
    pos_label: Any = None,
    positive_name: str = "",
    holdout: float | None = None,
    models: Literal["all", "linear", "trees"] = "all",
    max_minutes: float | None = None,
    confidence: float = 0.95,
    random_state: int = 0,
    progress: Callable[..., None] | None = None,
    name: str = "table",
) -> FitResult:
    """Train models for the head of the list, select the best one on a holdout, and certify it: ``headrank fit``.

    The same rows and options give the same models and numbers as the command. Needs the extra ``cli``.

    Parameters
    ----------
    frame : polars or pandas DataFrame
        One row per case. Numbers, text, booleans and dates; missing values are allowed.
    target : str
        Column to predict: 0/1, -1/+1, true/false or yes/no, or any values with ``pos_label``.
    fpr : float or pair of float, optional
        Largest false positive rate that matters, or a range of them. By default 0.1.
    top : float in (0, 1], optional
        Best fraction of all rows that matters, instead of ``fpr``.
    group : str, optional
        Column of patients, customers or the like, whose rows stay on one side; guarantees are for new ones.
    time : str, optional
        Column of times: train on the past, hold out the latest rows.
    qid, id, fold : str, optional
        Columns of queries, of names of rows, and of folds by which the ranker is chosen. Not features.
    drop : sequence of str
        Columns to ignore.
    test : polars or pandas DataFrame, optional
        Holdout with the same columns; all rows of ``frame`` are then trained on.
    pos_label : optional
        The positive value of the target; all others are negative.
    positive_name : str, optional
        What a positive row is called in the report: ``"fraud"``, or ``"diagnosis/diagnoses"``.
    holdout : float in (0, 1), optional
        Share of the rows (or groups, or queries) to hold out. By default 0.3; of more than 1e7 rows less, if 3 million
        of them have 10,000 of each class, and 10,000 are in the head; not of groups or queries.
    models : {"all", "linear", "trees"}, default="all"
        What the ranker is chosen from.
    max_minutes : float, optional
        Time for choosing the ranker; what is not finished by then is left out.
    confidence : float, default=0.95
        Confidence of each guarantee.
    random_state : int, default=0
        Seed of the split and of all other randomness.
    progress : callable, optional
        Called as ``progress(step, done, total, note)`` with each step of the training.
    name : str, default="table"
        What the data are called in the report.

    Examples
    --------
    >>> import headrank as hr
    >>> import numpy as np
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> fraud = rng.random(2000) < 0.1
    >>> amount, hour = rng.normal(size=2000) + 2 * fraud, rng.integers(24, size=2000)
    >>> frame = pl.DataFrame({"amount": amount, "hour": hour, "fraud": fraud})
    >>> fitted = hr.fit(frame, target="fraud", top=0.05, positive_name="fraud", models="linear")
    >>> fitted.training.table.n_holdout, fitted.ranked.columns[:4]
    (600, ['rank', 'row', 'score', 'fraud'])
    >>> fitted.model.decision_function(frame.head(3).drop("fraud")).shape
    (3,)
    """
    with needs_extra("cli"):
        import jinja2  # noqa: F401
        import polars  # noqa: F401
        import skops  # noqa: F401

        from headrank.training.design import HoldoutFile
        from headrank.training.handover import Handover
        from headrank.training.naming import nouns_of
        from headrank.training.progress import quiet
        from headrank.training.table_info import DataSource
        from headrank.training.train import train
        from headrank.workflow.frames import frame_rows
    goal = goal_of(fpr, top, _DEFAULT_FPR)
    if positive_name:
        nouns_of(positive_name)
    read = partial(frame_rows, target=target, qid=qid, id=id, group=group, time=time, pos_label=pos_label)
    rows = read(frame, fold=fold, drop=drop)
    given = None
    if test is not None:
        unused = [each for each in (*drop, *([] if fold is None else [fold])) if each in list(map(str, test.columns))]
        other = read(test, drop=unused, called="the holdout")
        given = HoldoutFile(
            Handover(other.features),
            other.y,
            source="the given holdout",
            qid=other.qid,
            ids=other.ids,
            groups=other.groups,
            times=other.times,
        )
    arguments = {
        "target": target,
        "fpr": fpr,
        "top": top,
        "group": group,
        "time": time,
        "qid": qid,
        "id": id,
        "fold": fold,
        "drop": list(drop),
        "pos_label": pos_label,
        "positive_name": positive_name,
        "holdout": holdout,
        "models": None if models == "all" else models,
        "max_minutes": max_minutes,
        "confidence": None if confidence == 0.95 else confidence,
        "random_state": random_state or None,
    }
    return FitResult(
        train(
            Handover(rows.features),
            rows.y,
            goal=goal,
            source=DataSource(
                source=name,
                target=target,
                positive=rows.positive,
                positive_name=positive_name,
                id_column=id,
                qid_column=qid,
                group_column=group,
                time_column=time,
                fold_column=fold,
                dropped=tuple(drop),
            ),
            qid=rows.qid,
            ids=rows.ids,
            groups=rows.groups,
            times=rows.times,
            folds=rows.folds,
            test=given,
            holdout=holdout,
            models=models,
            max_seconds=None if max_minutes is None else 60 * max_minutes,
            confidence=confidence,
            random_state=random_state,
            command=called("hr.fit", name, arguments),
            progress=quiet if progress is None else progress,
        )
    )
