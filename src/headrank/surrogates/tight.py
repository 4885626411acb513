"""The tight hinge of the partial AUC (Narasimhan & Agarwal, KDD 2013)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np  # noqa: F401  # for the examples

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
