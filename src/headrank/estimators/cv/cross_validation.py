"""LinearRankerCV: select the surrogate and its parameters by cross-validation on the measure itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import above_zero, listed, short_repr, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._problem import Problem, pose
from headrank.estimators._scorer import LinearScorer, admitted
from headrank.estimators.cv.block_sample import fitted_to_sample
from headrank.estimators.cv.candidates import (
    DEFAULTS,
    SURROGATES,
    Average,
    Candidate,
    Fold,
    Trial,
    learned_by,
    members_of,
    target_of,
    trial_of,
)
from headrank.estimators.cv.folds import of_any_size, splits_of, total_weight
from headrank.estimators.cv.refits import Refits
from headrank.estimators.cv.rule import in_order_of_choice, why
from headrank.estimators.cv.search import Search
from headrank.estimators.cv.tally import Tally, tally_for
from headrank.estimators.cv.trial_frame import trial_frame
from headrank.estimators.linear import LinearRanker
from headrank.estimators.threads import limit_blas_threads
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import AUC, Measure, PartialAUC
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.solvers import Step
from headrank.surrogates import kind_of

_OF_THE_INPUT = ("classes_", "n_features_in_", "feature_names_in_")


class LinearRankerCV(LinearScorer):
    """The recommended linear scorer: surrogate, C and bandwidth are selected by cross-validation on the measure.

    No surrogate wins everywhere. Hinges collapse on overlapping classes, smooth surrogates overfit few positives, and
    logistic regression is often best. So each is tried, and tied candidates are averaged. Candidates are tied if they
    differ by at most the standard error of the difference, paired over the folds. First the best candidates of the
    convex surrogates are averaged in this way. The smooth ones start from that average, and C controls how far they
    move away from it; the best ones of each bandwidth are averaged again. The average that leads by more than the
    standard error is selected; if neither does, the average of all is. An average that clearly trails each of its
    members is dropped. The selection is refitted to all rows, and is again a linear scorer.

    Cost: about ``cv`` times the number of candidates fits, with warm starts along C. Only the final fit is certified.
    Rows are copied if they are fewer than the features, which are then replaced by coordinates in the span of the rows,
    and if most features of a dense X are nearly always 0: the copy, at most half as large, stores those as sparse.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        The measure to maximise: any measure with a smooth surrogate in `LinearRanker`.
    surrogates : sequence of str
        Some of "logistic", "svc", "auc", "tight", "structural" and "smooth", the default, and of the other names in
        `LinearRanker`, such as "tau-fpl" or "push@8". "svc" is the linear support vector classifier, "auc" the hinge of
        the whole curve. For measures of a best fraction, which have no hinge of their own, the hinges are those of the
        false positive rates up to this fraction.
    Cs : sequence of float, optional
        The values of C, for every surrogate. The defaults, in steps of 10, are 0.001 to 100 for "logistic" and 0.0001
        to 10 for "svc", which are sums over rows, and 1 to 1,000 for the hinges and 0.1 to 100 for "smooth", which are
        means. If the largest default is the best, up to two more steps are tried, except for the hinges.
    bandwidths : sequence of float, default=(0.1, 0.5)
        Bandwidths of the smooth surrogate, in standard deviations of the scores.
    cv : int, splitter or iterable of (train, test), default=5
        An int is a number of folds, stratified by class; if a class has fewer rows, as many folds as it has rows are
        used, with a warning. With ``qid``, queries are kept whole, and those with both classes are distributed evenly.
    standardize : bool or None, default=None
        Whether to divide each feature by its standard deviation, without changing X. If None, sparse features are
        divided only if theirs is above 1: bits and word weights are better left unscaled.
    tol : float, default=1e-3
        As in `LinearRanker`. On the folds, ranking surrogates are solved to ten times ``tol``.
    max_iter : int, default=300
        Maximum number of passes over X per candidate. A candidate that has not converged by then is still judged.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    random_state : int or RandomState, default=0
        Seed of the shuffle before splitting into folds.
    verbose : int or callable, default=0
        1 shows a progress bar. A callable is called with the number of fits done and the number expected so far, which
        may grow.

    Attributes
    ----------
    best_ : Candidate or Average
        The selection; an average has ``members``.
    choice_ : str
        A sentence that describes the selection and the reason for it.
    best_score_ : float
        Mean of the measure over the folds. As the best of many it is somewhat optimistic: evaluate on a holdout.
    cv_results_ : polars.DataFrame
        One row per candidate and fold, computed from ``trials_`` on each access.
    trials_ : tuple of Trial
        One per candidate, in the order of the candidates. Averages come after their possible members.
    out_of_fold_ : tuple of arrays
        Of each fold, the scores that the choice gave the rows left out, in their order; for plots and combinations.
    measure_ : Measure
        The measure computed on the folds: ``measure``, with a number of first rows converted to a fraction of all.
    rankers_ : tuple of LinearRanker
        The selection, fitted to all rows; for an average, the members that have not collapsed. Smooth ones are fitted
        along the smaller C of their grid, as on the folds. Fitted separately, they may end in another minimum.
    collapsed_ : bool
        Whether all candidates have collapsed.
    n_iter_ : int
        Passes over the rows in the final fit.
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The training scores have variance 1, whatever was selected.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = LinearRankerCV("pauc@0.3", surrogates=("logistic", "tight"), Cs=(0.1, 1.0), cv=3).fit(X, y)
    >>> print(ranker.choice_)  # doctest: +ELLIPSIS
    Selected ...
    """

    trials_: tuple[Trial, ...]
    measure_: Measure
    best_: Candidate | Average
    rankers_: tuple[LinearRanker, ...]
    out_of_fold_: tuple[Vector, ...]
    _takes_grades = True

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        surrogates: Sequence[str] = DEFAULTS,
        Cs: Sequence[float] | None = None,
        bandwidths: Sequence[float] = (0.1, 0.5),
        cv: Any = 5,
        standardize: bool | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
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

    _takes_blocks = True

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Select by cross-validation, then fit the selection to all rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Blocks of shape (n_rows, n_features)
            Dense or CSR, float64 or float32. Only features far from 0, such as seconds since 1970, are copied, a CSR
            matrix with duplicate entries, and X in the cases named above. Of `Blocks`, which contain their labels, a
            sample of both classes is drawn for the selection, which is then fitted to all rows: 10,000 positives and
            as many negatives as put 10,000 into the head of the measure, if that is at most 1e8 values.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        qid : array-like of shape (n_rows,), optional
            Query of each row. The measure is then the mean over queries, and no query is split between folds.

        Returns
        -------
        self
        """
        given = unpacked(self, X, y, sample_weight, qid)
        if isinstance(given.X, Blocks):
            return self if fitted_to_sample(self, given) else self.refit(given.X)
        X, y, sample_weight, qid = given
        problem = self._pose(measure_of(self.measure), X, y, sample_weight, qid)
        groups = self._groups(problem.measure)
        for group in groups:  # raise before the first fit if a surrogate does not support the measure
            problem.with_surrogate(group[0].learned_by, measure=target_of(problem.measure, group[0].surrogate))
        splits = splits_of(problem.labelled, self.cv, X, y, sample_weight, qid, random_state=self.random_state)
        with tally_for(self.verbose, f"choosing for {problem.measure}") as tally, limit_blas_threads(problem.size):
            learned_from = problem.in_span()
            parts = [Fold(learned_from, train, test) for train, test in splits]
            # For the final fits: at most one of each group, and the smaller C that lead to a smooth one.
            tally.expect(sum(1 if group[0].kind.convex else len(group) for group in groups))
            search = Search(parts, self.Cs is None, n_jobs=self.n_jobs, tally=tally, **self._limits())
            outcomes = search.outcomes(groups)
            self.trials_ = tuple(trial_of(candidate, of_folds) for candidate, of_folds in outcomes.items())
            self.measure_ = problem.measure
            self._learn(problem, learned_from, tally)
            of_folds = zip(parts, outcomes[self.best_], strict=True)
            self.out_of_fold_ = tuple(fold.scores(outcome.weights) for fold, outcome in of_folds)
            return self

    def refit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        callback: Callable[[Step], None] | None = None,
    ) -> Self:
        """Fit the selection to other rows, without selecting again. Parameters as in `fit`.

        Useful for large data, where a sample is enough for the selection. The fit is for ``measure_``: a number of
        first rows remains the fraction that it was of the rows used for the selection. A fit to `Blocks` starts from
        the weights of the earlier one; ``callback`` is called with a `Step` after each evaluation.
        """
        check_is_fitted(self, "trials_")
        given = unpacked(self, X, y, sample_weight, qid)
        problem = self._pose(self.measure_, *given)
        starts = self._weights_so_far(problem) if isinstance(given.X, Blocks) else {}
        with tally_for(self.verbose, f"fitting for {problem.measure}") as tally, limit_blas_threads(problem.size):
            return self._learn(problem, problem.in_span(), tally, starts=starts, callback=callback)

    def _weights_so_far(self, problem: Problem) -> dict[Candidate, Vector]:
        """Return the weights of the fitted members, in the coordinates of a problem with the same features."""
        members, scale = members_of(self.best_), 1.0 if problem.scale is None else problem.scale
        if len(members) != len(self.rankers_) or problem.rows.n_features != self.coef_.size:
            return {}
        of_members = zip(members, self.rankers_, strict=True)
        return {member: np.asarray(ranker.coef_ * scale) for member, ranker in of_members if ranker.coef_.any()}

    def _learn(self, problem: Problem, learned_from: Problem, tally: Tally, **known: Any) -> Self:
        """Fit the selection to all rows. If it collapses there, the next candidates are tried in order.

        ``learned_from`` is the problem in coordinates of the span of the rows, if these are smaller; ``known`` is what
        `Refits` can start from.
        """
        tried = [trial.candidate for trial in self.trials_ if isinstance(trial.candidate, Candidate)]
        refits = Refits(learned_from, tried, self.standardize, tally=tally, **self._limits(), **known)
        order = in_order_of_choice(self.trials_)
        chosen, self.rankers_ = next(
            ((trial, learned) for trial in order if (learned := refits.learned(trial.candidate))),
            (order[0], refits.rankers(order[0].candidate)),
        )
        for ranker in self.rankers_:
            for name in filter(vars(self).__contains__, _OF_THE_INPUT):
                setattr(ranker, name, getattr(self, name))
        self.best_, self.choice_ = chosen.candidate, why(chosen, self.trials_, self.measure_)
        self.best_score_ = chosen.mean if problem.measure.greater_is_better else -chosen.mean
        self.coef_, self.intercept_ = _joined(self.rankers_, problem)
        self.n_iter_ = sum(ranker.n_iter_ for ranker in self.rankers_)
        self.collapsed_ = all(ranker.collapsed_ for ranker in self.rankers_)
        if self.collapsed_:
            warnings.warn(
                f"every candidate has collapsed: {_why_all(self.surrogates)}",
                CollapsedFitWarning,
                stacklevel=3,
            )
        elif unconverged := refits.unconverged_of(chosen.candidate):
            warnings.warn(
                f"{' and '.join(map(str, unconverged))} did not reach tol={self.tol:g} within {self.max_iter} "
                "evaluations; raise max_iter or tol, or set standardize=True",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _limits(self) -> dict[str, Any]:
        return {"tol": above_zero("tol", self.tol), "max_iter": whole("max_iter", self.max_iter, at_least=1)}

    @property
    def cv_results_(self) -> Any:
        """One row per candidate and fold. A property, so that model files store numbers and no data frame."""
        return trial_frame(self.trials_, self.measure_)

    def _pose(
        self, measure: Measure, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> Problem:
        X, positive = admitted(self, X, y)
        return pose(
            X,
            positive,
            measure=measure if qid is not None else of_any_size(measure, total_weight(positive, sample_weight)),
            surrogate="logistic",
            bandwidth=1.0,
            sample_weight=sample_weight,
            qid=qid,
            standardize=self.standardize,
            many_passes=True,
        )

    def _groups(self, measure: Measure) -> list[list[Candidate]]:
        """Return all candidates, grouped by everything except C, in increasing order of C."""
        surrogates = listed("surrogates", self.surrogates)
        if not surrogates or any(
            not isinstance(name, str) or name.split("@")[0] not in SURROGATES for name in surrogates
        ):
            known = ", ".join(map(repr, SURROGATES))
            raise ValueError(f"surrogates must be some of {known}, got {short_repr(self.surrogates)}")
        given = None if self.Cs is None else {above_zero("C", C) for C in listed("Cs", self.Cs)}
        bandwidths = dict.fromkeys(above_zero("bandwidth", width) for width in listed("bandwidths", self.bandwidths))
        groups: list[list[Candidate]] = []
        for name in _distinct(surrogates, measure):
            kind = kind_of(learned_by(name))
            Cs = sorted(kind.Cs if given is None else given)
            widths = [None] if kind.convex else [*bandwidths]
            if not Cs or not widths:
                raise ValueError("expected at least one C and one bandwidth, got none")
            groups += [[Candidate(name, C, width) for C in Cs] for width in widths]
        return groups


def _why_all(surrogates: Sequence[str]) -> str:
    if all(kind_of(learned_by(name)).collapses for name in surrogates):
        return "hinges do if classes overlap and the range is narrow; add other surrogates, or use the default ones"
    return "no surrogate found a direction that ranks positives first; check that X is informative about y"


def _joined(rankers: Sequence[LinearRanker], problem: Problem) -> tuple[Vector, float]:
    """Return coefficients and intercept of the average. One ranker is scaled, too: scores must be comparable."""
    scale = 1.0 if problem.scale is None else problem.scale
    weights = problem.averaged([ranker.coef_ * scale for ranker in rankers])
    return problem.coef(weights), problem.intercept(weights, problem.threshold(problem.rows.scores(weights)))


def _distinct(surrogates: Sequence[str], measure: Measure) -> list[str]:
    """Return each surrogate once, and only the first hinge of the whole curve, as these are all the same."""
    every = list(dict.fromkeys(surrogates))
    of_whole_curve = [name for name in every if _is_hinge_of_whole_curve(name, measure)]
    return [name for name in every if name not in of_whole_curve[1:]]


def _is_hinge_of_whole_curve(surrogate: str, measure: Measure) -> bool:
    return kind_of(learned_by(surrogate)).needs_range and target_of(measure, surrogate) in (
        AUC(),
        PartialAUC(max_fpr=1.0),
    )
