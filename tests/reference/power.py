"""Slow, obvious twins of the power of tests: variances pair by pair, a line by its normal equations, a root search."""

from math import sqrt
from statistics import NormalDist

from reference.delong import delong_variance, paired_delong_variance

NORMAL = NormalDist()


def power_with_null_variance(first, second, difference, level=0.05):
    """Power of a two-sided test on samples of the size of the pilot; its rows are (label, score) of each scorer."""
    var1, var2 = (float(delong_variance(rows)) for rows in (first, second))
    of_difference = float(paired_delong_variance(first, second))
    covariance = (var1 + var2 - of_difference) / 2
    null = 2 * var1 - 2 * covariance
    z = NORMAL.inv_cdf(1 - level / 2)
    return NORMAL.cdf((abs(difference) - z * sqrt(null)) / sqrt(of_difference))


def fitted_line(y, scores):
    """A and B of the line through the points of the ROC curve in normal quantiles, by the normal equations."""
    points = []
    for threshold in sorted(set(scores)):
        flagged = [score >= threshold for score in scores]
        tpr = sum(f for f, label in zip(flagged, y, strict=True) if label) / sum(map(bool, y))
        tnr = sum(not f for f, label in zip(flagged, y, strict=True) if not label) / sum(not label for label in y)
        if 0 < tpr < 1 and 0 < tnr < 1:
            points.append((NORMAL.inv_cdf(tpr), NORMAL.inv_cdf(tnr)))
    n = len(points)
    sx, sy = sum(x for x, _ in points), sum(v for _, v in points)
    sxx, sxy = sum(x * x for x, _ in points), sum(x * v for x, v in points)
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    intercept = (sy - slope * sx) / n
    # Phi^-1(TNR) = intercept + slope Phi^-1(TPR), and Phi^-1(FPR) = -Phi^-1(TNR).
    return -intercept / slope, -1 / slope


def root(f, low, high, tolerance):
    """Brent's root search (1973), as in R's uniroot: it stops when half the bracket is at most half the tolerance."""
    a, b = low, high
    fa, fb = f(a), f(b)
    c, fc = a, fa
    while True:
        previous = b - a
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        least = 2 * 2.220446049250313e-16 * abs(b) + tolerance / 2
        step = (c - b) / 2
        if abs(step) <= least or fb == 0:
            return b
        if abs(previous) >= least and abs(fa) > abs(fb):
            if a == c:  # two points: the secant
                p, q = (c - b) * fb / fa, 1 - fb / fa
            else:  # three points: inverse quadratic interpolation
                r, s, t = fa / fc, fb / fc, fb / fa
                p, q = t * ((c - b) * r * (r - s) - (b - a) * (s - 1)), (r - 1) * (s - 1) * (t - 1)
            p, q = (p, -q) if p > 0 else (-p, q)
            if p < min(0.75 * (c - b) * q - abs(least * q) / 2, abs(previous * q / 2)):
                step = p / q
        if abs(step) < least:
            step = least if step > 0 else -least
        a, fa = b, fb
        b += step
        fb = f(b)
        if (fb > 0) == (fc > 0):
            c, fc = a, fa
