"""What is compared: data sets, splits, measures and models, one cell at a time.

Every model sees the same training rows and is tuned on the same measure over the same five folds, those that
`LinearRankerCV` makes by default. A cell is as much as is learned in one go:

- scikit-learn's classifiers on one split. They know nothing of the measure, so each C is fitted once per fold and
  judged by all measures (GridSearchCV with several scorers); the best C of each is fitted to all training rows.
- the rankers on one split for one measure. One run of `LinearRankerCV` with its defaults tries every candidate. Its own
  choice is one row; the others are, for each surrogate, the candidate with the best mean over the folds, fitted anew.
  As a rival, the smooth one starts from the best logistic regression alone, which takes a run of its own.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from headrank import LinearRankerCV, measure
from headrank.estimators.cv.folds import folds
from headrank.exceptions import CollapsedFitWarning

SETS = (
    "annthyroid",
    "a9a",
    "credit_default",
    "dud",
    "jg_like",
    "letter",
    "lightgbm_rank",
    "mammography",
    "mq2008",
    "musk2",
    "oil_spill",
    "reuters_acq",
    "spambase",
    "unsw_backdoor",
    "w8a",
    "yeast_ppi",
)
N_TASKS = 3
"""Number of tasks used from a set with many tasks; each counts as a set."""
MEASURES = ("pauc@0.1", "pauc@0.02", "pauc@0.02:0.05", "locauc@0.05")

CLASSIFIERS = ("logistic", "LinearSVC")
CLASSIFIER_CS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
SURROGATES = {"auc": "SVM-AUC", "structural": "structural", "tight": "tight", "smooth": "smooth"}
CHOICE = "LinearRankerCV"
RIVALS = (*CLASSIFIERS, *SURROGATES.values())
MODELS = (*RIVALS, CHOICE)
N_FOLDS = 5
TEST_SIZE = 0.4


@dataclass(frozen=True)
class Cell:
    """One split of one set; without a measure for the classifiers, with one for the rankers."""

    data: str
    split: int
    measure: str | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models it covers."""
        return CLASSIFIERS if self.measure is None else (*SURROGATES.values(), CHOICE)

    def __str__(self) -> str:
        return f"{self.data}, split {self.split}, {self.measure or 'classifiers'}"


@dataclass(frozen=True)
class Result:
    """One model on one split of one set, tuned for one measure."""

    data: str
    measure: str
    split: int
    model: str
    value: float
    """The measure on the test rows; a mean over queries if there are any."""
    seconds: float
    """Seconds of tuning and the final fit. Classifiers are tuned for all measures together; for single surrogates,
    tuned by the run of `LinearRankerCV`, it is the final fit alone."""
    cpu_seconds: float
    """The same in processor time."""
    chosen: str
    remarks: str
    """Kinds of warnings in the final fit; for `LinearRankerCV`, in the whole run."""
    n_train: int
    n_test: int
    n_features: int
    rows: int
    """The requested cap on training rows."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Features, labels 0/1, and the query of each row, if there are queries."""

    X: Any
    y: Any
    qid: Any = None

    def take(self, kept: Any) -> Rows:
        """Return a subset of the rows."""
        return Rows(self.X[kept], self.y[kept], None if self.qid is None else self.qid[kept])

    @property
    def n_stored(self) -> int:
        """Number of stored values in X."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)


# --- Data -------------------------------------------------------------------------------------------------------


def loader(folder: Path) -> Any:
    """Import the module that reads the data sets of a folder."""
    file = folder / "load.py"
    if not file.exists():
        raise FileNotFoundError(f"needed a folder with load.py and the data sets, got {folder}; name it with --data")
    spec = importlib.util.spec_from_file_location("load", file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def with_tasks(folder: Path, names: Sequence[str]) -> list[str]:
    """Expand sets with several tasks to ``set:task`` for the first tasks."""
    load = loader(folder)
    found = []
    for name in names:
        tasks = [] if ":" in name else load.tasks(name)
        found += [f"{name}:{task}" for task in tasks[:N_TASKS]] or [name]
    return found


@lru_cache(maxsize=2)
def read(folder: Path, name: str) -> Rows:
    """Read ``set`` or ``set:task``."""
    X, y, extra = loader(folder).load(*name.split(":", 1))
    return Rows(X.tocsr() if sp.issparse(X) else X, np.asarray(y, dtype=np.int64), extra.get("qid"))


def split_rows(y: Any, qid: Any, *, seed: int, cap: int) -> tuple[Any, Any]:
    """Return at most ``cap`` training rows, and 40 % of all rows for testing: stratified, or whole queries."""
    if qid is None:
        n_test = round(TEST_SIZE * y.size)
        sizes = {"train_size": min(cap, y.size - n_test), "test_size": n_test}
        return next(StratifiedShuffleSplit(1, random_state=seed, **sizes).split(y, y))
    train, test = next(GroupShuffleSplit(1, test_size=TEST_SIZE, random_state=seed).split(y, y, qid))
    queries = np.random.default_rng(seed).permutation(np.unique(qid[train]))
    sizes = np.array([np.count_nonzero(qid[train] == query) for query in queries])
    return train[np.isin(qid[train], queries[np.cumsum(sizes) <= cap])], test


def folds_of(rows: Rows) -> list[tuple[Any, Any]]:
    """Return the default folds of `LinearRankerCV`."""
    queries = None if rows.qid is None else np.unique(rows.qid, return_inverse=True)[1]
    return folds(rows.y == 1, queries, N_FOLDS)


# --- Models -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Contest:
    """Training and test rows of one split, and the fields shared by its results."""

    data: str
    split: int
    cap: int
    train: Rows
    test: Rows

    @classmethod
    def of(cls, folder: Path, cell: Cell, cap: int) -> Contest:
        """Read the set and split it."""
        rows = read(folder, cell.data)
        train, test = split_rows(rows.y, rows.qid, seed=cell.split, cap=cap)
        return cls(cell.data, cell.split, cap, rows.take(train), rows.take(test))

    def result(self, model: str, name: str, fitted: Any, cost: Cost, chosen: str, remarks: set[str]) -> Result:
        """Test a fitted model."""
        scores = fitted.decision_function(self.test.X)
        return Result(
            data=self.data,
            measure=name,
            split=self.split,
            model=model,
            value=float(measure(name)(self.test.y, scores, qid=self.test.qid)),
            seconds=cost.seconds,
            cpu_seconds=cost.cpu_seconds,
            chosen=chosen,
            remarks=" ".join(sorted(remarks)),
            n_train=self.train.y.size,
            n_test=self.test.y.size,
            n_features=self.train.X.shape[1],
            rows=self.cap,
        )


def learn(cell: Cell, folder: Path, *, measures: Sequence[str], cap: int) -> list[Result]:
    """Tune, fit and test all models of a cell, on one thread."""
    with threadpool_limits(1):
        contest = Contest.of(folder, cell, cap)
        if cell.measure is None:
            return [row for model in CLASSIFIERS for row in classify(contest, model, measures)]
        return rank(contest, cell.measure)


def classifier(model: str, n_rows: int, n_features: int) -> Any:
    """Return a scikit-learn baseline with a sufficient, but not extreme, solver precision."""
    if model == "logistic":
        # With the default tol=1e-4 it stops far from its minimum if rows are few or C is large: on dud:ache with C=100
        # at 198.8, where the minimum is 141.1.
        return LogisticRegression(tol=1e-6, max_iter=5000)
    # The primal solver's iterations are Newton steps: on yeast_ppi with C=10, 30 of them end 3e-5 above the minimum;
    # with C=100, 273 of them take a minute.
    return LinearSVC(dual=True) if n_rows < n_features else LinearSVC(dual=False, max_iter=30)


def classify(contest: Contest, model: str, measures: Sequence[str]) -> list[Result]:
    """Tune C for each measure by GridSearchCV."""
    rows, heard = contest.train, Heard()
    steps = [] if sp.issparse(rows.X) else [("scale", StandardScaler())]
    pipeline = Pipeline([*steps, ("model", classifier(model, *rows.X.shape))])
    X = rows.X.astype(np.float64)
    scorers = {name: measure(name).scorer() for name in measures}
    routed = {} if rows.qid is None else {"qid": rows.qid}
    with heard, sklearn.config_context(enable_metadata_routing=bool(routed)):
        if routed:
            scorers = {name: scorer.set_score_request(qid=True) for name, scorer in scorers.items()}
        search = GridSearchCV(
            pipeline, {"model__C": CLASSIFIER_CS}, scoring=scorers, cv=folds_of(rows), refit=False, error_score="raise"
        ).fit(X, rows.y, **routed)
    tuning, fits, found = heard.cost, {}, []
    for name in measures:
        C = CLASSIFIER_CS[int(np.argmax(search.cv_results_[f"mean_test_{name}"]))]
        if C not in fits:
            heard = Heard()
            with heard:
                fits[C] = (sklearn.clone(pipeline).set_params(model__C=C).fit(X, rows.y), heard)
        fitted, last = fits[C]
        found.append(contest.result(model, name, fitted, tuning + last.cost, f"C={C:g}", last.kinds))
    return found


def rank(contest: Contest, name: str) -> list[Result]:
    """Let `LinearRankerCV` choose, then fit the best candidate of each surrogate."""
    rows, heard = contest.train, Heard()
    with heard:
        cv = LinearRankerCV(name, cv=folds_of(rows)).fit(rows.X, rows.y, qid=rows.qid)
    plain = LinearRankerCV(name, surrogates=("logistic", "smooth"), cv=folds_of(rows))
    found = []
    for surrogate, model in SURROGATES.items():
        again = Heard()
        with again:
            trials = plain.fit(rows.X, rows.y, qid=rows.qid).trials_ if surrogate == "smooth" else cv.trials_
            best = max((trial for trial in trials if _in_fixed_grid(trial, surrogate)), key=lambda trial: trial.mean)
            ranker = best.candidate.ranker(measure(name), tol=cv.tol, max_iter=cv.max_iter)
            ranker.set_params(standardize=not sp.issparse(rows.X)).fit(rows.X, rows.y, qid=rows.qid)
        remarks = again.kinds | ({CollapsedFitWarning.__name__} if ranker.collapsed_ else set())
        found.append(contest.result(model, name, ranker, again.cost, details(best.candidate), remarks))
    return [*found, contest.result(CHOICE, name, cv, heard.cost, details(cv.best_), heard.kinds)]


def _in_fixed_grid(trial: Any, surrogate: str) -> bool:
    """Whether a candidate is on the default grid, which rivals and classifiers keep to; `LinearRankerCV` may extend."""
    return trial.candidate.surrogate == surrogate and trial.candidate.C in trial.candidate.kind.Cs


def details(candidate: Any) -> str:
    """Describe a candidate in one line without commas."""
    members = getattr(candidate, "members", (candidate,))
    return " + ".join(f"{_one(each)}{_start(each)}" for each in members)


def _one(candidate: Any) -> str:
    bandwidth = "" if candidate.bandwidth is None else f" bandwidth={candidate.bandwidth:g}"
    return f"{candidate.surrogate} C={candidate.C:g}{bandwidth}"


def _start(candidate: Any) -> str:
    return f" from ({' + '.join(map(_one, candidate.start))})" if candidate.start else ""


@dataclass(frozen=True)
class Cost:
    """Wall-clock and processor seconds."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)


class Heard:
    """Times a block, and records the kinds of its warnings instead of showing them."""

    def __init__(self) -> None:
        self.cost = Cost()
        self.kinds: set[str] = set()

    def __enter__(self) -> Heard:
        self._catcher = warnings.catch_warnings(record=True)
        self._caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: Any) -> None:
        self.cost = Cost(time.perf_counter() - self._start[0], time.process_time() - self._start[1])
        self._catcher.__exit__(*error)
        self.kinds = {each.category.__name__ for each in self._caught or ()}
