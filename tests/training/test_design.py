"""train with groups, times, folds and a given holdout: who is on which side, and what is said of it."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from headrank.exceptions import InvalidSampleError
from headrank.measures import AUC
from headrank.training import holdout
from headrank.training.design import HoldoutFile, RowRoles
from headrank.training.goal import Goal
from headrank.training.outputs import ranked, table_model
from headrank.training.table_info import DataSource
from headrank.training.train import train

SOURCE = DataSource(source="visits.csv", target="ill", positive="1", group_column="patient_id", time_column="day")


def visits(n_patients=120, n_visits=4, seed=0):
    """Labels and features of patients, and something new at each visit; patients come one after the other."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_patients), n_visits)
    ill = rng.random(n_patients) < 0.4
    features = rng.normal(size=(n_patients, 2)) + ill[:, None]
    frame = pl.DataFrame({"a": features[groups, 0], "b": features[groups, 1], "visit": rng.normal(size=groups.size)})
    return frame, ill[groups], groups


def trained(frame, y, goal=None, source=SOURCE, **options):
    return train(frame, y, goal=goal or Goal(max_fpr=0.2), source=source, models="linear", **options)


def test_patients_stay_whole_and_one_visit_of_each_is_measured():
    frame, y, groups = visits()
    result = trained(frame, y, groups=groups)
    info = result.table.holdout
    assert (info.kind, info.n_groups, info.n_holdout_groups, info.n_group_rows) == ("random", 120, 36, 144)
    assert info.folds == "5 folds of whole groups"
    assert result.table.n_holdout == result.y.size == np.unique(result.groups).size == 36
    assert result.table.n_train == 480 - 144
    winner = result.winner
    assert winner.all_rows.sample.scores.size == result.groups.size == 144
    assert np.array_equal(winner.all_rows.sample.scores[result.measured], winner.scores)
    assert np.array_equal(winner.all_rows.sample.positive[result.measured], result.y)
    assert np.array_equal(groups[result.ids - 1], result.groups[result.measured])
    assert result.threshold.n_neg == np.count_nonzero(~result.y)
    out = ranked(result)
    assert out.columns[:3] == ["rank", "row", "patient_id"]
    assert out["patient_id"].n_unique() == 36


def test_the_model_of_a_grouped_table_ignores_the_columns_of_the_split_and_keeps_no_rows():
    frame, y, groups = visits()
    model = table_model(trained(frame, y, groups=groups))
    assert {"patient_id", "day"} <= set(model.ignored)
    assert model.promise.endswith("It holds for new patients.")
    extra = frame.with_columns(patient_id=pl.Series(groups), day=pl.lit(1))
    assert np.array_equal(model.decision_function(extra), model.decision_function(frame))
    ranker = trained(frame, y, groups=groups).model("ranker").estimator[-1]
    assert ranker.cv == ranker.parts_[0].scorer.cv == ranker.parts_[0].scorer.ranker_.cv == 5


@pytest.mark.slow  # the trees that recognise patients take their time
def test_labels_of_patients_that_have_nothing_to_do_with_their_features():
    # 400 patients, 8 rows each, all alike but for one number: a split by row recognises the patients.
    rng = np.random.default_rng(0)
    groups, ill = np.repeat(np.arange(400), 8), rng.random(400) < 0.33
    features = rng.normal(size=(400, 6))[groups]
    frame = pl.DataFrame({f"x{j}": features[:, j] for j in range(6)} | {"visit": rng.normal(size=3200)})
    y = ill[groups]
    options = {"goal": Goal(max_fpr=0.1), "source": SOURCE, "models": "all"}
    plain, whole = train(frame, y, **options), train(frame, y, groups=groups, **options)
    boosting = [AUC().value(result.model("gradient boosting").holdout.whole) for result in (plain, whole)]
    assert boosting[0] > 0.99
    assert 0.35 < boosting[1] < 0.65  # 120 patients: a standard error of 0.06
    assert plain.selection.interval.low > 0.7
    assert whole.selection.interval.low < 0.1
    assert any("repeat" in said or "equal a training row" in said for said in _warned(frame, y, groups))


def _warned(frame, y, groups):
    return trained(frame, y, ids=groups).warnings


def test_the_past_is_trained_on_and_the_folds_go_forward():
    frame, y, groups = visits()
    days = np.datetime64("2024-01-01") + groups.astype("timedelta64[D]")
    result = trained(frame, y, times=days)
    info = result.table.holdout
    assert (info.kind, info.train_last, info.first, info.last) == ("latest", "2024-03-24", "2024-03-25", "2024-04-29")
    assert "forward in time" in info.folds
    assert result.times.min() == np.datetime64("2024-03-25")
    assert result.y.size == 144
    assert ranked(result)["day"].to_list() == [
        str(np.datetime64("2024-01-01") + groups[row - 1].astype("timedelta64[D]")) for row in ranked(result)["row"]
    ]


def test_with_groups_and_times_known_groups_leave_the_holdout():
    frame, y, groups = visits(n_patients=150)
    times = np.arange(y.size) + 40 * (np.arange(y.size) % 4)  # a patient's visits are up to 120 apart
    result = trained(frame, y, groups=groups, times=times)
    latest = times > int(result.table.holdout.train_last)
    held, known = np.unique(result.groups), np.unique(groups[~latest])
    assert not np.intersect1d(held, known).size
    assert result.table.holdout.n_known_rows == np.count_nonzero(np.isin(groups[latest], known))
    assert result.table.holdout.n_known_rows > 0


def test_all_rows_are_trained_on_if_the_holdout_is_given():
    frame, y, groups = visits()
    other, other_y, other_groups = visits(seed=1)
    test = HoldoutFile(
        other.with_columns(pl.col("a").cast(pl.String)).select("visit", "b", "a"), other_y, "later.csv", "abc"
    )
    result = trained(frame, y, test=test)
    info = result.table.holdout
    assert (info.kind, info.test_source, info.test_sha256) == ("file", "later.csv", "abc")
    assert (result.table.n_train, result.table.n_holdout, result.table.n_rows) == (480, 480, 960)
    assert np.array_equal(result.y, other_y)
    assert result.ids.tolist() == list(range(1, 481))
    model = result.winner.estimator
    assert np.allclose(model.decision_function(other), result.winner.scores)
    both = trained(frame, y, groups=groups, test=HoldoutFile(other, other_y, "later.csv", groups=other_groups + 60))
    assert both.table.holdout.n_known_rows == 240
    assert both.table.n_holdout == 60
    matrix, held = csr_array(frame.to_numpy()), csr_array(np.c_[other.to_numpy(), np.ones(480)])
    assert trained(matrix, y, test=HoldoutFile(held, other_y, "later.txt")).table.n_holdout == 480


def test_given_folds_choose_the_ranker():
    frame, y, groups = visits()
    result = trained(frame, y, folds=np.array(["a", "b", "c", "d"])[groups % 4], groups=groups)
    assert result.table.holdout.folds == "4 given folds"
    assert "over 4 folds" in result.model("ranker").remark


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups": np.zeros(480)}, "all 480 rows are in the same group"),
        ({"groups": np.arange(7)}, "groups must have one value per row"),
        ({"times": np.zeros(480)}, "the same time"),
        ({"folds": np.zeros(480)}, "only one fold"),
        ({"groups": np.arange(480) // 160}, "5 groups whose drawn row"),
        ({"groups": np.arange(480), "qid": np.arange(480)}, "queries or groups"),
        ({"times": np.arange(480), "folds": np.arange(480) % 3}, "times or folds"),
    ],
)
def test_splits_that_cannot_be_made_say_why(options, said):
    frame, y, _ = visits()
    with pytest.raises(InvalidSampleError, match=said):
        trained(frame, y, **options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": np.zeros(480, dtype=bool)}, "later.csv has 0 positive rows"),
        ({"features": visits()[0].drop("a")}, r"later.csv: the table lacks the column 'a'"),
        ({"features": visits()[0].with_columns(a=pl.lit("x"))}, "later.csv: column 'a' must contain numbers"),
        ({"groups": None}, "groups are given for the table, but not for its holdout"),
        ({"groups": np.arange(480) // 4}, "omit --group"),
    ],
)
def test_holdouts_that_cannot_be_used_say_why(change, said):
    frame, y, groups = visits()
    given = {"features": frame, "y": y, "source": "later.csv", "groups": groups + 1000} | change
    with pytest.raises(InvalidSampleError, match=said):
        trained(frame, y, groups=groups, test=HoldoutFile(**given))


def test_names_of_both_files_may_be_numbers_and_text():
    frame, y, _ = visits()
    test = HoldoutFile(frame, y, "later.csv", ids=np.array([f"n{i}" for i in range(480)], dtype=object))
    known = RowRoles.of(y, n_rows=480, ids=np.arange(480), test=test)
    assert known.names[[0, 479, 480]].tolist() == ["0", "479", "n0"]
    dates = HoldoutFile(frame, y, "later.csv", times=np.full(480, np.datetime64("2024-01-01")))
    with pytest.raises(InvalidSampleError, match="dates in one file and numbers in the other"):
        RowRoles.of(y, n_rows=480, times=np.arange(480), test=dates)


def test_names_that_are_not_given_are_numbers_in_their_file():
    known = RowRoles.of([0, 1, 0], n_rows=3, test=HoldoutFile(np.zeros((4, 1)), [0, 1, 0, 1], "later.csv"))
    assert known.names_of(np.array([0, 2, 3, 6])).tolist() == [1, 3, 1, 4]
    assert known.take(np.array([2, 6])).names.tolist() == [3, 4]


@pytest.mark.parametrize("unit", ["groups", "qid"])
def test_many_rows_of_few_groups_or_queries_are_held_out_as_usual(unit, monkeypatch):
    monkeypatch.setattr(holdout, "_MANY", 100)
    monkeypatch.setattr(holdout, "_ENOUGH", 1)
    y, goal = np.arange(4000) % 2, Goal(max_fpr=0.1)
    together = RowRoles.of(y, n_rows=4000, **{unit: np.arange(4000) // 40})
    assert together.split(holdout=None, goal=goal, random_state=0).holdout.size == 1200
    alone = RowRoles.of(y, n_rows=4000)
    assert alone.split(holdout=None, goal=goal, random_state=0).holdout.size == 100
