"""Summaries of columns: the numbers are those of the rows, in any order, and hostile columns do no harm."""

import numpy as np
import polars as pl
import pytest

from headrank.training import column_summaries as module
from headrank.training.column_summaries import column_summaries
from headrank.training.columns import columns_of, conformed


def summarized(frame, y):
    columns = columns_of(frame)
    return column_summaries(conformed(frame, columns), np.asarray(y, dtype=bool), columns)


def table(n=400):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    frame = pl.DataFrame(
        {
            "amount": np.round(rng.normal(size=n) * 1000 + 3000 * y, 1),
            "city": rng.choice(["Rome", "Lyon", "Ulm", "Graz", "Bern"], n),
            "day": np.datetime64("2024-03-01") + rng.integers(0, 60, n).astype("timedelta64[D]"),
            "owner": rng.random(n) < 0.5,
        }
    )
    gaps = pl.when(pl.int_range(n) % 7 == 0).then(None).otherwise(pl.col("amount"))
    return frame.with_columns(gaps.alias("amount")), y


def test_medians_shares_and_histograms_are_those_of_each_class():
    frame, y = table()
    amount, city, day, owner = summarized(frame, y)
    for rows, shown, shares in ((y, amount.of_positives, amount.pos_shares), (~y, amount.of_others, amount.neg_shares)):
        values = frame["amount"].to_numpy()[rows]
        values = values[np.isfinite(values)]
        assert float(shown[0].replace(",", "")) == pytest.approx(np.median(values), abs=1)
        assert sum(shares) == pytest.approx(1, abs=1e-2)
    assert (amount.n_missing, amount.kind) == (58, "number")
    most = frame["city"].value_counts().sort(["count", "city"], descending=[True, False])["city"].to_list()
    assert city.values == tuple(most[:3])
    first = (frame["city"] == most[0]).to_numpy()
    assert float(city.of_positives[0].removesuffix(" %")) == pytest.approx(100 * first[y].mean(), abs=0.06)
    assert float(city.of_others[0].removesuffix(" %")) == pytest.approx(100 * first[~y].mean(), abs=0.06)
    assert (day.low, day.high) == ("2024-03-01", "2024-04-29")
    assert day.of_positives[0].startswith("2024-0")
    assert set(owner.values) == {"true", "false"}


def test_the_order_of_the_rows_does_not_matter():
    frame, y = table()
    order = np.random.default_rng(1).permutation(y.size)
    assert summarized(frame[order], y[order]) == summarized(frame, y)


def test_empty_constant_extreme_and_long_columns():
    n = 30
    frame = pl.DataFrame(
        {
            "nothing": pl.Series([None] * n, dtype=pl.Float64),
            "same": [7.0] * n,
            "huge": [1e300] + [0.0] * (n - 1),
            "long": ["x" * 100] * n,
            "only others": [1.0] * 10 + [None] * 20,
        }
    )
    nothing, same, huge, long, partly = summarized(frame, np.arange(n) >= 15)
    assert (nothing.values, nothing.low, nothing.of_positives) == ((), "", ())
    assert (same.low, same.high, same.of_positives) == ("7", "7", ("7",))
    assert sum(huge.neg_shares) == pytest.approx(1)
    assert len(long.values[0]) == 24
    assert partly.of_positives == ("",)


def test_few_columns_and_rows_are_summarized_of_a_large_table(monkeypatch):
    frame, y = table()
    wide = pl.DataFrame({f"c{i}": frame["amount"] for i in range(60)})
    assert len(summarized(wide, y)) == 40
    monkeypatch.setattr(module, "_MOST_ROWS", 100)
    assert summarized(frame, y)[1].values == summarized(frame[::4], y[::4])[1].values
