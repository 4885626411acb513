"""``headrank threshold`` and ``headrank plan``: the library's answers, and its refusals."""

import json

import pytest

import headrank as hr
from cli.running import refused, run


@pytest.mark.parametrize(
    ("options", "budget"),
    [
        (["--max-fpr", "0.05"], {"max_fpr": 0.05}),
        (["--top", "0.1"], {"top": 0.1}),
        (["--alerts", "30", "--out-of", "200"], {"alerts": 30, "out_of": 200}),
        (["--max-fpr", "0.05", "--confidence", "0.5"], {"max_fpr": 0.05, "confidence": 0.5}),
    ],
)
def test_the_threshold_is_that_of_the_library(capsys, scores, scored, options, budget):
    arguments = ["threshold", scores, "--target", "ill", "--score", "good", *options]
    expected = hr.threshold_at(scored["y"], scored["good"], **budget)
    found = json.loads(run(capsys, *arguments, "--json").out)
    assert {name: found[name] for name in expected.as_dict()} == expected.as_dict()
    words = run(capsys, *arguments).out
    assert f"Flag scores of at least {expected.value!r}: {expected.budget.promise}" in words
    assert words.endswith(f"{found['assumes']}\n")
    for assumed in ("rows are independent draws", "no scorer was trained or selected on these rows"):
        assert assumed in found["assumes"]


def test_too_few_rows_have_an_exit_code_of_their_own(capsys, scores):
    done = run(capsys, "threshold", scores, "--target", "y", "--score", "good", "--max-fpr", "0.0001")
    assert refused(done, 5, "needs at least 29,956 negatives", "use more rows")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "got none"),
        (["--max-fpr", "0.1", "--top", "0.1"], "got --max-fpr and --top"),
        (["--alerts", "3"], "must be given together"),
        (["--out-of", "3", "--top", "0.1"], "must be given together"),
        (["--alerts", "30", "--out-of", "30"], "fewer alerts than rows"),
        (["--max-fpr", "5"], "rates are fractions, not percent"),
        (["--top", "0"], "strictly between 0 and 1"),
        (["--alerts", "few"], "Invalid value for '--alerts'"),
    ],
)
def test_budgets_that_are_none(capsys, scores, options, words):
    assert refused(run(capsys, "threshold", scores, "--target", "y", "--score", "good", *options), 2, words)


def test_a_plan(capsys):
    arguments = ["plan", "--epsilon", "0.05", "--positive-rate", "0.02", "--auc", "0.9", "--scorers", "3"]
    expected = hr.plan(epsilon=0.05, positive_rate=0.02, auc=0.9, n_scorers=3, method="kl")
    assert run(capsys, *arguments).out == f"{expected}.\n"
    found = json.loads(run(capsys, *arguments, "--json").out)
    assert (found["n"], found["n_pos"], found["n_neg"]) == (expected.n, expected.n_pos, expected.n_neg)


@pytest.mark.parametrize(("part", "measure"), [(("--fpr", "0.1"), "pauc@0.1"), (("--top", "0.2"), "locauc@0.2")])
def test_a_plan_for_the_head(capsys, part, measure):
    arguments = ["plan", "--epsilon", "0.3", "--positive-rate", "0.2", "--auc", "0.9", "--scorers", "2", *part]
    expected = hr.plan_head(measure, epsilon=0.3, positive_rate=0.2, auc=0.9, n_scorers=2)
    assert run(capsys, *arguments).out == f"{expected}.\n"
    found = json.loads(run(capsys, *arguments, "--json").out)
    assert (found["n"], found["n_pos"], found["measure"]) == (expected.n, expected.n_pos, measure)


@pytest.mark.parametrize("scorer", [{}, {"auc": 0.99, "positive_rate": 0.3}])
def test_a_plan_for_a_list(capsys, scorer):
    arguments = ["plan", "--list", "20", "--precision", "0.5", "--new", "100"]
    for name, value in scorer.items():
        arguments += [f"--{name.replace('_', '-')}", str(value)]
    expected = hr.plan_list(20, 0.5, n_new=100, **scorer)
    assert run(capsys, *arguments).out == f"{expected}.\n"
    found = json.loads(run(capsys, *arguments, "--json").out)
    assert found == {"command": "plan", **expected.as_dict()}


def test_a_plan_of_new_rows(capsys):
    arguments = ["plan", "--list", "20", "--precision", "0.5", "--negatives", "150"]
    expected = hr.plan_new_rows(20, 0.5, n_neg=150)
    assert run(capsys, *arguments).out == f"{expected}.\n"
    assert json.loads(run(capsys, *arguments, "--json").out) == {"command": "plan", **expected.as_dict()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0.1", "--positive-rate", "0.1", "--fpr", "0.1"], "give the AUC you expect"),
        (
            ["--epsilon", "0.1", "--positive-rate", "0.1", "--fpr", "0.1", "--method", "kl"],
            "expected no --method together",
        ),
        (["--epsilon", "5", "--positive-rate", "0.1"], "epsilon must lie in (0, 1]"),
        (["--epsilon", "0.1", "--positive-rate", "1"], "positive_rate must lie strictly between"),
        (["--epsilon", "0.1", "--positive-rate", "0.1", "--method", "x"], "expected one of mcdiarmid"),
        (["--epsilon", "0.1", "--positive-rate", "0.1", "--scorers", "0"], "n_scorers must be at least 1"),
        (["--epsilon", "0.1", "--positive-rate", "0.1", "--confidence", "95"], "a fraction, not percent"),
        (["--epsilon", "0.1"], "'--positive-rate': required, except with --list"),
        (["--positive-rate", "0.1"], "'--epsilon': required, except with --list"),
        (["--list", "20", "--new", "100"], "'--precision': required with --list"),
        (["--list", "20", "--precision", "0.5"], "give --new or --negatives, got none"),
        (["--list", "20", "--precision", "0.5", "--new", "100", "--negatives", "9"], "--negatives, got both"),
        (["--list", "20", "--precision", "0.5", "--negatives", "5"], "5 labelled negatives cannot promise 10 of 20"),
        (["--precision", "0.5", "--epsilon", "0.1", "--positive-rate", "0.1"], "belong to a list; give --list"),
        (["--list", "20", "--precision", "0.5", "--new", "10"], "k must be at most n_new"),
        (["--list", "20", "--precision", "0.5", "--new", "100", "--auc", "0.9"], "give both --auc and --positive-rate"),
        (["--list", "20", "--precision", "50", "--new", "100"], "rates are fractions, not percent"),
        (["--list", "20", "--precision", "0.5", "--new", "100", "--epsilon", "0.1"], "expected no --epsilon together"),
        (["--list", "20", "--precision", "0.5", "--new", "100", "--scorers", "2"], "expected no --scorers together"),
    ],
)
def test_plans_that_are_none(capsys, options, words):
    assert refused(run(capsys, "plan", *options), 2, words)
