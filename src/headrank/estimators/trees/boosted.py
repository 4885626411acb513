"""BoostedRanker: gradient-boosted trees for the head of the list."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import above_zero, option, rate, real, seed, short_repr, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.trees.engine import Trees, ranking_rows_for, rows_for
from headrank.estimators.trees.lightgbm_trees import Derivatives, threads_for
from headrank.estimators.trees.settings import Settings
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import NDCG, Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.surrogates import LogisticLoss, surrogate_for
from headrank.surrogates.row_derivatives import RowDerivatives
from headrank.surrogates.smooth import ConstantScoresError

OBJECTIVES = ("logistic", "push", "smooth", "lambdarank")
_MOST_LEAVES = 131_072
"""Of a tree in LightGBM."""
_BEYOND_K = 3
"""How many rows below the first k lambdarank looks at, as LightGBM advises."""
_LARGEST_CODE = 2**31 - 1
"""Of a category in LightGBM."""


class BoostedRanker(Scorer):
    """Gradient-boosted trees trained for the head of the list, by LightGBM.

    ``objective="logistic"`` is the log loss: it ranks by the odds of being positive, and with a number of trees that is
    chosen by the measure (`BoostedRankerCV`) it is hard to beat. ``"push"`` is the log loss with a power for the
    negatives, which presses the highest of them down (P-classification, Ertekin & Rudin 2011). ``"smooth"`` adds trees
    that lower 1 - measure itself, with soft counts, to the trees of the log loss. ``"lambdarank"`` is LightGBM's own
    objective for lists (Burges 2010): pairs within a query, weighted by the NDCG that swapping them costs.

    Values are compared, never added up, so features need no scaling; NaN and infinities are allowed, and NaN goes where
    it helps. Where LightGBM's library cannot be loaded, scikit-learn's histogram boosting with the log loss stands in,
    with a warning; ``engine_`` says so.

    Cost: O(n_rows n_features) for each tree at most, on one byte per value. X is not copied, apart from these bytes.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at. `score` measures it, and ``objective="smooth"`` is trained for it.
    objective : {"logistic", "push", "smooth", "lambdarank"}, default="logistic"
        What the trees minimise. ``"lambdarank"`` needs ``qid``; it looks at the first ``k`` + 3 rows of each query if
        the measure is ``ndcg@k``, else at the first 30.
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float in (0, 1], default=0.1
        Share of each tree that is added.
    max_leaf_nodes : int, default=31
        Leaves of a tree.
    min_samples_leaf : int, default=20
        Rows of a leaf.
    l2_regularization : float, default=0.0
        Added to the second derivatives of a leaf.
    max_features : float in (0, 1], default=1.0
        Share of the features that each tree sees.
    subsample : float in (0, 1], default=1.0
        Share of the rows that each tree sees.
    random_splits : bool, default=False
        Try one random split per feature instead of all, as in extremely randomized trees.
    power : float, default=4.0
        Of ``objective="push"``; 1 is the log loss.
    bandwidth : float, default=0.3
        Of ``objective="smooth"``: how far, in standard deviations of the scores, a step is softened.
    n_refining : int, default=50
        Trees that ``objective="smooth"`` adds to the ``n_estimators`` trees of the log loss.
    monotonic_cst : sequence of int of length n_features, optional
        1 where the score may only rise with a feature, -1 where it may only fall, else 0.
    categorical_features : sequence of int, str or bool, optional
        Features that are codes of categories: whole numbers from 0 on, NaN for missing. By number, by name, or a mask.
        Category columns of a data frame are categories in any case: `fit` learns their codes.
    random_state : int or RandomState, default=0
        Of the rows and features that each tree sees.
    n_jobs : int, optional
        Threads; by default LightGBM decides. The number changes nothing but the time.

    Attributes
    ----------
    trees_ : tuple
        The trees; of ``objective="smooth"`` first those of the log loss, then those added. Their scores add up.
    engine_ : {"lightgbm", "scikit-learn"}
        What has grown them.
    intercept_ : float
        Such that ``decision_function`` is above 0 for as many training rows as there are positives.
    collapsed_ : bool
        Whether no tree has a split: the fit has learned nothing. A `CollapsedFitWarning` says so.
    categories_ : FrameCategories
        Categories and their codes, if X is a data frame with category columns: ``categories_.values``.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn. ``classes_[1]`` is the positive class.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = BoostedRanker("pauc@0.3", n_estimators=30).fit(X[::2], y[::2])
    >>> ranker.score(X[1::2], y[1::2]) > 0.7
    True
    """

    trees_: tuple[Trees, ...]
    intercept_: float
    _needs_finite = False
    _takes_categories = True
    _takes_grades = True

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        objective: str = "logistic",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        random_splits: bool = False,
        power: float = 4.0,
        bandwidth: float = 0.3,
        n_refining: int = 50,
        monotonic_cst: Sequence[int] | None = None,
        categorical_features: Sequence[Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.objective = objective
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.random_splits = random_splits
        self.power = power
        self.bandwidth = bandwidth
        self.n_refining = n_refining
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Numbers, NaN or infinities. Dense or CSR, float64 or float32 are used as they are. Columns of type
            ``category`` (pandas), ``Categorical`` or ``Enum`` (polars) are categories; one that is not in the training
            rows counts as missing.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one. If the measure is `NDCG`, grades from 0
            (not relevant) to 30; ``"lambdarank"`` and ``"smooth"`` tell grades above 0 apart.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the same as the row twice, except for the limits on rows per leaf and per bin. Weights below .01
            on average, such as those that add up to 1, are scaled to a mean of 1.
        qid : array-like of shape (n_rows,), optional
            Query of each row. ``objective="smooth"`` minimises the mean over queries, ``"lambdarank"`` needs them; the
            others ignore queries.
        """
        X, y, sample_weight, qid = unpacked(self, X, y, sample_weight, qid)
        objective, settings = option("objective", self.objective, OBJECTIVES), settings_of(self)
        n_trees = whole("n_estimators", self.n_estimators, at_least=1)
        n_refining = whole("n_refining", self.n_refining, at_least=1)
        above_zero("power", self.power)
        bandwidth, measure = above_zero("bandwidth", self.bandwidth), measure_of(self.measure)
        X, positive = admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        if objective == "lambdarank" and labelled.queries is None:
            raise ValueError("objective='lambdarank' learns the order within queries; pass qid, the query of each row")
        if labelled.present is not None:
            X = X[labelled.present]
        options: dict[str, Any] = {
            "monotonic": monotonic(self.monotonic_cst, X.shape[1]),
            "random_state": int(check_random_state(seed(self.random_state)).randint(2**31 - 1)),
        }
        n_threads = threads_for(X) if self.n_jobs is None else max(0, whole("n_jobs", self.n_jobs, at_least=-1))
        self.engine_, rows = rows_for(X, labelled, categorical(self, X), n_threads)
        if self.engine_ != "lightgbm":
            objective = "logistic"
        if objective == "lambdarank":
            rows = ranking_rows_for(X, labelled, categorical(self, X), n_threads)
            options["ranking"] = ranking_of(measure)
        grown = rows.growing(settings, derivatives=push_of(self, labelled) if objective == "push" else None, **options)
        grown.grow(n_trees)
        trees = [grown.trees(n_trees)]
        if objective == "smooth" and not trees[0].learned_nothing:
            surrogate = surrogate_for(measure, "smooth", labelled.row_facts(), bandwidth=bandwidth)
            smooth = RowDerivatives(surrogate, labelled.positive, labelled.counts)
            more = rows.growing(settings, derivatives=smooth, start=trees[0].scores(X), **options)
            with suppress(ConstantScoresError):  # of splits into leaves of equal value
                more.grow(n_refining)
                trees.append(more.trees(n_refining))
        self.trees_ = tuple(trees)
        self.collapsed_ = all(each.learned_nothing for each in trees)
        self.intercept_ = -threshold_of(labelled.sample(self._raw(X)))
        if self.collapsed_:
            warnings.warn(why_collapsed(settings, labelled), CollapsedFitWarning, stacklevel=2)
        return self

    def _raw(self, X: Any) -> Vector:
        scores: Vector = np.sum([trees.scores(X) for trees in self.trees_], axis=0)
        return scores

    def _scores(self, X: Any) -> Vector:
        return self._raw(X) + self.intercept_

    def staged_decision_function(self, X: Any, *, every: int = 1) -> Iterator[Vector]:
        """Score rows after ``every`` trees, after twice as many, and so on; the last are those of all trees."""
        check_is_fitted(self)
        every = whole("every", every, at_least=1)
        X = checked_matrix(self, X, reset=False, finite=False)
        before = np.full(X.shape[0], self.intercept_)
        for trees in self.trees_:
            scores = np.zeros(X.shape[0])
            for scores in trees.staged(X, every=every):
                yield before + scores
            before = before + scores

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row: Shapley values by LightGBM.

        Returns
        -------
        array of shape (n_rows, n_features + 1)
            The last column is the same for all rows. Each row adds up to its ``decision_function``.
        """
        check_is_fitted(self)
        X = checked_matrix(self, X, reset=False, finite=False)
        result: Vector = np.sum([trees.contributions(X) for trees in self.trees_], axis=0)
        result[:, -1] += self.intercept_
        return result


def settings_of(ranker: BoostedRanker) -> Settings:
    """Return the settings of the trees, or raise."""
    leaves = whole("max_leaf_nodes", ranker.max_leaf_nodes, at_least=2)
    if leaves > _MOST_LEAVES:
        raise ValueError(f"max_leaf_nodes must be at most {_MOST_LEAVES:,}, got {leaves}")
    if not isinstance(ranker.random_splits, bool | np.bool_):
        raise TypeError(f"random_splits must be True or False, got {short_repr(ranker.random_splits)}")
    penalty = real("l2_regularization", ranker.l2_regularization)
    if penalty < 0:
        raise ValueError(f"l2_regularization must not be negative, got {penalty:g}")
    return Settings(
        learning_rate=rate("learning_rate", ranker.learning_rate, above_zero=True),
        max_leaf_nodes=leaves,
        min_samples_leaf=whole("min_samples_leaf", ranker.min_samples_leaf, at_least=1),
        l2_regularization=penalty,
        max_features=rate("max_features", ranker.max_features, above_zero=True),
        subsample=rate("subsample", ranker.subsample, above_zero=True),
        random_splits=bool(ranker.random_splits),
    )


def push_of(ranker: BoostedRanker, labelled: Labelled) -> Derivatives | None:
    """Return the derivatives of ``objective="push"``; None for the others, whose first trees are of the log loss."""
    if ranker.objective != "push":
        return None
    push = LogisticLoss(above_zero("power", ranker.power), rows=labelled.row_facts())
    return RowDerivatives(push, labelled.positive, labelled.counts)


def ranking_of(measure: Measure) -> dict[str, Any]:
    """Return the parameters of LightGBM's lambdarank: the gain of each grade, and how far down it looks."""
    ndcg = measure if isinstance(measure, NDCG) else NDCG()
    depth = {} if ndcg.k is None else {"lambdarank_truncation_level": ndcg.k + _BEYOND_K}
    return {"label_gain": ndcg.gains_of(np.arange(31)).tolist(), **depth}


def monotonic(given: Sequence[int] | None, n_features: int) -> list[int] | None:
    """Return the constraints as a list, or raise."""
    if given is None:
        return None
    try:
        constraints = [whole("monotonic_cst", each, at_least=-1) for each in given]
    except (TypeError, ValueError):
        constraints = [2]
    if len(constraints) != n_features or not set(constraints) <= {-1, 0, 1}:
        raise ValueError(
            f"monotonic_cst must have one of -1, 0 and 1 for each of the {n_features} features, got {short_repr(given)}"
        )
    return constraints


def categorical(estimator: Any, X: Any) -> list[int]:
    """Return the numbers of the features that are codes of categories, or raise."""
    known = getattr(estimator, "categories_", None)
    of_frame = [] if known is None else list(known.values)
    numbers = sorted({*_numbers_of(estimator, estimator.categorical_features), *of_frame})
    for number in numbers:
        column: Any = X.columns(np.array([number])) if isinstance(X, Blocks) else X[:, [number]]
        values = column.data if hasattr(column, "nnz") else column
        wrong = (values < 0) | (values > _LARGEST_CODE) | (values != np.floor(values))
        wrong = values[wrong & ~np.isnan(values)]
        if wrong.size:
            raise ValueError(
                f"codes of categories must be whole numbers from 0 to {_LARGEST_CODE:,}, or NaN, but feature {number} "
                f"has {wrong[0]:g}; encode it, for example with scikit-learn's OrdinalEncoder"
            )
    return numbers


def _numbers_of(estimator: Any, given: Sequence[Any] | None) -> list[int]:
    if given is None:
        return []
    n_features, names = estimator.n_features_in_, list(getattr(estimator, "feature_names_in_", ()))
    wrong = ValueError(
        f"categorical_features must be numbers from 0 to {n_features - 1}, names of features, or a mask of length "
        f"{n_features}, got {short_repr(given)}"
    )
    try:
        every = list(given)
    except TypeError:
        raise wrong from None
    if every and all(isinstance(each, bool | np.bool_) for each in every):
        if len(every) != n_features:
            raise wrong
        return [i for i, each in enumerate(every) if each]
    try:
        numbers = [names.index(each) if isinstance(each, str) else whole("feature", each, at_least=0) for each in every]
    except (TypeError, ValueError):
        raise wrong from None
    if any(number >= n_features for number in numbers):
        raise wrong
    return sorted(set(numbers))


def why_collapsed(settings: Settings, labelled: Labelled) -> str:
    """Say why no tree has a split."""
    if labelled.size < 2 * settings.min_samples_leaf:
        return (
            f"no tree has a split: {labelled.size} rows are too few for two leaves of {settings.min_samples_leaf} "
            "rows; lower min_samples_leaf"
        )
    return "no tree has a split: no feature separates the classes; check whether X says anything about y"
