"""TreeRanker: one tree of regions, ordered from best to worst."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import seed, whole
from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.estimators.ranking_trees.growing import grown_tree
from headrank.estimators.ranking_trees.pruning import Pruning, pruned_by_folds
from headrank.estimators.ranking_trees.region_tree import RankingTree
from headrank.estimators.ranking_trees.settings import growth_of, head_for, why_collapsed
from headrank.estimators.ranking_trees.wording import better_part
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of


class TreeRanker(Scorer):
    """A tree that cuts the rows into regions and orders them: TreeRank (Clémençon & Vayatis, 2009).

    Each split divides a region into a better part on the left and a worse part on the right. It is a classification in
    which both classes of the region weigh the same, so that the share of the region's positives on the left exceeds the
    share of its negatives there by as much as possible. The leaves, from left to right, are the ranking. Every split
    adds a vertex to the ROC curve of the training rows; its gain in AUC is known, and AUC = 1/2 + the sum of the gains.

    The parts of a region are unions of cells of a small classification tree (*LeafRank*), grown by the Gini index with
    the weights of the region; a cell goes to the left if its share of the region's positives is at least its share of
    the negatives.

    With ``local=True``, only regions that reach into the head are split: those that begin before ``max_fpr`` and end
    after ``min_fpr`` of a partial AUC, or begin within the best fraction of a measure such as `LocalAUC`.

    A tree has few distinct scores, so it is coarser than `ForestRanker` and `BoostedRanker`. Its use is that the head
    can be read: the best 2 % of the rows are this region. `TreeDisplay` draws it.

    Cost: O(n_rows n_features log n_rows) once to cut the features into bins, one byte per value; then
    O(n_rows n_features) for each level of cells in each level of the tree, by counts per bin. With pruning, once more
    for each fold.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at. It says where the tree grows (``local``), and which subtree is kept (``cv``).
    max_depth : int, default=10
        Splits on the way to a leaf, at most.
    min_samples_split : int, default=50
        Rows of a region that is split, at least.
    min_samples_leaf : int, default=5
        Rows of a cell, at least.
    max_cells : int, default=8
        Cells of the classification tree that splits a region; with 2, each split is a single threshold.
    max_features : int, float, "sqrt" or None, default=None
        Features that each cell tries, drawn at random: a number, a share, or the square root; None for all.
    local : bool, default=True
        Whether only regions in the head of the measure are split.
    cv : int, splitter, iterable or None, default=5
        Folds on which the tree is pruned, as in `LinearRankerCV`; None keeps the whole tree. Each penalty per split is
        measured on rows that the trees of the folds have not seen.
    random_state : int or RandomState, default=0
        Of the folds and of ``max_features``.

    Attributes
    ----------
    tree_ : RankingTree
        The regions: ``left``, ``right``, ``pos``, ``neg``, ``gains``, and ``curve()``, the training ROC curve.
    pruning_ : Pruning or None
        The subtrees and their values on the folds; None without pruning.
    intercept_ : float
        Such that ``decision_function`` is above 0 for about as many training rows as there are positives, as far as
        whole regions allow. Scores before it are 1, ..., 2/K, 1/K for the K leaves.
    has_missing_ : bool array of shape (n_features,)
        Which features have missing values in the training rows.
    collapsed_ : bool
        Whether the tree is a single leaf: the fit has learned nothing. A `CollapsedFitWarning` says so.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    Values are only compared: a strictly increasing transformation of a feature changes no score of a training row. NaN
    and infinities are allowed, and NaN goes where it helps. Features with more than 255 distinct values are cut into
    255 bins of about equal weight. Sparse rows are stored densely, in one byte per value.

    Differences from the R package TreeRank: cells are split by the Gini index instead of the weighted error, which is
    blind to splits that do not change the majority; and pruning is measured on the rows left out.

    References
    ----------
    S. Clémençon & N. Vayatis, Tree-based ranking methods, IEEE Transactions on Information Theory 55, 2009.

    S. Clémençon, M. Depecker & N. Vayatis, Adaptive partitioning schemes for bipartite ranking, Machine Learning 83,
    2011.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = TreeRanker("pauc@0.3").fit(X[::2], y[::2])
    >>> ranker.score(X[1::2], y[1::2]) > 0.5
    True
    >>> from headrank.measures import AUC
    >>> bool(abs(AUC().value(ranker.tree_.curve()) - 0.5 - ranker.tree_.gains.sum()) < 1e-12)
    True
    """

    tree_: RankingTree
    pruning_: Pruning | None
    intercept_: float
    _needs_finite = False

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        max_depth: int = 10,
        min_samples_split: int = 50,
        min_samples_leaf: int = 5,
        max_cells: int = 8,
        max_features: Any = None,
        local: bool = True,
        cv: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.measure = measure
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_cells = max_cells
        self.max_features = max_features
        self.local = local
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Numbers, NaN or infinities.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the same as the row twice, but for the limits on rows and the folds.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Trees are grown on the rows of all queries together; folds keep queries whole, and the
            subtree is chosen by the mean over queries.
        """
        measure = measure_of(self.measure)
        drawn = check_random_state(seed(self.random_state)).randint(2**31 - 1)
        given, (X, positive) = X, admitted(self, X, y)
        growth = growth_of(self, X.shape[1])
        labelled = Labelled.of(positive, sample_weight, qid)
        head = head_for(self.local, measure, labelled)
        folds = None
        if self.cv is not None:
            options = {"random_state": self.random_state}
            folds = FoldRows.of(measure, labelled, self.cv, given, y, sample_weight, qid, **options)
        if labelled.present is not None:
            X = X[labelled.present]
        rows = BinnedRows.of(X, labelled.weights)  # bins do not depend on labels, so folds may share them
        self.has_missing_ = rows.has_missing

        def grow(numbers: IntVector) -> RankingTree:
            return grown_tree(rows, labelled.positive, numbers, growth, head, np.random.RandomState(drawn))

        self.tree_, self.pruning_ = grow(np.arange(labelled.size)), None
        if folds is not None and self.tree_.n_leaves > 1:
            self.tree_, self.pruning_ = pruned_by_folds(
                self.tree_, grow, lambda tree, numbers: tree.leaves(X[numbers]), folds
            )
        self.collapsed_ = self.tree_.n_leaves == 1
        self.intercept_ = -self.tree_.cutoff
        if self.collapsed_:
            pruned = self.pruning_ is not None
            reason = "no subtree beats chance on the folds" if pruned else why_collapsed(growth, labelled)
            warnings.warn(reason, CollapsedFitWarning, stacklevel=2)
        return self

    def _scores(self, X: Any) -> Vector:
        return self.tree_.leaf_scores[self.tree_.leaves(X)] + self.intercept_

    def better_part(self, region: int = 0) -> str:
        """Return the condition under which a row of a region belongs to its better part; "" for a leaf.

        Regions are numbered as in ``tree_``: 0 is the whole list, and 1 its better part.

        >>> from headrank.datasets import coarse_eights
        >>> X, y = coarse_eights()
        >>> ranker = TreeRanker("auc", max_cells=2, max_depth=1).fit(X, y)
        >>> ranker.better_part(0)
        'x11 <= 1.625'
        """
        check_is_fitted(self)
        number = whole("region", region)
        if number >= self.tree_.left.size:
            raise ValueError(f"region must be below {self.tree_.left.size}, the number of regions, got {number}")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return better_part(self.tree_, number, names, self.has_missing_)

    def apply(self, X: Any) -> IntVector:
        """Return the leaf of each row: 0 for the best region, 1 for the next, and so on."""
        check_is_fitted(self)
        return self.tree_.leaves(checked_matrix(self, X, reset=False, finite=False))
