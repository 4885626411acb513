"""Scores where lower is better, ranges of specificity and sensitivity, clusters and methods on the command line."""

import json

import numpy as np
import polars as pl
import pytest

import headrank as hr
from cli.running import refused, run

LOWER = "--lower-is-better"


def answer(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


# Lower is better.


@pytest.mark.parametrize("measure", ["auc", "pauc@0.1", "p@100"])
def test_low_scores_are_measured_as_their_opposites(capsys, scores, measure):
    common = ["evaluate", scores, "--target", "y", "--measure", measure, "--json"]
    (high,) = answer(run(capsys, *common, "--score", "good"))["results"]
    (low,) = answer(run(capsys, *common, "--score", "reverse", LOWER))["results"]
    assert high.pop("score") != low.pop("score")
    assert low == high


def test_low_scores_are_compared_as_their_opposites(capsys, scores, scored):
    done = run(capsys, "compare", scores, "--target", "y", "--score", "reverse", "--score", "weak", LOWER, "--json")
    (found,) = answer(done)["differences"]
    expected = hr.compare(scored["y"], -scored["reverse"], -scored["weak"])
    assert (found["low"], found["high"]) == (expected.low, expected.high)


def test_a_threshold_on_low_scores_flags_what_lies_below(capsys, scores, scored):
    common = ["threshold", scores, "--target", "y", "--max-fpr", "0.1"]
    high = answer(run(capsys, *common, "--score", "good", "--json"))
    done = run(capsys, *common, "--score", "reverse", LOWER, "--json")
    low = answer(done)
    assert low["value"] == -high["value"]
    assert f"Flag scores of at most {low['value']!r}: the false positive rate stays" in done.err
    assert (scored["reverse"] <= low["value"]).sum() == low["n_flagged"] == high["n_flagged"]


def test_lists_of_low_scores_begin_with_the_lowest(capsys, tmp_path, scored):
    scored.write_csv(tmp_path / "old.csv")
    scored.head(200).write_csv(tmp_path / "new.csv")
    found = {}
    for score, options in (("good", []), ("reverse", [LOWER])):
        out = tmp_path / f"{score}.csv"
        asked = ["--target", "y", "--score", score, "--id", "id", "--max-false", "0.2", "--out", out, "--json"]
        done = run(capsys, "choose", tmp_path / "old.csv", tmp_path / "new.csv", *asked, *options)
        found[score] = (answer(done), pl.read_csv(out), done.err)
    (high, high_table, _), (low, low_table, words) = found["good"], found["reverse"]
    assert low_table["id"].to_list() == high_table["id"].to_list()
    assert low_table["score"].to_list() == [-value for value in high_table["score"]]
    assert low["threshold"] == -high["threshold"]
    assert f"those with a score of at most {low['threshold']!r}" in words
    chosen = low_table.filter("chosen")
    assert 0 < chosen.height == low["n_chosen"] == (low_table["score"] <= low["threshold"]).sum()


def test_a_model_knows_its_direction(capsys, tmp_path):
    (tmp_path / "new.csv").write_text("a\n1\n")
    done = run(capsys, "choose", tmp_path, tmp_path / "new.csv", "--list", "1", LOWER, "--out", tmp_path / "o.csv")
    assert refused(done, 2, "--lower-is-better")


@pytest.mark.parametrize("kind", [pl.UInt8, pl.Int8, pl.UInt32, pl.Int64])
def test_whole_numbers_are_negated_without_overflow(capsys, tmp_path, kind):
    values = [0, 1, 2, 100, 101, 127]
    pl.DataFrame({"y": [1, 1, 0, 1, 0, 0], "s": pl.Series(values, dtype=kind)}).write_parquet(tmp_path / "t.parquet")
    done = run(
        capsys, "evaluate", tmp_path / "t.parquet", "--target", "y", "--score", "s", "--measure", "auc", LOWER, "--json"
    )
    assert answer(done)["results"][0]["estimate"] == hr.AUC()([1, 1, 0, 1, 0, 0], [-value for value in values])


def test_whole_numbers_without_an_opposite_are_refused(capsys, tmp_path):
    pl.DataFrame({"y": [1, 0], "s": pl.Series([2**64 - 1, 0], dtype=pl.UInt64)}).write_parquet(tmp_path / "t.parquet")
    done = run(capsys, "evaluate", tmp_path / "t.parquet", "--target", "y", "--score", "s", LOWER)
    assert refused(done, 3, "too large to be negated")


# Specificity and sensitivity.


@pytest.mark.parametrize(
    ("specificity", "fpr"), [("0.9:1", "0:0.1"), ("0.9", "0.1"), ("0.95:0.98", "0.02:0.05"), ("0.7:1.0", "0:0.3")]
)
@pytest.mark.parametrize("command", [["evaluate"], ["compare", "--score", "weak"]])
def test_specificities_are_false_positive_rates(capsys, scores, specificity, fpr, command):
    name, *rest = command
    common = [name, scores, "--target", "y", "--score", "good", *rest, "--json"]
    expected = run(capsys, *common, "--fpr", fpr)
    assert run(capsys, *common, "--specificity", specificity) == expected
    assert expected.code == 0


def test_a_plan_for_specificities(capsys):
    common = ["plan", "--epsilon", "0.1", "--positive-rate", "0.1", "--auc", "0.9"]
    done = run(capsys, *common, "--specificity", "0.9:1")
    assert done == run(capsys, *common, "--fpr", "0:0.1")
    assert done.code == 0
    assert refused(run(capsys, *common, "--fpr", "0.1", "--specificity", "0.9"), 2, "not both")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--sensitivity", "0.8:1"], ["auc", "tpauc@fpr=1,tpr=0.8", "fpr@tpr=0.8"]),
        (["--sensitivity", "0.8:0.9"], ["auc", "tpauc@tpr=0.8:0.9", "fpr@tpr=0.8"]),
        (["--sensitivity", "0.8", "--fpr", "0.3"], ["auc", "tpauc@fpr=0.3,tpr=0.8", "tpr@fpr=0.3", "fpr@tpr=0.8"]),
        (
            ["--sensitivity", "0.8", "--specificity", "0.7"],
            ["auc", "tpauc@fpr=0.3,tpr=0.8", "tpr@fpr=0.3", "fpr@tpr=0.8"],
        ),
    ],
)
def test_sensitivities_bound_the_area_from_below(capsys, scores, scored, options, expected):
    found = answer(run(capsys, "evaluate", scores, "--target", "y", "--score", "good", *options, "--json"))["results"]
    assert [one["measure"] for one in found] == expected
    for one in found:
        assert one["estimate"] == pytest.approx(hr.measure(one["measure"])(scored["y"], scored["good"]))
        assert one["low"] <= one["estimate"] <= one["high"]


def test_areas_of_sensitivities_are_compared(capsys, scores):
    common = ["compare", scores, "--target", "y", "--score", "good", "--score", "weak", "--method", "bootstrap"]
    done = run(capsys, *common, "--sensitivity", "0.8", "--fpr", "0.3", "--json")
    assert answer(done)["differences"][0]["measure"] == "tpauc@fpr=0.3,tpr=0.8"


@pytest.mark.parametrize(
    ("options", "option", "words"),
    [
        (["--specificity", "90"], "--specificity", "for 90 % write 0.9"),
        (["--specificity", "1:0.9"], "--specificity", ""),
        (["--specificity", "0.9", "--fpr", "0.1"], "--specificity", "not both"),
        (["--specificity", "0.9", "--top", "0.1"], "--top", "not both"),
        (["--sensitivity", "0.9:0.8"], "--sensitivity", "min_tpr < max_tpr"),
        (["--sensitivity", "0.8", "--top", "0.1"], "--sensitivity", "false positive rates from 0"),
        (["--sensitivity", "0.8", "--fpr", "0.1:0.2"], "--sensitivity", "false positive rates from 0"),
        (["--sensitivity", "1"], "--sensitivity", "below 1"),
        (["--sensitivity", "high"], "--sensitivity", "expected rates"),
    ],
)
def test_impossible_ranges(capsys, scores, options, option, words):
    done = run(capsys, "evaluate", scores, "--target", "y", "--score", "good", *options)
    assert refused(done, 2, option, words)


# Clusters and methods.


def test_methods_of_intervals(capsys, scores, scored):
    common = ["evaluate", scores, "--target", "y", "--score", "good", "--fpr", "0.1", "--measure", "pauc@0.1", "--json"]
    for method in ("dkw", "delong", "bootstrap"):
        (found,) = answer(run(capsys, *common, "--method", method))["results"]
        expected = hr.interval(scored["y"], scored["good"], measure="pauc@0.1", method=method, random_state=0)
        assert (found["low"], found["high"], found["finite_sample"]) == (expected.low, expected.high, method == "dkw")
    done = run(capsys, *common[:-1], "--method", "delong")
    assert "in large samples (asymptotic)" in done.out
    assert "any distribution" not in done.out


def test_clusters_are_drawn_as_a_whole(capsys, scores, scored):
    common = [scores, "--target", "y", "--score", "good", "--clusters", "query"]
    done = run(capsys, "evaluate", *common, "--measure", "auc", "--json")
    (found,) = answer(done)["results"]
    expected = hr.interval(
        scored["y"], scored["good"], measure="auc", method="bootstrap", clusters=scored["query"], random_state=0
    )
    assert (found["method"], found["low"], found["high"]) == ("bootstrap", expected.low, expected.high)
    assert "Assumes that the clusters are independent draws" in done.err
    compared = answer(run(capsys, "compare", *common, "--score", "weak", "--json"))
    difference = hr.compare(
        scored["y"], scored["good"], scored["weak"], method="bootstrap", clusters=scored["query"], random_state=0
    )
    assert (compared["differences"][0]["low"], compared["asymptotic"]) == (difference.low, [])


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--method", "magic"], 2, "expected one of auto"),
        (["--method", "auto", "--clusters", "query"], 2, "with --clusters use bootstrap"),
        (["--method", "delong", "--clusters", "query"], 2, "with --clusters use bootstrap"),
        (["--clusters", "nothing"], 3, "no column 'nothing'"),
        (["--clusters", "query", "--qid", "query"], 3, "expected qid or clusters"),
    ],
)
def test_methods_that_do_not_fit_are_refused(capsys, scores, command, options, code, words):
    done = run(capsys, command, scores, "--target", "y", "--score", "good", "--score", "weak", *options)
    assert done.code in (code, 2), done
    assert words in done.complaint


def test_a_method_of_the_auc_is_a_usage_error_for_others(capsys, scores):
    common = ["evaluate", scores, "--target", "y", "--score", "good", "--method", "kl"]
    assert refused(run(capsys, *common, "--measure", "p@100"), 2, "--method", "for the AUC only")
    assert run(capsys, *common, "--measure", "auc").code == 0


def test_clusters_without_a_value_are_refused(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("y,s,c\n1,2,a\n0,1,\n")
    done = run(capsys, "evaluate", tmp_path / "t.csv", "--target", "y", "--score", "s", "--clusters", "c")
    assert refused(done, 3, "every row needs a cluster")


def test_clustered_rows_have_wider_intervals(capsys, tmp_path):
    """Each of 60 patients has 10 equal rows: independent rows would claim a third of the true width."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    scores = rng.normal(size=60) + y
    frame = pl.DataFrame({"y": np.repeat(y, 10), "s": np.repeat(scores, 10), "patient": np.repeat(np.arange(60), 10)})
    frame.write_csv(tmp_path / "t.csv")
    common = ["evaluate", tmp_path / "t.csv", "--target", "y", "--score", "s", "--measure", "auc", "--json"]
    widths = []
    for options in (["--clusters", "patient"], ["--method", "bootstrap"]):
        (found,) = answer(run(capsys, *common, *options))["results"]
        widths.append(found["high"] - found["low"])
    assert widths[0] > 2 * widths[1]
