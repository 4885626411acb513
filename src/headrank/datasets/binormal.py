"""The binormal model: normal scores in both classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._numbers import generator, real, whole
from headrank._types import BoolVector, Vector
from headrank.datasets.population import Population


@dataclass(frozen=True, kw_only=True)
class Binormal(Population):
    """Negatives score N(0, 1), positives N(separation, spread**2): the textbook ROC curve.

    TPR = Phi((separation + Phi^-1(FPR)) / spread) and AUC = Phi(separation / sqrt(1 + spread**2)). With a spread
    other than 1 the curve is not concave: some transformation of the score is then a better scorer.

    Parameters
    ----------
    separation : float
        Mean score of the positives.
    spread : float, default=1.0
        Standard deviation of the positives' scores, above 0.
    positive_rate : float, default=0.5
        Share of positives among all instances, in (0, 1).

    Examples
    --------
    >>> population = Binormal(separation=2.0, positive_rate=0.1)
    >>> round(population.auc(), 6), round(population.partial_auc(max_fpr=0.01), 6)
    (0.92135, 0.263479)
    >>> round(population.local_auc(top=0.1), 6)
    0.605274
    >>> y, scores = population.sample_scores(1000, random_state=0)
    >>> from headrank.curve import RocCurve
    >>> round(RocCurve.from_scores(y, scores).area(), 3)
    0.928
    """

    separation: float
    spread: float = 1.0
    positive_rate: float = 0.5

    def __post_init__(self) -> None:
        separation, spread = real("separation", self.separation), real("spread", self.spread)
        positive_rate = real("positive_rate", self.positive_rate)
        if spread <= 0:
            raise ValueError(f"spread must be above 0, got {spread:g}; it is the positives' standard deviation")
        if not 0 < positive_rate < 1:
            raise ValueError(
                f"positive_rate must lie strictly between 0 and 1, got {positive_rate:g}; a population needs both "
                "classes, and rates are fractions, not percent"
            )
        for name, value in (("separation", separation), ("spread", spread), ("positive_rate", positive_rate)):
            object.__setattr__(self, name, value)

    def _tpr(self, fpr: Vector) -> Vector:
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr((self.separation + ndtri(fpr)) / self.spread))

    def _tpr_at_quantile(self, x: Vector) -> Vector:
        from scipy.special import ndtr

        return np.asarray(ndtr((self.separation + x) / self.spread))

    def _breaks(self) -> Vector:
        # The curve rises here: below this range Phi underflows; above it is 1.
        return -self.separation + self.spread * np.arange(-38, 10)

    def auc(self) -> float:
        """Return the area under the whole curve, in closed form."""
        from scipy.special import ndtr

        return float(ndtr(self.separation / np.hypot(1.0, self.spread)))

    def sample_scores(self, n_rows: int, random_state: Any = None) -> tuple[BoolVector, Vector]:
        """Draw independent rows; the number of positives is random, and a small sample may have one class only.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        random_state : int, numpy Generator or None
            Seed or generator; None gives a different sample each time.

        Returns
        -------
        y : bool array of shape (n_rows,)
            True for positives.
        scores : array of shape (n_rows,)
            Their scores.
        """
        rng = generator(random_state)
        positive: BoolVector = rng.random(whole("n_rows", n_rows)) < self.positive_rate
        return positive, self._scores(positive, rng)

    def sample_classes(self, n_pos: int, n_neg: int, random_state: Any = None) -> tuple[BoolVector, Vector]:
        """Draw ``n_pos`` positives, then ``n_neg`` negatives; returns ``(y, scores)`` as `sample_scores` does.

        >>> y, scores = Binormal(separation=1.0).sample_classes(2, 3, random_state=0)
        >>> y
        array([ True,  True, False, False, False])
        """
        rng = generator(random_state)
        positive: BoolVector = np.repeat([True, False], [whole("n_pos", n_pos), whole("n_neg", n_neg)])
        return positive, self._scores(positive, rng)

    def _scores(self, positive: BoolVector, rng: np.random.Generator) -> Vector:
        noise = rng.standard_normal(positive.size)
        return np.where(positive, self.separation + self.spread * noise, noise)
