"""HoldoutScores: labelled scores of holdout rows, kept with a model for certified lists of new rows.

The model was selected among k on the holdout, so its promises have to account for the selection. A part A of the
holdout, a quarter of its rows (of each class, if the holdout was drawn by class), only decides how the risk is divided:
model i gets the share w_i(A), with sum 1. The other rows, C, certify.

*Theorem.* Let each model be certified on C with the risk w_i a, and let the model I be selected by any rule, on A and C
together. Then the promise for I is broken with probability at most a. If each model chooses new rows with the limit
w_i q, the expected share of negatives among the rows that I chooses is at most q.

*Proof.* Given A, the shares are constants and the rows of C are still independent draws: of the population, or of each
class, if A or the holdout was drawn by class. Then nothing is known of the share of positives among new rows, and only
the promises for "same negatives" are made. The promise
for I is broken only if that of some model is: with probability at most sum_i w_i a = a. The share of negatives chosen
by I is at most the sum of all models' shares, with expectation at most sum_i w_i q = q. Take the mean over A.

The shares are the frequencies with which each model is best in bootstrap samples of A. They do not affect validity,
only power: a model that is clearly better gets nearly all of the risk, where the plain union bound gives it 1 / k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.lists.candidates import Candidates, choose
from headrank.bounds.lists.certificate import ListCertificate, at_least_in_head, certify_list
from headrank.bounds.lists.rows import Assumption
from headrank.exceptions import InvalidSampleError
from headrank.labels import Sample
from headrank.measures import Measure
from headrank.training.assumption import assumption_of
from headrank.training.result import TrainingResult

_PART = 0.25
"""Share of the rows, or of each class, that divides the risk,"""
_MOST_ROWS = 10_000
"""by at most this many rows of each class,"""
_LARGEST_PART = 200_000
"""and at most this many rows in all."""
_N_RESAMPLES = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class HoldoutScores:
    """Scores and labels of holdout rows, by ascending score, and what the selection of the model costs.

    Attributes
    ----------
    scores : array of shape (n,)
        Scores of holdout rows that did not divide the risk; of each group one row.
    positive : bool array of shape (n,)
        Which of them are positive.
    n_models : int
        Number of models among which this one was selected on the holdout.
    share : float in (0, 1]
        Its share of the risk; see above.
    holds : str
        For which new rows the promises hold, in half a sentence.
    by_class : bool
        Whether the rows were drawn by class, so that the share of positives is not that of independent rows.
    """

    scores: Vector
    positive: BoolVector
    n_models: int
    share: float
    holds: str
    by_class: bool = False

    @property
    def payment(self) -> str:
        """What the selection of the model costs, in a sentence; empty if there was no other model."""
        if self.n_models == 1:
            return ""
        return (
            f"This accounts for the selection of the model among {self.n_models} on the same holdout, for which "
            f"{100 * (1 - self.share):.0f} % of the risk is set aside."
        )

    def certify_list(
        self, new_scores: ArrayLike, *, confidence: float = 0.95, assume: Assumption = "same negatives"
    ) -> ListCertificate:
        """Promise how many of the first k new rows are positive, for all k: see `headrank.certify_list`."""
        sure = check_confidence(confidence)
        self._require_known_share(assume)
        risk = (1 - sure) * self.share
        return replace(
            certify_list(self.positive, self.scores, new_scores, confidence=1 - risk, assume=assume), confidence=sure
        )

    def at_least_in_head(self, head: ArrayLike, n_new: int, *, confidence: float = 0.95) -> int:
        """Promise how many of the first rows are positive, from their scores alone: see `certify_list`."""
        risk = (1 - check_confidence(confidence)) * self.share
        return at_least_in_head(self.positive, self.scores, head, n_new, confidence=1 - risk)

    def choose(
        self, new_scores: ArrayLike, *, max_false_share: float = 0.1, assume: Assumption = "same negatives"
    ) -> Candidates:
        """Choose new rows with a limited expected share of negatives: see `headrank.choose`."""
        self._require_known_share(assume)
        limit = max_false_share * self.share if 0 < max_false_share < 1 else max_false_share  # others are refused
        found = choose(self.positive, self.scores, new_scores, max_false_share=limit, assume=assume)
        # If none is chosen, the best estimate is compared with the limit, so it is put on the same scale.
        best = found.false_share if found.n_chosen else min(found.false_share / self.share, 1.0)
        return replace(found, max_false_share=max_false_share, false_share=best)

    def _require_known_share(self, assume: str) -> None:
        if self.by_class and assume == "same rows":
            raise InvalidSampleError(
                "assume='same rows' needs labelled rows that were drawn like new ones, but this holdout was drawn by "
                "class; use 'same negatives', or train with a best fraction (--top) as the goal, where it is not"
            )


def holdout_scores_of(result: TrainingResult) -> HoldoutScores | None:
    """Return the labelled scores of the winner; None with queries, whose rows are not independent draws."""
    if result.qid is not None:
        return None
    return labelled_scores(
        result.y,
        [each.scores for each in result.models],
        [each.name for each in result.models].index(result.winner.name),
        result.goal.measure,
        np.random.default_rng([result.provenance.random_state, 2]),  # a stream of its own: see one_row_each
        holds=assumption_of(result.table),
        by_class=result.goal.top is None and (result.groups is not None or result.table.holdout.kind == "random"),
    )


def labelled_scores(
    y: BoolVector,
    scores: Sequence[Vector],
    picked: int,
    measure: Measure,
    rng: np.random.Generator,
    *,
    holds: str,
    by_class: bool = False,
) -> HoldoutScores:
    """Return the labelled scores of one of several scorers, picked by any rule on these rows."""
    apart = np.zeros(y.size, dtype=bool)
    share = 1.0
    if len(scores) > 1:
        apart = _part(y, rng, by_class=by_class)
        judges = _judges(y, apart)
        share = 1 / len(scores)
        if y[judges].any() and not y[judges].all():
            share = float(shares_of_risk(y[judges], [each[judges] for each in scores], measure, rng)[picked])
    kept = np.flatnonzero(~apart)
    kept = kept[np.argsort(scores[picked][kept], kind="stable")]  # the order of the file is not stored
    return HoldoutScores(
        scores=scores[picked][kept].astype(np.float64),
        positive=y[kept],
        n_models=len(scores),
        share=share,
        holds=holds,
        by_class=by_class,
    )


def _part(y: BoolVector, rng: np.random.Generator, *, by_class: bool) -> BoolVector:
    """Draw a quarter of the rows, or of each class: then at least one row and not all of them, if there are two."""
    chosen = np.zeros(y.size, dtype=bool)
    if not by_class:
        chosen[rng.permutation(y.size)[: min(max(round(_PART * y.size), 1), _LARGEST_PART)]] = True
        return chosen
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        size = min(max(round(_PART * rows.size), 1), _MOST_ROWS)
        chosen[rng.permutation(rows)[:size]] = True
    return chosen


def _judges(y: BoolVector, apart: BoolVector) -> IntVector:
    """Return the rows of the part that compare the scorers: the first of each class, in the order of the holdout."""
    return np.concatenate([np.flatnonzero(apart & (y == positive))[:_MOST_ROWS] for positive in (True, False)])


def shares_of_risk(y: BoolVector, scores: Sequence[Vector], measure: Measure, rng: np.random.Generator) -> Vector:
    """Return how often each scorer is the best in bootstrap samples, drawn by class; above 0, with sum 1.

    One win each is added, so that no scorer gets nothing. O(100 n log n) per scorer.

    Examples
    --------
    >>> y = np.repeat([True, False], 50)
    >>> right = y + np.linspace(0, 0.5, 100)
    >>> from headrank.measures import AUC
    >>> shares_of_risk(y, [right, -right], AUC(), np.random.default_rng(0)).round(2)
    array([0.99, 0.01])
    """
    classes = np.flatnonzero(y), np.flatnonzero(~y)
    wins = np.ones(len(scores))
    for _ in range(_N_RESAMPLES):
        rows = np.concatenate([rng.choice(each, each.size) for each in classes])
        values = [measure.of_sample(Sample(y[rows], each[rows])) for each in scores]
        wins[int(np.argmax(values))] += 1
    return np.asarray(wins / wins.sum())
