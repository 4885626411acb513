"""TestPlan: a test of areas, with its sample size and its power."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from headrank._extras import needs_extra
from headrank._format import counted, rounded, shown
from headrank.bounds.confidence import Side
from headrank.measures import Measure

Method = Literal["delong", "delong_null", "obuchowski", "finite"]


@dataclass(frozen=True, repr=False)
class TestPlan:
    """A test, its sample size and its power, returned by `power` and `sample_size_of_test`; prints as a sentence.

    Attributes
    ----------
    power : float
        Probability that the test finds the difference.
    n_pos, n_neg : float
        Positives and negatives; of each of two samples, if they are not the same rows. `sample_size_of_test` gives the
        exact solution, which may be fractional; round up.
    values : pair of float
        The measure of both scorers, or of one scorer and of chance.
    measure : Measure
        The area that is tested.
    test : {"against chance", "two scorers on the same rows", "two samples"}
        What is compared.
    level : float
        Significance level.
    side : {"two-sided", "lower"}
        Whether the test has one side: that the first is better.
    method : {"delong", "delong_null", "obuchowski", "finite"}
        See `power`.
    standard_error : float
        Of the power, if it is simulated; otherwise 0.
    """

    __test__ = False  # not a test of pytest

    power: float
    n_pos: float
    n_neg: float
    values: tuple[float, float]
    measure: Measure
    test: str
    level: float
    side: Side
    method: Method
    standard_error: float = 0.0

    @property
    def n(self) -> int:
        """Number of rows, of each sample, rounded up by class."""
        return ceil(self.n_pos) + ceil(self.n_neg)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, the measure by its short name."""
        plain = {name: value for name, value in vars(self).items() if name != "values"}
        return plain | {"measure": str(self.measure), "first": self.values[0], "second": self.values[1], "n": self.n}

    def to_frame(self) -> Any:
        """Return the plan as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        each = " in each sample" if self.test == "two samples" else ""
        against = f"{self.measure} {rounded(self.values[0])} against {rounded(self.values[1])}"
        kind = "for any distribution" if self.method == "finite" else f"asymptotic, {self.method}"
        about = f" ± {rounded(self.standard_error)}" if self.standard_error else ""
        return (
            f"With {counted(ceil(self.n_pos), 'positive')} and {counted(ceil(self.n_neg), 'negative')}{each}, a "
            f"{'two' if self.side == 'two-sided' else 'one'}-sided test ({self.test}; {kind}) at level "
            f"{shown(self.level)} finds {against} with probability {self.power:.3f}{about}"
        )

    def __repr__(self) -> str:
        return f"<TestPlan: {self}>"
