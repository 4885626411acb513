"""The asymmetric SVM (Wu, Lin, Chen & Chen, KDD 2008) as a difference of two tail means.

Legend: s_i the scores of the positives, t_j those of the negatives, N the rows. The published problem is

    min 1/2 |w|^2 - tau rho - mu gamma + 1/N sum xi,   s_i >= rho - xi_i,   t_j <= rho - gamma + xi_j,   xi >= 0.

With rho and gamma minimised out, it is 1/2 |w|^2 plus 1/N times (the sum of the k = mu N highest t_j minus the sum of
the h = (mu + tau) N lowest s_i), fractions counting at the ends. That sum is homogeneous in w, so that a weight on it
changes the length of w and not its direction; the same holds for every increasing function of it. The risk here is one
that is nonnegative and 1 at w = 0, as those of the other surrogates:

    R = max(0, 1 + A)^2,   A = (sum of the k highest t_j - sum of the h lowest s_i + (h - k) m) / k,

where m is the mean score of all rows: the origin, away from which the core of the positives should lie, is the mean of
the training rows, and a common shift of the scores changes nothing. If -V is the minimum of the published problem on
centred features and G = 2 V (N / k)^2, the minimum of 1/2 |w|^2 + C R is C / (1 + 2 C G), in the same direction.
The fit collapses if V = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.curve import shares
from headrank.surrogates.cut import Cut
from headrank.surrogates.lists import OfLists


@dataclass(frozen=True, eq=False)
class AsymmetricSVM(OfLists):
    """The lowest positives should be far above the highest negatives, and above the mean. O(N), convex.

    Parameters
    ----------
    max_fpr : float
        Share of the negatives that count: mu N of them, unless the positives are too few for (mu + tau) N of them.
        Fewer negatives count then, as the problem has no solution otherwise.
    core : float, from 0 on
        tau / mu, the weight of the core relative to the margin. With 0 it is a nu-SVM, with a large number nearly a
        one-class SVM of the positives.

    Examples
    --------
    >>> cut = AsymmetricSVM(0.5, core=0.0)(np.array([2.0, 0.5]), np.array([0.0, -1.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.25, array([ 0., -1.]), array([1., 0.]))
    """

    max_fpr: float
    core: float = 1.0

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the two tails, their means and the plane through them."""
        pos, neg = self.classes(pos_scores.size, neg_scores.size)
        s, t = pos.taken(pos_scores), neg.taken(neg_scores)
        k = np.minimum(shares(self.max_fpr, neg.totals), pos.totals / (1 + self.core))
        h = np.minimum((1 + self.core) * k, pos.totals)  # a minimum because of rounding only
        pull = (h - k) / (pos.totals + neg.totals)  # of each row, by the mean of all
        of_pos = (pull[pos.lists] * pos.weights - pos.highest(-s, h)) / k[pos.lists]
        of_neg = (pull[neg.lists] * neg.weights + neg.highest(t, k)) / k[neg.lists]
        errors = np.maximum(1 + pos.added_up(of_pos * s) + neg.added_up(of_neg * t), 0)
        slopes = 2 * errors / neg.n_lists
        return Cut(
            float(np.mean(errors**2)),
            pos.spread(slopes[pos.lists] * of_pos),
            neg.spread(slopes[neg.lists] * of_neg),
            float(np.mean(errors * (2 - errors))),
        )
