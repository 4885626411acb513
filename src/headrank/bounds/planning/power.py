"""power and sample_size_of_test: how likely is a test of areas to find a difference, and how many rows does it take?

**Normal theory.** With z the normal quantiles, V0 and VA the variances of the difference D under the null hypothesis
and under the alternative, the power is ``Phi((|D| - z(1 - level) sqrt(V0)) / sqrt(VA))``; a two-sided test has half
the level in place of it. Finding a difference of the wrong sign is left out, so that with equal areas the power of a
two-sided test is half the level.

- ``"delong"``: the variances of DeLong's components, which his test uses; V0 = VA, as the test estimates one variance.
  They come from a pilot sample, or from 20,000 positives and negatives with normal scores, drawn with a fixed seed.
- ``"delong_null"``: DeLong's variances in the formula of Obuchowski & McClish (1997) for two curves, as in other
  software: V0 is the variance if both scorers were like the first, so the order of the scorers matters.
- ``"obuchowski"``: the published formulas for normal scores, as in other software. One curve: Obuchowski, Lieber &
  Wians (2004), AUC only. Two: Obuchowski & McClish (1997), with V0 as above; curves are fitted to a pilot sample.

**Finite-sample test.** ``"finite"``: the share of simulated samples of normal scores in which the bound that holds for
any distribution excludes 0 (`headrank.compare`, `headrank.compare_samples`) or chance (`headrank.interval`).
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from headrank._format import rounded
from headrank._numbers import generator, inner_rate, whole
from headrank.bounds.comparison.difference import compare
from headrank.bounds.comparison.two_samples import compare_samples
from headrank.bounds.confidence import Side
from headrank.bounds.intervals import interval
from headrank.bounds.planning.area_variances import Variances, normal_rows, obuchowski_lieber_wians
from headrank.bounds.planning.auc import check_positive_rate
from headrank.bounds.planning.head import MOST_ROWS
from headrank.bounds.planning.open_test import OpenTest, open_test
from headrank.bounds.planning.planned_test import Method, TestPlan
from headrank.exceptions import NoVarianceError
from headrank.measures import Measure

_CLOSE = 1.05
"""Ratio of a simulated sample size to the smallest sufficient one, at most, up to the error of the simulation."""
_ROUNDING = 1e-12
"""A variance of the difference is 0 if it is at most this part of those of both values."""
_EQUAL = 1e-9
"""Areas that differ by less are equal: areas and variances are computed in floating point."""


def power(
    *,
    n_pos: int,
    n_neg: int,
    auc: float | tuple[float, float] | None = None,
    binormal: tuple[Any, ...] | None = None,
    pilot: tuple[Any, ...] | None = None,
    measure: str | Measure = "auc",
    paired: bool = True,
    correlation: float | tuple[float, float] = 0.5,
    level: float = 0.05,
    side: Side = "two-sided",
    method: Method = "delong",
    n_runs: int = 200,
    random_state: Any = 0,
) -> TestPlan:
    """Compute the power of a test of one area against chance, or of two areas against each other.

    Parameters
    ----------
    n_pos, n_neg : int
        Positives and negatives; of each sample, if there are two.
    auc : float or pair of float
        The expected AUC of one scorer, tested against chance, or of two. Scores are taken to be normal with equal
        variances, which determines partial areas as well.
    binormal : tuple, instead of ``auc``
        The parameters ``(A, B)`` of one curve of normal scores, or ``((A1, B1), (A2, B2))`` of two: A is the difference
        of the means and B the standard deviation of the negatives, both in standard deviations of the positives.
    pilot : tuple, instead of ``auc``
        Labels and scores ``(y, scores)``, or ``(y, a, b)`` for two scorers; their areas and variances are taken as
        true.
    measure : str or Measure, default="auc"
        The AUC or a partial AUC.
    paired : bool, default=True
        Whether two scorers are compared on the same rows (`compare`) or on two samples (`compare_samples`).
    correlation : float or pair of float, default=0.5
        Of the scores of two scorers on the same rows: among positives and among negatives.
    level : float, default=0.05
        Significance level of the test.
    side : {"two-sided", "lower"}, default="two-sided"
        ``"lower"`` tests that the first scorer is better.
    method : {"delong", "delong_null", "obuchowski", "finite"}, default="delong"
        ``"delong"``: normal theory with the variances of DeLong's test. ``"delong_null"``: the same for two scorers,
        with the variance under the null hypothesis as if both were like the first, as in other software.
        ``"obuchowski"``: the published formulas for normal scores, as in other software; two-curve tests are
        conservative for ranges from FPR 0 and AUCs above 1/2. ``"finite"``: the test that holds for any distribution,
        by simulation; not with ``pilot``.
    n_runs, random_state
        For the simulation.

    Examples
    --------
    >>> power(n_pos=41, n_neg=72, auc=0.73, method="obuchowski").power  # doctest: +ELLIPSIS
    0.98974...
    >>> round(power(n_pos=100, n_neg=400, auc=(0.9, 0.85), correlation=0.6, measure="pauc@0.2").power, 2)
    0.72
    """
    test = open_test(auc, binormal, pilot, measure, paired, correlation, level, side, method)
    n_pos, n_neg = (whole(name, n, at_least=2) for name, n in (("n_pos", n_pos), ("n_neg", n_neg)))
    if method == "finite":
        return _simulated(test, n_pos, n_neg, whole("n_runs", n_runs, at_least=1), random_state)
    variances = test.variances()
    return test.at(n_pos, n_neg, _normal_power(test, variances, n_pos, n_neg), variances.values)


def sample_size_of_test(
    *,
    positive_rate: float,
    power: float = 0.9,
    auc: float | tuple[float, float] | None = None,
    binormal: tuple[Any, ...] | None = None,
    pilot: tuple[Any, ...] | None = None,
    measure: str | Measure = "auc",
    paired: bool = True,
    correlation: float | tuple[float, float] = 0.5,
    level: float = 0.05,
    side: Side = "two-sided",
    method: Method = "delong",
    n_runs: int = 200,
    random_state: Any = 0,
) -> TestPlan:
    """Find the number of rows at which a test of areas has this power: in closed form, "finite" by simulation to 5 %.

    Parameters
    ----------
    positive_rate : float in (0, 1)
        Share of positives among the rows.
    power : float, default=0.9
        The wanted power, in (0, 1).
    auc, binormal, pilot, measure, paired, correlation, level, side, method, n_runs, random_state
        As in `power`.

    Raises
    ------
    ValueError
        If both areas are equal, or ``"finite"`` needs more than ten million rows.
    NoVarianceError
        If the difference has no variance, as with a pilot sample whose AUC is 1; likewise in `power`.

    Examples
    --------
    >>> found = sample_size_of_test(auc=0.73, positive_rate=1 / 2.7, power=0.95, method="obuchowski")
    >>> round(found.n_pos, 3), round(found.n_neg, 3)
    (29.67, 50.439)
    >>> print(sample_size_of_test(auc=(0.9, 0.85), positive_rate=0.1, correlation=0.6, power=0.8))
    With 97 positives and 871 negatives, a two-sided test (two scorers on the same rows; asymptotic, delong) at level
    0.05 finds auc 0.9 against 0.85 with probability 0.800
    """
    test = open_test(auc, binormal, pilot, measure, paired, correlation, level, side, method)
    wanted, rate = inner_rate("power", power), check_positive_rate(positive_rate)
    if method == "finite":
        _require_difference(test.normal_values, side)
        return _simulated_size(test, rate, wanted, whole("n_runs", n_runs, at_least=1), random_state)
    variances = test.variances()
    _require_difference(variances.values, side)
    ratio = (1 - rate) / rate
    # All variances fall as 1 / n_pos at a fixed share of positives.
    null, alternative = _variances_of(test, variances, 1.0, ratio)
    spread = _critical(test) * sqrt(null) + _quantile(wanted) * sqrt(alternative)
    n_pos = max(spread, 0.0) ** 2 / variances.difference**2
    return test.at(n_pos, ratio * n_pos, wanted, variances.values)


def _require_difference(values: tuple[float, float], side: Side) -> None:
    difference = values[0] - values[1]
    if not (difference if side == "lower" else abs(difference)) > _EQUAL:
        raise ValueError(
            f"no sample finds a difference of {rounded(difference)}; the first value must be "
            f"{'higher' if side == 'lower' else 'different'}"
        )


def _normal_power(test: OpenTest, variances: Variances, n_pos: float, n_neg: float) -> float:
    from scipy.special import ndtr

    null, alternative = _variances_of(test, variances, n_pos, n_neg)
    difference = variances.difference if test.side == "lower" else abs(variances.difference)
    return float(ndtr((difference - _critical(test) * sqrt(null)) / sqrt(alternative)))


def _variances_of(test: OpenTest, variances: Variances, n_pos: float, n_neg: float) -> tuple[float, float]:
    """Return the variances of the difference under the null hypothesis and under the alternative, both above 0."""
    null = alternative = variances.alternative(n_pos, n_neg)
    if test.method in ("delong_null", "obuchowski"):
        chance = test.name == "against chance"
        null = obuchowski_lieber_wians(0.5).alternative(n_pos, n_neg) if chance else variances.null(n_pos, n_neg)
    if min(null, alternative) > _ROUNDING * (variances.first.at(n_pos, n_neg) + variances.second.at(n_pos, n_neg)):
        return null, alternative
    if test.method == "obuchowski" and test.name != "against chance":
        raise NoVarianceError(
            f"the published formulas give a variance of the difference in {test.measure} that is not above 0, since "
            "they leave out a covariance; use method='delong'"
        )
    raise NoVarianceError(
        f"the difference in {test.measure} has no variance "
        + ("in the pilot sample" if test.pilot is not None else "with these areas and this correlation")
        + ", so the test sees no uncertainty, although there may be some; use "
        + ("a larger pilot sample" if test.pilot is not None else "other areas or a lower correlation")
    )


def _critical(test: OpenTest) -> float:
    # From the level, not from 1 - level: 1 - 1e-17 is 1.
    return -_quantile(test.level / (2 if test.side == "two-sided" else 1))


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def _simulated(test: OpenTest, n_pos: int, n_neg: int, n_runs: int, random_state: Any) -> TestPlan:
    share = float(np.mean([_finds(test, n_pos, n_neg, stream) for stream in generator(random_state).spawn(n_runs)]))
    # A share of 0 or 1 is not certain: as if one run had been different.
    error = sqrt(max(share * (1 - share), 1 / n_runs) / n_runs)
    return test.at(n_pos, n_neg, share, test.normal_values, error)


def _finds(test: OpenTest, n_pos: int, n_neg: int, rng: np.random.Generator) -> bool:
    """Whether the finite-sample test finds the difference on one sample; its interval excludes 0, or chance."""
    sure: Any = {"measure": test.measure, "confidence": 1 - test.level, "side": test.side}
    y, scores = normal_rows(test.curves, test.correlation, n_pos=n_pos, n_neg=n_neg, seed=rng)
    if len(scores) == 1:
        return test.measure.chance not in interval(y, scores[0], **sure)
    if test.paired:
        return compare(y, scores[0], scores[1], **sure).told_apart
    other, again = normal_rows(test.curves, test.correlation, n_pos=n_pos, n_neg=n_neg, seed=rng)
    return compare_samples(y, scores[0], other, again[1], method="separate", **sure).told_apart


def _simulated_size(test: OpenTest, rate: float, wanted: float, n_runs: int, random_state: Any) -> TestPlan:
    """Double the sample until the power suffices, then close in; the same seeds at each size."""

    def at(n_rows: int) -> TestPlan:
        n_pos = min(max(round(rate * n_rows), 2), n_rows - 2)
        return _simulated(test, n_pos, n_rows - n_pos, n_runs, random_state)

    too_few, enough = 3, max(ceil(4 / min(rate, 1 - rate)), 20)
    found = at(enough)
    while found.power < wanted:
        if enough >= MOST_ROWS:
            raise ValueError(f"with {MOST_ROWS:,} rows the power is only {found.power:.3f}; the areas are too close")
        too_few, enough = enough, min(2 * enough, MOST_ROWS)
        found = at(enough)
    while enough > _CLOSE * too_few + 1:
        between = round(sqrt(too_few * enough))
        closer = at(between)
        if closer.power < wanted:
            too_few = between
        else:
            enough, found = between, closer
    return found
