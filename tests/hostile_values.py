"""Values that no argument of a public function should be."""

import datetime
import decimal
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import headrank as hr

N = 40


class Stranger:
    """An instance of a class that nobody has heard of."""

    def __repr__(self) -> str:
        return "Stranger()"


class Unequal(Stranger):
    """One that cannot even be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")


def ragged() -> np.ndarray:
    lists = np.empty(N, dtype=object)
    lists[:] = [[0], [1, 2]] * (N // 2)
    return lists


def objects(*values: Any) -> np.ndarray:
    array = np.empty(N, dtype=object)
    array[:] = [values[i % len(values)] for i in range(N)]
    return array


BITS = [0, 1] * (N // 2)
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "empty string": lambda: "",
    "'3'": lambda: "3",
    "'auc'": lambda: "auc",
    "'nonsense@0.1'": lambda: "nonsense@0.1",
    "empty list": list,
    "empty dict": dict,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "95": lambda: 95,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "complex": lambda: 1 + 2j,
    "True": lambda: True,
    "Fraction": lambda: Fraction(1, 3),
    "Decimal nan": lambda: decimal.Decimal("NaN"),
    "bytes": lambda: b"ab",
    "set": lambda: {1, 2},
    "generator": lambda: (i for i in BITS),
    "range": lambda: range(N),
    "Stranger": Stranger,
    "class": lambda: Stranger,
    "Unequal": Unequal,
    "lambda": lambda: lambda: None,
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
    "date": lambda: datetime.date(2020, 1, 1),
    "np.float32": lambda: np.float32(0.3),
    "np.bool": lambda: np.bool_(True),
    "0-d array": lambda: np.array(0.3),
    "array of 1": lambda: np.array([0.3]),
    "pair": lambda: np.array([0, 1]),
    "list": lambda: list(BITS),
    "tuple of str": lambda: ("a", "b"),
    "strings": lambda: np.array(["a", "b"] * (N // 2)),
    "numbers as strings": lambda: [str(i) for i in range(N)],
    "floats": lambda: np.linspace(0, 1, N),
    "with nan": lambda: np.where(np.arange(N) == 3, np.nan, BITS),
    "with inf": lambda: np.where(np.arange(N) == 3, np.inf, BITS),
    "negative": lambda: -np.arange(N),
    "huge floats": lambda: np.linspace(-1.0, 1.0, N) * 1e308,
    "huge ints": lambda: objects(10**400, 1),
    "uint64": lambda: np.arange(N, dtype=np.uint64) + np.uint64(2**63),
    "longdouble": lambda: np.arange(N).astype(np.longdouble) / 3,
    "complexes": lambda: np.arange(N) + 1j,
    "None beside strings": lambda: objects("a", None),
    "numbers beside strings": lambda: objects("a", 1),
    "lists": ragged,
    "lists of one": lambda: objects([0], [1]),
    "arrays": lambda: objects(np.zeros(2), np.ones(3)),
    "arrays of two": lambda: objects(np.zeros(2), np.ones(2)),
    "dicts": lambda: objects({}, {"a": 1}),
    "sets": lambda: objects({1}, {2}),
    "strangers": lambda: objects(Stranger(), 1),
    "unequals": lambda: objects(Unequal(), 1),
    "NA objects": lambda: objects(pd.NA, 1),
    "NaT objects": lambda: objects(pd.NaT, 1),
    "NA Int64": lambda: pd.array([None, 1] * (N // 2), dtype="Int64"),
    "Int64": lambda: pd.array(BITS, dtype="Int64"),
    "NA boolean": lambda: pd.Series([None, True] * (N // 2), dtype="boolean"),
    "Categorical": lambda: pd.Categorical(["a", "b"] * (N // 2)),
    "Categorical with NA": lambda: pd.Series(pd.Categorical(["a", None] * (N // 2))),
    "StringArray": lambda: pd.array(["a", pd.NA] * (N // 2), dtype="string"),
    "datetimes": lambda: np.arange(N).astype("datetime64[D]"),
    "timedeltas": lambda: np.arange(N).astype("timedelta64[s]"),
    "periods": lambda: pd.Series(pd.period_range("2020", periods=N)),
    "intervals": lambda: pd.Series(pd.interval_range(0, N)),
    "polars nulls": lambda: pl.Series([None, 1] * (N // 2)),
    "polars strings": lambda: pl.Series(["a", None] * (N // 2)),
    "polars lists": lambda: pl.Series([[1], [2, 3]] * (N // 2)),
    "polars frame": lambda: pl.DataFrame({"a": range(N), "b": ["x"] * N}),
    "frame with text": lambda: pd.DataFrame({"age": range(N), "town": ["x"] * N}),
    "frame with dates": lambda: pd.DataFrame({"age": range(N), "when": pd.date_range("2020", periods=N)}),
    "frame with NA": lambda: pd.DataFrame({"age": range(N), "n": pd.array([None, 1] * (N // 2), dtype="Int64")}),
    "frame with lists": lambda: pd.DataFrame({"age": range(N), "n": [[1]] * N}),
    "empty frame": pd.DataFrame,
    "frame without rows": lambda: pd.DataFrame({"a": [], "b": []}),
    "empty polars frame": pl.DataFrame,
    "frame": lambda: pd.DataFrame(np.ones((N, 4))),
    "masked": lambda: np.ma.array(BITS, mask=[i == 1 for i in range(N)]),
    "unmasked": lambda: np.ma.array(BITS, mask=False),
    "matrix": lambda: np.matrix(BITS).T,
    "row matrix": lambda: np.matrix(BITS),
    "sparse column": lambda: sparse.csr_matrix(np.array(BITS)[:, None]),
    "sparse": lambda: sparse.coo_matrix(np.ones((N, 4))),
    "sparse vector": lambda: sparse.coo_array(np.array(BITS, dtype=float)),
    "3-d": lambda: np.zeros((N, 2, 2)),
    "2-d": lambda: np.ones((N, 2)),
    "no columns": lambda: np.ones((N, 0)),
    "nested lists": lambda: [[1, 2], [3, 4]] * (N // 2),
    "ragged lists": lambda: [[1, 2], [3]] * (N // 2),
    "nested strings": lambda: [["a", "b"]] * N,
    "structured": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "void": lambda: np.zeros(N, dtype="V4"),
    "bytes array": lambda: np.array([b"a", b"b"] * (N // 2)),
    "bytes objects": lambda: objects(b"a", b"b"),
    "wrong length": lambda: np.arange(N + 1) % 2,
    "one class": lambda: np.ones(N),
    "three classes": lambda: np.arange(N) % 3,
    "dict of lists": lambda: {"a": list(BITS)},
    "dict of columns": lambda: {"a": np.linspace(0, 1, N), "b": np.ones(N)},
    "dict of rubbish": lambda: {"a": None, 3: "x"},
    "measure": lambda: hr.PartialAUC(max_fpr=0.1),
    "estimator": LogisticRegression,
    "curve": lambda: hr.RocCurve.from_scores(BITS, np.arange(N)),
}
