"""ForestRanker: many ranking trees, whose mean rank is the score."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from headrank._numbers import option, seed, whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.estimators.ranking_trees.growing import Growth, grown_tree
from headrank.estimators.ranking_trees.head import Head
from headrank.estimators.ranking_trees.settings import growth_of, head_for, why_collapsed
from headrank.estimators.ranking_trees.split_graph import SplitGraph
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of

_BLOCK = 2**13
"""Rows that are scored at a time, since each has a leaf in every tree."""


class ForestRanker(Scorer):
    """A forest of ranking trees: the score of a row is its mean rank (Clémençon, Depecker & Vayatis, 2013).

    Each tree is a `TreeRanker` without pruning, grown on a bootstrap sample, and every cell tries a random subset of
    the features. A row has the mean rank of its leaf in each tree, from 0 to 1, and the mean over the trees is its
    score. Ranks are averaged rather than scores of leaves, because trees differ in their number of leaves. The paper's
    aggregate, the ranking with the least sum of Kendall distances to all trees, is NP-hard to compute; the mean rank
    stands in for it, as it does in the authors' own software.

    Cost: as ``n_estimators`` trees of `TreeRanker`; scoring takes O(n_estimators) tests per row and level of cells.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at. `score` measures it, and ``local`` refers to it.
    n_estimators : int, default=100
        Number of trees.
    max_depth, min_samples_split, min_samples_leaf, max_cells
        As in `TreeRanker`.
    max_features : int, float, "sqrt" or None, default=1/3
        Features that each cell tries, drawn at random: a number, a share, or the square root; None for all.
    local : bool, default=False
        Whether the trees split only regions in the head of the measure. It saves time; but a row at the head of the
        forest may be anywhere in a single tree, so the forest may get better or worse.
    aggregate : {"mean", "product"}, default="mean"
        Of the ranks of a row: their mean, or the mean of -log(1 - rank), which orders rows by the product of the shares
        of rows above them. By the product, a row that is low in some trees but at the head in most comes further up,
        which can help where positives are few.
    random_state : int or RandomState, default=0
        Of the samples and features.
    n_jobs : int, optional
        Processes, as in joblib; by default one. The number changes nothing but the time.

    Attributes
    ----------
    oob_scores_ : array of shape (n_rows,)
        Out-of-bag scores: the mean rank of each training row in the trees that have not seen it. On the same scale as
        ``decision_function``. NaN, with a warning, for a row that is in every sample: grow more trees. See Notes.
    graph_ : SplitGraph
        The tests of all trees.
    leaf_votes_ : array
        What each leaf of all trees adds to the mean: the mean rank of its training rows, or -log(1 - rank).
    intercept_ : float
        Such that about as many out-of-bag scores are above 0 as there are positives.
    collapsed_ : bool
        Whether no tree has a split: the fit has learned nothing. A `CollapsedFitWarning` says so.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    **What out-of-bag scores can be used for.** No row takes part in its own score, so measures of ``oob_scores_``, such
    as ``hr.measure("pauc@0.1")(y, ranker.oob_scores_)``, are honest estimates without a holdout. They describe a forest
    of about 37 % of the trees, so they are slightly pessimistic. They may be used to estimate a measure, to compare
    settings, and to draw a ROC curve, also with intervals as a rough guide to the noise.

    **What they cannot be used for.** The theorems behind `interval`, `band`, `compare`, `threshold_at`, `certify_list`
    and `choose` need rows that are independent given one fixed scorer. Out-of-bag scores come from a different part of
    the forest for each row, and each label takes part in the scores of the others. So no interval, threshold or list
    from them is guaranteed, neither for any distribution nor asymptotically. The same holds after a choice: settings
    chosen by out-of-bag scores make these scores optimistic. For a guarantee, hold out rows, as `FPRBudgetClassifier`
    and ``headrank fit`` do.

    Samples without one of the classes are drawn again. With queries, whole queries are drawn, so that no row of a query
    takes part in the out-of-bag score of another.

    References
    ----------
    S. Clémençon, M. Depecker & N. Vayatis, Ranking forests, JMLR 14, 2013.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = ForestRanker("pauc@0.3", n_estimators=30).fit(X[::2], y[::2])
    >>> ranker.score(X[1::2], y[1::2]) > 0.7
    True
    >>> from headrank.measures import measure
    >>> measure("pauc@0.3")(y[::2], ranker.oob_scores_) > 0.7
    True
    """

    graph_: SplitGraph
    leaf_votes_: Vector
    oob_scores_: Vector
    intercept_: float
    _needs_finite = False

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        n_estimators: int = 100,
        max_depth: int = 10,
        min_samples_split: int = 50,
        min_samples_leaf: int = 5,
        max_cells: int = 8,
        max_features: Any = 1 / 3,
        local: bool = False,
        aggregate: str = "mean",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_cells = max_cells
        self.max_features = max_features
        self.local = local
        self.aggregate = aggregate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Numbers, NaN or infinities.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; rows are drawn regardless of their weights, which count within the trees.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Trees are grown on the rows of all queries together; samples contain whole queries.
        """
        measure, n_trees = measure_of(self.measure), whole("n_estimators", self.n_estimators, at_least=1)
        by_product = option("aggregate", self.aggregate, ("mean", "product")) == "product"
        rng = check_random_state(seed(self.random_state))
        if self.n_jobs is not None:
            whole("n_jobs", self.n_jobs, at_least=-1)
        X, positive = admitted(self, X, y)
        growth = growth_of(self, X.shape[1])
        labelled = Labelled.of(positive, sample_weight, qid)
        sampled = _Sampled(
            X if labelled.present is None else X[labelled.present],
            labelled,
            growth,
            head_for(self.local, measure, labelled),
            by_product,
        )
        rows = BinnedRows.of(sampled.X, labelled.weights)
        seeds = rng.randint(2**31 - 1, size=n_trees)
        grown = Parallel(n_jobs=self.n_jobs, return_as="generator")(delayed(sampled.tree)(rows, each) for each in seeds)
        graphs, leaf_votes = [], []
        total, n_votes = np.zeros(labelled.size), np.zeros(labelled.size)
        for tree in grown:
            graphs.append(tree.graph)
            leaf_votes.append(tree.leaf_votes)
            total[tree.left_out] += tree.votes
            n_votes[tree.left_out] += 1
        self.graph_, self.leaf_votes_ = SplitGraph.joined(graphs), np.concatenate(leaf_votes)
        self.collapsed_ = self.graph_.feature.size == 0
        self.intercept_ = 0.0
        self._set_out_of_bag(X, sampled.X, labelled, np.divide(total, n_votes, out=total * np.nan, where=n_votes > 0))
        if self.collapsed_:
            warnings.warn(why_collapsed(growth, labelled), CollapsedFitWarning, stacklevel=2)
        return self

    def _set_out_of_bag(self, X: Any, kept: Any, labelled: Labelled, votes: Vector) -> None:
        """Keep the out-of-bag scores of the rows as given, and the threshold that follows from them."""
        known = np.flatnonzero(~np.isnan(votes))
        if known.size < votes.size:
            warnings.warn(
                f"{votes.size - known.size} of {votes.size} rows are in the sample of every tree, so they have no "
                "out-of-bag score (NaN); raise n_estimators",
                stacklevel=3,
            )
        part = labelled.take(known)
        if part.has_both_classes():
            self.intercept_ = -threshold_of(part.sample(votes[known]))
        else:
            self.intercept_ = -threshold_of(labelled.sample(self._scores(kept)))
        if labelled.present is None:
            self.oob_scores_ = votes + self.intercept_
        else:  # rows of weight 0 are in no sample
            self.oob_scores_ = self._scores(X)
            self.oob_scores_[labelled.present] = votes + self.intercept_

    def _scores(self, X: Any) -> Vector:
        blocks = (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))
        means = np.concatenate([self.leaf_votes_[self.graph_.leaves(block)].mean(axis=1) for block in blocks])
        return means + self.intercept_


@dataclass(frozen=True, eq=False)
class _Vote:
    """One tree, and its votes for the rows that it has not seen."""

    graph: SplitGraph
    leaf_votes: Vector
    left_out: IntVector
    votes: Vector


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Rows to draw samples from."""

    X: Any
    labelled: Labelled
    growth: Growth
    head: Head
    by_product: bool

    def tree(self, rows: BinnedRows, random_seed: int) -> _Vote:
        """Grow a tree on a bootstrap sample."""
        rng = np.random.RandomState(random_seed)
        drawn = self._drawn(rng)
        tree = grown_tree(rows, self.labelled.positive, drawn, self.growth, self.head, rng)
        left_out = np.setdiff1d(np.arange(self.labelled.size), drawn)
        votes = -np.log1p(-tree.leaf_ranks) if self.by_product else tree.leaf_ranks
        return _Vote(tree.graph, votes, left_out, votes[tree.leaves(self.X[left_out])])

    def _drawn(self, rng: Any) -> IntVector:
        """Draw as many rows, or queries, as there are, with replacement, until both classes are among them."""
        queries, positive = self.labelled.queries, self.labelled.positive
        while True:
            if queries is None:
                drawn = np.sort(rng.randint(positive.size, size=positive.size))
            else:
                numbers = np.unique(queries)
                times = np.bincount(rng.choice(numbers, numbers.size), minlength=int(numbers[-1]) + 1)
                drawn = np.repeat(np.arange(positive.size), times[queries])
            if 0 < np.count_nonzero(positive[drawn]) < drawn.size:
                return drawn
