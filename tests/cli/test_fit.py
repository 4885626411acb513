"""``headrank fit`` and ``headrank demo``: from a file to a report, and a model that scores new rows alike."""

import json
import re
from hashlib import sha256

import numpy as np
import polars as pl
import pytest

import headrank as hr
from cli.running import finish, left_in, refused, run, start
from cli.tables import clean, letor, of_all_kinds
from headrank.estimators.combined import linear_part
from headrank.estimators.combined.linear_part import _surrogates_for  # fewer are tried here, but not by the command
from headrank.training.train import train

OPTIONS = ["--target", "churned", "--id", "customer", "--drop", "remark", "--top", "0.1", "--models", "linear"]
WRITTEN = ["model", "ranked.csv", "report.html", "result.json"]


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """All kinds of columns, fitted by the installed command: the folder it left, and what it printed."""
    folder = tmp_path_factory.mktemp("fitted")
    of_all_kinds().write_csv(folder / "customers.csv")
    done = finish(start("fit", "customers.csv", *OPTIONS, "--out", "result", cwd=folder))
    assert done.code == 0, done.err
    return folder, done


def test_fit_writes_four_files_and_says_what_came_out(fitted):
    folder, done = fitted
    assert left_in(folder / "result") == WRITTEN
    assert all(line.startswith("[") for line in done.err.splitlines())  # progress, on a slow machine
    assert " churned cases in the first 18 of 180 cases, " in " ".join(done.out.split())
    assert "95 % confidence" in done.out
    assert "the column 'currency'" in " ".join(done.out.split())  # a constant column is named
    for name in WRITTEN:
        assert name in done.out


def test_equal_runs_write_equal_files(fitted, capsys, monkeypatch):
    """In this process and in another one."""
    folder, _ = fitted
    monkeypatch.chdir(folder)
    monkeypatch.setattr(linear_part, "_surrogates_for", _surrogates_for)
    done = run(capsys, "fit", "customers.csv", *OPTIONS, "--out", "again")
    assert done.code == 0, done.err
    for name in WRITTEN:
        assert (folder / "again" / name).read_bytes() == (folder / "result" / name).read_bytes(), name


def test_the_result_is_that_of_the_library(fitted):
    folder, _ = fitted
    result = json.loads((folder / "result" / "result.json").read_text())
    ranked = pl.read_csv(folder / "result" / "ranked.csv")
    assert ranked.columns == ["rank", "customer", "score", "churned", "in_budget", "flagged", "why"]
    curve = hr.RocCurve.from_scores(ranked["churned"].to_numpy(), ranked["score"].to_numpy())
    winner = next(each for each in result["entrants"] if each["told_apart"] is None)
    assert winner["estimate"] == pytest.approx(hr.LocalAUC(0.1).value(curve), abs=1e-12)
    assert winner["auc"] == pytest.approx(hr.AUC().value(curve), abs=1e-12)
    assert result["reproduce"]["sha256"] == sha256((folder / "customers.csv").read_bytes()).hexdigest()
    assert winner["low"] < winner["estimate"] < winner["high"]


def test_score_says_why(fitted, capsys):
    folder, _ = fitted
    model, out = folder / "result" / "model", folder / "why.csv"
    assert run(capsys, "score", model, folder / "customers.csv", "--out", out, "--why", "2").code == 0
    scored = pl.read_csv(out)
    assert scored.columns[-1] == "why"
    assert " = " in scored["why"][int(scored["score"].arg_max())]
    out.unlink()


def test_the_ranked_list_is_the_holdout_in_order(fitted):
    folder, _ = fitted
    table = pl.read_csv(folder / "customers.csv")
    ranked = pl.read_csv(folder / "result" / "ranked.csv")
    assert ranked.height == 180
    assert ranked["score"].is_sorted(descending=True)
    assert ranked["customer"].n_unique() == ranked.height
    truth = dict(zip(table["customer"], table["churned"] == "yes", strict=True))
    assert [bool(each) for each in ranked["churned"]] == [truth[name] for name in ranked["customer"]]
    assert ranked["in_budget"].sum() == 18
    assert ranked["in_budget"][:18].all()


def test_scoring_the_same_rows_gives_the_same_scores(fitted, capsys):
    folder, _ = fitted
    ranked = pl.read_csv(folder / "result" / "ranked.csv")
    done = run(capsys, "score", folder / "result" / "model", folder / "customers.csv", "--out", folder / "scores.csv")
    assert done.code == 0, done.err
    scores = pl.read_csv(folder / "scores.csv")
    assert scores.height == 600
    joined = ranked.join(scores, on="customer", suffix="_new", maintain_order="left")
    np.testing.assert_allclose(joined["score_new"], joined["score"], rtol=1e-9, atol=1e-12)
    if "flagged" in scores.columns:
        assert joined["flagged_new"].to_list() == joined["flagged"].to_list()


def test_the_model_can_be_loaded_in_python(fitted):
    folder, _ = fitted
    model = hr.load(folder / "result" / "model")
    table = pl.read_csv(folder / "customers.csv").drop("remark", "churned", "customer")
    ranked = pl.read_csv(folder / "result" / "ranked.csv")
    assert set(ranked["score"].round(9)) <= set(np.round(model.decision_function(table), 9))
    assert [column.kind for column in model.columns if column.name in ("amount", "city", "online")] == [
        "number",
        "text",
        "boolean",
    ]


def test_the_report_is_one_file_without_network(fitted):
    folder, _ = fitted
    page = (folder / "result" / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    assert str(folder) not in page
    words = re.sub(r"</?span[^>]*>", "", page)
    assert "headrank fit customers.csv --target churned --id customer --drop remark --top 0.1" in words


def test_the_same_table_gives_the_same_bytes(tmp_path, capsys):
    clean().write_csv(tmp_path / "parts.csv")
    for out in ("one", "two"):
        done = run(
            capsys, "fit", tmp_path / "parts.csv", "--target", "broken", "--models", "linear", "--out", tmp_path / out
        )
        assert done.code == 0, done.err
    for name in ("report.html", "ranked.csv", "result.json"):  # a model remembers how long its training took
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_without_a_goal_rates_up_to_a_tenth_matter(tmp_path, capsys):
    clean().write_parquet(tmp_path / "parts.parquet")
    done = run(capsys, "fit", tmp_path / "parts.parquet", "--target", "broken", "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result == json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["goal"]["measure"] == "pauc@0.1"
    assert {each["name"] for each in result["entrants"]} == {"ranker", "logistic regression", "gradient boosting"}


def test_letor_files_are_ranked_by_query(tmp_path, capsys):
    (tmp_path / "letor.txt").write_text(letor())
    done = run(capsys, "fit", tmp_path / "letor.txt", "--fpr", "0:0.3", "--models", "linear", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "queries" in done.out
    ranked = pl.read_csv(tmp_path / "out" / "ranked.csv")
    assert "qid" in ranked.columns
    for (_query,), one in ranked.group_by("qid", maintain_order=True):
        assert one["score"].is_sorted(descending=True)
        assert one.height == 10  # no query is split
    again = run(capsys, "score", tmp_path / "out" / "model", tmp_path / "letor.txt", "--out", tmp_path / "scores.csv")
    assert again.code == 0, again.err
    scores = pl.read_csv(tmp_path / "scores.csv")
    assert scores.height == 600
    joined = ranked.join(scores, on="row", suffix="_new")
    np.testing.assert_allclose(joined["score_new"], joined["score"], rtol=1e-9, atol=1e-12)


def test_a_table_may_have_queries_too(tmp_path, capsys):
    table = clean().with_columns(session=pl.int_range(600) // 12)
    table.write_csv(tmp_path / "clicks.csv")
    options = ["--target", "broken", "--qid", "session", "--fpr", "0:0.3", "--models", "linear"]
    done = run(capsys, "fit", tmp_path / "clicks.csv", *options, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    ranked = pl.read_csv(tmp_path / "out" / "ranked.csv")
    assert ranked.group_by("session").len()["len"].unique().to_list() == [12]


def test_overwriting_must_be_said(tmp_path, capsys):
    clean().write_csv(tmp_path / "parts.csv")
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    arguments = ["fit", tmp_path / "parts.csv", "--target", "broken", "--models", "linear", "--out", out]
    assert refused(run(capsys, *arguments), 4, "--overwrite", "mine.txt")
    assert left_in(out) == ["mine.txt"]
    assert run(capsys, *arguments, "--overwrite").code == 0
    assert left_in(out) == sorted([*WRITTEN, "mine.txt"])
    assert (out / "mine.txt").read_text() == "precious"


def demo_and_its_command(tmp_path, execute):
    done = execute("demo")
    assert done.code == 0, done.err
    assert left_in(tmp_path / "demo") == sorted([*WRITTEN, "digits.csv"])
    command = next(line for line in done.out.splitlines() if "headrank fit" in line).split("headrank ")[1].split()
    command[1] = "demo/digits.csv"
    again = execute(*command)
    assert again.code == 0, again.err
    for name in ("report.html", "ranked.csv", "result.json"):
        assert (tmp_path / "result" / name).read_bytes() == (tmp_path / "demo" / name).read_bytes(), name


def test_the_demo_makes_a_report_and_its_command_works(tmp_path, capsys, monkeypatch):
    """Without trees, which take most of its time."""
    asked = []

    def quick(*arguments, models, **options):
        asked.append(models)
        return train(*arguments, models="linear", **options)

    monkeypatch.setattr("headrank.training.train.train", quick)
    monkeypatch.chdir(tmp_path)
    demo_and_its_command(tmp_path, lambda *arguments: run(capsys, *arguments))
    assert asked == ["all", "all"]


@pytest.mark.slow
def test_the_whole_demo(tmp_path):
    demo_and_its_command(tmp_path, lambda *arguments: finish(start(*arguments, cwd=tmp_path)))


def test_from_a_table_to_a_threshold(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinics = pl.Series("clinic", ["north", "south", "west"] * 400)
    patients = clean(1200).rename({"broken": "ill"}).with_columns(clinics)
    patients.write_csv("patients.csv")
    new = clean(1200, seed=3).rename({"broken": "ill"}).with_columns(clinics)
    new.write_csv("new.csv")
    options = ["--target", "ill", "--fpr", "0:0.1", "--models", "linear", "--out", "result"]
    for command in (
        ["fit", "patients.csv", *options],
        ["score", "result/model", "new.csv", "--out", "scores.csv", "--keep", "ill", "--keep", "clinic"],
        ["evaluate", "scores.csv", "--target", "ill", "--score", "score", "--group", "clinic", "--json"],
        ["threshold", "scores.csv", "--target", "ill", "--score", "score", "--max-fpr", "0.05", "--json"],
    ):
        done = run(capsys, *command)
        assert done.code == 0, done.err
        if command[0] == "evaluate":
            results = json.loads(done.out)["results"]
    assert {one["group"] for one in results} == {None, "north", "south", "west"}
    scores = pl.read_csv("scores.csv")
    assert scores.select("ill", "clinic").equals(new.select("ill", "clinic"))
    expected = hr.threshold_at(new["ill"], scores["score"], max_fpr=0.05)
    assert json.loads(done.out)["value"] == expected.value


def test_a_letor_file_may_count_from_0_and_scores_are_never_shifted(tmp_path, capsys):
    zero = letor()
    for feature in (1, 2, 3):
        zero = zero.replace(f" {feature}:", f" {feature - 1}:")
    (tmp_path / "zero.txt").write_text(zero)
    options = ["--fpr", "0:0.3", "--models", "linear", "--out", tmp_path / "zero"]
    done = run(capsys, "fit", tmp_path / "zero.txt", *options)
    assert done.code == 0, done.err
    drivers = json.loads((tmp_path / "zero" / "result.json").read_text())["drivers"]["coefficients"]
    assert {each["feature"] for each in drivers} == {"feature 0", "feature 1", "feature 2"}
    model = hr.load(tmp_path / "zero" / "model")
    (tmp_path / "new.txt").write_text("0 qid:1 1:0.5 2:-1\n")  # feature 0 does not occur
    done = run(capsys, "score", tmp_path / "zero" / "model", tmp_path / "new.txt", "--out", tmp_path / "scores.csv")
    assert done.code == 0, done.err
    expected = model.decision_function(np.array([[0.0, 0.5, -1.0]]))
    assert pl.read_csv(tmp_path / "scores.csv")["score"].to_list() == pytest.approx(expected.tolist())
