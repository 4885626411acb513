"""``headrank evaluate --out``: a folder with a report and its numbers, all or nothing."""

import json

import polars as pl

import headrank as hr
from cli.running import left_in, refused, run


def test_the_report_has_the_numbers_of_the_command(capsys, scores, scored, tmp_path):
    out = tmp_path / "report"
    options = ["--target", "ill", "--score", "good", "--score", "weak", "--top", "0.1", "--group", "half"]
    named = ["--positive-name", "patient", "--json"]
    done = run(capsys, "evaluate", scores, *options, *named, "--out", out)
    assert done.code == 0, done.err
    assert left_in(out) == ["report.html", "result.json"]
    printed, result = json.loads(done.out), json.loads((out / "result.json").read_text())
    in_report = [(row["scorer"], row["group"] or None, row["low"]) for row in result["measures"]["rows"]]
    assert in_report == [(one["score"], one["group"], one["low"]) for one in printed["results"]]
    y, good = scored["y"].to_numpy(), scored["good"].to_numpy()
    assert result["picked"] == "good"
    bound = hr.interval(y, good, measure="p@0.1", confidence=0.975, side="lower")  # the better of two
    assert result["answer"]["bound"]["low"] == bound.low
    assert (
        f"“good” finds {result['answer']['expected']} of {y.sum()} patients in the first 120"
        in (result["answer"]["sentences"][0])
    )
    command = " ".join(
        ["headrank evaluate scores.csv", *options[:6], *options[8:], *named[:2], "--top 0.1 --out report"]
    )
    assert result["reproduce"]["command"] == command
    assert len(result["reproduce"]["sha256"]) == 64
    assert f"The report is {out / 'report.html'}." in " ".join(done.err.split())


def test_an_earlier_report_is_not_replaced_unasked(capsys, scores, tmp_path):
    arguments = ["evaluate", scores, "--target", "y", "--score", "good", "--out", tmp_path / "report"]
    assert run(capsys, *arguments).code == 0
    before = (tmp_path / "report" / "report.html").read_bytes()
    assert run(capsys, *arguments).code == 4
    assert run(capsys, *arguments, "--overwrite").code == 0
    assert (tmp_path / "report" / "report.html").read_bytes() == before  # same input, same bytes


def test_queries_and_bad_names(capsys, scores, tmp_path):
    arguments = ["evaluate", scores, "--target", "y", "--score", "good", "--out", tmp_path / "report"]
    assert run(capsys, *arguments, "--qid", "query").code == 0
    assert "on average over" in json.loads((tmp_path / "report" / "result.json").read_text())["answer"]["sentences"][0]
    refused(run(capsys, *arguments, "--positive-name", "a/b/c"), 2, "noun")


def test_dropped_rows_and_measures_without_an_interval_are_in_the_report(capsys, scored, tmp_path):
    path, out = tmp_path / "some.csv", tmp_path / "report"
    scored.with_columns(pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.col("y")).alias("y")).write_csv(path)
    asked = ["--measure", "mrr", "--measure", "auc", "--drop-missing", "--out", out]
    done = run(capsys, "evaluate", path, "--target", "y", "--score", "good", *asked)
    assert done.code == 0, done.err
    result, page = json.loads((out / "result.json").read_text()), (out / "report.html").read_text()
    assert result["warnings"][0].startswith("400 of 1,200 rows have no label and were dropped.")
    assert "400 of 1,200 rows have no label" in page.replace("\u202f", " ").replace("\xa0", " ")
    mrr, auc = result["measures"]["rows"]
    assert (mrr["low"], mrr["high"]) == (None, None)
    assert auc["low"] is not None
    assert "no interval" in page
    assert "There is no interval for mrr" in result["measures"]["words"]
