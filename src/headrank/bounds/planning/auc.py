"""Sample sizes for the AUC, by inverting the intervals of `headrank.bounds.fixed.auc`.

Agarwal, Graepel, Herbrich & Roth (2004), Corollaries 2 and 4 and section 4, and the same for the sharper methods. As
there, the guarantee is conditional on the labels: it is for a sample with this share of positives. If labels are
random, draw rows until the rarer class has the planned number; stopping by the labels does not bias the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, log1p, ulp
from typing import Any, Literal, get_args

from headrank._extras import needs_extra
from headrank._format import percent, shown
from headrank._numbers import inner_rate, option, rate, whole
from headrank.bounds.confidence import check_confidence
from headrank.bounds.fixed.auc import TIE_SHARE
from headrank.bounds.inequalities.chernoff import divergence_below

Method = Literal["mcdiarmid", "hoeffding", "kl", "bernstein"]
"""The intervals that can be planned for, by name."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Plan:
    """A sample size at which the AUC is known to within ``epsilon``, returned by `plan`; prints as a sentence.

    Attributes
    ----------
    n, n_pos, n_neg : int
        Rows needed, in total and per class. The rarer class has as many as the method needs; with `mcdiarmid`, its
        share of the rows, rounded up.
    error_rate_n : int
        Rows needed to know the error rate of a classifier to within ``epsilon`` with the same confidence (section 4).
    epsilon, confidence, positive_rate, method, n_scorers, auc
        The parameters of `plan`.
    """

    epsilon: float
    confidence: float = 0.95
    positive_rate: float
    method: Method = "mcdiarmid"
    n_scorers: int = 1
    auc: float | None = None

    def __post_init__(self) -> None:
        option("method", self.method, get_args(Method))
        for name, value in (
            ("epsilon", rate("epsilon", self.epsilon, above_zero=True)),
            ("confidence", check_confidence(self.confidence)),
            ("positive_rate", check_positive_rate(self.positive_rate)),
            ("n_scorers", whole("n_scorers", self.n_scorers, at_least=1)),
            ("auc", None if self.auc is None else rate("auc", self.auc)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of rows."""
        p = self.positive_rate
        if self.method == "mcdiarmid":
            return _up(_log_risk(self.confidence, self.n_scorers) / (2 * p * (1 - p) * self.epsilon**2))
        return _up(self._n_rarer / min(p, 1 - p))

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return self._n_rarer if self.positive_rate <= 0.5 else self.n - self._n_rarer

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return self.n - self.n_pos

    @property
    def _n_rarer(self) -> int:
        if self.method == "mcdiarmid":
            return _up(min(self.positive_rate, 1 - self.positive_rate) * self.n)
        risk = _log_risk(self.confidence, self.n_scorers)
        if self.method == "hoeffding":
            return _up(risk / (2 * self.epsilon**2))
        share = 1 - TIE_SHARE if self.method == "bernstein" else 1.0
        return max(_up((risk - log(share)) / self._divergence()), 1)

    def _divergence(self) -> float:
        """Return the divergence of one pair from a true AUC that is ``epsilon`` away."""
        if self.auc is None:
            return _least_divergence(self.epsilon)
        a = self.auc
        return min(divergence_below(a, 1 - a, self.epsilon), divergence_below(1 - a, a, self.epsilon))

    @property
    def error_rate_n(self) -> int:
        """Number of rows needed to know the error rate of a classifier."""
        return error_rate_sample_size(epsilon=self.epsilon, confidence=self.confidence, n_scorers=self.n_scorers)

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters and the sample sizes as plain values."""
        return vars(self) | {name: getattr(self, name) for name in ("n", "n_pos", "n_neg", "error_rate_n")}

    def to_frame(self) -> Any:
        """Return a polars data frame with the sample sizes of each method, one row per method."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([replace(self, method=method).as_dict() for method in get_args(Method)])

    def __str__(self) -> str:
        whose = "the AUC" if self.n_scorers == 1 else f"the AUC of each of {self.n_scorers:,} scorers"
        about = "" if self.auc is None else f" (near {shown(self.auc)})"
        sentence = (
            f"To know {whose}{about} to within {shown(self.epsilon)} with {percent(self.confidence)} confidence at "
            f"{percent(self.positive_rate)} positives, you need {self.n:,} rows, {self.n_pos:,} of them positive "
            f"({self.method}); an error rate needs {self.error_rate_n:,}"
        )
        fewer = replace(self, method="kl").n
        return f"{sentence}; method kl needs {fewer:,}" if fewer < self.n else sentence

    def __repr__(self) -> str:
        return f"<Plan: {self}>"


def plan(
    *,
    epsilon: float,
    confidence: float = 0.95,
    positive_rate: float,
    method: Method = "mcdiarmid",
    n_scorers: int = 1,
    auc: float | None = None,
) -> Plan:
    """Compute the sample size at which the AUC is known to within ``epsilon``. O(1).

    Parameters
    ----------
    epsilon : float in (0, 1]
        The largest distance of the estimate from either end of its two-sided interval.
    confidence : float in (0, 1)
        The probability that the interval holds.
    positive_rate : float in (0, 1)
        Share of positives among the rows.
    method : {"mcdiarmid", "hoeffding", "kl", "bernstein"}
        The interval that will be used. `mcdiarmid` is Corollary 2. `kl` needs the fewest rows of the rarer class.
    n_scorers : int
        Scorers for which the intervals hold simultaneously, as needed to select the best (Corollary 4).
    auc : float in [0, 1], optional
        The expected AUC of the sample: `kl` and `bernstein` need far fewer rows near 1. By default the worst case,
        which is close to 1/2. The guarantee of the interval does not depend on this guess; its width does.

    Examples
    --------
    >>> print(plan(epsilon=0.05, positive_rate=0.02))
    To know the AUC to within 0.05 with 95 % confidence at 2 % positives, you need 37,642 rows, 753 of them positive
    (mcdiarmid); an error rate needs 738; method kl needs 36,900
    >>> plan(epsilon=0.05, positive_rate=0.02, method="kl", auc=0.95).n_pos
    221
    """
    return Plan(
        epsilon=epsilon,
        confidence=confidence,
        positive_rate=positive_rate,
        method=method,
        n_scorers=n_scorers,
        auc=auc,
    )


def sample_size(
    *,
    epsilon: float,
    confidence: float = 0.95,
    positive_rate: float,
    method: Method = "mcdiarmid",
    n_scorers: int = 1,
    auc: float | None = None,
) -> int:
    """Return the number of rows needed to know the AUC to within ``epsilon``: the ``n`` of `plan`.

    With d = 1 - confidence, p the share of positives and L = ln|F| + ln(2/d):

    - ``mcdiarmid``: ``L / (2 p (1-p) epsilon^2)``, rounded up: Corollaries 2 and 4;
    - ``hoeffding``, ``kl``, ``bernstein``: the rarer class needs k rows, ``k >= L / (2 epsilon^2)``, and for the last
      two ``k >= L / KL``, where KL is the divergence between the AUC and the nearer of AUC ± epsilon, or the least
      such divergence of all. All rows are then ``k / min(p, 1-p)``, rounded up. For `bernstein` this is the worst
      case, a sample without ties.

    >>> sample_size(epsilon=0.05, positive_rate=0.5), sample_size(epsilon=0.05, positive_rate=0.5, method="hoeffding")
    (2952, 1476)
    """
    return plan(
        epsilon=epsilon,
        confidence=confidence,
        positive_rate=positive_rate,
        method=method,
        n_scorers=n_scorers,
        auc=auc,
    ).n


def error_rate_sample_size(*, epsilon: float, confidence: float = 0.95, n_scorers: int = 1) -> int:
    """Return the number of rows needed to know an error rate by Hoeffding's inequality: ``ln(2/d) / (2 epsilon^2)``.

    Section 4, (3). Smaller than the AUC's by the factor `error_rate_factor`; for the best of several classifiers
    ln|F| is added as in Corollary 4.

    >>> error_rate_sample_size(epsilon=0.05)
    738
    """
    epsilon, n_scorers = rate("epsilon", epsilon, above_zero=True), whole("n_scorers", n_scorers, at_least=1)
    return _up(_log_risk(check_confidence(confidence), n_scorers) / (2 * epsilon**2))


def error_rate_factor(positive_rate: float) -> float:
    """Return how many times more rows the AUC needs than the error rate by Corollary 2: ``1 / (p (1-p))`` (Figure 2).

    >>> error_rate_factor(0.5)
    4.0
    """
    p = check_positive_rate(positive_rate)
    return 1 / (p * (1 - p))


def check_positive_rate(positive_rate: Any) -> float:
    """Return the share of positives, or raise."""
    return inner_rate("positive_rate", positive_rate, ": an AUC needs both classes")


def _log_risk(confidence: float, n_scorers: int) -> float:
    return log(n_scorers) + log(2 / (1 - confidence))


def _least_divergence(epsilon: float) -> float:
    """Return the least ``KL(a || a - epsilon)`` of all a in [epsilon, 1]; with ``a + epsilon`` it is the same.

    It is convex in a, and least where its derivative ``ln(1+x) - x - (ln(1-y) + y)`` changes sign, with
    ``x = epsilon/q``, ``y = epsilon/(1-q)`` and ``q = a - epsilon``: near a = 1/2 + 2/3 epsilon.
    """
    low, high = epsilon, 1.0
    for _ in range(100):
        a = (low + high) / 2
        if not epsilon < a < 1:
            break
        x, y = epsilon / (a - epsilon), epsilon / (1 - a + epsilon)
        slope = log1p(x) - x - (log1p(-y) + y)
        low, high = (a, high) if slope < 0 else (low, a)
    return max(divergence_below(high, 1 - high, epsilon), 2 * epsilon**2)  # Pinsker, in case of rounding errors


def _up(number: float) -> int:
    """Round up, ignoring floating-point errors: 738 / 0.02 is 36,900."""
    nearest = round(number)
    return nearest if abs(number - nearest) <= 4 * ulp(number) else ceil(number)
