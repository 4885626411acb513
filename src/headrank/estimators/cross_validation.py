"""LinearRankerCV: which surrogate, and how much of it? Decided on the measure itself, on rows not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from headrank._numbers import above_zero, whole
from headrank._types import ArrayLike
from headrank.estimators._candidates import (
    DEFAULT_CS,
    SURROGATES,
    Candidate,
    Fold,
    Trial,
    standard_error,
    target_of,
    tried,
)
from headrank.estimators._problem import Problem, pose
from headrank.estimators._scorer import LinearScorer
from headrank.estimators.linear import LinearRanker
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import AUC, EnrichmentFactor, Measure, PrecisionAt, RecallAt
from headrank.measures import measure as measure_of
from headrank.surrogates import HINGES


class LinearRankerCV(LinearScorer):
    """The linear scorer to use: surrogate, C and bandwidth chosen by cross-validation on the measure.

    No surrogate wins everywhere. Hinges collapse on overlapping classes, smooth surrogates overfit few positives, and
    often enough logistic regression is best. So each is tried, from the simplest to the most daring; a challenger
    replaces the choice so far only if it is better by more than the standard error of their difference, paired over the
    folds. The choice is then fitted to all rows.

    Cost: about ``cv`` times the number of candidates fits, each starting from the one before; no row is copied.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at; any measure that `LinearRanker` can learn smoothly.
    surrogates : sequence of str
        Some of "logistic", "auc", "tight", "structural" and "smooth", from the simplest to the most daring. "auc" is
        the hinge of the whole curve. Where a hinge does not exist for the measure of a best fraction, it is that of the
        false positive rates up to this fraction.
    Cs : sequence of float, optional
        For every surrogate; if not given, 0.001 to 100 for the logistic regression, whose loss is a sum over rows, 1 to
        1,000 for the hinges and 0.1 to 100 for the smooth surrogate, which are means, in steps of 10.
    bandwidths : sequence of float, default=(0.1, 0.5)
        Of the smooth surrogate, in standard deviations of the scores.
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many folds, stratified by class, and keeping queries whole when ``qid`` is given.
    standardize : bool, default=None
        Divide each feature by its standard deviation, without touching X. If None, dense features are, sparse not.
    tol : float, default=1e-3
        As in `LinearRanker`; on the folds the hinges are solved to ten times that.
    max_iter : int, default=300
        Passes over X after which a candidate is judged as it is.
    n_jobs : int, optional
        Threads, as everywhere in scikit-learn.
    random_state : int or RandomState, default=0
        Of the shuffle before the folds are made.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    best_ : Candidate
        What was chosen.
    choice_ : str
        A sentence that says so, and why.
    best_score_ : float
        Its mean over the folds. The best of many: somewhat too good, so measure on rows kept aside.
    cv_results_ : polars.DataFrame
        One row per candidate and fold; made anew from ``trials_`` whenever it is asked for.
    trials_ : tuple of Trial
        One per candidate, in the order of the candidates.
    measure_ : Measure
        What was measured on the folds: ``measure``, a number of first rows turned into a fraction of all.
    ranker_ : LinearRanker
        The choice, fitted to all rows.
    n_iter_ : int
        Passes over the rows that this last fit took.
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = LinearRankerCV("pauc@0.3", surrogates=("logistic", "tight"), Cs=(0.1, 1.0), cv=3).fit(X, y)
    >>> print(ranker.choice_)  # doctest: +ELLIPSIS
    Chose ...
    """

    trials_: tuple[Trial, ...]
    measure_: Measure

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        surrogates: Sequence[str] = SURROGATES,
        Cs: Sequence[float] | None = None,
        bandwidths: Sequence[float] = (0.1, 0.5),
        cv: Any = 5,
        standardize: bool | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.surrogates = surrogates
        self.Cs = Cs
        self.bandwidths = bandwidths
        self.cv = cv
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Choose by cross-validation, then fit the choice to all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Dense or CSR, float64 or float32 are used as they are; X is never copied then.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the same as the row twice.
        qid : array-like of shape (n_rows,), optional
            Query of each row: measured is the mean over queries, and no query is split between folds.
        """
        groups = self._groups()
        problem = self._pose(X, y, sample_weight, qid)
        for group in groups:  # a measure that a surrogate cannot learn is refused before anything is fitted
            problem.with_surrogate(group[0].kind, measure=target_of(problem.measure, group[0].surrogate))
        folds = [Fold(problem, train, test) for train, test in self._splits(X, problem)]
        with _progress(self.verbose, len(folds) * sum(map(len, groups)), str(problem.measure)) as told:
            trials = self._try_all(groups, folds, told)
        self.trials_, self.measure_ = tuple(trials), problem.measure
        order = _in_order_of_choice(self.trials_, self.surrogates)
        chosen, self.ranker_ = self._refit(order, problem.measure, X, y, sample_weight, qid)
        self.best_, self.choice_ = chosen.candidate, _why(chosen, self.trials_, problem.measure)
        self.best_score_ = chosen.mean if problem.measure.greater_is_better else -chosen.mean
        self.coef_, self.intercept_ = self.ranker_.coef_, self.ranker_.intercept_
        self.n_iter_ = self.ranker_.n_iter_
        return self

    @property
    def cv_results_(self) -> Any:
        """One row per candidate and fold. A property, so that a model file holds numbers and no data frame."""
        return _frame(self.trials_, self.measure_)

    def _pose(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, qid: ArrayLike | None) -> Problem:
        X, positive = self._admitted(X, y)
        measure = measure_of(self.measure)
        return pose(
            X,
            positive,
            measure=measure if qid is not None else _of_any_size(measure, positive.size),
            surrogate="logistic",
            bandwidth=1.0,
            sample_weight=sample_weight,
            qid=qid,
            standardize=_is_dense(X) if self.standardize is None else self.standardize,
        )

    def _groups(self) -> list[list[Candidate]]:
        """All candidates, those that differ in C alone together, in rising order of C."""
        unknown = [name for name in self.surrogates if name not in SURROGATES]
        if unknown or not self.surrogates:
            raise ValueError(f"surrogates must be some of {', '.join(map(repr, SURROGATES))}, got {self.surrogates!r}")
        groups = []
        hinge_of_auc = isinstance(measure_of(self.measure), AUC) and "auc" in self.surrogates
        for name in self.surrogates:
            if hinge_of_auc and name in HINGES:
                continue  # the same as "auc"
            Cs = sorted(above_zero("C", C) for C in (DEFAULT_CS[name] if self.Cs is None else self.Cs))
            bandwidths = [above_zero("bandwidth", h) for h in self.bandwidths] if name == "smooth" else [None]
            if not Cs or not bandwidths:
                raise ValueError("needed at least one C and one bandwidth, got none")
            groups += [[Candidate(name, C, bandwidth) for C in Cs] for bandwidth in bandwidths]
        return groups

    def _splits(self, X: Any, problem: Problem) -> list[tuple[Any, Any]]:
        positive, queries = problem.risk.positive, problem.queries
        cv: Any = 5 if self.cv is None else self.cv
        if isinstance(cv, Integral):
            n_folds = whole("cv", cv, at_least=2)
            counted = positive if problem.weights is None else positive[problem.weights > 0]
            n_least = int(min(np.count_nonzero(counted), np.count_nonzero(~counted)))
            if n_least < n_folds:
                raise ValueError(f"cv={n_folds} folds need as many rows of each class, but one has {n_least}; lower cv")
            kind = StratifiedKFold if queries is None else StratifiedGroupKFold
            cv = kind(n_folds, shuffle=True, random_state=self.random_state)
        splits = list(cv.split(X, positive, queries) if hasattr(cv, "split") else cv)
        if not splits:
            raise ValueError("cv gave no folds; give an int, a splitter, or an iterable of (train, test) row numbers")
        return [(np.asarray(train), np.asarray(test)) for train, test in splits]

    def _try_all(self, groups: list[list[Candidate]], folds: list[Fold], told: Callable[[], None]) -> list[Trial]:
        """Try every group on every fold; the smooth ones last, as they start from the best logistic regression."""
        unit = folds[0].problem.unit
        limits = {"tol": above_zero("tol", self.tol), "max_iter": whole("max_iter", self.max_iter, at_least=1)}

        def run(some: list[list[Candidate]]) -> list[Trial]:
            jobs = (delayed(tried)(fold, group, told=told, **limits) for group in some for fold in folds)
            results = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)
            trials = []
            for group, start in zip(some, range(0, len(results), len(folds)), strict=True):
                for i, candidate in enumerate(group):
                    outcomes = [result[i] for result in results[start : start + len(folds)]]
                    trials.append(Trial(candidate, *map(np.array, zip(*outcomes, strict=True))))
            return trials

        daring = [group for group in groups if group[0].surrogate == "smooth"]
        convex = run([group for group in groups if group not in daring])
        logistic = [trial for trial in convex if trial.candidate.surrogate == "logistic"]
        start_C = max(logistic, key=lambda trial: trial.mean).candidate.C * unit**2 if logistic else 1.0
        return convex + run([[replace(candidate, start_C=start_C) for candidate in group] for group in daring])

    def _refit(
        self, order: list[Trial], measure: Measure, X: Any, y: ArrayLike, sample_weight: Any, qid: Any
    ) -> tuple[Trial, LinearRanker]:
        """Fit the choice to all rows; should it collapse there, the next one in order, and the choice if all do."""
        fits = []
        for trial in order:
            ranker = trial.candidate.ranker(measure, tol=self.tol, max_iter=self.max_iter)
            ranker.set_params(standardize=_is_dense(X) if self.standardize is None else self.standardize)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapsedFitWarning)
                fits.append((trial, ranker.fit(X, y, sample_weight, qid)))
            if not ranker.collapsed_:
                return fits[-1]
        warnings.warn(
            "every candidate has collapsed: no surrogate found a direction in which the positives come first; check "
            "whether X says anything about y",
            CollapsedFitWarning,
            stacklevel=3,
        )
        return fits[0]


def _in_order_of_choice(trials: Sequence[Trial], surrogates: Sequence[str]) -> list[Trial]:
    """The chosen one first, then all others by their means; those that have collapsed come last."""
    by_mean = sorted(trials, key=lambda trial: (trial.has_collapsed, -trial.mean))
    chosen: Trial | None = None
    for name in surrogates:
        best = next((trial for trial in by_mean if trial.candidate.surrogate == name), None)
        if best is not None and (chosen is None or _beats(best, chosen)):
            chosen = best
    return [trial for trial in by_mean if trial is chosen] + [trial for trial in by_mean if trial is not chosen]


def _beats(challenger: Trial, chosen: Trial) -> bool:
    """Whether a challenger is better by more than the standard error of the difference, paired over the folds."""
    if challenger.has_collapsed or chosen.has_collapsed:
        return chosen.has_collapsed and challenger.mean > chosen.mean
    lead = challenger.values - chosen.values
    return bool(lead.mean() > standard_error(lead))


def _why(chosen: Trial, trials: Sequence[Trial], measure: Measure) -> str:
    """Say in a sentence or two what was chosen, and how it compares with the best of the other surrogates."""
    sign = 1 if measure.greater_is_better else -1
    text = (
        f"Chose {chosen.candidate} for {measure}: {sign * chosen.mean:.4g} on average over {chosen.values.size} folds, "
        f"standard error {chosen.standard_error:.2g}."
    )
    others = [
        trial for trial in trials if trial.candidate.surrogate != chosen.candidate.surrogate and not trial.has_collapsed
    ]
    if not others:
        return text
    other = max(others, key=lambda trial: trial.mean)
    lead = chosen.values - other.values
    by = f"{abs(lead.mean()):.2g}, standard error of the difference {standard_error(lead):.2g}"
    if lead.mean() >= 0:
        return f"{text} The best of the other surrogates, {other.candidate}, is behind by {by}."
    return f"{text} {other.candidate} is ahead by {by}: too little, against that noise, to prefer it."


def _frame(trials: Sequence[Trial], measure: Measure) -> Any:
    """One row per candidate and fold. Measures that are better when lower appear as they are."""
    import polars as pl

    sign = 1 if measure.greater_is_better else -1
    return pl.DataFrame(
        [
            {
                "surrogate": trial.candidate.surrogate,
                "C": trial.candidate.C,
                "bandwidth": trial.candidate.bandwidth,
                "fold": fold,
                str(measure): sign * float(trial.values[fold]),
                "collapsed": bool(trial.collapsed[fold]),
                "n_iter": int(trial.n_iter[fold]),
            }
            for trial in trials
            for fold in range(trial.values.size)
        ],
        schema_overrides={"bandwidth": pl.Float64},
    )


def _of_any_size(measure: Measure, n_rows: int) -> Measure:
    """The measure as it applies to a fold: the first k rows of all become the same fraction of a fold's."""
    if isinstance(measure, PrecisionAt | RecallAt | EnrichmentFactor) and measure.is_count:
        return type(measure)(min(measure.k / n_rows, 1.0))
    return measure


def _is_dense(X: Any) -> bool:
    return not hasattr(X, "tocsr")


@contextmanager
def _progress(verbose: int, n_fits: int, name: str) -> Iterator[Callable[[], None]]:
    """A progress bar if asked for; yields what is to be called after each fit."""
    if not verbose:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(f"choosing for {name}", total=n_fits)
        yield lambda: progress.advance(task)
