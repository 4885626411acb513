"""``headrank fit`` with --group, --time, --test and --fold: the files it writes, and the errors it raises."""

import json
from hashlib import sha256

import numpy as np
import polars as pl
import pytest

from cli.running import left_in, refused, run
from headrank.model_io import load


def visits(n_patients=120, seed=0):
    """Four visits per patient; the days go on from patient to patient."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_patients), 4)
    ill = (rng.random(n_patients) < 0.4)[groups]
    days = np.datetime64("2024-01-01") + groups.astype("timedelta64[D]")
    return pl.DataFrame(
        {
            "patient": [f"p{i:03d}" for i in groups],
            "day": days.astype(str),
            "part": groups % 3,
            "size": rng.normal(size=groups.size) + 1.5 * ill,
            "weight": rng.normal(size=groups.size) - ill,
            "ill": ill.astype(int),
        }
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "visits.csv"
    visits().write_csv(path)
    return path


def fit(capsys, path, *options):
    return run(
        capsys, "fit", path, "--target", "ill", "--models", "linear", "--fpr", "0.2", "--verbose", *options,
        "--out", path.parent / "out",
    )  # fmt: skip


def written(path):
    folder = path.parent / "out"
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), pl.read_csv(folder / "ranked.csv")


def test_groups_on_the_command_line(table, capsys):
    done = fit(capsys, table, "--group", "patient", "--drop", "day", "--fold", "part")
    assert done.code == 0, done.err
    assert "for new patients" in " ".join(done.out.split())  # lines are wrapped
    assert "cluster bootstrap" in done.out
    result, ranked = written(table)
    assert result["data"]["group_column"] == "patient"
    assert result["data"]["holdout"]["n_holdout_groups"] == ranked.height == ranked["patient"].n_unique() == 36
    assert result["data"]["holdout"]["folds"] == "3 given folds"
    assert "--group patient --fold part --drop day" in result["reproduce"]["command"]
    assert [each["name"] for each in result["data"]["columns"]] == ["size", "weight"]
    assert result["all_rows"]["n_rows"] == 144
    assert load(table.parent / "out" / "model").promise.endswith("It holds for new patients.")
    scored = run(
        capsys, "score", table.parent / "out" / "model", table, "--out", table.parent / "scores.csv", "--id", "patient"
    )
    assert scored.code == 0, scored.err


def test_times_on_the_command_line(table, capsys):
    done = fit(capsys, table, "--time", "day", "--drop", "part", "--drop", "patient")
    assert done.code == 0, done.err
    assert "if the next period is like the last" in " ".join(done.out.split())
    assert "By period" in done.out
    result, ranked = written(table)
    assert result["data"]["holdout"] | {"folds": ""} == {
        "kind": "latest", "n_groups": None, "n_holdout_groups": None, "n_group_rows": None, "n_known_rows": 0,
        "train_last": "2024-03-24", "first": "2024-03-25", "last": "2024-04-29", "test_source": None,
        "test_sha256": None, "folds": "",
    }  # fmt: skip
    assert "--time day" in result["reproduce"]["command"]
    assert ranked["day"].min() == "2024-03-25"
    assert len(result["periods"]["periods"]) >= 2


def test_a_given_holdout_on_the_command_line(table, capsys):
    later = table.parent / "later.csv"
    visits(seed=1).select("weight", "ill", "size", "patient").write_csv(later)
    done = fit(capsys, table, "--test", later, "--id", "patient", "--drop", "day", "--drop", "part")
    assert done.code == 0, done.err
    assert "if new rows are drawn like those of later.csv" in " ".join(done.out.split())
    result, ranked = written(table)
    assert (result["data"]["n_train"], ranked.height) == (480, 480)
    assert result["data"]["holdout"]["test_sha256"] == sha256(later.read_bytes()).hexdigest()
    assert "--test later.csv" in result["reproduce"]["command"]
    assert "--holdout" not in result["reproduce"]["command"]


def test_a_given_svmlight_holdout(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name in ("old.txt", "new.txt"):
        y = rng.random(200) < 0.4
        rows = rng.normal(size=(200, 2)) + y[:, None]
        lines = [f"{int(label)} 1:{a:.4f} 2:{b:.4f}" for label, (a, b) in zip(y, rows, strict=True)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    done = run(
        capsys,
        "fit",
        tmp_path / "old.txt",
        "--test",
        tmp_path / "new.txt",
        "--models",
        "linear",
        "--out",
        tmp_path / "out",
    )
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "out" / "result.json").read_text())["data"]["n_train"] == 200


def test_repeated_ids_suggest_groups(table, capsys):
    done = fit(capsys, table, "--id", "patient")
    assert "fit again with --group instead of --id" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--group", "patien"), 3, ["no column 'patien'", "did you mean 'patient'"]),
        (("--time", "dya"), 3, ["no column 'dya'", "did you mean 'day'"]),
        (("--fold", "parts"), 3, ["no column 'parts'", "did you mean 'part'"]),
        (("--group", "patient", "--id", "patient"), 3, ["different columns", "'patient'"]),
        (("--time", "patient"), 3, ["column 'patient' of visits.csv", "cannot be read as times", "'p000'"]),
        (("--group", "patient", "--qid", "part"), 2, ["--group", "--qid", "not both"]),
        (("--fold", "part", "--time", "day"), 2, ["--fold", "--time", "not both"]),
        (("--test", "no.csv"), 3, ["no.csv"]),
        (("--test", "no.csv", "--holdout", "0.2"), 2, ["omit --holdout"]),
        (("--test", "no.txt"), 2, ["give a table"]),
    ],
)
def test_wrong_options(table, capsys, options, code, words):
    assert refused(fit(capsys, table, *options), code, *words)
    assert left_in(table.parent) == ["visits.csv"]


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"patient": pl.lit("one")}, ("--group", "patient"), ["all 480 rows are in the same group"]),
        ({"patient": pl.col("part")}, ("--group", "patient"), ["5 groups whose drawn row"]),
        ({"day": pl.lit("2024-01-01")}, ("--time", "day"), ["all 480 rows have the same time"]),
        ({"day": pl.when(pl.int_range(480) > 0).then("day")}, ("--time", "day"), ["1 missing times"]),
        ({"part": pl.lit(1)}, ("--fold", "part"), ["only one fold"]),
        ({"part": pl.col("ill")}, ("--fold", "part"), ["no rows of both classes in fold 0"]),
        ({"patient": pl.when(pl.int_range(480) > 0).then("patient")}, ("--group", "patient"), ["1 missing values"]),
    ],
)
def test_columns_that_cannot_divide_the_rows(tmp_path, capsys, change, options, words):
    path = tmp_path / "visits.csv"
    visits().with_columns(**change).write_csv(path)
    assert refused(fit(capsys, path, *options), 3, *words)
    assert left_in(tmp_path) == ["visits.csv"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ill": pl.lit(0)}, ["later.csv", "one class"]),
        ({"size": pl.lit("large")}, ["later.csv", "column 'size' must contain numbers"]),
        ({"extra": pl.lit(1)}, ["later.csv", "'extra'"]),
    ],
)
def test_holdouts_that_cannot_be_used(table, capsys, change, words):
    visits(seed=1).with_columns(**change).write_csv(table.parent / "later.csv")
    assert refused(fit(capsys, table, "--test", table.parent / "later.csv"), 3, *words)


def test_svmlight_files_have_no_columns_to_split_by(tmp_path, capsys):
    (tmp_path / "rows.txt").write_text("1 1:2\n0 1:1\n")
    for option in ("--group", "--time", "--fold"):
        done = run(capsys, "fit", tmp_path / "rows.txt", option, "a", "--out", tmp_path / "out")
        assert refused(done, 2, option, "no named columns")
