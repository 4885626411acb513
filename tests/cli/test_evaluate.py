"""``headrank evaluate``: the numbers are the library's, for each column and group, and bad columns are refused."""

import json
import re

import numpy as np
import polars as pl
import pytest

import headrank as hr
from cli.running import refused, run


def answer(done):
    assert done.code == 0, done.err
    assert "NaN" not in done.out
    assert "Infinity" not in done.out
    return json.loads(done.out)


def test_the_numbers_are_those_of_the_library(capsys, scores, scored):
    found = answer(run(capsys, "evaluate", scores, "--target", "ill", "--score", "good", "--fpr", "0:0.1", "--json"))
    assert [one["measure"] for one in found["results"]] == ["auc", "pauc@0.1", "tpr@fpr=0.1"]
    for one in found["results"]:
        interval = hr.interval(scored["y"], scored["good"], measure=one["measure"])
        assert (one["low"], one["estimate"], one["high"]) == (interval.low, interval.estimate, interval.high)
    assert (found["n_rows"], found["n_pos"], found["positive"]) == (1200, scored["y"].sum(), "yes")


@pytest.mark.parametrize(
    ("options", "measures"),
    [
        ([], ["auc", "pauc@0.05", "tpr@fpr=0.05", "p@0.05", "r@0.05"]),
        (["--top", "0.1"], ["auc", "locauc@0.1", "p@0.1", "r@0.1"]),
        (["--fpr", "0.02:0.1"], ["auc", "pauc@0.02:0.1", "tpr@fpr=0.1"]),
        (["--measure", "ks", "--measure", "p@20", "--measure", "ks"], ["ks", "p@20"]),
    ],
)
def test_which_measures(capsys, scores, options, measures):
    found = answer(run(capsys, "evaluate", scores, "--target", "y", "--score", "good", "--json", *options))
    assert [one["measure"] for one in found["results"]] == measures


def test_groups_are_the_same_as_their_rows_alone(capsys, scores, scored, tmp_path):
    common = ["--target", "y", "--score", "good", "--score", "weak", "--measure", "pauc@0.1", "--json"]
    found = answer(run(capsys, "evaluate", scores, *common, "--group", "half"))
    numbers = {(one["score"], one["group"]): (one["low"], one["estimate"], one["high"]) for one in found["results"]}
    assert len(numbers) == 6
    for (group,), rows in scored.group_by("half"):
        alone = tmp_path / f"{group}.csv"
        rows.write_csv(alone)
        for one in answer(run(capsys, "evaluate", alone, *common))["results"]:
            assert numbers[one["score"], group] == (one["low"], one["estimate"], one["high"])


def test_a_group_of_one_class_is_named_and_not_dropped(capsys, scores):
    arguments = ["evaluate", scores, "--target", "y", "--score", "good", "--group", "place", "--measure", "auc"]
    found = answer(run(capsys, *arguments, "--json"))
    assert {one["group"] for one in found["results"]} == {None, "south"}
    assert [one["group"] for one in found["not_measured"]] == ["north"]
    shown = run(capsys, *arguments).out
    assert re.search(r"Group north is not measured: all \d+ rows are negative", shown)
    assert "Each interval holds individually with 95 % confidence" in shown


def test_gaps_in_the_groups_are_a_group(capsys, scored, tmp_path):
    path = tmp_path / "t.csv"
    scored.with_columns(pl.when(pl.col("half") == "a").then(pl.lit("a")).alias("half")).write_csv(path)
    found = answer(
        run(
            capsys, "evaluate", path, "--target", "y", "--score", "good", "--group", "half", "--measure", "ks", "--json"
        )
    )
    assert [one["group"] for one in found["results"]] == [None, "(missing)", "a"]


def test_means_over_queries(capsys, scores, scored):
    arguments = ["evaluate", scores, "--target", "y", "--score", "good", "--qid", "query", "--measure", "auc", "--json"]
    (one,) = answer(run(capsys, *arguments))["results"]
    interval = hr.interval(scored["y"], scored["good"], qid=scored["query"])
    assert (one["estimate"], one["n_queries"]) == (interval.estimate, interval.n_queries)
    assert "queries are independent draws" in run(capsys, *arguments[:-1]).out


def test_bounds_are_rounded_outwards(capsys, scores):
    arguments = ["evaluate", scores, "--target", "y", "--score", "good", "--score", "weak", "--fpr", "0:0.1"]
    found = answer(run(capsys, *arguments, "--json"))["results"]
    shown = re.findall(r"^(?:good|weak) +\S+ +(\S+) +(\S+) +(\S+)$", run(capsys, *arguments).out, re.MULTILINE)
    assert len(shown) == len(found) == 6
    for one, (value, low, high) in zip(found, shown, strict=True):
        assert value == f"{one['estimate']:.4g}"
        assert one["low"] * (1 - 1e-3) < float(low) <= one["low"]
        assert one["high"] <= float(high) < one["high"] * (1 + 1e-3)
    assert any(f"{one['low']:.4g}" != low for one, (_, low, _) in zip(found, shown, strict=True))


def test_what_is_assumed_is_said(capsys, scores):
    done = run(capsys, "evaluate", scores, "--target", "y", "--score", "good", "--measure", "auc", "--json")
    assert "no scorer was trained or selected on these rows" in answer(done)["assumes"]
    assert answer(done)["assumes"] in done.err


def test_what_people_see(capsys, scores):
    done = run(capsys, "evaluate", scores, "--target", "ill", "--score", "good", "--score", "weak", "--fpr", "0.1")
    assert (done.code, done.err) == (0, "")
    for words in ("positive (ill = yes)", "mean TPR over FPR 0 to 0.1", "good: pauc@0.1 is", "headrank compare"):
        assert words in done.out


def test_with_json_the_words_go_to_stderr(capsys, scores):
    done = run(capsys, "evaluate", scores, "--target", "ill", "--score", "good", "--json")
    assert len(done.out.splitlines()) == 1
    assert "rows: " in done.err


@pytest.mark.parametrize("suffix", [".parquet", ".tsv", ".csv.gz"])
def test_other_files(capsys, scored, tmp_path, suffix):
    path = tmp_path / f"scores{suffix}"
    if suffix == ".parquet":
        scored.write_parquet(path)
    elif suffix == ".tsv":
        scored.write_csv(path, separator="\t")
    else:
        import gzip

        path.write_bytes(gzip.compress(scored.write_csv().encode()))
    found = answer(run(capsys, "evaluate", path, "--target", "y", "--score", "good", "--measure", "auc", "--json"))
    assert found["results"][0]["estimate"] == hr.AUC()(scored["y"], scored["good"])


def test_the_positive_value_can_be_said(capsys, scores, scored):
    arguments = ["evaluate", scores, "--score", "good", "--measure", "auc", "--json", "--target", "kind", "--positive"]
    two, one = (answer(run(capsys, *arguments, value))["results"][0]["estimate"] for value in "21")
    assert two == pytest.approx(1 - one)
    assert two == hr.AUC()(scored["y"], scored["good"])


BAD = {
    "no such file": (["absent.csv", "--target", "y", "--score", "s"], 3, "there is no file absent.csv"),
    "no such column": (["t.csv", "--target", "z", "--score", "s"], 3, "has no column 'z'"),
    "no such score": (["t.csv", "--target", "y", "--score", "sc"], 3, "has no column 'sc'"),
    "no such group": (["t.csv", "--target", "y", "--score", "s", "--group", "gg"], 3, "did you mean 'g'"),
    "three classes": (["t.csv", "--target", "g", "--score", "s"], 3, "has 3 distinct values"),
    "two words": (["t.csv", "--target", "words", "--score", "s"], 3, "--positive VALUE"),
    "no such value": (["t.csv", "--target", "words", "--score", "s", "--positive", "gut"], 3, "does not occur"),
    "one class": (["t.csv", "--target", "one", "--score", "s"], 3, "both classes are needed"),
    "gaps in the target": (["t.csv", "--target", "gaps", "--score", "s"], 3, "missing values"),
    "gaps in the scores": (["t.csv", "--target", "y", "--score", "gaps"], 3, "every row needs a score"),
    "text for scores": (["t.csv", "--target", "y", "--score", "words"], 3, "scores must be numbers"),
    "infinite scores": (["t.csv", "--target", "y", "--score", "huge"], 3, "not finite, the first in row 2"),
    "true or false for scores": (["t.csv", "--target", "y", "--score", "flag"], 3, "name a numeric column"),
    "the target for scores": (["t.csv", "--target", "y", "--score", "y"], 2, "is the target"),
    "the same scores twice": (["t.csv", "--target", "y", "--score", "s", "--score", "s"], 2, "named only once"),
    "gaps in the queries": (["t.csv", "--target", "y", "--score", "s", "--qid", "gaps"], 3, "needs a query id"),
    "a folder of a mixture": ([".", "--target", "y", "--score", "s"], 3, "several formats, such as t.csv and t.xlsx"),
    "an empty folder": (["empty", "--target", "y", "--score", "s"], 3, "empty is a folder without tables"),
    "both parts": (["t.csv", "--target", "y", "--score", "s", "--fpr", "0.1", "--top", "0.1"], 2, "not both"),
    "percent": (["t.csv", "--target", "y", "--score", "s", "--fpr", "0:2"], 2, "for 2 % write 0.02"),
    "per cent sign": (["t.csv", "--target", "y", "--score", "s", "--fpr", "2%"], 2, "for 2 % write 0.02"),
    "top in percent": (["t.csv", "--target", "y", "--score", "s", "--top", "5"], 2, "for 5 % write 0.05"),
    "a range of words": (["t.csv", "--target", "y", "--score", "s", "--fpr", "low"], 2, "rates like 0:0.02"),
    "a range upside down": (["t.csv", "--target", "y", "--score", "s", "--fpr", "0.5:0.1"], 2, "expected 0 <= min_fpr"),
    "a foreign measure": (["t.csv", "--target", "y", "--score", "s", "--measure", "roc_auc"], 2, "did you mean 'auc'"),
    "a mistyped measure": (
        ["t.csv", "--target", "y", "--score", "s", "--measure", "tpr@0.01"],
        2,
        "did you mean 'tpr@fpr=0.01'",
    ),
    "too sure": (["t.csv", "--target", "y", "--score", "s", "--confidence", "95"], 2, "a fraction, not percent"),
    "no target": (["t.csv", "--score", "s"], 2, "Missing option '--target'"),
    "no scores": (["t.csv", "--target", "y"], 2, "Missing option '--score'"),
    "a spreadsheet": (["t.xlsx", "--target", "y", "--score", "s"], 3, "cannot be read as .xlsx"),
}


@pytest.mark.parametrize(("arguments", "code", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_a_line(capsys, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "y": [1, 0, 1],
            "s": [0.5, 0.25, 1.0],
            "g": ["a", "b", "c"],
            "words": ["good", "bad", "good"],
            "one": [0, 0, 0],
            "gaps": [1, None, 0],
            "huge": [1.0, np.inf, 2.0],
            "flag": [True, False, True],
        }
    ).write_csv("t.csv")
    (tmp_path / "empty").mkdir()
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    assert refused(run(capsys, "evaluate", *arguments), code, words)


@pytest.mark.parametrize("measure", ["auc", "pauc@0.1", "tpr@fpr=0.1", "p@0.1"])
def test_the_limits_in_the_table_are_those_in_the_sentence(capsys, scores, measure):
    done = run(capsys, "evaluate", scores, "--target", "y", "--score", "good", "--measure", measure)
    (row,) = [line for line in done.out.splitlines() if line.startswith(f"{measure} ")]
    in_table = row.split()[1:]
    (in_words,) = re.findall(r"good: .* is between ([\d.]+) and ([\d.]+) with", done.out.replace("the truth is", "is"))
    assert in_table[1:] == list(in_words)


def test_rows_without_a_label_are_dropped_on_demand_and_counted(capsys, scored, tmp_path):
    path, labels = tmp_path / "some.csv", scored["y"].cast(pl.Int64)
    some = pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("y").cast(pl.Int64)).alias("y")
    scored.with_columns(some).write_csv(path)
    common = ["evaluate", path, "--target", "y", "--score", "good", "--measure", "auc"]
    assert refused(run(capsys, *common), 3, "400 missing values in 1,200 rows")
    found = answer(run(capsys, *common, "--drop-missing", "--json"))
    assert (found["n_rows"], found["n_without_label"]) == (800, 400)
    kept = np.arange(1200) % 3 != 0
    assert found["results"][0]["estimate"] == hr.AUC()(labels.to_numpy()[kept], scored["good"].to_numpy()[kept])
    assert "400 rows without a label dropped." in " ".join(run(capsys, *common, "--drop-missing").out.split())


def test_a_measure_without_an_interval_has_a_value_and_the_others_go_on(capsys, scores, scored):
    asked = ["--measure", "mrr", "--measure", "auc", "--measure", "ndcg@10"]
    common = ["evaluate", scores, "--target", "y", "--score", "good", *asked]
    found = answer(run(capsys, *common, "--group", "half", "--json"))["results"]
    assert [one["measure"] for one in found] == ["mrr", "auc", "ndcg@10"] * 3
    ndcg = found[2]
    assert (ndcg["low"], ndcg["high"]) == (None, None)
    assert ndcg["estimate"] == hr.measure("ndcg@10")(scored["y"], scored["good"])
    assert "--qid" in ndcg["no_interval"]
    assert found[1]["low"] == hr.interval(scored["y"], scored["good"]).low
    shown = run(capsys, *common).out
    assert re.search(r"mrr +\S+ +- +-\n", shown)
    assert "No interval for mrr, ndcg@10: a single list" in shown
    alone = run(capsys, *common[:6], "--measure", "mrr")
    assert alone.code == 0
    assert "Each interval" not in alone.out


def test_grades_of_relevance(capsys, scored, tmp_path):
    path = tmp_path / "graded.csv"
    graded = scored.with_columns((pl.col("y") * (1 + pl.col("id").hash() % 3)).cast(pl.Int64).alias("grade"))
    graded.with_columns(pl.when(pl.col("query") < 2).then(0).otherwise(pl.col("grade")).alias("grade")).write_csv(path)
    common = ["evaluate", path, "--target", "grade", "--score", "good", "--qid", "query", "--measure", "ndcg@10"]
    (one,) = answer(run(capsys, *common, "--json"))["results"]
    read = pl.read_csv(path)
    interval = hr.interval(read["grade"], read["good"], qid=read["query"], measure="ndcg@10")
    assert (one["low"], one["estimate"], one["n_queries"]) == (interval.low, interval.estimate, 38)
    shown = " ".join(run(capsys, *common).out.split())
    assert "(grade = 1 or more)" in shown
    assert "2 of 40 queries are left out" in shown
    refused(run(capsys, *common, "--measure", "ap"), 2, "ap takes two classes, but column 'grade' has grades")
    refused(run(capsys, *common, "--out", tmp_path / "report"), 2, "needs two classes")
    refused(run(capsys, *common[:6], "--measure", "ap"), 3, "distinct values")
