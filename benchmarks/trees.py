"""RankerCV compared with boosted trees of other libraries: defaults, tuned by Optuna, and FLAML.

Every model sees the same training rows, and what is tuned is tuned on the measure over the same five folds. Test values
go to ``OUT/results.csv``, one row per set, measure, split and model, after each of them: stop it at any time, and the
same command goes on. Rivals whose library is missing are left out.

    python benchmarks/trees.py --jobs 2                      # a day: 50 trials for each case
    python benchmarks/trees.py --models RankerCV HGB         # an hour
    python benchmarks/trees.py --report                      # the summary of the present results
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from joblib import Parallel, delayed
from quality_cells import SETS, Heard, Rows, folds_of, read, split_rows, with_tasks
from quality_summary import standard_error
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from headrank import RankerCV, measure

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path("bench") / "trees"
MEASURES = ("pauc@0.02", "pauc@0.1", "p@100")
CHOICE, DEFAULT = "RankerCV", "HGB"
N_TRIALS = 50
_SCHEMA = {
    "data": pl.String,
    "measure": pl.String,
    "split": pl.Int64,
    "model": pl.String,
    "value": pl.Float64,
    "cpu_seconds": pl.Float64,
    "remark": pl.String,
}


@dataclass(frozen=True)
class Case:
    """One model on one split of one set, for one measure."""

    data: str
    measure: str
    split: int
    model: str


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, the measure that tuning uses, and the time that FLAML may take."""

    rows: Rows
    measure: str
    seconds: float

    def value(self, kept: Any, scores: Any) -> float:
        """The measure of some rows."""
        part = self.rows.take(kept)
        return float(measure(self.measure)(part.y, scores, qid=part.qid))

    def out_of_fold(self, fit: Callable[[Any, Any], Any]) -> float:
        """Mean over the folds of a way to fit."""
        values = []
        for train, test in folds_of(self.rows):
            fitted = fit(self.rows.X[train], self.rows.y[train])
            values.append(self.value(test, _scores(fitted, self.rows.X[test])))
        return float(np.mean(values))


def _scores(fitted: Any, X: Any) -> Any:
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X)
    return fitted.predict_proba(X)[:, 1]


# --- Models -----------------------------------------------------------------------------------------------------


def rankercv(task: Task) -> tuple[Any, str]:
    """Return headrank's own."""
    ranker = RankerCV(task.measure, cv=folds_of(task.rows)).fit(task.rows.X, task.rows.y, qid=task.rows.qid)
    return ranker, ranker.choice_


def hgb(task: Task) -> tuple[Any, str]:
    """Return scikit-learn's histogram boosting with its defaults; sparse rows are made dense."""

    class Dense(HistGradientBoostingClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X.toarray() if sp.issparse(X) else X, y)

        def decision_function(self, X: Any) -> Any:
            return super().decision_function(X.toarray() if sp.issparse(X) else X)

    return Dense(random_state=0).fit(task.rows.X, task.rows.y), ""


def lightgbm(task: Task) -> tuple[Any, str]:
    """Return LightGBM with its defaults."""
    return _lightgbm()(task.rows.X, task.rows.y), ""


def catboost(task: Task) -> tuple[Any, str]:
    """Return CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(thread_count=1, verbose=False, random_seed=0, allow_writing_files=False)
    return model.fit(task.rows.X, task.rows.y), ""


def tuned_lightgbm(task: Task) -> tuple[Any, str]:
    """Return LightGBM tuned by Optuna on the measure."""

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


def tuned_xgboost(task: Task) -> tuple[Any, str]:
    """Return XGBoost tuned by Optuna on the measure."""

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


def flaml(task: Task) -> tuple[Any, str]:
    """Return what FLAML finds in as much time as RankerCV took, with the measure as its metric."""
    from flaml import AutoML

    def metric(X: Any, y: Any, estimator: Any, *_: Any, **__: Any) -> tuple[float, dict[str, float]]:
        value = float(measure(task.measure)(y, estimator.predict_proba(X)[:, 1]))
        return 1 - value, {"value": value}

    model = AutoML()
    model.fit(
        task.rows.X,
        task.rows.y,
        task="classification",
        metric=metric,
        time_budget=max(task.seconds, 5.0),
        n_jobs=1,
        seed=0,
        verbose=0,
        eval_method="cv",
        n_splits=5,
    )
    return model, f"{model.best_estimator} within {task.seconds:.0f} s"


def _lightgbm(**parameters: Any) -> Callable[[Any, Any], Any]:
    from lightgbm import LGBMClassifier

    return lambda X, y: LGBMClassifier(n_jobs=1, random_state=0, verbose=-1, **parameters).fit(X, y)


def _xgboost(**parameters: Any) -> Callable[[Any, Any], Any]:
    from xgboost import XGBClassifier

    return lambda X, y: XGBClassifier(n_jobs=1, random_state=0, tree_method="hist", **parameters).fit(X, y)


def _tuned(task: Task, ask: Callable[[Any], dict[str, Any]], make: Callable[..., Any]) -> tuple[Any, str]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: task.out_of_fold(make(**ask(trial))), n_trials=N_TRIALS)
    best = ask(optuna.trial.FixedTrial(study.best_params))
    return make(**best)(task.rows.X, task.rows.y), str(study.best_params).replace(",", ";")


MODELS: dict[str, tuple[Callable[[Task], tuple[Any, str]], tuple[str, ...]]] = {
    CHOICE: (rankercv, ()),
    DEFAULT: (hgb, ()),
    "LightGBM": (lightgbm, ("lightgbm",)),
    "CatBoost": (catboost, ("catboost",)),
    "LightGBM tuned": (tuned_lightgbm, ("lightgbm", "optuna")),
    "XGBoost tuned": (tuned_xgboost, ("xgboost", "optuna")),
    "FLAML": (flaml, ("flaml",)),
}
"""How each is learned, and the libraries it needs; RankerCV first, as FLAML gets its time."""


# --- The run ----------------------------------------------------------------------------------------------------


def learned(cases: Sequence[Case], folder: Path, cap: int, seconds: float) -> list[dict[str, Any]]:
    """Learn all models of one split of one set, for one measure."""
    found = []
    for case in cases:
        rows = read(folder, case.data)
        train, test = split_rows(rows.y, rows.qid, seed=case.split, cap=cap)
        used = f"p@{100 / test.size:.6g}" if case.measure == "p@100" else case.measure
        heard = Heard()
        with heard, threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted, remark = MODELS[case.model][0](Task(rows.take(train), used, seconds))
        seconds = heard.cost.seconds if case.model == CHOICE else seconds
        value = measure(case.measure)(rows.y[test], _scores(fitted, rows.X[test]), qid=rows.take(test).qid)
        found.append({**vars(case), "value": float(value), "cpu_seconds": heard.cost.cpu_seconds, "remark": remark})
    return found


def summary(results: pl.DataFrame) -> str:
    """Return means per case, and how RankerCV compares with each rival and with the best of each case."""
    values: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for row in results.iter_rows(named=True):
        of_case = values.setdefault((row["data"], row["measure"]), {})
        of_case.setdefault(row["model"], {})[row["split"]] = row["value"]
    models = [model for model in MODELS if model in set(results["model"])]
    lines = [f"{'':<34}" + "".join(f"{model:>16}" for model in models)]
    leads: dict[str, list[tuple[float, float]]] = {model: [] for model in models if model != CHOICE}
    highest = behind = n_cases = 0
    for (data, name), by_model in sorted(values.items()):
        if any(model not in by_model for model in models):
            continue
        splits = sorted(set.intersection(*(set(by_model[model]) for model in models)))
        table = {model: np.array([by_model[model][split] for split in splits]) for model in models}
        lines.append(f"{data:<18}{name:<16}" + "".join(f"{table[model].mean():>16.4f}" for model in models))
        n_cases += 1
        for model, found in leads.items():
            lead = table[CHOICE] - table[model]
            found.append((float(lead.mean()), standard_error(lead)))
        best = max((model for model in leads), key=lambda model: table[model].mean(), default=None)
        if best is not None:
            mean, error = leads[best][-1]
            highest += mean >= 0
            behind += -mean > 2 * error
    lines.append(
        f"{CHOICE} has the highest mean in {highest} of {n_cases} cases, and trails the best by 2 s.e. in {behind}"
    )
    for model, found in leads.items():
        ahead, trailing = sum(m > 2 * e for m, e in found), sum(-m > 2 * e for m, e in found)
        mean = np.mean([m for m, _ in found]) if found else np.nan
        lines.append(f"  against {model:<15}{mean:+.4f} on average; by 2 s.e. ahead {ahead}, behind {trailing}")
    costs = results.group_by("model").agg(pl.col("cpu_seconds").mean()).sort("cpu_seconds")
    lines.append("Processor seconds: " + ", ".join(f"{name} {cost:.1f}" for name, cost in costs.iter_rows()))
    return "\n".join(lines)


def main() -> None:
    """Learn what is missing, then sum up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with load.py")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--rows", type=int, default=5_000, help="maximum number of training rows")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "results.csv"
    results = pl.read_csv(file, schema=_SCHEMA) if file.exists() else pl.DataFrame(schema=_SCHEMA)
    if not options.report:
        known = set(results.select("data", "measure", "split", "model").iter_rows())
        usable = [m for m in MODELS if m in options.models and all(find_spec(name) for name in MODELS[m][1])]
        groups = []
        for split in range(options.splits):
            for data in with_tasks(options.data, options.sets):
                for name in options.measures:
                    cases = [Case(data, name, split, model) for model in usable]
                    todo = [case for case in cases if tuple(vars(case).values()) not in known]
                    if todo and not (name == "p@100" and read(options.data, data).qid is not None):
                        spent = results.filter(data=data, measure=name, split=split, model=CHOICE)["cpu_seconds"]
                        groups.append((todo, float(spent[0]) if spent.len() else 0.0))
        jobs = (delayed(learned)(todo, options.data, options.rows, spent) for todo, spent in groups)
        found = Parallel(n_jobs=options.jobs, return_as="generator_unordered", pre_dispatch="n_jobs")(jobs)
        for done, new in enumerate(found, start=1):
            results = pl.concat([results, pl.DataFrame(new, schema=_SCHEMA)])
            part = file.with_suffix(".part")
            results.write_csv(part)
            part.replace(file)
            print(
                f"{done} of {len(groups)}: {new[0]['data']}, {new[0]['measure']}, split {new[0]['split']}", flush=True
            )
    text = summary(results)
    print(text)
    (options.out / "summary.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
