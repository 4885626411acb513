"""What every measure is: a frozen object that reads one number off a ROC curve."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from headrank._format import shown
from headrank._types import ArrayLike
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError
from headrank.labels import Sample, check_binary
from headrank.levels import Depth

_Kind = TypeVar("_Kind", bound="Measure")
_SMALL = 2000
"""Rows below which finding the head first takes longer than sorting all."""


class QueryMean(float):
    """The mean of a measure over queries: a float that knows how many queries it stands for.

    Attributes
    ----------
    n_queries : int
        Queries with both classes; the mean is over these.
    n_left_out : int
        Queries with one class only, where no ranking can be right or wrong.
    """

    n_queries: int
    n_left_out: int

    def __new__(cls, value: float, n_queries: int, n_left_out: int) -> Self:
        """Make a float and hang the two counts on it."""
        self = super().__new__(cls, value)
        self.n_queries, self.n_left_out = n_queries, n_left_out
        return self

    def __getnewargs__(self) -> tuple[float, int, int]:  # type: ignore[override]  # for pickle
        return float(self), self.n_queries, self.n_left_out

    def __repr__(self) -> str:
        return f"{float(self)!r} (mean of {self.n_queries} queries, {self.n_left_out} left out)"


REGISTERED: dict[str, type[Measure]] = {}
"""Every measure by what its short name starts with, in the order of their definition."""


def registered(kind: type[_Kind]) -> type[_Kind]:
    """Register a class of measures: it then has a short name and may stand in model files."""
    if REGISTERED.setdefault(kind.prefix, kind) is not kind:
        raise ValueError(f"a measure called {kind.prefix!r} exists: {REGISTERED[kind.prefix].__name__}; take another")
    return kind


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """How good a scorer is, as one number read off its ROC curve.

    Measures are frozen dataclasses: two with the same parameters are equal, they can be keys of a dict, ``str``
    gives the short name that `headrank.measure` reads back (but for `RankStatistic`, whose function has no name to be
    read), and ``repr`` says which number it is.
    """

    prefix: ClassVar[str]
    """What the short name starts with."""
    readable: ClassVar[bool] = True
    """Whether the short name says all, so that the measure can be read back from it, and saved."""
    greater_is_better: ClassVar[bool] = True

    def value(self, curve: RocCurve) -> float:
        """Read the measure off a curve; a head suffices if it reaches `depth`."""
        if not isinstance(curve, RocCurve):
            raise TypeError(
                f"value reads a RocCurve, got {type(curve).__name__}; for labels and scores call the measure"
            )
        curve.require_both_classes()
        return self._value(curve)

    @abstractmethod
    def _value(self, curve: RocCurve) -> float:
        """Read the measure off a curve that holds both classes."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Which number this is, in words: its range, and what it is divided by. Chance is not part of it."""

    @property
    def chance(self) -> float | None:
        """Value of a scorer that gives every row the same score, or None where it depends on the sample."""
        return None

    def chance_on(self, curve: RocCurve) -> float:
        """Value of a constant score on a sample with these numbers of positives and negatives."""
        return self._value(curve.constant()) if self.chance is None else self.chance

    @property
    def possible_values(self) -> tuple[float, float]:
        """The least and the greatest value that any sample can have; infinite where nothing is known."""
        return 0.0, 1.0

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        """How deep a head of unweighted rows must be for `value` to be read off it; None for the whole curve."""
        return None

    def __call__(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *misplaced: Any,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> float:
        """Measure the scores of a sample.

        Only the head that the measure looks at is sorted: O(n) plus O(h log h) for a head of h rows. With weights
        all rows are: O(n log n).

        Parameters
        ----------
        y : array-like of shape (n,)
            0/1, -1/+1, bool, or any two values with ``pos_label``.
        scores : array-like of shape (n,)
            Finite numbers, higher = more positive. The direction is never flipped.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is the same as the row twice.
        qid : array-like of shape (n,), optional
            Query of each row. The answer is then the mean over the queries that have both classes, a `QueryMean`.
        pos_label : optional
            The value of ``y`` that means positive.
        """
        if misplaced:
            raise TypeError(
                f"{self} takes labels and scores, got {2 + len(misplaced)} arguments; a measure is not a scorer: for "
                "scoring= write .scorer(); sample_weight=, qid= and pos_label= must be named"
            )
        return self.of_sample(check_binary(y, scores, sample_weight, qid=qid, pos_label=pos_label))

    def of_sample(self, sample: Sample) -> float:
        """Measure a sample that has passed the door; one with queries gives a `QueryMean`."""
        if sample.queries is None:
            return self._of_list(sample.require_both_classes())
        queries = sample.by_query()
        values = [self._of_list(part) for part in queries if part.n_pos > 0 and part.n_neg > 0]
        n_left_out = len(queries) - len(values)
        if not values:
            raise OneClassError(
                f"needed at least one query with positive and negative rows, but all {n_left_out} queries hold one "
                "class only; check qid"
            )
        return QueryMean(float(np.mean(values)), len(values), n_left_out)

    def scorer(self, *, pos_label: Any = None) -> Any:
        """Make a scikit-learn scorer, for ``scoring=`` in `cross_val_score`, `GridSearchCV` and the like.

        It asks the estimator for ``decision_function`` or else ``predict_proba``, never ``predict``, and passes on
        ``sample_weight`` and ``qid`` by metadata routing: switch that on with
        ``sklearn.set_config(enable_metadata_routing=True)``, ask with ``.set_score_request(qid=True)``, and pass
        ``params={"qid": ...}``. Measures that are better when lower come out negated, as scikit-learn wants it.
        Labels other than 0/1, -1/+1 and bool need ``pos_label``.
        """
        from headrank.measures.scorers import make_scorer_of

        return make_scorer_of(self, pos_label=pos_label)

    @property
    def spec(self) -> str:
        """What follows the @ in the short name; empty if nothing does."""
        return ""

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        """Make the measure from what follows the @ in its short name."""
        if spec:
            raise ValueError(f"takes nothing after {cls.prefix!r}")
        return cls()

    def __str__(self) -> str:
        return f"{self.prefix}@{self.spec}" if self.spec else self.prefix

    def __repr__(self) -> str:
        parameters = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
        chance = "" if self.chance is None else f", chance {shown(self.chance)}"
        direction = "" if self.greater_is_better else ", lower is better"
        return f"<{type(self).__name__}({parameters}): {self.description}{chance}{direction}>"

    @property
    def __name__(self) -> str:  # scikit-learn prints scorers by the name of their function
        return str(self)

    def _of_list(self, sample: Sample) -> float:
        # Which rows a measure looks at is a matter of counting them; with weights the whole curve is made.
        depth = None
        if sample.weights is None and sample.scores.size > _SMALL:
            depth = self.depth(int(sample.n_pos), int(sample.n_neg))
        return self.value(RocCurve.of_sample(sample, depth))
