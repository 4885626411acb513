"""BoostedRankerCV: how many trees, and how stiff? Decided on the measure itself, on rows not trained on."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from math import inf
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import above_zero, listed, seed, short_repr, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted, intercept_for
from headrank.estimators.cv.block_sample import fitted_to_sample
from headrank.estimators.cv.candidates import Trial
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.rule import headline, trailing
from headrank.estimators.cv.tally import tally_for
from headrank.estimators.cv.tied import tied_best
from headrank.estimators.cv.trial_frame import trial_frame
from headrank.estimators.trees.boosted import (
    BoostedRanker,
    categorical,
    monotonic,
    push_of,
    settings_of,
    why_collapsed,
)
from headrank.estimators.trees.boosted_members import BoostedAverage, BoostedCandidate, Member
from headrank.estimators.trees.engine import TreeRows, rows_for
from headrank.estimators.trees.growing import EVERY, Grown, grown_on
from headrank.estimators.trees.lightgbm_trees import is_wide, threads_for
from headrank.estimators.trees.regrowing import MOST_BYTES, grown, regrown, why_kept
from headrank.estimators.trees.settings import Settings
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks

_MANY_NUMBERS = 5_000_000
"""With at least this many values, every second setting is tried, and the trees of the folds do not score: the folds
tell more, and each setting takes longer."""
GRID: tuple[dict[str, Any], ...] = (
    {"max_leaf_nodes": 4, "l2_regularization": 1.0},
    {"max_leaf_nodes": 8, "learning_rate": 0.05, "max_features": 0.7, "subsample": 0.8, "l2_regularization": 1.0},
    {"max_leaf_nodes": 31},
    {"max_leaf_nodes": 31, "learning_rate": 0.05, "min_samples_leaf": 5, "max_features": 0.5, "subsample": 0.8},
    {"max_leaf_nodes": 31, "min_samples_leaf": 5, "max_features": 0.7, "l2_regularization": 1.0, "random_splits": True},
)
"""From stiff to loose."""
OF_WIDE = GRID[4:]
"""For tables with many more features than rows, where each tree takes long: the cheapest, and on three kinds of tables
of 60 x 3,000 values the best of four on average, 0.01 of pauc@0.1 behind the average of the last two."""
_MOST_MORE = 2.0
"""How many times as many trees are grown on all rows, at most, if folds learn from few of them."""
_IN_GRID = (*(field.name for field in fields(Settings)), "objective", "power")


class BoostedRankerCV(Scorer):
    """Boosted trees whose number and settings are selected by cross-validation on the measure.

    For each setting, trees are grown on all folds at the same time, and every ten trees the measure is taken on the
    rows left out and averaged over the folds; growing ends when it has not risen for some time. Settings that trail the
    best by no more than the standard error of the difference, paired over the folds and corrected for the rows that
    these share (Nadeau & Bengio, 2003), are tied, and averaged. What is selected is then grown on all rows, with more
    trees in proportion to the rows. A row's score is the mean of those trees and of the trees of the folds, which are
    kept; with 5 million values or more, the trees of all rows score alone, in a fraction of the time.

    Cost: ``cv`` times the number of settings runs of boosting, each to about one and a half times the trees that are
    kept, and a run on all rows for each selected setting. Measuring them is linear in the number of trees.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at; any measure.
    grid : sequence of dict, optional
        Settings to try, each with parameters of `BoostedRanker` other than the number of trees; by default five, from
        stiff to loose, with the log loss, three of them if X has 5 million values, and one if X has at least 2,000
        features, 50 or more per row. Of the objectives, "logistic" and "push".
    max_estimators : int, default=1000
        Most trees of a setting.
    max_seconds : float, optional
        Time for choosing. When it is over, no other setting is tried, trees stop growing on all folds, and none are
        grown on all rows. With a limit, the result depends on the speed of the machine.
    cv : int, splitter or iterable of (train, test), default=5
        As in `LinearRankerCV`.
    monotonic_cst, categorical_features
        As in `BoostedRanker`.
    n_jobs : int, optional
        Threads over the folds.
    random_state : int or RandomState, default=0
        Of the folds and of the trees.
    verbose : int or callable, default=0
        1 shows a progress bar; a function is called with the number of settings done and of all.

    Attributes
    ----------
    best_ : candidate
        What was chosen; an average tells its ``members``.
    choice_ : str
        A sentence that says so, and why.
    best_score_ : float
        Its mean over the folds. The best of many: somewhat too good, so measure on rows kept aside.
    cv_results_ : polars.DataFrame
        One row per candidate and fold.
    trials_ : tuple of Trial
        One per candidate.
    paths_ : tuple of arrays of shape (2, n)
        Of each setting, in the order of ``trials_``: numbers of trees, and the mean over the folds with each number.
    out_of_fold_ : tuple of arrays
        Of each fold, the scores that the choice gave the rows left out, in their order.
    members_ : tuple of Member
        The trees that score.
    grown_on_ : str
        Which rows the trees were grown on, in words.
    intercept_ : float
        Such that as many of the scores out of fold are above 0 as rows are positive.
    engine_, collapsed_, categories_, classes_, n_features_in_, feature_names_in_
        As in `BoostedRanker`.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = BoostedRankerCV("pauc@0.3", grid=[{"max_leaf_nodes": 4}], cv=3).fit(X, y)
    >>> print(ranker.choice_)  # doctest: +ELLIPSIS
    Selected ... trees (4 leaves of at least 20 rows, learning rate 0.1) for pauc@0.3: mean ...
    """

    trials_: tuple[Trial, ...]
    paths_: tuple[Vector, ...]
    measure_: Measure
    members_: tuple[Member, ...]
    out_of_fold_: tuple[Vector, ...]
    grown_on_: str
    intercept_: float
    _needs_finite = False
    _takes_categories = True
    _takes_grades = True
    _takes_blocks = True

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        grid: Sequence[Mapping[str, Any]] | None = None,
        max_estimators: int = 1000,
        max_seconds: float | None = None,
        cv: Any = 5,
        monotonic_cst: Sequence[int] | None = None,
        categorical_features: Sequence[Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.measure = measure
        self.grid = grid
        self.max_estimators = max_estimators
        self.max_seconds = max_seconds
        self.cv = cv
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Choose by cross-validation. Parameters as in `BoostedRanker.fit`; queries are kept whole in the folds.

        Of `Blocks`, which contain y, a sample is drawn as `LinearRankerCV` does. What is selected is then grown on all
        rows, see `refit`.
        """
        X, y, sample_weight, qid = rows = unpacked(self, X, y, sample_weight, qid)
        if isinstance(X, Blocks):
            return self if fitted_to_sample(self, rows) else self.refit(X)
        end = inf if self.max_seconds is None else time.monotonic() + above_zero("max_seconds", self.max_seconds)
        self._rankers()  # checked before anything is computed
        most_trees = whole("max_estimators", self.max_estimators, at_least=1)
        measure = measure_of(self.measure)
        given, (X, positive) = X, admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        folds = FoldRows.of(measure, labelled, self.cv, given, y, sample_weight, qid, random_state=self.random_state)
        del given
        splits, self.measure_ = folds.splits, folds.measure
        if labelled.present is not None:
            X = X[labelled.present]
        rankers = self._rankers(_default_grid(*X.shape))
        if self.grid is None:  # with few rows, a setting without room for two leaves learns nothing
            n_rows = min(len(train) for train, _ in splits)
            rankers = [each for each in rankers if 2 * each.min_samples_leaf <= n_rows] or rankers
        self.engine_, stored = rows_for(X, labelled, categorical(self, X), n_threads=1)
        if self.engine_ != "lightgbm":
            rankers = [ranker.set_params(objective="logistic") for ranker in rankers]
        parts, left_out = [stored.part(train) for train, _ in splits], [X[test] for _, test in splits]
        learners = [labelled.take(np.sort(train)) for train, _ in splits]
        of_folds: dict[BoostedCandidate, Grown] = {}
        with tally_for(self.verbose, f"boosting for {self.measure_}") as tally:
            tally.expect(len(rankers))
            for ranker in rankers:
                of_setting = grown_on(
                    folds,
                    parts,
                    left_out,
                    settings_of(ranker),
                    derivatives=[push_of(ranker, each) for each in learners],
                    most_trees=most_trees,
                    n_jobs=self.n_jobs,
                    is_over=lambda: time.monotonic() >= end,
                    **self._options(X),
                )
                power = float(ranker.power) if ranker.objective == "push" else None
                candidate = BoostedCandidate(of_setting.settings, ranker.objective, power, of_setting.n_trees)
                of_folds[candidate] = of_setting
                tally.done()
                if time.monotonic() >= end:
                    break
        self._choose(folds, of_folds)
        self.grown_on_ = f"Its trees are those of the {len(splits)} folds of {labelled.size:,} rows."
        if time.monotonic() < end:
            rows = replace(stored, n_threads=threads_for(X))
            self._grow_on_all(rows, labelled, splits, with_folds=not _is_large(*X.shape), **self._options(X))
        self.intercept_ = -folds.threshold(self.out_of_fold_)
        return self._checked(labelled)

    def _grow_on_all(
        self, rows: TreeRows, labelled: Labelled, splits: Sequence[Any], *, with_folds: bool, **options: Any
    ) -> None:
        """Grow what was selected on all rows: for half of the score, or to score without the trees of the folds."""
        more = min(labelled.size / float(np.mean([len(train) for train, _ in splits])), _MOST_MORE)
        members = []
        for candidate, of_folds in zip(self._candidates, self.members_, strict=True):
            n_trees = min(round(more * candidate.n_trees), self.max_estimators)
            of_all = grown(rows, labelled, candidate, n_trees, **options)
            n_folds = len(of_folds.trees)
            members.append(
                replace(of_folds, trees=(*of_folds.trees, of_all), shares=(0.5 / n_folds,) * n_folds + (0.5,))
                if with_folds
                else replace(of_folds, trees=(of_all,))
            )
        self.members_ = tuple(members)
        self.grown_on_ = f"Its trees were grown on {labelled.size:,} rows" + (
            f" and, for half of the score, on {n_folds} folds of them." if with_folds else "."
        )

    @property
    def _candidates(self) -> tuple[BoostedCandidate, ...]:
        """What was selected."""
        members: tuple[BoostedCandidate, ...] = getattr(self.best_, "members", (self.best_,))
        return members

    def refit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        memory: float = MOST_BYTES,
    ) -> Self:
        """Grow the selected trees on other rows, instead of those of the folds. Parameters as in `fit`.

        More rows allow more trees, so their number is selected again, on a tenth of the rows, which is kept aside. If
        this tenth has fewer than 1,000 positives or negatives, or queries with both, trees are grown on all rows, as
        many as were selected before.

        Of `Blocks`, features are cut into bins of one byte: two passes, with one block in memory at a time. If bins and
        what LightGBM needs besides take more than ``memory`` bytes, the trees stay as they are. ``grown_on_`` says so.
        """
        check_is_fitted(self, "trials_")
        X, y, sample_weight, qid = unpacked(self, X, y, sample_weight, qid)
        if isinstance(X, Blocks) and (reason := why_kept(X, memory)):
            self.grown_on_ = reason
            return self
        X, positive = admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        again = regrown(
            X,
            labelled,
            self._candidates,
            self.measure_,
            categorical=categorical(self, X),
            most_trees=whole("max_estimators", self.max_estimators, at_least=1),
            **self._options(X),
        )
        self.engine_, self.grown_on_ = again.engine, again.how
        pairs = zip(again.trees, self.members_, strict=True)
        self.members_ = tuple(Member((trees,), member.spread) for trees, member in pairs)
        self.intercept_ = 0.0
        self.intercept_ = intercept_for(self, X, labelled)
        return self._checked(labelled)

    def _options(self, X: Any) -> dict[str, Any]:
        return {
            "monotonic": monotonic(self.monotonic_cst, X.shape[1]),
            "random_state": int(check_random_state(seed(self.random_state)).randint(2**31 - 1)),
        }

    def _checked(self, labelled: Labelled) -> Self:
        """Warn if nothing was learned."""
        self.collapsed_ = all(trees.learned_nothing for member in self.members_ for trees in member.trees)
        if self.collapsed_:
            warnings.warn(why_collapsed(settings_of(self._rankers()[-1]), labelled), CollapsedFitWarning, stacklevel=3)
        return self

    def _rankers(self, default: Sequence[Mapping[str, Any]] = GRID) -> list[BoostedRanker]:
        """The candidates as rankers, checked."""
        grid = default if self.grid is None else listed("grid", self.grid)
        if not grid or not all(isinstance(each, Mapping) for each in grid):
            raise ValueError(f"grid must be one or more dicts with parameters of BoostedRanker, got {short_repr(grid)}")
        if unknown := {str(name) for each in grid for name in each} - {*_IN_GRID}:
            raise ValueError(
                f"grid must have parameters of BoostedRanker, some of {', '.join(_IN_GRID)}, got {', '.join(unknown)}"
            )
        rankers = [BoostedRanker(self.measure, **each) for each in grid]
        for ranker in rankers:
            settings_of(ranker)
            above_zero("power", ranker.power)
            if ranker.objective not in ("logistic", "push"):
                raise ValueError(f"objectives in grid must be 'logistic' or 'push', got {short_repr(ranker.objective)}")
        return rankers

    def _choose(self, folds: FoldRows, grown: Mapping[BoostedCandidate, Grown]) -> None:
        """Choose the best candidate, or the average of the tied ones, unless it clearly trails."""
        trials = [_trial(candidate, of_folds) for candidate, of_folds in grown.items()]
        found = tied_best(folds, [each.scores for each in grown.values()], [trial.values for trial in trials])
        tied, members = ([trials[i] for i in numbers] for numbers in (found.tied, found.members))
        chosen = tied[0]
        if found.average is not None:
            average = BoostedAverage(tuple(trial.candidate for trial in tied))
            collapsed = np.all([each.collapsed for each in tied], axis=0)
            trials.append(Trial(average, found.average, collapsed, np.sum([each.n_iter for each in tied], axis=0)))
            chosen = trials[-1] if len(members) > 1 else chosen
        self.trials_, self.best_, self.out_of_fold_ = tuple(trials), chosen.candidate, found.scores
        sign = 1 if self.measure_.greater_is_better else -1
        self.paths_ = tuple(
            np.array([EVERY * np.arange(1, each.path.size + 1), sign * each.path]) for each in grown.values()
        )
        self.members_ = tuple(
            Member(grown[trial.candidate].trees, divisor)
            for trial, divisor in zip(members, found.divisors, strict=True)
        )
        self.best_score_ = chosen.mean if self.measure_.greater_is_better else -chosen.mean
        rest = [each for each in trials if each is not chosen and each not in members]
        self.choice_ = headline(chosen, self.measure_) + (" These settings are tied." if len(members) > 1 else "")
        if rest:
            self.choice_ += f" {trailing(chosen, max(rest, key=lambda trial: trial.mean))}"

    @property
    def cv_results_(self) -> Any:
        """One row per candidate and fold. A property, so that a model file holds numbers and no data frame."""
        return trial_frame(self.trials_, self.measure_)

    def _scores(self, X: Any) -> Vector:
        scores: Vector = np.sum([member.scores(X) for member in self.members_], axis=0)
        return scores + self.intercept_

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row; see `BoostedRanker.contributions`."""
        check_is_fitted(self)
        X = checked_matrix(self, X, reset=False, finite=False)
        result: Vector = np.sum([member.contributions(X) for member in self.members_], axis=0)
        result[:, -1] += self.intercept_
        return result


def _default_grid(n_rows: int, n_features: int) -> Sequence[Mapping[str, Any]]:
    if is_wide(n_rows, n_features):
        return OF_WIDE
    return GRID[::2] if _is_large(n_rows, n_features) else GRID


def _is_large(n_rows: int, n_features: int) -> bool:
    return n_rows * n_features >= _MANY_NUMBERS


def _trial(candidate: BoostedCandidate, grown: Grown) -> Trial:
    collapsed = np.array([trees.learned_nothing for trees in grown.trees])
    return Trial(candidate, grown.values, collapsed, np.array([trees.n_trees for trees in grown.trees]))
