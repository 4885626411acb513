"""RankerCV compared with boosted trees of other libraries: defaults, tuned by Optuna, and FLAML.

Every model sees the same training rows, and what is tuned is tuned on the measure over the same five folds. Settings
tried by Optuna do not depend on the measure (quasi-random search), so that each is fitted once per fold and judged by
all measures. Test values go to ``trees.csv`` beside this file, one row per set, measure, split and model, after each
split of a set: stop it at any time, and the same command goes on. Rivals whose library is missing are left out; FLAML
needs an older XGBoost, so it belongs in an environment of its own (`pip install --editable '.[test]' 'flaml[automl]'`).

    python benchmarks/trees.py --jobs 2                      # hours: 50 trials of two libraries on each split
    python benchmarks/trees.py --models RankerCV HGB         # without them
    python benchmarks/trees.py --again RankerCV              # after a change of RankerCV; go on without --again
    python benchmarks/trees.py --report                      # the summary of the present results, of --models if given
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import scipy.sparse as sp
from joblib import Parallel, delayed
from quality_cells import CLASSIFIER_CS, SETS, Heard, Rows, folds_of, read, split_rows, with_tasks
from quality_summary import standard_error
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from headrank import RankerCV, measure

DATA = Path(__file__).parents[2] / "shared" / "data"
RESULTS = Path(__file__).with_name("trees.csv")
MEASURES = ("pauc@0.02", "pauc@0.1", "p@100")
CHOICE, DEFAULT, LINEAR, TIMED = "RankerCV", "HGB", "logistic", "FLAML"
DEFAULTS = (DEFAULT, "LightGBM", "CatBoost")
N_TRIALS = 50
MIN_BUDGET = 5.0
"""Seconds of FLAML at least."""
QUERIES_HELD_OUT = 6
"""Where FLAML passes the queries to a metric, behind the model."""
TIED = 1e-9
"""Means that differ by less are equal: sums of the same values may differ in the last digit."""
_SCHEMA = {
    "data": pl.String,
    "measure": pl.String,
    "split": pl.Int64,
    "rows": pl.Int64,
    "model": pl.String,
    "value": pl.Float64,
    "seconds": pl.Float64,
    "cpu_seconds": pl.Float64,
    "remark": pl.String,
}
_KEY = ("rows", "data", "measure", "split", "model")


@dataclass(frozen=True)
class Cell:
    """One split of one set: for each model, the measures that are still missing."""

    data: str
    split: int
    missing: Mapping[str, tuple[str, ...]]
    seconds: Mapping[str, float]
    """Processor seconds of RankerCV for each measure, as far as they are known."""


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, the measures that tuning uses, and the seconds that FLAML may take for each of them."""

    rows: Rows
    measures: tuple[str, ...]
    seconds: Mapping[str, float]

    def out_of_fold(self, fit: Callable[[Any, Any], Any]) -> list[float]:
        """Mean over the folds of a way to fit, for each measure."""
        values = []
        for train, test in folds_of(self.rows):
            scores = _scores(fit(self.rows.X[train], self.rows.y[train]), self.rows.X[test])
            part = self.rows.take(test)
            values.append([measure(name)(part.y, scores, qid=part.qid) for name in self.measures])
        return [float(mean) for mean in np.mean(values, axis=0)]


Learned: TypeAlias = Iterator[tuple[Any, str]]
"""For each measure of a task, what was fitted for it and a remark."""


def _scores(fitted: Any, X: Any) -> Any:
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X)
    return fitted.predict_proba(X)[:, 1]


# --- Models -----------------------------------------------------------------------------------------------------


def rankercv(task: Task) -> Learned:
    """Yield headrank's own."""
    for name in task.measures:
        ranker = RankerCV(name, cv=folds_of(task.rows)).fit(task.rows.X, task.rows.y, qid=task.rows.qid)
        yield ranker, ranker.choice_


def hgb(task: Task) -> Learned:
    """Yield scikit-learn's histogram boosting with its defaults; sparse rows are made dense."""

    class Dense(HistGradientBoostingClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X.toarray() if sp.issparse(X) else X, y)

        def decision_function(self, X: Any) -> Any:
            return super().decision_function(X.toarray() if sp.issparse(X) else X)

    return _for_every_measure(task, Dense(random_state=0).fit)


def lightgbm(task: Task) -> Learned:
    """Yield LightGBM with its defaults."""
    return _for_every_measure(task, _lightgbm())


def catboost(task: Task) -> Learned:
    """Yield CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    options = {"thread_count": 1, "verbose": False, "random_seed": 0, "allow_writing_files": False}
    return _for_every_measure(task, CatBoostClassifier(**options).fit)


def _for_every_measure(task: Task, fit: Callable[[Any, Any], Any]) -> Learned:
    """Yield the same model for each measure: it was trained for none of them."""
    fitted = fit(task.rows.X, task.rows.y)
    for _ in task.measures:
        yield fitted, ""


def logistic(task: Task) -> Learned:
    """Yield logistic regression with the best C for each measure, on standardised features if they are dense."""

    def fit_with(C: float) -> Callable[[Any, Any], Any]:
        steps = [] if sp.issparse(task.rows.X) else [StandardScaler()]
        return make_pipeline(*steps, LogisticRegression(C=C, max_iter=1000)).fit

    values = [task.out_of_fold(fit_with(C)) for C in CLASSIFIER_CS]
    for of_measure in zip(*values, strict=True):
        C = CLASSIFIER_CS[int(np.argmax(of_measure))]
        yield fit_with(C)(task.rows.X, task.rows.y), f"C={C:g}"


def tuned_lightgbm(task: Task) -> Learned:
    """Yield LightGBM tuned by Optuna on the measure."""

    def ask(trial: Any) -> dict[str, Any]:
        return {
            "n_estimators": trial.suggest_int("n_estimators", 20, 600, log=True),
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
            "num_leaves": trial.suggest_int("num_leaves", 2, 128, log=True),
            "min_child_samples": trial.suggest_int("min_child_samples", 2, 100, log=True),
            "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
            "subsample": trial.suggest_float("subsample", 0.5, 1.0),
            "subsample_freq": 1,
            "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        }

    return _tuned(task, ask, _lightgbm)


def tuned_xgboost(task: Task) -> Learned:
    """Yield XGBoost tuned by Optuna on the measure."""

    def ask(trial: Any) -> dict[str, Any]:
        return {
            "n_estimators": trial.suggest_int("n_estimators", 20, 600, log=True),
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
            "max_depth": trial.suggest_int("max_depth", 1, 10),
            "min_child_weight": trial.suggest_float("min_child_weight", 1e-2, 30.0, log=True),
            "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
            "subsample": trial.suggest_float("subsample", 0.5, 1.0),
            "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        }

    return _tuned(task, ask, _xgboost)


def flaml(task: Task) -> Learned:
    """Yield what FLAML finds in as many seconds as RankerCV took of the processor, with the measure as its metric.

    FLAML counts seconds on the clock, so it needs a core of its own. It makes five folds itself, of whole queries.
    """
    from flaml import AutoML

    for name in task.measures:

        def metric(X: Any, y: Any, estimator: Any, *others: Any, name: str = name) -> tuple[float, dict[str, float]]:
            queries = None if task.rows.qid is None else others[QUERIES_HELD_OUT]
            value = float(measure(name)(y, estimator.predict_proba(X)[:, 1], qid=queries))
            return 1 - value, {"value": value}

        budget = max(task.seconds[name], MIN_BUDGET)
        options = {"task": "classification", "eval_method": "cv", "n_splits": 5, "n_jobs": 1, "seed": 0, "verbose": 0}
        if task.rows.qid is not None:
            options |= {"groups": task.rows.qid, "split_type": "group"}
        model = AutoML()
        with TemporaryDirectory() as folder, chdir(folder):  # CatBoost leaves files where it runs
            model.fit(task.rows.X, task.rows.y, metric=metric, time_budget=budget, **options)
        yield model, f"{model.best_estimator} within {budget:.0f} s"


def _lightgbm(**parameters: Any) -> Callable[[Any, Any], Any]:
    from lightgbm import LGBMClassifier

    return lambda X, y: LGBMClassifier(n_jobs=1, random_state=0, verbose=-1, **parameters).fit(X, y)


def _xgboost(**parameters: Any) -> Callable[[Any, Any], Any]:
    from xgboost import XGBClassifier

    return lambda X, y: XGBClassifier(n_jobs=1, random_state=0, tree_method="hist", **parameters).fit(X, y)


def _tuned(task: Task, ask: Callable[[Any], dict[str, Any]], make: Callable[..., Any]) -> Learned:
    import optuna

    def tried(trial: Any) -> float:
        values = task.out_of_fold(make(**ask(trial)))
        trial.set_user_attr("values", values)
        return values[0]

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.QMCSampler(seed=0, scramble=True))
    study.optimize(tried, n_trials=N_TRIALS)
    for i in range(len(task.measures)):
        best = max(study.trials, key=lambda trial: trial.user_attrs["values"][i]).params
        fitted = make(**ask(optuna.trial.FixedTrial(best)))(task.rows.X, task.rows.y)
        yield fitted, str(best).replace(",", ";")


MODELS: dict[str, tuple[Callable[[Task], Learned], tuple[str, ...]]] = {
    CHOICE: (rankercv, ()),
    DEFAULT: (hgb, ()),
    LINEAR: (logistic, ()),
    "LightGBM": (lightgbm, ("lightgbm",)),
    "CatBoost": (catboost, ("catboost",)),
    TIMED: (flaml, ("flaml",)),
    "LightGBM tuned": (tuned_lightgbm, ("lightgbm", "optuna")),
    "XGBoost tuned": (tuned_xgboost, ("xgboost", "optuna")),
}
"""How each is learned, and the libraries it needs; RankerCV first, as FLAML gets its time."""


# --- The run ----------------------------------------------------------------------------------------------------


def learned(cell: Cell, folder: Path, cap: int) -> list[dict[str, Any]]:
    """Learn what is missing of one split of one set."""
    rows = read(folder, cell.data)
    train, test = split_rows(rows.y, rows.qid, seed=cell.split, cap=cap)
    kept_aside = rows.take(test)
    found, seconds = [], dict(cell.seconds)
    for model, names in cell.missing.items():
        # A count of first rows is a share of the rows that are ranked, here and on the folds.
        used = {f"p@{100 / test.size:.6g}" if name == "p@100" else name: name for name in names}
        task = Task(rows.take(train), tuple(used), {each: seconds.get(name, 0.0) for each, name in used.items()})
        models = MODELS[model][0](task)
        for name in names:
            heard = Heard()
            with threadpool_limits(1), heard:
                fitted, remark = next(models)
            if model == CHOICE:
                seconds[name] = heard.cost.cpu_seconds
            value = float(measure(name)(kept_aside.y, _scores(fitted, kept_aside.X), qid=kept_aside.qid))
            of_case = {"data": cell.data, "measure": name, "split": cell.split, "rows": cap, "model": model}
            of_case["value"] = round(value, 6)
            found.append(of_case | vars(heard.cost) | {"remark": remark})
    return found


def missing_cells(options: argparse.Namespace, results: pl.DataFrame) -> list[Cell]:
    """Return what is still to be learned, split by split."""
    known = set(results.select("data", "measure", "split", "model").iter_rows())
    usable = [m for m in MODELS if m in options.models and all(find_spec(name) for name in MODELS[m][1])]
    cells = []
    for split in range(options.splits):
        for data in with_tasks(options.data, options.sets):
            has_queries = read(options.data, data).qid is not None
            names = [name for name in options.measures if not (name == "p@100" and has_queries)]
            missing = {m: tuple(n for n in names if (data, n, split, m) not in known) for m in usable}
            spent = results.filter(data=data, split=split, model=CHOICE).select("measure", "cpu_seconds").iter_rows()
            budgets = dict(spent)
            if TIMED in missing:  # it waits until there is a time to give it
                timed = {*budgets, *missing.get(CHOICE, ())}
                missing[TIMED] = tuple(n for n in missing[TIMED] if n in timed)
            if missing := {model: names for model, names in missing.items() if names}:
                cells.append(Cell(data, split, missing, budgets))
    return cells


def summary(results: pl.DataFrame) -> str:
    """Return means per case, and how RankerCV compares with each rival and with the best of each case."""
    values: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for row in results.iter_rows(named=True):
        of_case = values.setdefault((row["data"], row["measure"]), {})
        of_case.setdefault(row["model"], {})[row["split"]] = row["value"]
    models = [model for model in MODELS if model in set(results["model"])]
    complete = {case: of for case, of in sorted(values.items()) if _on_shared_splits(of, models)}
    lines = [f"{'':<34}" + "".join(f"{model:>16}" for model in models)]
    for (data, name), of_case in complete.items():
        means = (np.mean(list(of_case[model].values())) for model in models)
        lines.append(f"{data:<18}{name:<16}" + "".join(f"{mean:>16.4f}" for mean in means))
    rivals = [model for model in models if model not in (CHOICE, LINEAR)]
    if CHOICE in models and rivals and complete:
        lines += _compared(list(complete.values()), rivals)
    of_splits = results.group_by("model", "data", "split").agg(pl.col("cpu_seconds").sum())
    costs = of_splits.group_by("model").agg(pl.col("cpu_seconds").mean()).sort("cpu_seconds")
    lines.append(
        "Processor seconds per split, for all measures: "
        + ", ".join(f"{name} {cost:.1f}" for name, cost in costs.iter_rows())
    )
    return "\n".join(lines)


def _on_shared_splits(of_case: Mapping[str, Mapping[int, float]], models: Sequence[str]) -> bool:
    """Whether each model shares a split with RankerCV, or with the first one without it."""
    splits = set(of_case.get(models[0], ()))
    return all(splits & set(of_case.get(model, ())) for model in models)


def _compared(cases: Sequence[Mapping[str, Mapping[int, float]]], rivals: Sequence[str]) -> Iterator[str]:
    """Yield how RankerCV compares with each rival and with the best of each case. One split has no standard error."""
    leads = {rival: [_lead(of_case, rival) for of_case in cases] for rival in rivals}
    hardest = [min(of_case) for of_case in zip(*leads.values(), strict=True)]
    highest, behind = sum(mean > -TIED for mean, _ in hardest), sum(-mean > 2 * error for mean, error in hardest)
    known = sum(np.isfinite(error) for _, error in hardest)
    yield f"{CHOICE} has the highest mean in {highest} of {len(cases)} cases"
    yield f"  against the best of each case, by 2 s.e. behind {behind} of {known}"
    for rival, found in leads.items():
        ahead, trailing = sum(m > 2 * e for m, e in found), sum(-m > 2 * e for m, e in found)
        known = sum(np.isfinite(error) for _, error in found)
        mean = np.mean([m for m, _ in found]) if found else np.nan
        yield f"  against {rival:<15}{mean:+.4f} on average; by 2 s.e. ahead {ahead}, behind {trailing} of {known}"
    if DEFAULT in rivals and all(LINEAR in of_case for of_case in cases):
        untuned = [rival for rival in rivals if rival in DEFAULTS]
        won = [of_case for of_case in cases if max(_lead(of_case, LINEAR, of=rival)[0] for rival in untuned) > 0]
        gain = np.mean([_lead(of_case, DEFAULT)[0] for of_case in won]) if won else np.nan
        yield f"  where the defaults of a library lead {LINEAR}, {len(won)} cases: {gain:+.4f} against {DEFAULT}"
        trees = [of_case for of_case in cases if _lead(of_case, LINEAR, of=DEFAULT)[0] > 0]
        gain = np.mean([_lead(of_case, DEFAULT)[0] for of_case in trees]) if trees else np.nan
        best = [max(_lead(of_case, DEFAULT, of=rival)[0] for rival in rivals) for of_case in trees]
        yield f"  where {DEFAULT} leads logistic regression, {len(trees)} cases: {gain:+.4f} against {DEFAULT}"
        yield f"    the best rival of each, in hindsight: {np.mean(best) if best else np.nan:+.4f}"


def _lead(of_case: Mapping[str, Mapping[int, float]], rival: str, *, of: str = CHOICE) -> tuple[float, float]:
    """Return by how much a model leads on the splits that both have, and the standard error."""
    shared = sorted(set(of_case[of]) & set(of_case[rival]))
    lead = np.array([of_case[of][split] - of_case[rival][split] for split in shared])
    return float(lead.mean()), standard_error(lead)


def main() -> None:
    """Learn what is missing, then sum up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with load.py")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--again", nargs="+", default=[], choices=list(MODELS), help="models that are learned again")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--rows", type=int, default=5_000, help="maximum number of training rows")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    file = options.results
    every = pl.read_csv(file, schema=_SCHEMA) if file.exists() else pl.DataFrame(schema=_SCHEMA)
    of_size = pl.col("rows") == options.rows
    known = every.filter(of_size, ~pl.col("model").is_in(options.again))
    cells = [] if options.report else missing_cells(options, known)
    jobs = (delayed(learned)(cell, options.data, options.rows) for cell in cells)
    found = Parallel(n_jobs=options.jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(jobs)
    for done, rows in enumerate(found, start=1):
        new = pl.DataFrame(rows, schema=_SCHEMA)
        every = pl.concat([every.join(new, on=_KEY, how="anti"), new]).sort(_KEY)  # new results replace old ones
        part = file.with_suffix(".part")
        every.write_csv(part, float_precision=6)
        part.replace(file)
        print(f"{done} of {len(cells)}: {rows[0]['data']}, split {rows[0]['split']}", flush=True)
    print(summary(every.filter(of_size, pl.col("model").is_in(options.models))))


if __name__ == "__main__":
    main()
