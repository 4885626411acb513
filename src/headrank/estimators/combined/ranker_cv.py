"""RankerCV: linear scorers, kernels, boosted trees and forests, chosen and combined by the measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headrank._numbers import above_zero, listed, seed, short_repr
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted, intercept_for
from headrank.estimators.combined.clock import INTERRUPTED, Clock, OutOfTimeError, RankerProgress
from headrank.estimators.combined.families import FAMILIES, NotHereError, estimator_of, not_for
from headrank.estimators.combined.shares import combination, from_threshold, weighted_sums
from headrank.estimators.combined.wording import why
from headrank.estimators.cv.block_sample import fitted_to_sample
from headrank.estimators.cv.candidates import Trial
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.tally import bar_for
from headrank.estimators.cv.trial_frame import trial_frame
from headrank.estimators.frame_categories import FrameCategories
from headrank.estimators.trees.histogram_trees import TooManyCategoriesError
from headrank.estimators.trees.regrowing import MOST_BYTES
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks
from headrank.solvers import Step


@dataclass(frozen=True, eq=False)
class CombinedPart:
    """One family in the combination.

    Attributes
    ----------
    family : str
        Its name.
    scorer : estimator
        Fitted, with ``decision_function`` and ``contributions``.
    weight : float
        Its share; the weights add up to 1.
    spread : float
        Standard deviation of its scores out of fold, by which they are divided.
    """

    family: str
    scorer: Any
    weight: float
    spread: float

    @property
    def factor(self) -> float:
        """What its scores are multiplied by."""
        return self.weight / self.spread


class RankerCV(Scorer):
    """The ranker to start with: linear scorers, kernels, boosted trees and forests, combined for the head of the list.

    Each family is tuned on the measure by cross-validation, all on the same folds. Half of the weights are found by
    greedy selection on the measure of the scores out of fold: it starts from the mean of the families that are tied for
    the best, adds the one that helps most, and stops when the gain is below its noise. The other half is that of a
    logistic regression on the scores out of fold (stacking). If the greedy selection is clearly better than this mean,
    it is used as it is, so that one family may remain alone.

    Cost: the sum of the families. ``max_seconds`` limits it.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        What to be good at; any measure.
    families : sequence of str
        Some of "boosted trees", "linear", "kernel", "extra trees" and "random forest".
    max_seconds : float, optional
        Time for the whole fit. Families are tried in the order given; one that cannot be finished is left out, and
        ``left_out_`` says so. The first is always finished, with fewer trees if need be. With a limit, the result
        depends on the speed of the machine.
    cv : int, splitter or iterable of (train, test), default=5
        As in `LinearRankerCV`.
    n_jobs : int, optional
        Threads, as everywhere in scikit-learn.
    random_state : int or RandomState, default=0
        Of the folds and of the trees.
    verbose : int or callable, default=0
        A function is called with a `RankerProgress`; 1 shows a progress bar for each family.

    Attributes
    ----------
    parts_ : tuple of CombinedPart
        The families in use, with their weights.
    choice_ : str
        What the ranker is made of, and what each part adds.
    best_score_ : float
        Mean over the folds. Chosen as the best of several: somewhat too good, so measure on rows kept aside.
    trials_ : tuple of Trial
        What each family is worth on each fold, and the combination.
    out_of_fold_ : tuple of arrays
        Of each fold, the scores of the rows left out, in their order; for honest plots.
    left_out_ : dict of str to str
        Families that were not tried or not finished, and why.
    intercept_ : float
        Such that on the held-out folds as many rows score above 0 as are positive; after `refit`, of its rows, or of
        up to 10,000 of them.
    collapsed_, categories_, classes_, n_features_in_, feature_names_in_
        As in `BoostedRanker`.

    Notes
    -----
    NaN and infinities are allowed. Trees compare them; linear scorers and kernels fill in the median, with a feature
    that says where they did. If X is sparse, only boosted trees take NaN, and linear scorers and kernels take no
    infinities; what cannot be used is left out.

    Category columns of a data frame are split by sets of categories in boosted trees, and one-hot encoded for
    linear scorers and kernels: the 100 most frequent categories of each column, the others are zeros. Forests compare
    their codes as numbers.

    An interrupt from the keyboard ends ``fit`` with the combination of the families that are finished, and a warning.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = RankerCV("pauc@0.3", families=("boosted trees", "extra trees"), cv=3).fit(X[::2], y[::2])
    >>> ranker.score(X[1::2], y[1::2]) > 0.7
    True
    """

    parts_: tuple[CombinedPart, ...]
    trials_: tuple[Trial, ...]
    measure_: Measure
    out_of_fold_: tuple[Vector, ...]
    left_out_: dict[str, str]
    intercept_: float
    _needs_finite = False
    _takes_categories = True
    _takes_blocks = True

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        families: Sequence[str] = FAMILIES,
        max_seconds: float | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[RankerProgress], None] = 0,
    ) -> None:
        self.measure = measure
        self.families = families
        self.max_seconds = max_seconds
        self.cv = cv
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
        """Tune each family, and combine them. Parameters as in `BoostedRanker.fit`; queries are kept whole.

        Of `Blocks`, which contain y, a sample is drawn as `LinearRankerCV` does, and the families are tuned and
        combined on it. The linear part and boosted trees are then fitted to all rows, see `refit`; forests and kernels
        stay those of the sample.
        """
        X, y, sample_weight, qid = given = unpacked(self, X, y, sample_weight, qid)
        if isinstance(X, Blocks):
            return self if fitted_to_sample(self, given) else self.refit(X)
        limit = None if self.max_seconds is None else above_zero("max_seconds", self.max_seconds)
        families, measure = self._families(), measure_of(self.measure)
        given, (X, positive) = X, admitted(self, X, y)
        labelled = Labelled.of(positive, sample_weight, qid)
        drawn = int(check_random_state(seed(self.random_state)).randint(2**31 - 1))
        folds = FoldRows.of(measure, labelled, self.cv, given, y, sample_weight, qid, random_state=drawn)
        del given
        splits, self.measure_ = folds.splits, folds.measure
        clock = Clock(limit, self.verbose if callable(self.verbose) else _quiet)
        options = {
            # A number of folds gives the same folds with the same seed; a splitter may not, and is asked once.
            "cv": len(splits) if self.cv is None or isinstance(self.cv, Integral) else _of_all_rows(splits, labelled),
            "n_jobs": self.n_jobs,
            "random_state": drawn,
        }
        learned: dict[str, Any] = {}
        self.left_out_ = not_for(X, families)
        to_learn = [each for each in families if each not in self.left_out_]
        for place, family in enumerate(to_learn, 1):
            try:
                clock.start(family, n_to_follow=len(to_learn) - place, must_finish=not learned)
                scorer = self._learned(family, X, positive, sample_weight, qid, options, clock)
            except OutOfTimeError:
                self.left_out_[family] = f"not finished within {limit:g} s"
            except NotHereError as error:
                self.left_out_[family] = str(error)
            except KeyboardInterrupt:
                if not learned:
                    raise
                warnings.warn("interrupted; combining the families that are finished", RuntimeWarning, stacklevel=2)
                self.left_out_ = {each: INTERRUPTED for each in to_learn if each not in learned} | self.left_out_
                break
            else:
                learned[family] = scorer
                clock.see(scorer.out_of_fold_, folds)
        if not learned:
            raise RuntimeError("; ".join(dict.fromkeys(self.left_out_.values())))
        try:
            self._combine(folds, learned)
        except KeyboardInterrupt:  # it takes a moment; all families are finished
            warnings.warn("interrupted; combining the families that are finished", RuntimeWarning, stacklevel=2)
            self._combine(folds, learned)
        return self

    def refit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        callback: Callable[[Step], None] | None = None,
        memory: float = MOST_BYTES,
    ) -> Self:
        """Fit the linear part and the boosted trees to other rows, without choosing again. Parameters as in `fit`.

        For many rows, of which a sample is enough to choose by. Forests and kernels are kept. Of `Blocks`, boosted
        trees may take ``memory`` bytes, and stay those of the sample if they need more, see `BoostedRankerCV.refit`;
        ``callback`` is called with a `Step` after each evaluation of the linear part.
        """
        check_is_fitted(self)
        X, y, sample_weight, qid = unpacked(self, X, y, sample_weight, qid)
        known: FrameCategories | None = getattr(self, "categories_", None)
        X, positive = admitted(self, X if known is None else known.encoded(X), y)
        if known is not None:
            self.categories_ = known  # parts that are kept have its codes
        labelled = Labelled.of(positive, sample_weight, qid)
        for part in sorted(self.parts_, key=lambda each: each.family != "linear"):  # ``callback`` measures its time
            if isinstance(X, Blocks):
                if part.family == "linear":
                    part.scorer.refit(X, callback=callback)
                elif part.family == "boosted trees":
                    part.scorer.refit(X, memory=memory)
                    vars(part.scorer).pop("feature_names_in_", None)  # it is given matrices without names
            elif hasattr(part.scorer, "refit"):
                part.scorer.refit(X, positive, sample_weight, qid)
        self.intercept_ = 0.0
        self.intercept_ = intercept_for(self, X, labelled)
        return self

    def _families(self) -> list[str]:
        families = listed("families", self.families)
        if not families or any(not isinstance(each, str) or each not in FAMILIES for each in families):
            known = ", ".join(map(repr, FAMILIES))
            raise ValueError(f"families must be some of {known}, got {short_repr(self.families)}")
        return list(dict.fromkeys(families))

    def _learned(
        self,
        family: str,
        X: Any,
        positive: Any,
        sample_weight: ArrayLike | None,
        qid: ArrayLike | None,
        options: dict[str, Any],
        clock: Clock,
    ) -> Any:
        """Tune a family on all folds, or raise `OutOfTimeError`, unless it must be finished."""
        codes = tuple(self.categories_.values) if hasattr(self, "categories_") else None
        bar = 0 if callable(self.verbose) else self.verbose  # a callable is called by the clock
        with bar_for(bar, f"{family} for {self.measure_}") as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapsedFitWarning)

            def verbose(done: int, total: int) -> None:
                clock.tell(done, total)
                show(done, total)

            scorer = estimator_of(
                family, self.measure, codes=codes, max_seconds=clock.share(), verbose=verbose, **options
            )
            try:
                scorer.fit(X, positive, sample_weight, qid)
            except TooManyCategoriesError as error:
                raise NotHereError(str(error)) from error
        clock.finish()
        return scorer.set_params(verbose=0)

    def _combine(self, folds: FoldRows, learned: dict[str, Any]) -> None:
        """Choose how much of each family to take."""
        spreads = {family: folds.spread(scorer.out_of_fold_) for family, scorer in learned.items()}
        scaled = [from_threshold(folds, scorer.out_of_fold_, spreads[family]) for family, scorer in learned.items()]
        # A family that has learned nothing is not taken, unless none has.
        all_collapsed = all(scorer.collapsed_ for scorer in learned.values())
        able = [all_collapsed or not scorer.collapsed_ for scorer in learned.values()]
        found = combination(folds, [each for each, is_able in zip(scaled, able, strict=True) if is_able])
        weights = np.zeros(len(learned))
        weights[able] = found.weights
        self.parts_ = tuple(
            CombinedPart(family, scorer, float(weight), spreads[family])
            for (family, scorer), weight in zip(learned.items(), weights, strict=True)
            if weight > 0
        )
        self.out_of_fold_ = weighted_sums(scaled, weights)
        self.intercept_ = -folds.threshold(self.out_of_fold_)
        alone = [
            Trial(family, folds.values(scores), _per_fold(scores, scorer.collapsed_), _per_fold(scores, 0))
            for (family, scorer), scores in zip(learned.items(), scaled, strict=True)
        ]
        together = Trial("combination", found.values, _per_fold(found.values, False), _per_fold(found.values, 0))
        self.trials_ = (*alone, together)
        self.best_score_ = together.mean if self.measure_.greater_is_better else -together.mean
        self.collapsed_ = all(part.scorer.collapsed_ for part in self.parts_)
        shares = {part.family: part.weight for part in self.parts_}
        # What the others are worth without each family in use.
        without = {
            family: folds.values(weighted_sums(scaled, np.where(np.arange(len(learned)) == i, 0, weights)))
            for i, family in enumerate(learned)
            if family in shares
        }
        self.choice_ = why(shares, alone, together, without, self.measure_, self.left_out_)
        if self.collapsed_:
            warnings.warn(
                "no family has learned anything; check whether X says anything about y",
                CollapsedFitWarning,
                stacklevel=3,
            )

    @property
    def cv_results_(self) -> Any:
        """One row per family and fold, and the combination."""
        return trial_frame(self.trials_, self.measure_)

    @property
    def grown_on_(self) -> str:
        """Which rows the boosted trees were grown on, in words; empty if there are none in the combination."""
        return " ".join(part.scorer.grown_on_ for part in self.parts_ if part.family == "boosted trees")

    def _scores(self, X: Any) -> Vector:
        scores = np.full(X.shape[0], self.intercept_)
        for part in self.parts_:
            scores += part.factor * part.scorer.decision_function(X)
        return scores

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row.

        Weights times centred features for the linear part, the same along the way from the mean for kernels, and
        Shapley values for trees.

        Returns
        -------
        array of shape (n_rows, n_features + 1)
            The last column is the same for all rows. Each row adds up to its ``decision_function``.
        """
        check_is_fitted(self)
        X = checked_matrix(self, X, reset=False, finite=False)
        result: Vector = np.sum([part.factor * part.scorer.contributions(X) for part in self.parts_], axis=0)
        result[:, -1] += self.intercept_
        return result


def _quiet(_progress: RankerProgress) -> None:
    """Show nothing."""


def _of_all_rows(splits: Sequence[Any], labelled: Labelled) -> list[Any]:
    """Return the folds by the numbers of the rows as they were given, with those of weight 0."""
    if labelled.present is None:
        return list(splits)
    return [(labelled.present[train], labelled.present[test]) for train, test in splits]


def _per_fold(folds: Sequence[Any] | Vector, value: Any) -> Any:
    return np.full(len(folds), value)
