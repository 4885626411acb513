"""``headrank evaluate --cutoffs``: the numbers are the library's, and what cannot be cut is refused."""

import json

import pytest

import headrank as hr
from cli.running import refused, run

COMMON = ["--target", "y", "--score", "good", "--measure", "auc", "--cutoffs"]


def test_the_numbers_are_those_of_the_library(capsys, scores, scored):
    done = run(capsys, "evaluate", scores, *COMMON, "--miss-cost", "5", "--prevalence", "0.1", "--json")
    (found,) = json.loads(done.out)["cutoffs"]
    assert [each["by"] for each in found["best"]] == ["youden", "closest", "cost"]
    assert "PPV, NPV and lift are for 10 % positives." in " ".join(done.err.split())
    y, good = scored["y"], scored["good"]
    costs = {"false_negative": 5, "false_positive": 1}
    best = hr.best_cutoff(y, good, by="cost", costs=costs, prevalence=0.1, n_replicates=1000, random_state=0)
    assert found["best"][2] == best.as_dict()
    cuts = [row["threshold"] for row in found["points"]]
    points = hr.operating_points(y, good, thresholds=cuts, prevalence=0.1, confidence=0.95).to_frame()
    for row, expected in zip(found["points"], points.iter_rows(named=True), strict=True):
        purpose = row.pop("purpose")
        assert row == pytest.approx(expected)
        if purpose.startswith("FPR at most"):
            assert row["fpr"] <= float(purpose.split()[-1])


def test_the_tables_name_each_cut_off_and_fit_the_screen(capsys, scores):
    done = run(capsys, "evaluate", scores, *COMMON)
    for words in ("FPR <= 0.05", "youden", "closest", "LR+", "lift", "although they were picked on these rows"):
        assert words in done.out
    assert "cost" not in done.out
    assert "lift are for" not in done.out
    table = [line for line in done.out.splitlines() if line.startswith(("cut-off ", "FPR <= ", "youden ", "closest "))]
    assert len(table) == 9  # a heading, four budgets, and the best ones in both tables
    assert max(map(len, table)) <= 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cutoffs", "--qid", "query"], "omit --qid"),
        (["--cutoffs", "--lower-is-better"], "omit --lower-is-better"),
        (["--miss-cost", "5"], "give --cutoffs"),
        (["--prevalence", "0.1"], "give --cutoffs"),
        (["--cutoffs", "--miss-cost", "0"], "above 0"),
        (["--cutoffs", "--prevalence", "5"], "between 0 and 1"),
    ],
)
def test_what_cannot_be_cut_is_refused(capsys, scores, options, message):
    refused(run(capsys, "evaluate", scores, "--target", "y", "--score", "good", *options), 2, message)
