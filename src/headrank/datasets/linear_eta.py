"""A population whose regression function eta(x) = P(Y = 1 | x), the optimal scorer, is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrank._numbers import generator, rate, real, whole
from headrank._types import ArrayLike, BoolVector, Vector
from headrank.datasets.population import Population


@dataclass(frozen=True, kw_only=True)
class LinearEta(Population):
    """Rows uniform on the unit cube with P(Y = 1 | x) = low + (high - low) * x[0]; other features are noise.

    The curve and measures are those of the optimal scorer eta, in closed form: no scorer has a higher curve. As eta is
    uniform on [low, high], its best ``top`` = u are the rows with eta >= Q = high - u (high - low).

    Parameters
    ----------
    low, high : float, default=0.0 and 1.0
        Smallest and largest probability of being positive; 0 <= low < high <= 1.
    n_features : int, default=1
        Number of columns of X; all except the first are noise.

    Examples
    --------
    >>> population = LinearEta(low=0.0, high=0.4, n_features=3)
    >>> population.positive_rate
    0.2
    >>> round(population.auc(), 6), round(population.local_auc(top=0.1), 6)
    (0.708333, 0.182846)
    >>> X, y = population.sample(1000, random_state=0)
    >>> X.shape, int(population.best_set(X, top=0.1).sum())
    ((1000, 3), 104)
    """

    low: float = 0.0
    high: float = 1.0
    n_features: int = 1
    positive_rate: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high = real("low", self.low), real("high", self.high)
        if not 0 <= low < high <= 1:
            raise ValueError(
                f"expected 0 <= low < high <= 1, got low={low:g}, high={high:g}; they are the smallest and the largest "
                "probability of being positive"
            )
        n_features = whole("n_features", self.n_features, at_least=1)
        values = (("low", low), ("high", high), ("n_features", n_features), ("positive_rate", (low + high) / 2))
        for name, value in values:
            object.__setattr__(self, name, value)

    # -- rows --------------------------------------------------------------------------------------------------

    def sample(self, n_rows: int, random_state: Any = None) -> tuple[Vector, BoolVector]:
        """Draw independent rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        random_state : int, numpy Generator or None
            Seed or generator; None gives a different sample each time.

        Returns
        -------
        X : array of shape (n_rows, n_features)
            Features in [0, 1).
        y : bool array of shape (n_rows,)
            True for positives.
        """
        rng = generator(random_state)
        X = rng.random((whole("n_rows", n_rows), self.n_features))
        positive: BoolVector = rng.random(X.shape[0]) < self.eta(X)
        return X, positive

    def sample_scores(self, n_rows: int, random_state: Any = None) -> tuple[BoolVector, Vector]:
        """Draw independent rows and score them with eta, the optimal scorer."""
        X, positive = self.sample(n_rows, random_state)
        return positive, self.eta(X)

    def eta(self, X: ArrayLike) -> Vector:
        """Return each row's probability of being positive: the optimal score."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must have shape (n_rows, {self.n_features}), got {rows.shape}")
        first = rows[:, 0]
        if not np.all((first >= 0) & (first <= 1)):
            raise ValueError("X must lie in the unit cube, but its first column has values outside [0, 1]; rescale it")
        return np.asarray(self.low + (self.high - self.low) * first)

    # -- the best instances ------------------------------------------------------------------------------------

    def quantile(self, top: float) -> float:
        """Return Q(eta, 1 - top): the share ``top`` of all instances has at least this eta."""
        return self.high - rate("top", top, above_zero=True) * (self.high - self.low)

    def best_set(self, X: ArrayLike, top: float) -> BoolVector:
        """Return which rows belong to C* = {eta >= Q}, the best ``top`` of all instances."""
        best: BoolVector = self.eta(X) >= self.quantile(top)
        return best

    def optimal_scores(self, X: ArrayLike, top: float) -> Vector:
        """Return s*: eta on C*, below every value of eta elsewhere (Definition 19).

        For the population any lower values would do outside C*, even a constant. But a sample may have fewer rows in
        C* than its share; a constant would then tie at the quantile and put every row in the top. So eta - 1 is used.
        """
        eta = self.eta(X)
        return np.where(eta >= self.quantile(top), eta, eta - 1)

    def best_error(self, top: float) -> float:
        """Return L*, the smallest error of a classifier that predicts the share ``top`` of all instances positive.

        L* = 1 - Q + (1 - u) (2 Q - 1) - E|eta - Q| (Proposition 1); equal to ``mass_error(top)``.
        """
        u, q = rate("top", top, above_zero=True), self.quantile(top)
        distance = (self.high - self.low) * (u**2 + (1 - u) ** 2) / 2  # E|eta - Q|, eta being uniform
        return 1 - q + (1 - u) * (2 * q - 1) - distance

    def excess_error(self, X: ArrayLike, chosen: ArrayLike, top: float) -> float:
        """Estimate L(C) - L*, the excess error of classifying the ``chosen`` rows C as positive.

        The mean over the rows of ``2 |eta - Q|`` where C and C* differ (Proposition 1), never below 0. The proposition
        holds for sets of mass ``top``; a set of another mass has the additional error (1 - 2 Q) (mass - top).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to average over, drawn by `sample`.
        chosen : bool array-like of shape (n_rows,)
            Whether each row is classified as positive.
        top : float
            Share of all instances to classify as positive.
        """
        eta, q, called = self.eta(X), self.quantile(top), np.asarray(chosen)
        if called.dtype != np.bool_ or called.shape != eta.shape:
            raise ValueError(
                f"chosen must have one bool for each of {eta.size} rows, got shape {called.shape}, dtype {called.dtype}"
            )
        if not eta.size:
            raise ValueError("X is empty: expected at least one row to average over")
        return float(np.mean(2 * np.abs(eta - q) * (called != (eta >= q))))

    # -- the curve of eta, by the share u of instances classified as positive ----------------------------------

    def rates_at_top(self, top: float) -> tuple[float, float]:
        """Return (alpha, beta), the false and true positive rates of C*, in closed form."""
        u = rate("top", top, above_zero=True)
        drop = u * (self.high - self.low) / 2  # from the highest eta to its mean over C*
        # 1 - (high - drop) would lose the digits of a small drop.
        return u * (1 - self.high + drop) / (1 - self.positive_rate), u * (self.high - drop) / self.positive_rate

    def _tpr(self, fpr: Vector) -> Vector:
        u = self._share(fpr)
        return np.asarray(u * (self.high - u * (self.high - self.low) / 2) / self.positive_rate)

    def _share(self, fpr: Vector) -> Vector:
        """Share of instances classified as positive at a false positive rate: the root of alpha(u) = fpr."""
        width, at_best = self.high - self.low, 1 - self.high  # at_best: P(negative) where eta is highest
        negatives = (1 - self.positive_rate) * np.asarray(fpr, dtype=np.float64)
        root = at_best + np.sqrt(at_best**2 + 2 * width * negatives)
        # The alternative quadratic formula, which avoids cancellation when fpr is small.
        return np.minimum(np.divide(2 * negatives, root, out=np.zeros_like(root), where=root > 0), 1.0)

    def _mean_tpr(self, min_fpr: float, max_fpr: float) -> float:
        start, end = self._share(np.array([min_fpr, max_fpr]))
        # The mean of beta(u) with weight alpha'(u): a polynomial of degree 3 in u, for which two Gauss points are
        # exact. Unlike a difference of antiderivatives they stay accurate on a narrow range.
        u = (start + end) / 2 + (end - start) / 2 * np.array([-1.0, 1.0]) / np.sqrt(3)
        width = self.high - self.low
        weight = 1 - self.high + u * width
        return float((u * (self.high - u * width / 2) * weight).sum() / weight.sum()) / self.positive_rate
