"""Models as ``headrank fit`` writes them, made once, and new rows for them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from cli.tables import letor
from headrank.readers import read_svmlight
from headrank.training.goal import Goal
from headrank.training.outputs import table_model
from headrank.training.table_info import DataSource
from headrank.training.train import train

MAKES = ["VW", "Opel", "Ford", "Fiat", "BMW"]


def claims(n, seed):
    """Insurance claims: two telling columns, a category, a year, and whether it is a fraud."""
    rng = np.random.default_rng([11, seed])
    fraud = rng.random(n) < 0.25
    return pl.DataFrame(
        {
            "claim": [f"c{i:05d}" for i in range(n)],
            "customer": [f"p{k}" for k in rng.integers(0, n // 2, n)],
            "Age": (rng.normal(40, 12, n) + 10 * fraud).round(),
            "make": rng.choice(MAKES, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "Year": rng.integers(2000, 2024, n),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )


def drifted(n, seed):
    """Ages times 1000, all makes Tesla, all of 2030."""
    return claims(n, seed).with_columns(Age=pl.col("Age") * 1000, make=pl.lit("Tesla"), Year=pl.lit(2030))


@cache
def claims_model(*, goal=Goal(top=0.1), grouped=False):  # noqa: B008  # frozen
    """A ranker of claims; its holdout has 450 rows, or one of each customer."""
    table = claims(1500, 0)
    source = DataSource(
        source="claims.csv",
        target="fraud",
        positive="yes",
        id_column="claim",
        group_column="customer" if grouped else None,
        dropped=() if grouped else ("customer",),
    )
    result = train(
        table.select("Age", "make", "Year"),
        (table["fraud"] == "yes").to_numpy(),
        goal=goal,
        source=source,
        groups=table["customer"].to_numpy() if grouped else None,
        models="linear",
    )
    return table_model(result)


@cache
def letor_model():
    """A ranker of a LETOR file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text(letor(80, seed=3), encoding="utf-8")
        rows = read_svmlight(path, zero_based=True)
    source = DataSource(source="l.txt", target="label", positive="1 or more", qid_column="qid", first_feature=1)
    return table_model(train(rows.X, rows.y, goal=Goal(top=0.3), source=source, qid=rows.qid, models="linear"))
