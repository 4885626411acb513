"""Drift: what has changed is named, the order and the blocks of rows do not matter, and false alarms are rare."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from headrank.training.columns import columns_of, conformed
from headrank.training.drift import SCORES, RowCounts, in_words
from headrank.training.profile import matrix_profile, score_profile, table_profile

INTERVAL = SimpleNamespace(low=0.1, estimate=0.2, high=0.3, confidence=0.95)
MAKES = ["VW", "Opel", "Ford", "Fiat", "BMW"]


def cars(n, rng):
    """Numbers with ties, categories, free text, missing values, dates and truth values."""
    gone = rng.random(n) < 0.2
    return pl.DataFrame(
        {
            "Age": rng.normal(40, 12, n).round(),
            "claims": rng.poisson(0.3, n).astype(float),
            "make": rng.choice(MAKES, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "Year": rng.integers(2000, 2024, n).astype(float),
            "street": [f"street {k}" for k in rng.zipf(1.6, n)],
            "miles": [None if lost else x for lost, x in zip(gone, rng.lognormal(10, 1, n), strict=True)],
            "sold": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 1500, n)).cast(pl.Datetime("us")),
            "leased": rng.random(n) < 0.3,
        }
    )


def scores_of(rows):
    return (rows["Age"].to_numpy() / 5 + rows["claims"].to_numpy()).round()


def profile_of(rng, n_train=1500, n_holdout=600):
    train, holdout = cars(n_train, rng), cars(n_holdout, rng)
    columns = columns_of(train)
    profile = table_profile(conformed(train, columns), conformed(holdout, columns), columns)
    kept = score_profile(scores_of(holdout), top=0.02, threshold=14.0, n_models=3, interval=INTERVAL)
    return replace(profile, scores=kept)


def drift_of(profile, rows):
    counts = RowCounts(profile)
    counts.add(rows, scores_of(rows))
    return counts.drift()


@pytest.fixture(scope="module")
def profile():
    return profile_of(np.random.default_rng(0))


CHANGES = {
    "Age x 1000": ({"Age": pl.col("Age") * 1000}, "Age", r"99\.\d %|100 %", "above "),
    "all makes Tesla": ({"make": pl.lit("Tesla")}, "make", "100 %", "not seen in training, such as 'Tesla'"),
    "year 2030": ({"Year": pl.lit(2030.0)}, "Year", "100 %", "above 2023 (holdout: 0 %)"),
    "younger": ({"Age": pl.col("Age") - 10}, "Age", "%", "up to "),
    "negative": ({"claims": -1 - pl.col("claims")}, "claims", "100 %", "below 0 (holdout: 0 %)"),
    "missing": ({"miles": pl.lit(None, dtype=pl.Float64)}, "miles", "100 %", "missing (holdout: "),
    "never missing": ({"miles": pl.col("miles").fill_null(20_000.0)}, "miles", "0 %", "missing (holdout: "),
    "another make": ({"make": pl.lit("BMW")}, "make", "100 %", "'BMW' (holdout: "),
    "later": ({"sold": pl.col("sold") + pl.duration(days=2000)}, "sold", "%", "above 2024-02-0"),
    "all leased": ({"leased": pl.lit(True)}, "leased", "%", "(holdout: "),
    "new streets": ({"street": pl.lit("Elm" * 30)}, "street", "100 %", "new or rare in training, such as 'ElmElm"),
}


@pytest.mark.parametrize("case", CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_named(profile, case):
    change, column, share, words = case
    rows = cars(300, np.random.default_rng(1)).with_columns(**change)
    drift = drift_of(profile, rows)
    assert {each.column for each in drift.changes} - {SCORES} == {column}
    said = next(str(each) for each in drift.changes if each.column == column)
    assert words in said
    assert re.search(share, said)
    assert drift.as_dict()["found"]
    assert f"drift in 1 of {drift.n_columns} columns" in in_words(drift)[0]


def test_rows_like_those_of_the_holdout_raise_no_alarm(profile):
    drift = drift_of(profile, cars(300, np.random.default_rng(2)))
    assert not drift.found
    assert in_words(drift) == ("No drift: 8 columns and the scores look like those of the holdout.",)


def test_shifted_scores_are_named(profile):
    rows = cars(400, np.random.default_rng(3))
    counts = RowCounts(profile)
    counts.add(rows, scores_of(rows) + 3)
    (change,) = counts.drift().changes
    assert change.of_scores
    assert str(change).startswith("scores: ")
    assert change.share > change.expected
    assert in_words(counts.drift())[0].startswith("drift in the scores: ")


def test_blocks_and_order_do_not_matter(profile):
    rows = cars(500, np.random.default_rng(4)).with_columns(Age=pl.col("Age") + 5)
    whole = drift_of(profile, rows)
    counts = RowCounts(profile)
    shuffled = rows[np.random.default_rng(5).permutation(500)]
    for start in range(0, 500, 90):
        part = shuffled[start : start + 90]
        counts.add(part, scores_of(part))
    assert counts.drift() == whole
    assert whole.found


def test_no_rows_raise_no_alarm(profile):
    assert not RowCounts(profile).drift().found


def test_a_stricter_risk_names_less(profile):
    rows = cars(300, np.random.default_rng(6)).with_columns(Age=pl.col("Age") + 4)
    counts = RowCounts(profile)
    counts.add(rows, scores_of(rows))
    p = min(each.p_value for each in counts.drift().changes)
    assert not counts.drift(risk=p / 2).found
    assert counts.drift(risk=p * 1.01).found


def test_the_price_is_the_number_of_columns(profile):
    """The same column among more others has a larger p-value."""
    rows = cars(300, np.random.default_rng(7)).with_columns(Age=pl.col("Age") + 6)
    alone = [each for each in profile.columns() if each.name == "Age"]
    few = replace(type(profile).of(alone, n_rows=profile.n_rows), scores=None)
    one, many = (drift_of(each, rows).changes[0] for each in (few, replace(profile, scores=None)))
    assert one.column == many.column == "Age"
    assert many.log_p - one.log_p == pytest.approx(np.log(8))


def test_features_of_a_sparse_matrix_are_named_by_number():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(8)
    X = csr_array(rng.normal(size=(600, 4)) * (rng.random((600, 4)) < 0.5))
    counts = RowCounts(matrix_profile(X[:300], X[300:]))
    changed = X[:200].toarray()
    changed[:, 2] = 7
    counts.add(csr_array(changed), np.zeros(200))
    assert [each.column for each in counts.drift().changes] == ["feature 2"]


@pytest.mark.slow
def test_at_most_5_percent_of_batches_without_drift_raise_an_alarm():
    """With ties, categories, rare text and missing values; each time with another model and its finite holdout."""
    n_runs, rng = 200, np.random.default_rng(9)
    alarms = 0
    for _ in range(n_runs):
        profile = profile_of(rng, n_train=800, n_holdout=int(rng.choice([100, 300, 900])))
        alarms += drift_of(profile, cars(int(rng.choice([30, 300, 2000])), rng)).found
    assert alarms <= 0.05 * n_runs  # by far: the union bound is not sharp
    assert alarms <= binom.ppf(1 - 1e-6, n_runs, 0.05)


@pytest.mark.slow
def test_a_scorer_selected_on_the_holdout_pays_for_it():
    """The best of 20 useless scorers on the holdout: its scores there are not like those of new rows."""
    n_runs, n_models, rng = 300, 20, np.random.default_rng(10)
    interval, alarms, unpaid = INTERVAL, 0, 0
    for _ in range(n_runs):
        y = rng.random(60) < 0.5
        scores = rng.normal(size=(n_models, 60))
        best = scores[np.argmax(scores[:, y].mean(axis=1))]  # its positives, half of the rows, score too high
        empty = table_profile(pl.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [1.0]}), [])
        new = rng.normal(size=200)
        found = []
        for paid in (n_models, 1):
            kept = score_profile(best, top=None, threshold=None, n_models=paid, interval=interval)
            counts = RowCounts(replace(empty, scores=kept))
            counts.add(pl.DataFrame({"a": np.ones(200)}), new)
            found.append(counts.drift().found)
        alarms, unpaid = alarms + found[0], unpaid + found[1]
    assert alarms <= binom.ppf(1 - 1e-6, n_runs, 0.05)
    assert alarms < unpaid
