"""Warnings about the split: raised by copies, drift and telling ids, and not by ordinary tables."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.training import data_warnings, split_warnings
from headrank.training.columns import columns_of, conformed
from headrank.training.design import RowRoles
from headrank.training.goal import Goal
from headrank.training.holdout import split
from headrank.training.table_info import DataSource
from reference import splits as reference

SOURCE = DataSource(source="t.csv", target="y", positive="1", id_column="customer")


def warned(frame, y, **roles):
    known = RowRoles.of(y, n_rows=frame.height, **roles)
    parts = known.split(holdout=0.3, goal=Goal(max_fpr=0.1), random_state=0)
    columns = columns_of(frame)
    ids = data_warnings.like_ids(frame, columns)
    return split_warnings.in_table(conformed(frame, columns), ids, columns, known, parts)


def numbers(rng, n, width):
    return {f"x{j}": rng.normal(size=n) for j in range(width)}


def near(frame, y):
    return [said for said in warned(frame, y) if "nearly equal" in said]


@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 99))
def test_pairs_that_share_a_cell_are_counted(n_train, n_holdout, seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 30, n_train + n_holdout)
    cells, train, holdout = keys // 3, np.arange(n_train), np.arange(n_train, n_train + n_holdout)
    assert split_warnings.near_pairs(cells, keys, train, holdout) == reference.near_pairs(cells, keys, train, holdout)


@pytest.mark.parametrize("noise", [1e-9, 1e-4])
@pytest.mark.parametrize("width", [4, 30])
def test_copies_with_noise_are_found(noise, width):
    rng = np.random.default_rng(0)
    n = 2000
    frame = pl.DataFrame(numbers(rng, n, width))
    copies = frame.with_columns(pl.all() * (1 + noise * pl.Series(rng.normal(size=n))))
    both = pl.concat([frame, copies]).with_columns(colour=pl.Series(["red", "blue"] * n))
    y = np.tile(rng.random(n) < 0.3, 2)
    (said,) = near(both, y)
    share = float(said.split("(")[1].split("%")[0]) / 100
    assert 0.4 < share < 0.75  # the other copy of 70 % is in training, some of them in the next cell
    assert "--group" in said


def dense_tables():
    rng = np.random.default_rng(1)
    n = 6000
    line = rng.normal(size=n)
    money = np.exp(4 * rng.normal(size=n))
    return {
        "one number": pl.DataFrame({"x": line}),
        "one number and categories": pl.DataFrame({"x": line, "c": rng.choice(list("abc"), n)}),
        "ten functions of one number": pl.DataFrame({f"x{j}": np.sin(j + line / 3) for j in range(10)}),
        "money": pl.DataFrame({"m": money, "k": rng.poisson(2, n)}),
        "rounded": pl.DataFrame({"x": line.round(2), "z": rng.normal(size=n).round(1)}),
        "half zeros": pl.DataFrame(
            {f"x{j}": np.where(rng.random(n) < 0.45, 0.0, rng.normal(size=n)) for j in range(6)}
        ),
        "counts": pl.DataFrame({f"k{j}": rng.poisson(3, n) for j in range(12)}),
        "wide": pl.DataFrame(numbers(rng, n, 20)),
        "clusters": pl.DataFrame(
            {f"x{j}": rng.normal(size=20)[np.arange(n) % 20] + 0.05 * rng.normal(size=n) for j in range(5)}
        ),
        "missing": pl.DataFrame(
            {f"x{j}": pl.Series(rng.normal(size=n)).set(pl.Series(rng.random(n) < 0.3), None) for j in range(5)}
        ),
        "few": pl.DataFrame(numbers(rng, 150, 3)),
    }


@pytest.mark.parametrize("name", dense_tables())
def test_ordinary_tables_have_no_copies(name):
    frame = dense_tables()[name]
    y = np.random.default_rng(2).random(frame.height) < 0.3
    assert near(frame, y) == []


def test_ids_that_repeat_suggest_groups():
    y = np.arange(400) % 3 == 0
    known = RowRoles.of(y, n_rows=400, ids=np.arange(400) // 4)
    (said,) = split_warnings.of_repeated_ids(known, SOURCE)
    assert said.startswith("300 of 400 rows repeat a value of 'customer'")
    assert "--group instead of --id" in said
    assert split_warnings.of_repeated_ids(RowRoles.of(y, n_rows=400, ids=np.arange(400)), SOURCE) == []
    together = RowRoles.of(y, n_rows=400, ids=np.arange(400) // 4, groups=np.arange(400) // 4)
    assert split_warnings.of_repeated_ids(together, SOURCE) == []


def dated(rng, n=1500):
    days = rng.integers(0, 700, n)
    return pl.DataFrame({"since": [date(2023, 1, 1) + timedelta(days=int(d)) for d in days]} | numbers(rng, n, 3)), days


def test_a_target_that_changes_over_time_suggests_to_hold_out_the_latest():
    rng = np.random.default_rng(3)
    frame, days = dated(rng)
    y = rng.random(days.size) < np.where(days < 350, 0.2, 0.4)
    (said,) = warned(frame, y)
    assert "along the date 'since'" in said
    assert "are positive before 20" in said
    assert "--time for 'since'" in said
    shifted = frame.with_columns(x1=pl.col("x1") + pl.Series(days / 350))
    (said,) = warned(shifted, rng.random(days.size) < 0.3)
    assert "the values of 'x1' shift" in said
    assert warned(shifted, y, times=days) == []


def test_dates_without_drift_raise_no_suspicion():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame, days = dated(rng)
        assert warned(frame, rng.random(days.size) < 0.3) == []


def test_an_id_in_the_order_of_the_classes_is_named():
    rng = np.random.default_rng(4)
    n = 1000
    frame = pl.DataFrame({"number": np.arange(n), "code": [f"c{i:05d}" for i in range(n)]} | numbers(rng, n, 3))
    (said,) = warned(frame, np.sort(rng.random(n) < 0.3))
    assert "'number' (AUC 1.00), 'code' (AUC 1.00) predict the target" in said
    assert "--drop" in said
    assert warned(frame, rng.random(n) < 0.3) == []


def test_repeated_rows_are_found_although_their_ids_differ():
    rng = np.random.default_rng(5)
    n = 600
    frame = pl.DataFrame(numbers(rng, n, 3))
    both = pl.concat([frame, frame]).with_columns(number=pl.Series(rng.permutation(2 * n)))
    (said,) = warned(both, np.tile(rng.random(n) < 0.3, 2))
    assert "equal a training row in every feature" in said


def test_columns_that_tell_both_files_apart_are_named():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"number": np.arange(1000.0), "x": rng.normal(size=1000)})
    y = rng.random(1000) < 0.3
    columns = columns_of(frame)
    (said,) = split_warnings.of_separated_files(frame, columns, 600)
    assert said.startswith("The column 'number' alone tells the rows of both files apart")
    assert split_warnings.of_separated_files(frame.select("x"), columns, 600) == []
    assert split(y).train.size == 700
