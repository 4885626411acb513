"""Comparison of many scorers, with intervals and p-values adjusted for multiple comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, rounded, rounded_down, rounded_up, shown_p
from headrank._numbers import option, short_repr
from headrank._text_tables import aligned
from headrank._types import ArrayLike, Vector
from headrank.bounds.asymptotic.bootstrap import check_replicates, present_rows
from headrank.bounds.comparison.difference import BESIDE, Difference, asymptotic_method, difference_of, one_end
from headrank.bounds.comparison.evidence import Method, Pair, Resampling, evidence_for
from headrank.bounds.confidence import Side, check_confidence, check_side
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import NoVarianceError
from headrank.labels import with_labels
from headrank.measures import Measure
from headrank.measures import measure as measure_of


@dataclass(frozen=True, repr=False)
class Differences:
    """Differences between several scorers on the same rows, with intervals that hold simultaneously.

    Attributes
    ----------
    differences : tuple of Difference
        One per pair, each at the confidence required for all to hold simultaneously (Bonferroni).
    adjusted_p_values : tuple of float
        The p-values after Holm's (1979) correction, in the same order.
    confidence : float
        The guaranteed probability that all intervals hold.
    asymptotic : Differences or None
        The asymptotic answer beside a finite-sample one, if there is one: see `compare`.
    """

    differences: tuple[Difference, ...]
    adjusted_p_values: tuple[float, ...]
    confidence: float
    asymptotic: Differences | None = None

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __getitem__(self, names: tuple[str, str]) -> Difference:
        for difference in self.differences:
            if difference.names == names:
                return difference
        known = ", ".join(map(str, (difference.names for difference in self.differences)))
        raise KeyError(f"no difference is named {names!r}; expected one of {known}")

    def beside(self, other: Differences | None) -> Differences:
        """Return these differences with an asymptotic answer of the same pairs beside each."""
        if other is None:
            return self
        pairs = zip(self.differences, other.differences, strict=True)
        return replace(
            self, differences=tuple(replace(one, asymptotic=beside) for one, beside in pairs), asymptotic=other
        )

    def to_frame(self) -> Any:
        """Return a polars data frame, one row per difference, with the adjusted p-values."""
        with needs_extra("cli"):
            import polars as pl

        rows = [
            difference.as_dict() | {"adjusted_p_value": p}
            for difference, p in zip(self.differences, self.adjusted_p_values, strict=True)
        ]
        return pl.DataFrame(rows)

    @property
    def title(self) -> str:
        """What the table shows, in words."""
        first = self.differences[0]
        return (
            f"Differences in {first.measure} on {first.n_pos:,} positives and {first.n_neg:,} negatives; all intervals "
            f"hold simultaneously with {percent(self.confidence)} confidence ({first.method}: {first.kind}); * can be "
            f"told apart{'; - no p-value below 1, as this method is conservative' if self._has_no_p() else ''}"
        )

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table as text: a header, then one row per difference."""
        table: list[tuple[str, ...]] = [("difference", "estimate", "low", "high", "Holm p")]
        table += [
            (
                f"{difference.names[0]} - {difference.names[1]}",
                _signed(rounded(difference.estimate)),
                _signed(rounded_down(difference.low)),
                _signed(rounded_up(difference.high)),
                "- "
                if p >= 1 and difference.finite_sample
                else f"{_p(p, difference.p_is_bound)} {'*' if p <= 1 - self.confidence else ' '}",
            )
            for difference, p in zip(self.differences, self.adjusted_p_values, strict=True)
        ]
        return table

    def _has_no_p(self) -> bool:
        return self.differences[0].finite_sample and max(self.adjusted_p_values) >= 1

    def __str__(self) -> str:
        own = "\n".join([self.title, *aligned(self.rows)])
        return own if self.asymptotic is None else f"{own}\n\n{self.asymptotic}"

    def __repr__(self) -> str:
        return f"<Differences: {self}>"


def compare_many(
    scorers: Mapping[str, ArrayLike],
    y: ArrayLike,
    *,
    measure: str | Measure = "auc",
    against: str | None = None,
    confidence: float = 0.95,
    method: Method = "auto",
    side: Side = "two-sided",
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
    n_replicates: int = 10_000,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Differences:
    """Compare several scorers on the same rows, all pairs or all against one, adjusted for multiple comparisons.

    With m differences, each interval takes 1/m of the risk (Bonferroni), so all hold simultaneously. The p-values are
    adjusted by Holm's step-down method, which rejects at least as often. Methods and assumptions are those of
    `compare`. Each bootstrap replicate is drawn once for all pairs.

    Parameters
    ----------
    scorers : mapping of str to array-like of shape (n,)
        The scores by name of the scorer; at least two.
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    against : str, optional
        The scorer that all others are compared with (other minus this one); by default all pairs are compared.
    measure, confidence, method, side, sample_weight, qid, clusters, pos_label, missing
        As for `compare`.
    n_replicates, random_state, n_jobs, progress
        For the bootstrap.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, a = Binormal(separation=2.0).sample_classes(1000, 9000, random_state=0)
    >>> noise = np.random.default_rng(1).normal(size=(2, a.size))
    >>> print(compare_many({"clean": a, "noisy": a + noise[0], "noisier": a + 2 * noise[1]}, y, against="clean"))
    Differences in auc on 1,000 positives and 9,000 negatives; all intervals hold simultaneously with 95 % confidence
    (betting: any distribution, any sample size); * can be told apart
    difference       estimate      low      high     Holm p
    noisy - clean    -0.08737  -0.1098  -0.06506  < 1e-12 *
    noisier - clean   -0.1898  -0.2219   -0.1587  < 1e-12 *
    <BLANKLINE>
    Differences in auc on 1,000 positives and 9,000 negatives; all intervals hold simultaneously with 95 % confidence
    (delong: asymptotic, for large samples); * can be told apart
    difference       estimate       low      high     Holm p
    noisy - clean    -0.08737  -0.09889  -0.07584  < 1e-12 *
    noisier - clean   -0.1898   -0.2075   -0.1721  < 1e-12 *
    """
    what, side = measure_of(measure), check_side(side)
    confidence = check_confidence(confidence)
    option("method", method, get_args(Method))
    require_named(scorers)
    _pairs(scorers, against)
    y, sample_weight, qid, clusters, *kept = with_labels(missing, y, sample_weight, qid, clusters, *scorers.values())
    curves = {
        name: SampleCurves(what.check(y, scores, sample_weight, qid=qid, pos_label=pos_label))
        for name, scores in zip(scorers, kept, strict=True)
    }
    resampling = Resampling(n_replicates, present_rows(clusters, sample_weight), random_state, n_jobs, progress)
    by: dict[str, Any] = {"measure": what, "against": against, "confidence": confidence, "side": side}
    found = compare_many_curves(curves, method=method, resampling=resampling, **by)
    risk = one_end((1 - confidence) / len(found), side)
    beside = asymptotic_method(what, next(iter(curves.values())).sample, risk) if method == "auto" else None
    return found if beside is None else with_asymptotic(found, curves, beside, **by)


def with_asymptotic(
    found: Differences, scorers: Mapping[str, SampleCurves], method: Literal["delong", "bootstrap"], **by: Any
) -> Differences:
    """Add the asymptotic answer to a finite-sample one, unless a sample shows no variation."""
    try:
        other = compare_many_curves(scorers, method=method, resampling=BESIDE, **by)
    except NoVarianceError:
        return found
    return found.beside(other)


def compare_many_curves(
    scorers: Mapping[str, SampleCurves],
    *,
    measure: Measure,
    against: str | None = None,
    confidence: float = 0.95,
    method: Method = "auto",
    side: Side = "two-sided",
    resampling: Resampling,
) -> Differences:
    """Compare several scorers from the curves of checked samples with the same rows; see `compare_many`."""
    samples, names = list(scorers.values()), [str(name) for name in scorers]
    pairs = _pairs(scorers, against)
    each = 1 - (1 - confidence) / len(pairs)
    if method == "bootstrap":
        check_replicates(resampling.n_replicates, one_end(1 - each, side))
    evidence = evidence_for(samples, pairs, measure, method, resampling)
    differences = tuple(
        difference_of(weighed, measure, (names[i], names[j]), samples[0].sample, each, side)
        for weighed, (i, j) in zip(evidence, pairs, strict=True)
    )
    adjusted = holm(np.array([difference.p_value for difference in differences]))
    return Differences(differences, tuple(adjusted.tolist()), confidence)


def _p(p_value: float, is_bound: bool) -> str:
    return shown_p(p_value, is_bound=is_bound).removeprefix("p ").removeprefix("= ")


def _signed(number: str) -> str:
    """Add a plus to a printed number; rounded as in the sentence of one difference."""
    return number if number.startswith("-") or number == "0" else f"+{number}"


def require_named(scorers: Any) -> None:
    """Raise unless ``scorers`` maps names to scores; labels passed first by mistake do not."""
    if not isinstance(scorers, Mapping):
        raise TypeError(
            f"scorers must be a mapping of names to scores, got {type(scorers).__name__}; pass scorers first, then y"
        )


def holm(p_values: Vector) -> Vector:
    """Adjust p-values for multiple testing: Holm (1979), valid under any dependence. O(m log m).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(p_values.size, 0, -1))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _pairs(scorers: Iterable[Any], against: str | None) -> list[Pair]:
    names = [str(name) for name in scorers]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"expected at least two scorers with different names, got {', '.join(names) or 'none'}")
    if against is None:
        return list(combinations(range(len(names)), 2))
    if not isinstance(against, str) or against not in names:
        raise ValueError(f"against={short_repr(against)} is not one of the scorers: {', '.join(names)}")
    other = names.index(against)
    return [(i, other) for i in range(len(names)) if i != other]
