"""ColumnGeneration: small trees grown from the row weights of the certified solver."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from headrank._numbers import above_zero, real, short_repr, whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._problem import Problem
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.linear import why_collapsed
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.estimators.ranking_trees.split_graph import SplitGraph
from headrank.estimators.threads import limit_blas_threads
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rivals.restricted_master import Generation, Round, TreeSettings, signs
from headrank.rivals.staged_choice import settings_of, staged_choice
from headrank.surrogates import kind_of, surrogate_for

_MAX_ITER = 300
"""Evaluations of the risk per round."""


class ColumnGeneration(Scorer):
    """Small trees weighted by a convex hinge: pAUCEns, after Paisitkriangkrai, Shen & van den Hengel (2013).

    The score is a weighted sum of small trees with values 1 and -1. The weights w minimise ½ ‖w‖² + C R(w), with R
    the hinge of the partial AUC, by headrank's certified solver. At the minimum, every row has a weight: the derivative
    of the risk in its score, a combination of the solver's cuts. It is not 0 only for positives and for negatives in
    the head. The next tree separates positives from negatives with these weights. It becomes a new column, and the
    problem is solved again from where it was. Rounds end when the *edge*, by which a new column lowers the risk per
    unit of its weight, is at most ``edge_tol``. C and the number of rounds are selected by cross-validation.

    Cost: a round grows one tree by counts in bins, O(n_features) for each row with a weight, and takes a few passes
    over the columns so far. ``cv`` times the number of C runs, and one more. Memory: one byte for
    each value of X, 8 for each row and round, and 8 for each row and cut, of which at most 100 are kept between rounds.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to maximise. For "tight" and "structural", a measure with a range of false positive rates.
    surrogate : str, default="tight"
        "tight" (KDD 2013) or "structural" (ICML 2013, which the paper used), or one of "toppush", "tau-fpl", "patmat"
        and "asymmetric", see `LinearRanker`.
    Cs : sequence of float, default=(1.0, 10.0)
        Weights of the risk to try.
    max_cells : int, default=4
        Most cells of a tree; 2 for stumps. Trees are grown best cell first, by the Gini index.
    min_samples_leaf : int, default=5
        Rows with a weight in a cell, at least.
    max_rounds : int, default=100
        Most trees. On the folds a C is given up earlier if its mean no longer rises.
    tol : float, default=1e-2
        Relative gap to which each round is solved.
    edge_tol : float, default=1e-3
        Edge at which rounds end. The risk at weights of 0 is 1 for the hinges.
    cv : int, splitter, iterable or None, default=5
        As in `LinearRankerCV`. None selects nothing: there is one C, and up to ``max_rounds`` rounds are made.
    n_jobs : int, optional
        Threads over the values of C.
    random_state : int or RandomState, default=0
        Of the folds.

    Attributes
    ----------
    trees_ : SplitGraph or None
        The trees, one root for each; None if no tree has a split.
    weights_ : array of shape (n_rounds,)
        Of the trees.
    n_rounds_, C_ : int, float
        What was selected. Fewer rounds are made if the edge gets too small.
    best_score_ : float
        Mean of the measure over the folds with these; as the best of many somewhat optimistic. NaN without folds.
    cv_values_ : array of shape (n_Cs, max_rounds) or None
        The means of all C and numbers of rounds; NaN for rounds that were not made.
    edges_, objectives_, lower_bounds_ : arrays of shape (n_rounds,)
        Of each round: the edge of its tree, and the objective with it, with a proven lower bound for these columns.
    intercept_ : float
        Chosen so that ``decision_function`` is above 0 for about as many training rows as there are positives.
    collapsed_ : bool
        Whether the fit has learned nothing, as in `LinearRanker`. A `CollapsedFitWarning` says so.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Values are only compared, and NaN goes where it helps. The paper was read in its abstract and from a review.
    Decided here: the first tree weighs both classes the same (at scores of 0 all rows are tied, and this is the mean of
    the derivatives over all their orders); trees as in `TreeRanker`; signs of the weights are free, as the negative of
    a tree is a tree; a column may come again, which weakens the penalty on it. Few trees tie many rows, and at ties the
    risk has many derivatives. Which of them the cuts have depends on the order of the rows, and so may later trees.
    The lower bounds hold for any of them, and for the trees that were grown, not for all trees.

    References
    ----------
    S. Paisitkriangkrai, C. Shen & A. van den Hengel, Efficient pedestrian detection by directly optimizing the partial
    area under the ROC curve, ICCV 2013.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = ColumnGeneration("pauc@0.3", Cs=[10], max_rounds=10, cv=None).fit(X, y)
    >>> bool((ranker.lower_bounds_ <= ranker.objectives_).all()), ranker.n_rounds_
    (True, 10)
    """

    trees_: SplitGraph | None
    weights_: Vector
    n_rounds_: int
    C_: float
    best_score_: float
    cv_values_: Vector | None
    edges_: Vector
    objectives_: Vector
    lower_bounds_: Vector
    intercept_: float
    collapsed_: bool
    _needs_finite = False

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        surrogate: str = "tight",
        Cs: Sequence[float] = (1.0, 10.0),
        max_cells: int = 4,
        min_samples_leaf: int = 5,
        max_rounds: int = 100,
        tol: float = 1e-2,
        edge_tol: float = 1e-3,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.measure = measure
        self.surrogate = surrogate
        self.Cs = Cs
        self.max_cells = max_cells
        self.min_samples_leaf = min_samples_leaf
        self.max_rounds = max_rounds
        self.tol = tol
        self.edge_tol = edge_tol
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Select C and the number of rounds, and grow the trees on all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Numbers, NaN or infinities.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            In the risk, a row of weight 2 counts as two rows; limits on rows count it once.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Risk and measure are then means over the queries that have both classes.
        """
        measure, max_rounds = measure_of(self.measure), whole("max_rounds", self.max_rounds, at_least=1)
        Cs = settings_of("Cs", self.Cs, above_zero, is_chosen=self.cv is not None)
        given, (X, positive) = X, admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        if labelled.present is not None:
            X = X[labelled.present]
        every = np.arange(labelled.size)
        binned = BinnedRows.of(X, labelled.weights)  # bins do not depend on labels, so folds may share them

        def generation(C: float, kept: IntVector, n_rounds: int) -> Generation:
            return self._generation(X, binned, kept, labelled.take(kept), C, measure, n_rounds)

        def run(C: float, train: IntVector, test: IntVector) -> Iterator[Vector]:
            outputs: list[Vector] = []
            left_out = X[test]
            for each in generation(C, train, max_rounds).rounds():
                outputs.append(signs(each.graph, left_out)[:, 0])
                yield each.solution.weights @ outputs

        self.C_, n_rounds, self.best_score_, self.cv_values_ = Cs[0], max_rounds, np.nan, None
        whole_problem = generation(Cs[0], every, max_rounds)  # checked before anything is computed
        with limit_blas_threads(labelled.size * max_rounds):
            if self.cv is not None:
                folds = FoldRows.of(
                    measure, labelled, self.cv, given, y, sample_weight, qid, random_state=self.random_state
                )
                choice = staged_choice(folds, Cs, run, max_rounds=max_rounds, n_jobs=self.n_jobs)
                self.C_, n_rounds = choice.setting, choice.n_rounds
                self.cv_values_ = choice.mean_values(measure)
                self.best_score_ = float(self.cv_values_[Cs.index(self.C_), n_rounds - 1])
                whole_problem = generation(self.C_, every, n_rounds)
            self._adopt(X, measure, labelled, list(whole_problem.rounds()))
        return self

    def _generation(
        self,
        X: Any,
        binned: BinnedRows,
        kept: IntVector,
        labelled: Labelled,
        C: float,
        measure: Measure,
        max_rounds: int,
    ) -> Generation:
        if not kind_of(self.surrogate).collapses:
            raise ValueError(
                "surrogate must be one with cuts: 'tight', 'structural', 'toppush', 'tau-fpl', 'patmat' or "
                f"'asymmetric', got {short_repr(self.surrogate)}"
            )
        edge_tol = real("edge_tol", self.edge_tol)
        if edge_tol < 0:
            raise ValueError(f"edge_tol must not be negative, got {edge_tol:g}")
        return Generation(
            X,
            binned,
            kept,
            labelled,
            surrogate_for(measure, self.surrogate, labelled.row_facts()),
            C,
            TreeSettings(
                whole("max_cells", self.max_cells, at_least=2),
                whole("min_samples_leaf", self.min_samples_leaf, at_least=1),
            ),
            tol=above_zero("tol", self.tol),
            edge_tol=edge_tol,
            max_iter=_MAX_ITER,
            max_rounds=max_rounds,
        )

    def _adopt(self, X: Any, measure: Measure, labelled: Labelled, rounds: list[Round]) -> None:
        """Set the fitted attributes, and warn if nothing was learned or the last round has not converged."""
        self.n_rounds_ = len(rounds)
        self.trees_ = SplitGraph.joined([each.graph for each in rounds]) if rounds else None
        self.weights_ = rounds[-1].solution.weights if rounds else np.zeros(0)
        self.edges_ = np.array([each.edge for each in rounds])
        self.objectives_ = np.array([each.solution.objective for each in rounds])
        self.lower_bounds_ = np.array([each.solution.lower for each in rounds])
        self.intercept_ = 0.0
        self.intercept_ = -threshold_of(labelled.sample(self._scores(X)))
        self.collapsed_, reason = True, "no tree has a split: no feature separates the classes; check X"
        if rounds:
            last = rounds[-1]
            kind = kind_of(self.surrogate)
            problem = Problem(last.risk, kind, measure, labelled.weights, labelled.queries, None)
            self.collapsed_ = problem.collapsed(last.solution, self.C_)
            reason = why_collapsed(problem, last.solution, self.C_) if self.collapsed_ else ""
            if not last.solution.converged:
                warnings.warn(
                    f"gap {last.solution.gap:.2g} > tol {self.tol:.2g} in the last round; raise tol",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        if self.collapsed_:
            warnings.warn(reason, CollapsedFitWarning, stacklevel=3)

    def _scores(self, X: Any) -> Vector:
        if self.trees_ is None:
            return np.full(X.shape[0], self.intercept_)
        scores: Vector = signs(self.trees_, X) @ self.weights_
        return scores + self.intercept_
