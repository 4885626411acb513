"""``headrank compare``: paired differences, in the words and numbers of the library."""

import json
import re

import pytest

import headrank as hr
from cli.running import refused, run


def compare(capsys, scores, *options):
    done = run(capsys, "compare", scores, "--target", "y", *options)
    assert done.code == 0, done.err
    return done


def test_two_scorers(capsys, scores, scored):
    done = compare(capsys, scores, "--score", "good", "--score", "weak")
    expected = hr.compare(scored["y"], scored["good"], scored["weak"], names=("good", "weak"))
    seen, holds, asymptotic = expected.statements
    assert done.out.startswith(
        f"{seen}.\nT{holds[1:]}.\nA{asymptotic[1:]}.\nAssumes that the rows are independent draws"
    )
    assert done.out.count("they can be told apart") == 2


def test_what_cannot_be_told_apart_is_said_so(capsys, scores):
    done = compare(capsys, scores, "--score", "good", "--score", "alike", "--fpr", "0:0.1")
    assert "they cannot be told apart" in done.out
    assert "pauc@0.1" in done.out
    assert "p = 1" not in done.out
    assert "no p-value below 1, as this method is conservative" in done.out
    assert "Asymptotically (delong, for large samples)" in done.out


def test_the_asymptotic_answer_is_for_the_default_only(capsys, scores):
    both = json.loads(compare(capsys, scores, "--score", "good", "--score", "weak", "--json").out)
    assert [one["method"] for one in both["asymptotic"]] == ["delong"]
    one = json.loads(compare(capsys, scores, "--score", "good", "--score", "weak", "--method", "paired", "--json").out)
    assert one["asymptotic"] == []


def test_many_scorers_are_adjusted_for_their_number(capsys, scores, scored):
    names = ["good", "alike", "weak"]
    options = [word for name in names for word in ("--score", name)]
    found = json.loads(compare(capsys, scores, *options, "--json").out)
    expected = hr.compare_many({name: scored[name] for name in names}, scored["y"])
    for one, difference, p in zip(found["differences"], expected, expected.adjusted_p_values, strict=True):
        assert ((one["first"], one["second"]), one["low"], one["high"]) == (
            difference.names,
            difference.low,
            difference.high,
        )
        assert one["adjusted_p_value"] == p
        assert one["told_apart"] == (p <= 0.05)
    assert "trained or selected on these rows" in found["assumes"]
    words = compare(capsys, scores, *options).out
    assert "good is better than weak, alike is better than weak" in words
    assert "Not significant on these rows: good and alike" in words


def test_the_better_one_is_named_where_lower_is_better(capsys, scores):
    options = ["--score", "weak", "--score", "good", "--score", "reverse", "--measure", "fpr@tpr=0.5"]
    words = " ".join(compare(capsys, scores, *options).out.splitlines())
    assert "good is better than weak" in words
    assert "good is better than reverse" in words


@pytest.mark.parametrize("against", ["good", "weak"])
def test_against_one(capsys, scores, against):
    found = json.loads(
        compare(capsys, scores, "--score", "good", "--score", "weak", "--against", against, "--json").out
    )
    assert [one["second"] for one in found["differences"]] == [against]
    (one,) = found["differences"]
    assert (one["estimate"] > 0) == (against == "weak")


def test_the_bootstrap_gives_the_same_answer_again(capsys, scores):
    options = ["--score", "good", "--score", "weak", "--measure", "p@50", "--method", "bootstrap"]
    assert compare(capsys, scores, *options).out == compare(capsys, scores, *options).out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--score", "good"], 2, "expected at least two columns of scores"),
        (["--score", "good", "--score", "weak", "--method", "magic"], 2, "expected one of auto, betting, paired"),
        (["--score", "good", "--score", "weak", "--against", "alike"], 2, "not one of the columns given by --score"),
        (["--score", "good", "--score", "weak", "--measure", "auc", "--fpr", "0.1"], 2, "give either --measure, or"),
        (["--score", "good", "--score", "weak", "--measure", "p@9", "--method", "paired"], 3, "use method='auto'"),
        (["--score", "good", "--score", "good"], 2, "named only once"),
        (["--score", "good", "--score", "place"], 3, "scores must be numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(capsys, scores, options, code, words):
    assert refused(run(capsys, "compare", scores, "--target", "y", *options), code, words)


@pytest.mark.parametrize(
    ("names", "options", "method"),
    [
        (["good", "alike"], ["--measure", "auc"], "delong"),
        (["good", "alike", "weak"], ["--measure", "auc"], "delong"),
        (["good", "alike", "weak"], ["--fpr", "0:0.1"], "delong"),
        (["good", "alike"], ["--top", "0.1"], "bootstrap"),
        (["good", "weak"], ["--measure", "p@100"], "bootstrap"),
        (["good", "alike"], ["--measure", "auc", "--qid", "query"], "bootstrap"),
        (["good", "alike", "weak"], ["--measure", "p@5", "--qid", "query"], "bootstrap"),
    ],
)
def test_the_default_gives_both_answers_by_name_and_no_bare_p_of_1(capsys, scores, names, options, method):
    chosen = [word for name in names for word in ("--score", name)]
    done = compare(capsys, scores, *chosen, *options, "--json")
    found = json.loads(done.out)
    assert {one["finite_sample"] for one in found["differences"]} == {True}
    assert {one["method"] for one in found["asymptotic"]} == {method}
    for one, other in zip(found["differences"], found["asymptotic"], strict=True):
        assert (one["first"], one["second"]) == (other["first"], other["second"])
        assert (one["asymptotic_method"], one["asymptotic_p_value"]) == (method, other["p_value"])
    assert not re.search(r"p = 1\b|(?<![\d.])1 *\*?$", done.err, re.MULTILINE)
    assert found["differences"][0]["method"] in done.err
    assert f"({method}" in done.err


def test_an_asymptotic_answer_that_does_not_exist_is_said_to_be_missing(capsys, scores):
    """The first 50 rows of both are positive, and so are those of all replicates."""
    done = compare(capsys, scores, "--score", "good", "--score", "alike", "--measure", "p@50", "--json")
    assert json.loads(done.out)["asymptotic"] == []
    assert "There is no asymptotic answer" in done.err
    assert "p = 1" not in done.err


def test_a_near_name_is_suggested_for_against(capsys, scores):
    done = run(capsys, "compare", scores, "--target", "y", "--score", "good", "--score", "weak", "--against", "goods")
    assert refused(done, 2, "not one of the columns given by --score; did you mean 'good'?")
