"""Rankers for a range of the curve compared with classifiers: test partial AUC and seconds, on real data.

`LinearRanker`, tight and structural, beside scikit-learn's LinearSVC and LogisticRegression. All choose C from a grid
in the same way, by the partial AUC over the range on one validation part of the training rows, and are then fitted to
all training rows; *seconds* is that last fit. Dense features are standardised by the training rows.

    python -m experiments.rivals --data ../shared/data --out FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import t
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from experiments._timing import timed
from experiments.tables.data import loader
from headrank.estimators import LinearRanker, path
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import PartialAUC

if TYPE_CHECKING:
    import polars as pl

SETS = ("mammography", "annthyroid", "letter", "spambase", "oil_spill", "w8a")
RANGES = ((0.0, 0.1), (0.0, 0.02), (0.02, 0.05))
_Range: TypeAlias = tuple[float, float]
RANKER_CS = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
# Up to 1e4, for fairness: with a maximum of 10, LogisticRegression chose 10 in every split of annthyroid.
CLASSIFIER_CS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
CLASSIFIERS: dict[str, Callable[[float], Any]] = {
    "LinearSVC": lambda C: LinearSVC(C=C, max_iter=5000),
    "LogisticRegression": lambda C: LogisticRegression(C=C, max_iter=1000),
}
METHODS = ("tight", "structural", *CLASSIFIERS)


@dataclass(frozen=True)
class Outcome:
    """One method on one split: its test partial AUC, the C it chose, and the seconds of its last fit."""

    data: str
    min_fpr: float
    max_fpr: float
    method: str
    split: int
    test: float
    seconds: float
    C: float
    collapsed: bool


@dataclass(frozen=True)
class Rivalry:
    """All outcomes."""

    outcomes: tuple[Outcome, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row per data set, range and method: mean test partial AUC, its standard error, mean seconds."""
        import polars as pl

        rows = []
        for (data, low, high), by_method in self.groups().items():
            for method, outcomes in by_method.items():
                tests = [outcome.test for outcome in outcomes]
                rows.append(
                    {
                        "data": data,
                        "min_fpr": low,
                        "max_fpr": high,
                        "method": method,
                        "test_pauc": mean(tests),
                        "standard_error": stdev(tests) / len(tests) ** 0.5 if len(tests) > 1 else float("nan"),
                        "seconds": mean(outcome.seconds for outcome in outcomes),
                        "Cs": " ".join(f"{outcome.C:g}" for outcome in outcomes),
                        "n_collapsed": sum(outcome.collapsed for outcome in outcomes),
                    }
                )
        return pl.DataFrame(rows)

    def outcomes_frame(self) -> pl.DataFrame:
        """One row per split as well."""
        import polars as pl

        return pl.DataFrame([asdict(outcome) for outcome in self.outcomes])

    def groups(self) -> dict[tuple[str, float, float], dict[str, list[Outcome]]]:
        """Return the outcomes by data set and range, then by method."""
        found: dict[tuple[str, float, float], dict[str, list[Outcome]]] = {}
        for each in self.outcomes:
            found.setdefault((each.data, each.min_fpr, each.max_fpr), {}).setdefault(each.method, []).append(each)
        return found

    def __str__(self) -> str:
        lines = [f"{'test partial AUC, seconds':<32}" + "".join(f"{method:>22}{'':<6}" for method in METHODS)]
        wins = dict.fromkeys(METHODS, 0)
        for row in self.to_frame().partition_by("data", "min_fpr", "max_fpr", maintain_order=True):
            data, low, high = row.row(0)[:3]
            line = f"{data:<18}{f'[{low:g}, {high:g}]':<14}"
            best = row["test_pauc"].max()
            for each in row.iter_rows(named=True):
                won = each["test_pauc"] == best
                wins[each["method"]] += won
                mark = ("*" if won else " ") + ("w=0" if each["n_collapsed"] else "")
                value = f"{each['test_pauc']:.3f} ± {each['standard_error']:.3f} {each['seconds']:.2f} s"
                line += f"{value:>22}{mark:<6}"
            lines.append(line.rstrip())
        lines += [
            "± standard error over splits; * highest mean; w=0: the ranker collapsed in at least one split; "
            "seconds of the fit at the chosen C",
            "highest mean (ties count for each): " + ", ".join(f"{method} {n}" for method, n in wins.items()),
        ]
        lines += [self._paired(mine, rival) for mine in METHODS[:2] for rival in CLASSIFIERS]
        return "\n".join(lines)

    def _paired(self, mine: str, rival: str) -> str:
        """Count significant differences: paired t-test at 95 %, treating splits as independent."""
        better = worse = 0
        groups = self.groups().values()
        for by_method in groups:
            differences = [a.test - b.test for a, b in zip(by_method[mine], by_method[rival], strict=True)]
            width = float("inf")
            if len(differences) > 1:
                width = float(t.ppf(0.975, len(differences) - 1)) * stdev(differences) / len(differences) ** 0.5
            better += mean(differences) > width
            worse += mean(differences) < -width
        unclear = len(groups) - better - worse
        return f"{mine} against {rival}: clearly better in {better}, clearly worse in {worse}, unclear in {unclear}"


def rivals(
    data: Iterable[tuple[str, Any, Any]],
    *,
    ranges: Sequence[_Range] = RANGES,
    n_splits: int = 3,
    ranker_Cs: Sequence[float] = RANKER_CS,
    classifier_Cs: Sequence[float] = CLASSIFIER_CS,
    tell: Callable[[str], None] | None = None,
) -> Rivalry:
    """Compare the methods on named data sets ``(name, X, y)``: 60 % of the rows train, 40 % test, stratified."""
    outcomes: list[Outcome] = []
    for name, X, y in data:
        splits = StratifiedShuffleSplit(n_splits, test_size=0.4, random_state=0)
        for split, (train, test) in enumerate(splits.split(np.zeros(len(y)), y)):
            if tell is not None:
                tell(f"{name}, split {split + 1} of {n_splits}")
            contest = _Contest.of(X, y, train, test)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapsedFitWarning)  # in the result
                warnings.simplefilter("ignore", ConvergenceWarning)
                for region in ranges:
                    for method in METHODS:
                        Cs = classifier_Cs if method in CLASSIFIERS else ranker_Cs
                        outcomes.append(contest.outcome(name, split, method, region, Cs))
    return Rivalry(tuple(outcomes))


@dataclass(frozen=True, eq=False)
class _Contest:
    """One split: training rows, validation rows for the choice of C (then added to training), and test rows."""

    X: Any
    y: Any
    learn: Any
    choose: Any
    rest: Any
    rest_y: Any

    @classmethod
    def of(cls, X: Any, y: Any, train: Any, test: Any) -> _Contest:
        train_X, test_X = X[train], X[test]
        if not sp.issparse(X):
            scaler = StandardScaler().fit(train_X.astype(np.float64))
            train_X, test_X = scaler.transform(train_X), scaler.transform(test_X)
        inner = StratifiedShuffleSplit(1, test_size=0.3, random_state=1)
        learn, choose = next(inner.split(np.zeros(len(train)), y[train]))
        return cls(train_X, y[train], learn, choose, test_X, y[test])

    def outcome(self, name: str, split: int, method: str, region: _Range, Cs: Sequence[float]) -> Outcome:
        """Choose C, fit, and test."""
        measure = PartialAUC(min_fpr=region[0], max_fpr=region[1])
        learn_X, learn_y = self.X[self.learn], self.y[self.learn]
        choose_X, choose_y = self.X[self.choose], self.y[self.choose]
        if method in CLASSIFIERS:
            make = CLASSIFIERS[method]
            scores = [make(C).fit(learn_X, learn_y).decision_function(choose_X) for C in Cs]
        else:

            def make(C: float) -> Any:
                return LinearRanker(measure, surrogate=method, C=C)

            scores = [choose_X @ coef for coef in path(make(1.0), learn_X, learn_y, Cs=Cs).coefs]
        C = Cs[int(np.argmax([measure(choose_y, each) for each in scores]))]
        start = time.perf_counter()
        model = make(C).fit(self.X, self.y)
        seconds = time.perf_counter() - start
        return Outcome(
            data=name,
            min_fpr=region[0],
            max_fpr=region[1],
            method=method,
            split=split,
            test=measure(self.rest_y, model.decision_function(self.rest)),
            seconds=seconds,
            C=C,
            collapsed=bool(getattr(model, "collapsed_", False)),
        )


def load_sets(folder: Path, names: Iterable[str]) -> Iterable[tuple[str, Any, Any]]:
    """Read data sets with the ``load.py`` of their folder."""
    load = loader(folder)
    for name in names:
        X, y, _ = load.load(name)
        yield name, X, np.asarray(y)


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(
        description="Compare LinearRanker with LinearSVC and LogisticRegression. One split of mammography takes 4 "
        "seconds of processor time; larger sets take longer and were not timed."
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with load.py")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for rivals.csv and rivals_splits.csv")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes: tuple[Outcome, ...] = ()
    for each in load_sets(options.data, options.sets):
        outcomes += rivals([each], n_splits=options.splits, tell=lambda text: print(text, flush=True)).outcomes
        result = Rivalry(outcomes)  # written after each set, since the larger ones take minutes
        result.to_frame().write_csv(options.out / "rivals.csv")
        result.outcomes_frame().write_csv(options.out / "rivals_splits.csv")
    print(Rivalry(outcomes))


if __name__ == "__main__":
    main()
