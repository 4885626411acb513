"""The tight hinge of the partial AUC (Narasimhan & Agarwal, KDD 2013)."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np  # noqa: F401  # for the examples

from headrank._types import Vector
from headrank.curve import share
from headrank.surrogates.cut import Cut
from headrank.surrogates.structural import StructuralHinge


@dataclass(frozen=True, eq=False)
class TightHinge(StructuralHinge):
    """The structural hinge of only the highest negatives, down to the end of the range: convex and never looser.

    Only these negatives are selected and sorted: O(N) plus O(k log k) for the k = ceil(n_neg * max_fpr) of them.

    >>> cut = TightHinge(0.0, 0.5)(np.array([2.0, 0.5]), np.array([0.0, -1.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.25, array([ 0. , -0.5]), array([0.5, 0. ]))
    """

    only_reached: ClassVar[bool] = True

    def n_reached(self, n_neg: int) -> int:
        """Return how many of the highest negatives the hinge depends on, if there are neither weights nor queries."""
        return ceil(share(self.max_fpr, n_neg))

    def of_head(self, pos_scores: Vector, neg_scores: Vector, n_neg: int) -> Cut:
        """Evaluate the hinge without weights and queries, given only the highest of ``n_neg`` negatives.

        At least `n_reached` of them are needed.

        >>> TightHinge(0.0, 0.5).of_head(np.array([2.0, 0.5]), np.array([0.0]), 2).risk
        0.25
        """
        return self._of_one_list(pos_scores, neg_scores, n_neg)
