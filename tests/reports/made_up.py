"""Results made up from scores: what `summarize` is given, without training anything."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import headrank as hr
from headrank.bounds.sample_curves import SampleCurves
from headrank.datasets import Binormal
from headrank.exceptions import TooFewRowsError
from headrank.labels import check_binary
from headrank.reports import large_samples, render_html, summarize
from headrank.training.columns import Column
from headrank.training.goal import Goal
from headrank.training.result import Coefficient, FamilyResult, ModelResult, TrainingResult
from headrank.training.table_info import HoldoutInfo, Provenance, TableInfo

FEATURES = (
    *("age", "amount of the loan", "city: Berlin", "city: Lyon", "days since the last payment", "number of accounts"),
    *(f"bill {i}" for i in range(1, 20)),
)


def coefficients(seed=0, features=FEATURES):
    values = np.random.default_rng(seed).normal(size=len(features)) / np.arange(1, len(features) + 1)
    return tuple(
        sorted(
            (Coefficient(name, float(v)) for name, v in zip(features, values, strict=True)), key=lambda c: -abs(c.value)
        )
    )


def table_info(y, qid=None, **changes):
    n_pos = int(y.sum())
    given = {
        "source": "credit.csv",
        "target": "default",
        "positive": "1",
        "n_rows": 10 * y.size // 3,
        "n_pos": 10 * n_pos // 3,
        "n_train": 10 * y.size // 3 - y.size,
        "n_train_pos": 10 * n_pos // 3 - n_pos,
        "n_holdout": y.size,
        "n_holdout_pos": n_pos,
        "columns": (
            Column("age", "number", 0, 61),
            Column("city", "text", 12, 140),
            Column("since", "date", 3, 900),
            Column("owner", "boolean", 0, 2),
        ),
        "n_features": len(FEATURES),
        "id_column": "customer",
        "qid_column": None if qid is None else "query",
        "dropped": ("comment",),
        "n_queries": None if qid is None else 10 * np.unique(qid).size // 3,
        "n_holdout_queries": None if qid is None else int(np.unique(qid).size),
    }
    return TableInfo(**(given | changes))


FAMILIES = (
    FamilyResult("boosted trees", 0.8488, 0.0112, 0.5),
    FamilyResult("linear", 0.8111, 0.0124, 0.0),
    FamilyResult("extra trees", 0.8501, 0.0098, 0.5),
    FamilyResult("combination", 0.8604, 0.0089, None),
)
WARNINGS = ("The column city has 140 distinct values in 3,000 rows; if it names the rows, drop it.",)
PROVENANCE = Provenance(
    command="headrank fit credit.csv --target default --top 0.05 --id customer --drop comment --out result",
    sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    random_state=0,
    versions=(("headrank", "0.1.0"), ("numpy", "2.3.0"), ("scikit-learn", "1.7.0")),
)


def training_result(
    goal,
    y,
    scores,
    *,
    qid=None,
    confidence=0.95,
    collapsed=(),
    features=FEATURES,
    table_changes=None,
    warnings=WARNINGS,
    provenance=PROVENANCE,
    groups=None,
    times=None,
):
    """Make the result of a training of models with these scores, by name; with groups, the first row of each counts."""
    every, measured = scores, None
    if groups is not None:
        measured = np.flatnonzero(np.diff(groups, prepend=-1))
        all_y, y = np.asarray(y, dtype=bool), np.asarray(y)[measured]
        scores = {name: values[measured] for name, values in scores.items()}
    y = np.asarray(y, dtype=bool)
    selection = hr.select(scores, y, measure=goal.measure, confidence=confidence, qid=qid)
    threshold, reason = None, "No threshold is certified: rows of a query are not independent draws."
    if qid is None:
        try:
            paid = 1 - (1 - confidence) / len(scores)
            budget = {goal.budget.kind: goal.budget.limit}
            certified = hr.threshold_at(y, scores[selection.picked], confidence=paid, **budget)
            threshold, reason = replace(certified, confidence=confidence), ""
        except (TooFewRowsError, ValueError) as error:
            reason = f"No threshold is certified: {error}."
    models = tuple(
        ModelResult(
            name=name,
            estimator=None,
            holdout=SampleCurves(check_binary(y, values, qid=qid)),
            remark="smooth was taken: it leads logistic by more than a standard error." if name == "ranker" else "",
            collapsed=name in collapsed,
            coefficients=None if name == "gradient boosting" else coefficients(len(name), features),
            families=FAMILIES if name == "ranker" and len(scores) == 3 else (),
            all_rows=None if groups is None else SampleCurves(check_binary(all_y, every[name])),
        )
        for name, values in scores.items()
    )
    return TrainingResult(
        goal=goal,
        confidence=confidence,
        models=models,
        selection=selection,
        ids=np.arange(1, y.size + 1),
        qid=qid,
        threshold=threshold,
        no_threshold=reason,
        table=table_info(y, qid, **(table_changes or {})),
        warnings=warnings,
        provenance=provenance,
        groups=groups,
        measured=measured,
        times=times,
    )


def three(y, base, noises, seed=0):
    """Scores of three models: the base plus noise of their own."""
    rng = np.random.default_rng(seed)
    names = ("ranker", "logistic regression", "gradient boosting")
    return {name: base + noise * rng.normal(size=base.size) for name, noise in zip(names, noises, strict=True)}


def binormal(n, positive_rate, separation=2.0, seed=0):
    return Binormal(separation=separation, positive_rate=positive_rate).sample_scores(n, random_state=seed)


def top(n=1500, seed=0, noises=(0.0, 0.8, 0.4)):
    y, scores = binormal(n, 0.08, 2.2, seed)
    return training_result(Goal(top=0.05), y, three(y, scores, noises, seed))


def fpr(n=1500, seed=1, noises=(0.0, 1.5, 0.3), goal=None):
    y, scores = binormal(n, 0.1, 2.0, seed)
    return training_result(goal or Goal(max_fpr=0.05), y, three(y, scores, noises, seed))


def inner_range():
    return fpr(goal=Goal(min_fpr=0.02, max_fpr=0.1))


def logistic_wins():
    return top(noises=(0.9, 0.0, 1.2), seed=3)


def trees_win():
    return fpr(noises=(0.9, 1.2, 0.0), seed=4)


def one_model():
    y, scores = binormal(800, 0.2)
    return training_result(Goal(top=0.1), y, {"ranker": scores})


def ties(goal=None):
    """Scores rounded to a few values: ties within and between the classes, and a threshold inside of one."""
    y, scores = binormal(600, 0.3, 1.5, seed=5)
    noisy = three(y, scores, (0.0, 0.5, 0.9), 5)
    return training_result(goal or Goal(top=0.2), y, {name: np.round(2 * values) / 2 for name, values in noisy.items()})


def ties_fpr():
    return ties(Goal(max_fpr=0.2))


def tiny():
    y = np.array([1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
    scores = np.array([9.0, 8, 7, 6, 5, 5, 5, 4, 3, 2, 1, 0])
    return training_result(Goal(max_fpr=0.25), y, {"ranker": scores, "logistic regression": -scores})


def less_than_a_case():
    y, scores = binormal(50, 0.3)
    return training_result(Goal(top=0.01), y, three(y, scores, (0, 0.1, 0.2)))


def separated():
    y = np.arange(400) >= 360
    scores = np.linspace(-3, 3, 400)
    return training_result(
        Goal(max_fpr=0.05), y, {"ranker": scores, "logistic regression": scores, "gradient boosting": 2 * scores}
    )


def collapsed():
    y, scores = binormal(1000, 0.2)
    return training_result(
        Goal(max_fpr=0.1), y, {"ranker": np.zeros(y.size), "logistic regression": scores}, collapsed=("ranker",)
    )


def queries(goal=None, n_queries=60):
    rng = np.random.default_rng(7)
    sizes = rng.integers(2, 60, n_queries)
    qid = np.repeat([f"q{i:03d}" for i in range(n_queries)], sizes)
    y = rng.random(qid.size) < 0.3
    base = 1.8 * y + rng.normal(size=y.size) + np.repeat(rng.normal(size=n_queries), sizes)
    scores = {name: np.round(values, 1) for name, values in three(y, base, (0.0, 0.7, 0.3), 7).items()}
    return training_result(goal or Goal(max_fpr=0.3), y, scores, qid=qid)


def queries_top():
    return queries(Goal(top=0.2))


def large_head():
    """More distinct scores than a page carries: the control ends inside the curve."""
    y, scores = binormal(60_000, 0.05, 2.0, seed=9)
    return training_result(Goal(max_fpr=0.02), y, {"ranker": scores, "logistic regression": scores + y * 0})


def hostile():
    """Names that would be markup, a script or the end of one, if they were not taken for text."""
    evil = (
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        '"><svg onload=alert(3)>',
        "{{ 7 * 7 }} {% raw %}",
        "a\u2028b <!-- & ]]> 'quoted'",
    )
    y, scores = binormal(500, 0.2)
    changes = {
        "source": evil[0],
        "target": evil[1],
        "positive": evil[2],
        "columns": tuple(Column(name, "text", 1, 2) for name in evil),
        "dropped": evil,
        "id_column": evil[3],
    }
    return training_result(
        Goal(top=0.1),
        y,
        {"ranker": scores, "logistic regression": scores + 1},
        features=evil,
        table_changes=changes,
        warnings=evil,
        provenance=replace(PROVENANCE, command=f"headrank fit '{evil[1]}'", versions=((evil[0], evil[1]),)),
    )


def grouped(goal=None, n_groups=400, seed=11):
    """Five rows per patient, whose scores and labels are nearly the same."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), 5)
    y, scores = binormal(n_groups, 0.3, 1.5, seed)
    info = HoldoutInfo(
        n_groups=1333, n_holdout_groups=n_groups, n_group_rows=groups.size, folds="5 folds of whole groups"
    )
    return training_result(
        goal or Goal(max_fpr=0.2),
        y[groups],
        three(y[groups], scores[groups] + 0.2 * rng.normal(size=groups.size), (0.0, 0.5, 0.3), seed),
        groups=groups,
        table_changes={"group_column": "patient_id", "holdout": info},
    )


def grouped_top():
    return grouped(Goal(top=0.1))


def timed(n=1500, fall=1.5, goal=None, seed=12, qid=None):
    """Two months, over which the separation falls."""
    y, scores = binormal(n, 0.2, 0.0, seed)
    place = np.arange(n) / n
    info = HoldoutInfo(
        kind="latest", train_last="2024-02-29", first="2024-03-01", last="2024-04-29", folds="5 folds forward in time"
    )
    return training_result(
        goal or Goal(max_fpr=0.1),
        y,
        three(y, scores + y * (2.0 - fall * place), (0.0, 0.5, 0.3), seed),
        times=np.datetime64("2024-03-01", "us") + (60 * place).astype("timedelta64[D]"),
        table_changes={"time_column": "day", "holdout": info},
    )


def timed_top():
    return timed(goal=Goal(top=0.1), fall=0.0)


def given_holdout():
    y, scores = binormal(1000, 0.2)
    info = HoldoutInfo(kind="file", test_source="later.csv", test_sha256="ab" * 32, folds="3 given folds")
    return training_result(
        Goal(max_fpr=0.1), y, {"ranker": scores}, table_changes={"holdout": info, "fold_column": "part"}
    )


RESULTS = {
    make.__name__: make
    for make in (
        *(top, fpr, inner_range, logistic_wins, trees_win, one_model, ties, ties_fpr, tiny, less_than_a_case),
        *(separated, collapsed, queries, queries_top, hostile, large_head),
        *(grouped, grouped_top, timed, timed_top, given_holdout),
    )
}


@cache
def result_of(name):
    return RESULTS[name]()


def summarized(result):
    """The summary of a result, with fewer replicates of the bootstrap than usual: their number does not matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_samples, "_REPLICATES", 200)
        return summarize(result)


@cache
def summary_of(name):
    return summarized(result_of(name))


@cache
def html_of(name):
    return render_html(summary_of(name))
