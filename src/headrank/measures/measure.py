"""Base class of all measures: frozen objects that compute one number from a ROC curve."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from headrank._format import counted, shown
from headrank._types import ArrayLike
from headrank.curve import RocCurve
from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.grades import are_grades
from headrank.labels import Sample, check_binary, with_labels
from headrank.levels import Depth
from headrank.score_blocks import ScoreBlocks, gathered, given_blocks, labels_of

if TYPE_CHECKING:
    from headrank.rows import Blocks

_Kind = TypeVar("_Kind", bound="Measure")
_SMALL = 2000
"""Below this many rows, sorting all of them is faster than finding the head first."""


class QueryMean(float):
    """The mean of a measure over queries: a float with the number of queries.

    Attributes
    ----------
    n_queries : int
        Queries with both classes; the mean is over these.
    n_left_out : int
        Queries with one class only, for which no measure is defined.
    """

    n_queries: int
    n_left_out: int

    def __new__(cls, value: float, n_queries: int, n_left_out: int) -> Self:
        """Create the float with both counts."""
        self = super().__new__(cls, value)
        self.n_queries, self.n_left_out = n_queries, n_left_out
        return self

    def __getnewargs__(self) -> tuple[float, int, int]:  # type: ignore[override]  # for pickle
        return float(self), self.n_queries, self.n_left_out

    def __repr__(self) -> str:
        return f"{float(self)!r} (mean of {counted(self.n_queries, 'query', 'queries')}, {self.n_left_out:,} left out)"


REGISTERED: dict[str, type[Measure]] = {}
"""All measures by the prefix of their short name, in order of definition."""


def registered(kind: type[_Kind]) -> type[_Kind]:
    """Register a class of measures, so that short names and model files can refer to it."""
    if REGISTERED.setdefault(kind.prefix, kind) is not kind:
        raise ValueError(f"the prefix {kind.prefix!r} is taken by {REGISTERED[kind.prefix].__name__}; choose another")
    return kind


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """Base class: the quality of a scorer as one number computed from its ROC curve.

    Measures are frozen dataclasses: two with the same parameters are equal, they can be keys of a dict, ``str``
    gives the short name that `headrank.measure` reads back (except for `RankStatistic`, which contains a function), and
    ``repr`` describes it.
    """

    prefix: ClassVar[str]
    """The part of the short name before the @."""
    readable: ClassVar[bool] = True
    """Whether the measure can be rebuilt from its short name, and saved."""
    greater_is_better: ClassVar[bool] = True
    graded: ClassVar[bool] = False
    """Whether labels may be grades of relevance."""

    def value(self, curve: RocCurve) -> float:
        """Compute the measure from a curve; a head suffices if it reaches `depth`."""
        if not isinstance(curve, RocCurve):
            raise TypeError(
                f"value expects a RocCurve, got {type(curve).__name__}; for labels and scores call the measure itself"
            )
        curve.require_both_classes()
        return self._value(curve)

    @abstractmethod
    def _value(self, curve: RocCurve) -> float:
        """Compute the measure from a curve with both classes."""

    @property
    @abstractmethod
    def description(self) -> str:
        """A description in words: the range, and what it is divided by. Does not mention chance."""

    @property
    def chance(self) -> float | None:
        """Value of a constant score, or None if it depends on the sample."""
        return None

    def chance_on(self, curve: RocCurve) -> float:
        """Return the value of a constant score on a sample with these numbers of positives and negatives."""
        return self._value(curve.constant()) if self.chance is None else self.chance

    @property
    def possible_values(self) -> tuple[float, float]:
        """The smallest and largest possible value on any sample; infinite if unknown."""
        return 0.0, 1.0

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        """Return the depth of head that `value` needs on unweighted rows; None for the whole curve."""
        return None

    def __call__(
        self,
        y: ArrayLike | Blocks,
        scores: ArrayLike | None = None,
        *misplaced: Any,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
        missing: str = "refuse",
    ) -> float:
        """Compute the measure on a sample.

        Only the head that the measure depends on is sorted: O(n) plus O(h log h) for a head of h rows. With weights
        all rows are sorted: O(n log n).

        Parameters
        ----------
        y : array-like of shape (n,), or Blocks
            0/1, -1/+1, bool, or any two values with ``pos_label``. `Blocks` have labels and scores, as their only
            feature, and may have weights and queries: the head is merged from those of the blocks, in two passes, so
            that the scores of all rows are never in memory at once. With queries, and for grades, they are gathered.
        scores : array-like of shape (n,)
            Finite numbers, higher = more positive. The direction is never flipped. Not with Blocks.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is equivalent to repeating the row.
        qid : array-like of shape (n,), optional
            Query of each row. The result is then a `QueryMean`, the mean over the queries with both classes.
        pos_label : optional
            The label of the positive class in ``y``.
        missing : {"refuse", "drop"}
            What to do about missing labels: raise, or drop their rows, with a warning that says how many.
        """
        if misplaced:
            raise TypeError(
                f"{self} takes labels and scores, got {2 + len(misplaced)} positional arguments; for scoring= use "
                ".scorer(), as a measure is not a scorer; pass sample_weight=, qid= and pos_label= by keyword"
            )
        blocks = given_blocks(y, scores, what=str(self), missing=missing, sample_weight=sample_weight, qid=qid)
        if blocks is not None:
            return self._of_blocks(blocks, pos_label)
        y, scores, sample_weight, qid = with_labels(missing, y, scores, sample_weight, qid)
        return self.of_sample(self.check(y, scores, sample_weight, qid=qid, pos_label=pos_label))

    def check(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Sample:
        """Validate a sample for this measure: two classes, or grades of relevance if it takes them."""
        try:
            return check_binary(y, scores, sample_weight, qid=qid, pos_label=pos_label)
        except InvalidSampleError as error:
            if pos_label is None and are_grades(y):
                raise InvalidSampleError(
                    f"{self} takes two classes: {error}; of grades of relevance choose one to reach, such as y >= 1, "
                    "or use 'ndcg', which takes grades"
                ) from None
            raise

    def of_sample(self, sample: Sample) -> float:
        """Compute the measure on a checked sample; one with queries gives a `QueryMean`."""
        if sample.queries is None:
            return self._of_list(sample.require_both_classes())
        queries = sample.by_query()
        values = [self._of_list(part) for part in queries if part.n_pos > 0 and part.n_neg > 0]
        n_left_out = len(queries) - len(values)
        if not values:
            raise OneClassError(
                f"expected at least one query with positive and negative rows, but all {n_left_out} queries have one "
                "class only; check qid"
            )
        return QueryMean(float(np.mean(values)), len(values), n_left_out)

    def scorer(self, *, pos_label: Any = None) -> Any:
        """Make a scikit-learn scorer, for ``scoring=`` in `cross_val_score`, `GridSearchCV` etc.

        It uses ``decision_function`` or else ``predict_proba``, never ``predict``. ``sample_weight`` and ``qid`` are
        passed by metadata routing: enable it with ``sklearn.set_config(enable_metadata_routing=True)``, request them
        with ``.set_score_request(qid=True)``, and pass ``params={"qid": ...}``. Measures for which lower is better are
        negated, as scikit-learn expects.
        Labels other than 0/1, -1/+1 and bool need ``pos_label``.
        """
        from headrank.measures.scorers import make_scorer_of

        return make_scorer_of(self, pos_label=pos_label)

    @property
    def spec(self) -> str:
        """The part of the short name after the @; empty if there is none."""
        return ""

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        """Make the measure from the part of its short name after the @."""
        if spec:
            raise ValueError(f"{cls.prefix!r} takes no parameters")
        return cls()

    def __str__(self) -> str:
        return f"{self.prefix}@{self.spec}" if self.spec else self.prefix

    @property
    def safe_name(self) -> str:
        """The short name for trackers such as MLflow: other characters than letters, digits and ``_-./`` become ``_``.

        >>> from headrank.measures import PartialAUC
        >>> PartialAUC(max_fpr=0.05).safe_name
        'pauc_0.05'
        """
        return re.sub(r"[^A-Za-z0-9_\-./]", "_", str(self))

    def __repr__(self) -> str:
        parameters = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
        chance = "" if self.chance is None else f", chance {shown(self.chance)}"
        direction = "" if self.greater_is_better else ", lower is better"
        return f"<{type(self).__name__}({parameters}): {self.description}{chance}{direction}>"

    @property
    def __name__(self) -> str:  # scikit-learn prints a scorer by the name of its function
        return str(self)

    def _of_blocks(self, blocks: Blocks, pos_label: Any, **options: Any) -> float:
        """Compute the measure on Blocks of scores; ``options`` are those of `of_sample`."""
        labels = labels_of(blocks)
        if labels.queried or (self.graded and pos_label is None and np.unique(labels.y).size > 2):
            y, scores, sample_weight, qid = gathered(blocks)
            return self.of_sample(self.check(y, scores, sample_weight, qid=qid, pos_label=pos_label), **options)
        rows = ScoreBlocks.of(blocks, pos_label)
        return self.value(rows.curve(self.depth(rows.n_pos, rows.n_neg)))

    def _of_list(self, sample: Sample) -> float:
        # The depth counts rows; with weights the whole curve is computed.
        depth = None
        if sample.weights is None and sample.scores.size > _SMALL:
            depth = self.depth(int(sample.n_pos), int(sample.n_neg))
        return self.value(RocCurve.of_sample(sample, depth))
