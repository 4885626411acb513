"""Is one scorer better than another on the same rows? The difference, its interval and its p-value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, log10
from typing import Any, Literal, get_args

import numpy as np

from headrank._extras import needs_extra
from headrank._format import counted, percent, rounded, rounded_down, rounded_up, shown_p
from headrank._numbers import option, short_repr
from headrank._types import ArrayLike
from headrank.bounds.asymptotic.bootstrap import check_replicates, present_rows
from headrank.bounds.comparison.evidence import (
    Covariance,
    Evidence,
    Method,
    Resampling,
    error_of,
    evidence_for,
    widest,
)
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import NoVarianceError
from headrank.labels import Sample, with_labels
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.measures.area import AreaMeasure
from headrank.rows import Blocks
from headrank.score_blocks import gathered, given_blocks, is_blocks

BESIDE = Resampling(10_000, random_state=0)
"""The bootstrap beside a finite-sample answer: the same in every run."""
_BESIDE = ("method", "low", "high", "p_value")
"""What is exported of the asymptotic answer."""
_STEPS_PER_DECADE = 4
"""Risks per power of ten at which a bound that is not monotone in its risk is tried."""


@dataclass(frozen=True, repr=False)
class Difference:
    """The difference between two scorers, with its confidence interval and p-value.

    Attributes
    ----------
    low, estimate, high : float
        Both ends of the interval for the true difference, first minus second, and the difference on the sample. The
        open end of a one-sided interval is the least or the greatest possible difference.
    confidence : float
        The guaranteed probability that the interval contains the true difference.
    p_value : float
        Smallest risk from which on the interval excludes 0: an upper bound of the p-value, exact down to 1e-300 for
        ``"delong"`` and ``"bootstrap_normal"``. The null hypothesis is that the scorers are equally good (two-sided),
        that the first value is no higher (side "lower") or no lower (side "upper").
    measure : Measure
        The measure compared.
    names, values : pairs
        The two scorers and their values on the sample.
    method, theorem, assumptions : str
        The name of the method, where it is proved, and what the guarantee assumes.
    n_pos, n_neg : int
        Positives and negatives in the sample.
    side : {"two-sided", "lower", "upper"}
        Which ends are guaranteed.
    finite_sample : bool
        Whether the guarantee holds for every sample size and distribution; otherwise it is asymptotic.
    asymptotic : Difference or None
        The asymptotic answer beside a finite-sample one, if there is one: see `compare`.
    p_is_bound : bool
        Whether the p-value is the smallest that the method can give, so that it is only known to be at most this: 1e-13
        for one end with bounds for any distribution, 1 / (n_replicates + 1) with the bootstrap. It is then printed as
        "p < ...".
    covariance : pair of pairs of float, or None
        Variances and covariance of the two values, by DeLong's method or the bootstrap; None for finite-sample methods.
    counts : pair of pairs of int, or None
        Positives and negatives of each sample, if there are two: see `compare_samples`.
    """

    low: float
    estimate: float
    high: float
    confidence: float
    p_value: float
    measure: Measure
    names: tuple[str, str]
    values: tuple[float, float]
    method: str
    theorem: str
    assumptions: str
    n_pos: int
    n_neg: int
    side: Side = "two-sided"
    finite_sample: bool = True
    asymptotic: Difference | None = None
    p_is_bound: bool = False
    covariance: Covariance | None = None
    counts: tuple[tuple[int, int], tuple[int, int]] | None = None

    @property
    def standard_error(self) -> float | None:
        """Standard error of the difference; None for finite-sample methods."""
        return None if self.covariance is None else error_of(self.covariance)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def told_apart(self) -> bool:
        """Whether the interval excludes 0."""
        return 0 not in self

    def to_frame(self) -> Any:
        """Return the difference as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, the measure by its short name, with one column per scorer.

        Method, limits and p-value of the asymptotic answer follow, and are None without one.
        """
        left_out = ("names", "values", "asymptotic", "covariance", "counts")
        plain = {name: value for name, value in vars(self).items() if name not in left_out}
        plain |= {"measure": str(self.measure), "standard_error": self.standard_error}
        scorers = {"first": self.names[0], "second": self.names[1]}
        beside = {f"asymptotic_{name}": getattr(self.asymptotic, name, None) for name in _BESIDE}
        return scorers | {"first_value": self.values[0], "second_value": self.values[1]} | plain | beside

    def __str__(self) -> str:
        return "; ".join(self.statements)

    @property
    def statements(self) -> tuple[str, ...]:
        """What was seen, what holds of the true difference and, if there is one, the asymptotic answer, in words."""
        first, second = self.names
        if (self.estimate < 0) == self.measure.greater_is_better and self.estimate != 0:
            better, worse = second, first
        else:
            better, worse = first, second
        lead = f"{better} is better than {worse} by {rounded(abs(self.estimate))}"
        if self.estimate == 0:
            lead = f"{first} and {second} are equal"
        counts = " against ".join(
            f"{counted(n_pos, 'positive')} and {counted(n_neg, 'negative')}"
            for n_pos, n_neg in self.counts or ((self.n_pos, self.n_neg),)
        )
        found = (
            f"{lead} on {counts} ({self.measure} {rounded(self.values[0])} for {first}, {rounded(self.values[1])} for "
            f"{second})",
            f"the true difference {first} - {second} {self._where()} with {percent(self.confidence)} confidence "
            f"({self.method}: {self.kind}), so they {self._verdict()}",
        )
        if (other := self.asymptotic) is None:
            return found
        beside = f"asymptotically ({other.method}, for large samples) it {other._where()}, so they {other._verdict()}"
        return (*found, beside)

    @property
    def kind(self) -> str:
        """For which samples the answer holds, in words."""
        return "any distribution, any sample size" if self.finite_sample else "asymptotic, for large samples"

    def _verdict(self) -> str:
        can = "can" if self.told_apart else "cannot"
        if self.p_value < 1 or not self.finite_sample:
            return f"{can} be told apart ({shown_p(self.p_value, is_bound=self.p_is_bound)})"
        # A bound of 1 is no p-value: it says that the method is too conservative for one.
        return f"{can} be told apart (no p-value below 1, as this method is conservative)"

    def _where(self) -> str:
        if self.side == "lower":
            return f"is at least {rounded_down(self.low)}"
        if self.side == "upper":
            return f"is at most {rounded_up(self.high)}"
        return f"lies between {rounded_down(self.low)} and {rounded_up(self.high)}"

    def __repr__(self) -> str:
        return f"<Difference: {self}>"


def compare(
    y: ArrayLike | Blocks,
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    measure: str | Measure = "auc",
    confidence: float = 0.95,
    method: Method = "auto",
    side: Side = "two-sided",
    names: tuple[str, str] | None = None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
    n_replicates: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Difference:
    """Compare two scorers on the same rows: bound the difference of their true values and test whether it is 0.

    The methods are:

    - ``"auto"``: holds for any distribution and sample size. ``"betting"`` for areas with at least 50 positives (for
      the AUC also 4 negatives per positive), else ``"paired"`` for the AUC and for means over queries, else
      ``"separate"``. Such methods often cannot separate two scorers that an asymptotic test separates, so the answer
      has that of ``"delong"`` (areas) or ``"bootstrap"`` (means over queries) beside it, as ``asymptotic``.
    - ``"betting"``: for areas; bets on the difference of each positive, see
      `headrank.bounds.comparison.paired_betting`. O(n log n), then O(n_pos) for some 50 values.
    - ``"paired"``: Chernoff bound for the difference itself; the less the scorers disagree, the narrower. O(n log n).
    - ``"separate"``: one interval per scorer, each at half the risk. Conservative: it does not use that the rows are
      the same.
    - ``"delong"``: asymptotic, for areas; DeLong, DeLong & Clarke-Pearson (1988). O(n log n).
    - ``"bootstrap"``: asymptotic, for every measure, with weights, clusters and queries. Both scorers use the same
      resampled rows.
    - ``"bootstrap_normal"``: the same with the difference over its bootstrap standard error taken as normal, as in
      other software for partial areas. Its p-values are not limited by the number of replicates.

    Parameters
    ----------
    y : array-like of shape (n,), or Blocks
        0/1, -1/+1, bool, or any two values with ``pos_label``. `Blocks` have labels and two features, the scores of
        both scorers. A comparison needs both scores of each row, so they are gathered: 16 bytes per row, and labels.
    a, b : array-like of shape (n,)
        The scores of the two scorers, in the same row order; neither was trained on these rows. Not with Blocks.
    measure : str or Measure, default="auc"
        The measure to compare.
    confidence : float, default=0.95
        In (0, 1).
    method : {"auto", "betting", "paired", "separate", "delong", "bootstrap", "bootstrap_normal"}, default="auto"
        See above.
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed; the p-value tests the same side.
    names : pair of str, optional
        The names of the scorers; by default those of the columns of Blocks, or "a" and "b".
    sample_weight, qid : array-like of shape (n,), optional
        As for a measure; weights require the bootstrap.
    clusters : array-like of shape (n,), optional
        The cluster of each row; requires the bootstrap.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.
    n_replicates, random_state, n_jobs, progress
        For the bootstrap.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, a = Binormal(separation=2.0).sample_classes(1000, 9000, random_state=0)
    >>> b = a + np.random.default_rng(1).normal(scale=0.7, size=a.size)
    >>> print(compare(y, a, b, names=("clean", "noisy")))
    clean is better than noisy by 0.04972 on 1,000 positives and 9,000 negatives (auc 0.9186 for clean, 0.8689 for
    noisy); the true difference clean - noisy lies between 0.03354 and 0.06629 with 95 % confidence (betting: any
    distribution, any sample size), so they can be told apart (p = 6.4e-12); asymptotically (delong, for large samples)
    it lies between 0.04239 and 0.05704, so they can be told apart (p < 1e-12)
    """
    what, side = measure_of(measure), check_side(side)
    confidence = check_confidence(confidence)
    option("method", method, get_args(Method))
    of_rows = {"a": a, "b": b, "sample_weight": sample_weight, "qid": qid}
    blocks = given_blocks(y, None if is_blocks(y) else a, what="compare", n_columns=2, missing=missing, **of_rows)
    if blocks is not None:
        y, scores, sample_weight, qid = gathered(blocks)
        a, b = scores.T
    elif b is None:
        raise TypeError("compare expects the scores of two scorers, got one; pass b, too")
    columns = None if blocks is None else blocks.feature_names
    names = check_names((columns or ("a", "b")) if names is None else names)
    y, a, b, sample_weight, qid, clusters = with_labels(missing, y, a, b, sample_weight, qid, clusters)
    first, second = (
        SampleCurves(what.check(y, scores, sample_weight, qid=qid, pos_label=pos_label)) for scores in (a, b)
    )
    resampling = Resampling(n_replicates, present_rows(clusters, sample_weight), random_state, n_jobs, progress)
    by: dict[str, Any] = {"measure": what, "confidence": confidence, "side": side, "names": names}
    found = compare_curves(first, second, method=method, resampling=resampling, **by)
    beside = asymptotic_method(what, first.sample, one_end(1 - confidence, side)) if method == "auto" else None
    if beside is None:
        return found
    try:
        other = compare_curves(first, second, method=beside, resampling=BESIDE, **by)
    except NoVarianceError:
        return found
    return replace(found, asymptotic=other)


def check_names(names: Any) -> tuple[str, str]:
    """Return the names of two scorers or samples, or raise."""
    if not isinstance(names, Sequence) or isinstance(names, str | bytes) or len(names) != 2:
        raise ValueError(f"names must be two names, one for each scorer, got {short_repr(names)}")
    return names[0], names[1]


def asymptotic_method(measure: Measure, sample: Sample, risk: float) -> Literal["delong", "bootstrap"] | None:
    """Return the asymptotic method that is fast enough to go with every finite-sample answer, or None.

    The bootstrap has too few replicates for an end of a very small risk.
    """
    if sample.queries is not None:
        return "bootstrap" if risk * (BESIDE.n_replicates + 1) >= 1 else None
    return "delong" if isinstance(measure, AreaMeasure) else None


def compare_curves(
    first: SampleCurves,
    second: SampleCurves,
    *,
    measure: Measure,
    confidence: float = 0.95,
    method: Method = "auto",
    side: Side = "two-sided",
    names: tuple[str, str] = ("a", "b"),
    resampling: Resampling,
) -> Difference:
    """Compare two scorers from the curves of checked samples with the same rows; see `compare`."""
    if method == "bootstrap":
        check_replicates(resampling.n_replicates, one_end(1 - confidence, side))
    (evidence,) = evidence_for([first, second], [(0, 1)], measure, method, resampling)
    return difference_of(evidence, measure, names, first.sample, confidence, side)


def difference_of(
    evidence: Evidence, measure: Measure, names: tuple[str, str], sample: Sample, confidence: float, side: Side
) -> Difference:
    """Turn evidence into an interval and a p-value."""
    farthest = widest(measure)
    risk = one_end(1 - confidence, side)
    low = -farthest if side == "upper" else max(evidence.lower(risk), -farthest)
    high = farthest if side == "lower" else min(evidence.upper(risk), farthest)
    risks = []
    if side != "upper":
        risks.append(_p_value(lambda risk: evidence.lower(risk) > 0, evidence, 0))
    if side != "lower":
        risks.append(_p_value(lambda risk: evidence.upper(risk) < 0, evidence, 1))
    n_pos = int(np.count_nonzero(sample.positive))
    return Difference(
        low,
        evidence.values[0] - evidence.values[1],
        high,
        confidence,
        min(len(risks) * min(risks), 1.0),
        measure,
        names,
        evidence.values,
        evidence.method,
        evidence.theorem,
        evidence.assumptions,
        n_pos,
        sample.positive.size - n_pos,
        side,
        evidence.finite_sample,
        p_is_bound=min(risks) <= evidence.smallest_risk,
        covariance=evidence.covariance,
    )


def one_end(risk: float, side: Side) -> float:
    """Return the risk of each guaranteed end."""
    return risk / 2 if side == "two-sided" else risk


def _p_value(excluded: Callable[[float], bool], evidence: Evidence, end: int) -> float:
    """Return the smallest risk from which on a bound excludes 0, rounded upwards; 1 if there is none.

    In closed form, if there is one. Otherwise, bounds that tighten as the risk grows: bisection of the logarithm.
    Others are tried at fixed risks from 1 down, and the p-value is the last of them before 0 is inside. It is at most r
    only if 0 is excluded at the smallest of these risks that is at least r, so it is valid.
    """
    smallest = evidence.smallest_risk
    if evidence.p_values is not None:
        return max(evidence.p_values[end], smallest)
    if not evidence.monotone:
        found = 1.0
        for step in range(1, 1 - round(_STEPS_PER_DECADE * log10(smallest))):
            risk = 10 ** (-step / _STEPS_PER_DECADE)
            if not excluded(risk):
                break
            found = max(risk, smallest)
        return found
    low, high = log(smallest), log(1 - 1e-9)
    if not excluded(exp(high)):
        return 1.0
    if excluded(smallest):
        return smallest
    for _ in range(evidence.search_steps):
        middle = (low + high) / 2
        if excluded(exp(middle)):
            high = middle
        else:
            low = middle
    return exp(high)
