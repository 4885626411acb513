"""``headrank monitor``: flagged rows, drift and promises per file, in the order given."""

import json
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from cli.fitted import claims, claims_model, drifted, letor_model
from cli.running import left_in, refused, run
from cli.tables import letor
from headrank.model_io import save
from headrank.training.goal import Goal


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(claims_model(), "model")
    for week in range(1, 4):
        claims(400, week).write_csv(f"week{week}.csv")
    return tmp_path


def report(out="out"):
    return json.loads((Path(out) / "monitor.json").read_text(encoding="utf-8"))


def test_files_without_drift(capsys, folder):
    done = run(capsys, "monitor", "model", "week1.csv", "week2.csv", "week3.csv", "--out", "out")
    assert (done.code, done.err) == (0, "")
    assert "In all 3 files, rows look like those of the holdout." in done.out
    assert "No promise is known to be broken." in done.out
    assert left_in(folder / "out") == ["monitor.html", "monitor.json"]
    found = report()
    assert [each["name"] for each in found["batches"]] == ["week1.csv", "week2.csv", "week3.csv"]
    for week, each in enumerate(found["batches"], 1):
        table = claims(400, week)
        assert each["n_rows"] == each["n_counted"] == 400
        assert each["labelled"]["n_pos"] == int((table["fraud"] == "yes").sum())
        assert each["flagged"]["low"] < each["flagged"]["estimate"] < each["flagged"]["high"]
        assert each["flagged"]["promised"] == 0.1
        assert not each["drift"]["changes"]
        # Three files and four statements about each.
        assert each["drift"]["risk"] == pytest.approx(0.05 / 12)


def test_flagged_rows_and_measures_are_those_of_score_and_evaluate(capsys, folder):
    assert run(capsys, "monitor", "model", "week1.csv", "--out", "out").code == 0
    (batch,) = report()["batches"]
    done = run(capsys, "score", "model", "week1.csv", "--out", "o.csv", "--keep", "fraud", "--json")
    assert batch["flagged"]["estimate"] == json.loads(done.out)["flagged_share"]
    arguments = ["--target", "fraud", "--score", "score", "--measure", "locauc@0.1", "--confidence", 1 - 0.05 / 4]
    done = run(capsys, "evaluate", "o.csv", *arguments, "--json")
    (measured,) = json.loads(done.out)["results"]
    for end in ("low", "estimate", "high"):
        assert batch["labelled"]["measure"][end] == pytest.approx(measured[end])


def test_drift_and_broken_promises_are_named(capsys, folder):
    drifted(400, 4).with_columns(fraud=pl.lit("no")).write_csv("week4.csv")
    done = run(capsys, "monitor", "model", "week1.csv", "week4.csv", "--out", "out")
    assert done.code == 0  # a report, not a check
    found = report()
    good, bad = found["batches"]
    assert not good["drift"]["changes"]
    assert {"Age", "make", "Year"} <= {each["column"] for each in bad["drift"]["changes"]}
    assert bad["labelled"]["measure"] is None  # one class
    assert "week4.csv" in done.out.splitlines()[0] + done.out.splitlines()[1]
    html = (folder / "out" / "monitor.html").read_text(encoding="utf-8")
    assert "not seen in training, such as &#39;Tesla&#39;" in html


def test_labels_may_come_later(capsys, folder):
    claims(400, 5).with_columns(fraud=pl.when(pl.int_range(400) < 150).then(pl.col("fraud"))).write_csv("part.csv")
    claims(400, 6).drop("fraud").write_csv("none.csv")
    claims(400, 7).with_columns(fraud=pl.lit("NA")).write_csv("missing.csv")
    done = run(capsys, "monitor", "model", "part.csv", "none.csv", "missing.csv", "--out", "out")
    assert done.code == 0, done.err
    part, none, missing = report()["batches"]
    assert part["labelled"]["n_rows"] == 150
    assert none["labelled"] is None
    assert missing["labelled"] is None
    assert "Labels have come in for 1 of 3 files." in done.out


def test_false_positives_are_compared_with_the_promise(capsys, folder):
    save(claims_model(goal=Goal(max_fpr=0.1)), "model")
    flipped = claims(400, 8).with_columns(fraud=pl.lit("no"), Age=pl.col("Age") + 60)
    flipped.write_csv("flipped.csv")
    assert run(capsys, "monitor", "model", "week1.csv", "flipped.csv", "--out", "out").code == 0
    good, bad = report()["batches"]
    assert good["labelled"]["false_positive_rate"]["promised"] == 0.1
    assert good["labelled"]["false_positive_rate"]["verdict"] != "broken"
    assert bad["labelled"]["false_positive_rate"]["verdict"] == "broken"
    assert report()["sentences"][0] == "A promise of the model is broken in 1 of 2 files."


def test_of_each_group_one_row_counts(capsys, folder):
    save(claims_model(grouped=True), "model")
    assert run(capsys, "monitor", "model", "week1.csv", "--out", "out").code == 0
    (batch,) = report()["batches"]
    n_customers = claims(400, 1)["customer"].n_unique()
    assert batch["n_counted"] == batch["labelled"]["n_rows"] == batch["drift"]["n_rows"] == n_customers
    claims(400, 1).drop("customer").write_csv("alone.csv")
    assert run(capsys, "monitor", "model", "alone.csv", "--out", "out", "--overwrite").code == 0
    (batch,) = report()["batches"]
    assert (batch["flagged"], batch["drift"], batch["labelled"]) == (None, None, None)


def test_letor_files_are_measured_by_query(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(letor_model(), "model")
    (tmp_path / "new.txt").write_text(letor(40, seed=5))
    (tmp_path / "unlabelled.txt").write_text("\n".join("0" + line[1:] for line in letor(40, seed=6).splitlines()))
    done = run(capsys, "monitor", "model", "new.txt", "unlabelled.txt", "--out", "out", "--json")
    assert done.code == 0, done.err
    new, unlabelled = json.loads(done.out)["batches"]
    assert new["labelled"]["n_rows"] == 400
    assert 0 < new["labelled"]["measure"]["estimate"] <= 1
    assert new["flagged"] is None
    assert new["drift"]["n_rows"] == 40
    assert unlabelled["labelled"] is None


class Scripts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img") or any(name.startswith("on") for name, _ in attrs):
            self.found.append(tag)


def test_names_are_escaped_and_nothing_is_loaded(capsys, folder):
    (folder / "week1.csv").rename(folder / "<b onclick=x>.csv")
    assert run(capsys, "monitor", "model", "<b onclick=x>.csv", "--out", "out").code == 0
    html = (folder / "out" / "monitor.html").read_text(encoding="utf-8")
    assert "<b onclick" not in html
    parser = Scripts()
    parser.feed(html)
    assert parser.found == []
    assert run(capsys, "monitor", "model", "<b onclick=x>.csv", "--out", "again").code == 0
    assert (folder / "again" / "monitor.html").read_bytes() == (folder / "out" / "monitor.html").read_bytes()


def test_the_table_fits_80_columns(capsys, folder):
    done = run(capsys, "monitor", "model", "week1.csv", "week2.csv", "--out", "out")
    assert max(len(line) for line in done.out.splitlines()) <= 80


def test_a_model_folder_will_do(capsys, folder):
    (folder / "result").mkdir()
    (folder / "model").rename(folder / "result" / "model")
    assert run(capsys, "monitor", "result", "week1.csv", "--out", "out").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["model", "--out", "out"], 2, "Missing argument"),
        (["model", "absent.csv", "--out", "out"], 3, "there is no file absent.csv"),
        (["model", "week1.csv", "bad.csv", "--out", "out"], 3, "bad.csv: the table lacks the columns 'Age', 'Year'"),
        (["model", "spelled.csv", "--out", "out"], 3, "has '1', but in training 'yes' was positive"),
        (["model", "week1.csv", "--out", "week1.csv"], 4, "is a file"),
        (["model", "week1.csv", "--out", "full"], 4, "not empty"),
        (["model", "week1.csv", "--out", "out", "--confidence", "1"], 2, "confidence"),
    ],
)
def test_what_cannot_be_reported_leaves_no_folder(capsys, folder, arguments, code, words):
    (folder / "bad.csv").write_text("make\nVW\n")
    claims(40, 1).with_columns(fraud=pl.lit(1)).write_csv("spelled.csv")
    (folder / "full").mkdir()
    (folder / "full" / "x").touch()
    before = left_in(folder)
    assert refused(run(capsys, "monitor", *arguments), code, words)
    assert left_in(folder) == before
