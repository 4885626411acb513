"""Passes over the data that fitting takes, and where its time goes.

``python benchmarks/solvers.py [dense] [float32] [sparse] [growth] [optima] [memory]
[thresholds]`` runs some sections, without
names all. Every figure it prints was measured just then; nothing is asserted about time.

*evals*: evaluations of the risk. *passes*: products with the rows over 2, since one evaluation takes X @ w and c @ X;
those after the solver has finished (threshold, collapse) count too. *time*: seconds of the whole ``fit``, as a
multiple of one pass, which is timed just before and just after the fit; of three fits the median one. *of it*: the
same multiple, split into products with the rows, the surrogate, the quadratic program over the cuts, and all else
(checks of X, line search, L-BFGS). *goal*: what issue 3 asks of *time*.

Other load on the machine distorts the figures, above all those of short vectors on several BLAS threads; the load is
printed. ``OPENBLAS_NUM_THREADS=1`` makes them steadier, and the pass slower.
"""

import importlib.util
import os
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from headrank import AUC, LinearRanker, PartialAUC
from headrank.estimators._fitting import adopt, posed, search
from headrank.estimators._risk import LinearRisk
from headrank.estimators.threads import limit_blas_threads
from headrank.exceptions import CollapsedFitWarning
from headrank.solvers import Bundle

CS = (1.0, 10.0, 100.0, 1000.0)
MAX_ITER = 300
GENERATOR = Path(__file__).parents[2] / "shared" / "research" / "gen_data.py"


@dataclass(frozen=True)
class Setting:
    """A surrogate, a range of false positive rates, and the goal for each C in `CS`, in passes."""

    surrogate: str
    low: float
    high: float
    goals: tuple[int, int, int, int]

    @property
    def measure(self) -> Any:
        """What the surrogate bounds."""
        whole = self.low == 0 and self.high == 1
        return AUC() if whole else PartialAUC(min_fpr=self.low, max_fpr=self.high)

    def __str__(self) -> str:
        return "AUC" if self.high == 1 else f"{self.surrogate} [{self.low:g}, {self.high:g}]"


SETTINGS = (
    Setting("structural", 0.0, 1.0, (12, 14, 18, 24)),
    Setting("tight", 0.0, 0.1, (10, 10, 12, 18)),
    Setting("structural", 0.0, 0.1, (12, 14, 18, 24)),
    Setting("structural", 0.02, 0.05, (14, 16, 40, 60)),
    Setting("tight", 0.0, 0.01, (20, 30, 50, 60)),
    Setting("structural", 0.0, 0.01, (40, 40, 40, 40)),
)
SETTING_BY_NAME = {str(setting): setting for setting in SETTINGS}


# --- What is counted and timed ---------------------------------------------------------------------------------


class Clock:
    """Total calls and seconds of each kind of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    @contextmanager
    def running(self, kind: str) -> Iterator[None]:
        """Count the time of a block for this kind of work."""
        start = time.perf_counter()
        yield
        self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start
        self.calls[kind] = self.calls.get(kind, 0) + 1


class CountedRows:
    """Rows that count their products."""

    def __init__(self, rows: Any, clock: Clock) -> None:
        self.rows, self.clock, self.n_features = rows, clock, rows.n_features

    def scores(self, weights: Any) -> Any:
        """X @ weights."""
        with self.clock.running("products"):
            return self.rows.scores(weights)

    def combine(self, coef: Any) -> Any:
        """The product coef @ X."""
        with self.clock.running("products"):
            return self.rows.combine(coef)


class TimedBundle(Bundle):
    """A bundle that times its quadratic programs and the updates of the Gram matrix."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def add(self, normal: Any, offset: float) -> None:
        """Add one cut."""
        with self.clock.running("cuts"):
            super().add(normal, offset)

    def model(self, C: float) -> Any:
        """Minimise the model."""
        with self.clock.running("cuts"):
            return super().model(C)


class CountedRanker(LinearRanker):
    """A ranker that records where the time of `fit` goes."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit with timed rows, surrogate and bundle."""
        clock, problem = Clock(), posed(self, X, y)
        self.clock_, risk = clock, problem.risk

        def surrogate(pos_scores: Any, neg_scores: Any) -> Any:
            with clock.running("surrogate"):
                return risk.surrogate(pos_scores, neg_scores)

        problem = replace(problem, risk=LinearRisk(CountedRows(risk.rows, clock), surrogate, risk.positive))
        with limit_blas_threads(problem.size):
            solution = search(self, problem, self.C, bundle=TimedBundle(clock))
        adopt(self, problem, solution, C=self.C)
        return self


def circumstances() -> str:
    """Return the number of BLAS threads and the load of the machine."""
    threads = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    return f"{threads} BLAS threads, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} in the minute before"


def pass_seconds(X: Any, repeats: int = 7) -> list[float]:
    """Time X @ w plus c @ X, with vectors of the type of X."""
    rng = np.random.default_rng(0)
    w, c = rng.normal(size=X.shape[1]).astype(X.dtype), rng.normal(size=X.shape[0]).astype(X.dtype)
    transposed = X.T  # for CSR, c @ X would convert; X.T @ c does not
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        _ = X @ w
        _ = transposed @ c
        times.append(time.perf_counter() - start)
    return times


@dataclass(frozen=True)
class Fit:
    """One fit, measured."""

    ranker: CountedRanker
    seconds: float
    one_pass: float

    @property
    def passes(self) -> float:
        """Products with the rows over 2."""
        return self.ranker.clock_.calls["products"] / 2

    def multiple(self, kind: str | None = None) -> float:
        """Time of the fit, or of one kind of work in it, over the time of one pass."""
        return (self.seconds if kind is None else self.ranker.clock_.seconds[kind]) / self.one_pass

    @property
    def split(self) -> str:
        """Where the time went."""
        parts = [self.multiple(kind) for kind in ("products", "surrogate", "cuts")]
        return "".join(f"{part:8.1f}" for part in [*parts, self.multiple() - sum(parts)])

    @property
    def outcome(self) -> str:
        """Notes on the result besides its gap."""
        finished = "" if self.ranker.gap_ <= self.ranker.tol else " NOT CERTIFIED"
        return ("collapsed" if self.ranker.collapsed_ else "") + finished


def fitted(X: Any, y: Any, setting: Setting, C: float, *, repeats: int = 1, **options: Any) -> Fit:
    """Fit repeatedly, and return the fit with the median time."""
    fits = [fitted_once(X, y, setting, C, **options) for _ in range(repeats)]
    return sorted(fits, key=Fit.multiple)[repeats // 2]


def fitted_once(X: Any, y: Any, setting: Setting, C: float, **options: Any) -> Fit:
    options = {"max_iter": MAX_ITER} | options
    ranker = CountedRanker(setting.measure, surrogate=setting.surrogate, C=C, **options)
    passes = pass_seconds(X)
    with warnings.catch_warnings():  # both are columns of the tables
        warnings.simplefilter("ignore", CollapsedFitWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        ranker.fit(X, y)
        seconds = time.perf_counter() - start
    return Fit(ranker, seconds, median(passes + pass_seconds(X)))


# --- Data -------------------------------------------------------------------------------------------------------


def dense_rows(n_rows: int, n_features: int = 100, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Unit Gaussians; 5 % positives, shifted by 3 along one direction and 1.3 times as wide."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.05).astype(np.int64)
    X = rng.standard_normal((n_rows, n_features), dtype=dtype)
    X[y == 1] *= 1.3
    direction = rng.normal(size=n_features)
    X[y == 1] += 3 * direction / np.linalg.norm(direction)
    return X, y


def sparse_rows(n_rows: int = 200_000, n_features: int = 20_000, per_row: int = 50) -> tuple[Any, Any]:
    """Rows of unit length; a fifth of a positive's nonzeros fall on 200 features of its own."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.05).astype(np.int64)
    columns = rng.integers(n_features, size=(n_rows, per_row), dtype=np.int32)
    topical = (y == 1)[:, None] & (rng.random(columns.shape) < 0.2)
    columns[topical] = rng.integers(200, size=int(topical.sum()))
    values = rng.exponential(size=columns.size) / np.sqrt(2 * per_row)
    indptr = np.arange(n_rows + 1, dtype=np.int32) * per_row
    X = sp.csr_array((values, columns.ravel(), indptr), shape=(n_rows, n_features))
    X.sum_duplicates()
    return X, y


# --- Sections ---------------------------------------------------------------------------------------------------


def table(X: Any, y: Any, settings: Sequence[Setting], Cs: Sequence[float], *, goals: bool) -> None:
    print(f"one pass: {1e3 * median(pass_seconds(X, 21)):.1f} ms")
    print(
        f"{'':<24}{'C':>6}{'evals':>7}{'passes':>8}{'time':>8}{'goal':>6}"
        f"   of it:{'products':>10}{'surrog.':>8}{'cuts':>8}{'rest':>8}{'gap':>10}"
    )
    for setting in settings:
        for C in Cs:
            fit = fitted(X, y, setting, C, repeats=3)
            goal = setting.goals[CS.index(C)] if goals else None
            missed = goal is not None and fit.multiple() > goal
            print(
                f"{setting!s:<24}{C:>6g}{fit.ranker.n_iter_:>7}{fit.passes:>8.1f}{fit.multiple():>8.1f}"
                f"{'' if goal is None else goal:>6}{' miss' if missed else '':<5}{'':<6}{fit.split}"
                f"{fit.ranker.gap_:>10.1e}  {fit.outcome}",
                flush=True,
            )


def dense() -> None:
    """100,000 x 100 in float64, tol 1e-3."""
    table(*dense_rows(100_000), SETTINGS, CS, goals=True)


def float32() -> None:
    """100,000 x 100 in float32, tol 1e-3; the goals were set for float64, whose pass takes longer."""
    table(*dense_rows(100_000, dtype=np.float32), SETTINGS, (10.0, 1000.0), goals=True)


def sparse() -> None:
    """200,000 x 20,000 in CSR, 50 nonzeros per row, tol 1e-3."""
    table(*sparse_rows(), SETTINGS, (10.0, 1000.0), goals=False)


def growth() -> None:
    """Growth with n, 20 features, C = 10, tol 1e-3."""
    print(f"{'':<24}{'rows':>11}{'evals':>7}{'seconds':>9}{'ms per eval':>13}{'ns per row':>12}{'of a pass':>11}")
    for n_rows in (100_000, 400_000, 1_600_000):
        X, y = dense_rows(n_rows, 20)
        for name in ("AUC", "tight [0, 0.1]", "structural [0.02, 0.05]"):
            fit = fitted(X, y, SETTING_BY_NAME[name], 10.0)
            each = fit.seconds / fit.ranker.n_iter_
            print(
                f"{name:<24}{n_rows:>11,}{fit.ranker.n_iter_:>7}{fit.seconds:>9.2f}{1e3 * each:>13.1f}"
                f"{1e9 * each / n_rows:>12.0f}{1e9 * fit.one_pass / n_rows:>11.0f}  {fit.outcome}",
                flush=True,
            )


def optima() -> None:
    """Optima known from elsewhere (gen_data.py, train seed 1), tol 1e-6; and tol 1e-3, where dlib needed 0.82 s."""
    if not GENERATOR.exists():
        print(f"skipped: {GENERATOR} is absent")
        return
    spec = importlib.util.spec_from_file_location("gen_data", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    auc, tight = SETTING_BY_NAME["AUC"], SETTING_BY_NAME["tight [0, 0.1]"]
    print(
        f"{'':<24}{'C':>6}{'tol':>7}{'evals':>7}{'passes':>8}{'time':>8}{'goal':>6}"
        f"{'lower bound':>15}{'objective':>13}   known optimum"
    )

    def line(X: Any, y: Any, name: str, setting: Setting, C: float, tol: float, known: str, goal: str = "") -> None:
        fit = fitted(X, y, setting, C, tol=tol, max_iter=1000)
        print(
            f"{name + ' ' + str(setting):<24}{C:>6g}{tol:>7.0e}{fit.ranker.n_iter_:>7}{fit.passes:>8.1f}"
            f"{fit.multiple():>8.1f}{goal:>6}{fit.ranker.lower_bound_:>15.5f}{fit.ranker.objective_:>13.5f}   {known}"
            f"  {fit.outcome}",
            flush=True,
        )

    X, y = generator.make_dense(100_000, seed=1)
    line(X, y, "dense", auc, 100.0, 1e-3, "23.50163", goal="15")
    line(X, y, "dense", auc, 100.0, 1e-6, "23.50163")
    line(X, y, "dense", auc, 1000.0, 1e-6, "229.83229")
    X, y = generator.make_sparse(200_000, seed=1)
    line(X, y, "sparse", auc, 1e4, 1e-6, "1037.17774")
    line(X, y, "sparse", tight, 1e3, 1e-3, "778.445 to 778.919")
    line(X, y, "sparse", tight, 1e3, 1e-6, "778.445 to 778.919")


def memory() -> None:
    """Peak memory of a fit beyond X and y, in vectors of length n (float64); the goal is at most 30."""
    print(f"{'rows':<10}{'':<24}{'C':>6}{'evals':>7}{'cuts':>6}{'vectors':>9}{'MB':>8}")
    stored: dict[str, Callable[[], tuple[Any, Any]]] = {
        "float64": lambda: dense_rows(100_000),
        "float32": lambda: dense_rows(100_000, dtype=np.float32),
        "CSR": sparse_rows,
    }
    for kind, make in stored.items():
        X, y = make()
        for name in ("AUC", "tight [0, 0.1]", "structural [0.02, 0.05]", "tight [0, 0.01]"):
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            ranker = fitted(X, y, SETTING_BY_NAME[name], 100.0).ranker
            peak = tracemalloc.get_traced_memory()[1] - before
            tracemalloc.stop()
            print(
                f"{kind:<10}{name:<24}{100:>6}{ranker.n_iter_:>7}{ranker.trace_[-1].n_cuts:>6}"
                f"{peak / 8 / y.size:>9.1f}{peak / 1e6:>8.1f}",
                flush=True,
            )


def thresholds() -> None:
    """Evaluations of the surrogates of the highest negatives, over those of the tight hinge of the same range.

    100,000 x 100 in float64, tol 1e-3. The hinge of one negative is that of TopPush.
    """
    X, y = dense_rows(100_000)
    one = 1 / int((y == 0).sum())
    print(f"{'':<24}{'[0, b]':>10}" + "".join(f"{f'C = {C:g}':>16}" for C in CS))
    for high, names in (
        (0.1, ("tau-fpl", "patmat", "asymmetric")),
        (0.01, ("tau-fpl", "patmat", "asymmetric")),
        (one, ("toppush",)),
    ):
        hinge = [fitted_once(X, y, Setting("tight", 0.0, high, (0, 0, 0, 0)), C).ranker.n_iter_ for C in CS]
        print(f"{'tight':<24}{high:>10.3g}" + "".join(f"{n:>16}" for n in hinge), flush=True)
        for name in names:
            fits = [fitted_once(X, y, Setting(name, 0.0, high, (0, 0, 0, 0)), C) for C in CS]
            cells = [f"{fit.ranker.n_iter_} ({fit.ranker.n_iter_ / n:.2f})" for fit, n in zip(fits, hinge, strict=True)]
            print(f"{name:<24}{high:>10.3g}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


SECTIONS = {job.__name__: job for job in (dense, float32, sparse, growth, optima, memory, thresholds)}

if __name__ == "__main__":
    names = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; the sections are {', '.join(SECTIONS)}")
    for name in names:
        print(f"\n{name}: {SECTIONS[name].__doc__}\n{circumstances()}", flush=True)
        SECTIONS[name]()
