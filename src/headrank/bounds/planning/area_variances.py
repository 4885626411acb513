"""Large-sample variances of areas under two ROC curves, for planning a test.

Legend: a variance is ``pos / n_pos + neg / n_neg``; so is a covariance. A curve of normal scores has the parameters A
and B: ``TPR = Phi(A + B Phi^-1(FPR))``, and the AUC is ``Phi(A / sqrt(1 + B^2))``. A is the difference of the means and
B the standard deviation of the negatives, both in standard deviations of the positives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, pi, sqrt
from typing import Any

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.bounds.asymptotic.delong import components_of
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import InvalidSampleError
from headrank.labels import Sample
from headrank.measures.area import AreaMeasure

_LARGE = 20_000
"""Rows of each class of the sample that stands for a population."""

NormalCurve = tuple[float, float]
"""The parameters A and B of a curve of normal scores."""


@dataclass(frozen=True)
class Part:
    """A variance or covariance: ``pos / n_pos + neg / n_neg``."""

    pos: float
    neg: float

    def at(self, n_pos: float, n_neg: float) -> float:
        """Return it for samples of this size."""
        return self.pos / n_pos + self.neg / n_neg


@dataclass(frozen=True)
class Variances:
    """Values of a measure for one or two scorers, with variances; of one scorer, the second value is chance."""

    values: tuple[float, float]
    first: Part
    second: Part
    both: Part

    @property
    def difference(self) -> float:
        """First value minus second."""
        return self.values[0] - self.values[1]

    def null(self, n_pos: float, n_neg: float) -> float:
        """Variance of the difference if both scorers were like the first."""
        return 2 * (self.first.at(n_pos, n_neg) - self.both.at(n_pos, n_neg))

    def alternative(self, n_pos: float, n_neg: float) -> float:
        """Variance of the difference."""
        first, second, both = (part.at(n_pos, n_neg) for part in (self.first, self.second, self.both))
        return first + second - 2 * both


_NOTHING = Part(0.0, 0.0)


def from_rows(measure: AreaMeasure, samples: list[tuple[BoolVector, Vector]], *, paired: bool) -> Variances:
    """Return the variances of DeLong's components in a sample: that of one scorer, or two on the same or other rows."""
    scale = measure.possible_values[1] - measure.possible_values[0]
    parts, values = [], []
    for positive, scores in samples:
        curves = SampleCurves(Sample(positive, scores))
        components, of_row = components_of(curves.whole, measure.as_partial_auc), curves.levels.of_row
        parts.append((components.pos[of_row[positive]], components.neg[of_row[~positive]]))
        values.append(float(measure.value(curves.whole)))
    own = [Part(*(scale**2 * float(part.var(ddof=1)) for part in each)) for each in parts]
    if len(samples) == 1:
        return Variances((values[0], measure.chance), own[0], _NOTHING, _NOTHING)
    both = _NOTHING
    if paired:
        both = Part(*(scale**2 * float(np.cov(one, two)[0, 1]) for one, two in zip(*parts, strict=True)))
    return Variances((values[0], values[1]), own[0], own[1], both)


def curve_of_auc(auc: float) -> NormalCurve:
    """Return the curve of normal scores with equal variances and this AUC."""
    from scipy.special import ndtri

    return sqrt(2) * float(ndtri(auc)), 1.0


def auc_of_curve(curve: NormalCurve) -> float:
    """Return the AUC of a curve of normal scores."""
    from scipy.special import ndtr

    return float(ndtr(curve[0] / sqrt(1 + curve[1] ** 2)))


def fitted_curve(positive: BoolVector, scores: Vector) -> NormalCurve:
    """Fit a curve of normal scores: the line of least squares of Phi^-1(1 - FPR) on Phi^-1(TPR), solved for the TPR.

    Through the points of the ROC curve with both rates strictly between 0 and 1, each with the same weight. O(n log n).
    """
    from scipy.special import ndtri

    curve = SampleCurves(Sample(positive, scores)).whole
    tpr, tnr = curve.tpr, 1 - curve.fpr
    inside = (tpr > 0) & (tpr < 1) & (tnr > 0) & (tnr < 1)
    x, y = ndtri(tpr[inside]), ndtri(tnr[inside])
    spread = float(np.sum((x - x.mean()) ** 2)) if x.size else 0.0
    slope = float(np.sum((x - x.mean()) * (y - y.mean()))) / spread if spread > 0 else 0.0
    if not slope < 0:
        raise InvalidSampleError(
            "no curve of normal scores fits the pilot sample, whose ROC curve has too few points with both rates "
            "strictly between 0 and 1; use method='delong'"
        )
    return float(x.mean() * slope - y.mean()) / slope, -1 / slope


def fitted_variances(
    measure: AreaMeasure, samples: list[tuple[BoolVector, Vector]], *, paired: bool = True
) -> Variances:
    """Return the published variances for the curves and correlations fitted to a pilot sample, with its own areas."""
    values = [float(measure.value(SampleCurves(Sample(*each)).whole)) for each in samples]
    if len(samples) == 1:
        return obuchowski_lieber_wians(values[0])
    (positive, one), (_, two) = samples
    correlation = (0.0, 0.0)
    if paired:
        correlation = _correlation(one[positive], two[positive]), _correlation(one[~positive], two[~positive])
    first, second = (fitted_curve(*each) for each in samples)
    return replace(obuchowski_mcclish(measure, first, second, correlation), values=(values[0], values[1]))


def _correlation(one: Vector, two: Vector) -> float:
    if not min(np.ptp(one), np.ptp(two)) > 0:
        raise InvalidSampleError(
            "all scores of a class of the pilot sample are equal, so they have no correlation; use method='delong'"
        )
    return float(np.corrcoef(one, two)[0, 1])


def normal_rows(
    curves: tuple[NormalCurve, ...],
    correlation: tuple[float, float],
    *,
    n_pos: int = _LARGE,
    n_neg: int = _LARGE,
    seed: Any = 0,
) -> tuple[BoolVector, list[Vector]]:
    """Draw labels and the normal scores of each scorer, with these correlations among positives and negatives."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n_pos + n_neg) < n_pos
    noise = rng.normal(size=(len(curves), positive.size))
    if len(curves) == 2:
        along = np.where(positive, *correlation)
        noise[1] = along * noise[0] + np.sqrt(1 - along**2) * noise[1]
    return positive, [np.where(positive, each + a, each * b) for each, (a, b) in zip(noise, curves, strict=True)]


def obuchowski_mcclish(
    measure: AreaMeasure,
    first: NormalCurve,
    second: NormalCurve,
    correlation: tuple[float, float],
) -> Variances:
    """Return the published variances of two areas of normal scores (Obuchowski & McClish 1997, formulas 3 to 5).

    As published, the variance leaves out the covariance of the estimates of A and B. For a range from FPR 0 and AUCs
    above 1/2 its effect is negative, so sample sizes are conservative. For a range of high FPR it may be positive, and
    with a high correlation the variance of the difference comes out below 0. ``first`` and ``second`` are (A, B);
    ``correlation`` is that of the scores of the positives and of the negatives.
    """
    width = measure.fpr_range[1] - measure.fpr_range[0]
    least, greatest = measure.possible_values
    scale = (greatest - least) / width
    (a1, b1), (a2, b2) = first, second
    (f1, g1), (f2, g2) = (_derivatives(a, b, *measure.fpr_range) for a, b in (first, second))
    pos, neg = correlation
    own = [
        Part(scale**2 * (f**2 * (1 + a**2 / 2) + g**2 * b**2 / 2), scale**2 * (f**2 * b**2 + g**2 * b**2 / 2))
        for a, b, f, g in ((a1, b1, f1, g1), (a2, b2, f2, g2))
    ]
    cross = pos**2 / 2 * (f1 * g2 * a1 * b2 + f2 * g1 * b1 * a2)
    both = Part(
        scale**2 * (f1 * f2 * (pos + pos**2 * a1 * a2 / 2) + g1 * g2 * b1 * b2 * pos**2 / 2 + cross),
        scale**2 * (f1 * f2 * neg * b1 * b2 + g1 * g2 * b1 * b2 * neg**2 / 2),
    )
    values = tuple(normal_value(measure, a, b) for a, b in (first, second))
    return Variances((values[0], values[1]), own[0], own[1], both)


def obuchowski_lieber_wians(auc: float) -> Variances:
    """Return the variances of an AUC against chance (Obuchowski, Lieber & Wians 2004, formulas 2 and 3).

    With the constants as published, 0.0099 for 1 / (32 pi) and 1.414 for the root of 2, so that sample sizes agree with
    those of other software to all digits. The null variance is that of an AUC of 1/2.
    """
    from scipy.special import ndtri

    a = 1.414 * float(ndtri(auc))
    factor = 0.0099 * exp(-(a**2) / 2)
    return Variances((auc, 0.5), Part(factor * (5 * a**2 + 8), factor * (a**2 + 8)), _NOTHING, _NOTHING)


def normal_value(measure: AreaMeasure, a: float, b: float) -> float:
    """Return the true area of normal scores: the mean TPR over the range, by Gauss-Legendre quadrature."""
    from scipy.special import ndtr, ndtri

    low, high = measure.fpr_range
    ends = np.clip(ndtri(np.array([low, high])), -9.0, 9.0)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = (ends[1] - ends[0]) / 2 * nodes + ends.mean()
    heights = ndtr(a + b * x) * np.exp(-(x**2) / 2) / sqrt(2 * pi)
    return float(measure.from_mean_tpr(float(weights @ heights) * (ends[1] - ends[0]) / 2 / (high - low)))


def _derivatives(a: float, b: float, low: float, high: float) -> tuple[float, float]:
    """Return the derivatives in A and B of the integral of Phi(A + B x) phi(x), x from Phi^-1(low) to Phi^-1(high)."""
    from scipy.special import ndtr, ndtri

    square = 1 + b**2
    h1, h2 = (sqrt(square) * (float(ndtri(end)) + a * b / square) for end in (low, high))
    front, between = exp(-(a**2) / (2 * square)), float(ndtr(h2) - ndtr(h1))
    f = front * between / sqrt(2 * pi * square)
    return f, front / (2 * pi * square) * (exp(-(h1**2) / 2) - exp(-(h2**2) / 2)) - a * b * f / square
