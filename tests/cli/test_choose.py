"""``headrank choose``: what the library chooses and promises, from a model or labelled scores; or no file at all."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skrub import TableVectorizer

import headrank as hr
from cli.running import left_in, refused, run
from headrank.model_io import load, save
from headrank.model_io.saving import packed
from headrank.training.columns import Column
from headrank.training.goal import Goal
from headrank.training.holdout_scores import HoldoutScores
from headrank.training.table_model import TableModel

N_NEW = 300


def cases(n_rows, seed, share=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < share
    return pl.DataFrame({"id": [f"{i:03d}" for i in range(n_rows)], "size": rng.normal(size=n_rows) + 4 * y, "y": y})


@pytest.fixture(scope="module")
def model():
    training, holdout = cases(300, 0), cases(900, 1)
    pipeline = make_pipeline(TableVectorizer(), LogisticRegression()).fit(training.select("size"), training["y"])
    fitted = TableModel(
        name="ranker",
        estimator=pipeline,
        columns=(Column("size", "number"),),
        n_features=1,
        target="y",
        positive="true",
        id_column="id",
        goal=Goal(max_fpr=0.1),
        threshold=0.0,
        promise="made up",
    )
    rows = HoldoutScores(
        scores=fitted.decision_function(holdout.select("size")),
        positive=holdout["y"].to_numpy(),
        n_models=3,
        share=0.5,
        holds="if new rows are drawn like these",
    )
    return dataclasses.replace(fitted, holdout_scores=rows)


@pytest.fixture(scope="module")
def file(model):
    """What `save` writes, made once."""
    return packed(model)


@pytest.fixture
def folder(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "model").write_bytes(file)
    cases(N_NEW, 2).write_csv("new.csv")
    return tmp_path


def new_scores(model):
    return model.decision_function(cases(N_NEW, 2).select("size"))


def test_the_first_rows_and_what_is_promised_of_them(capsys, folder, model):
    done = run(capsys, "choose", "result", "new.csv", "--list", 40, "--out", "o.csv", "--json")
    assert done.code == 0, done.err
    rows = model.holdout_scores
    expected = hr.certify_list(rows.positive, rows.scores, new_scores(model), confidence=1 - 0.05 * 0.5)
    table = pl.read_csv("o.csv", schema_overrides={"id": pl.String})
    assert table.columns == ["id", "score", "rank", "at_least"]
    assert table["rank"].to_list() == list(range(1, 41))
    assert table["at_least"].to_list() == expected.promised[:40].tolist()
    assert table["id"].to_list() == [f"{i:03d}" for i in expected.order[:40]]
    answer = json.loads(done.out)
    assert (answer["list"], answer["at_least"], answer["confidence"]) == (40, expected.at_least(40), 0.95)
    assert (answer["n_models"], answer["share_of_risk"]) == (3, 0.5)
    assert f"At least {expected.at_least(40)} of these 40 rows are positive, with 95 % confidence" in done.err
    assert "selection of the model among 3 on the same holdout, for which 50 % of the risk is set aside" in done.err
    assert "It holds if new rows are drawn like these." in done.err
    assert "Assumes same negatives: the negatives among the new rows" in done.err


@pytest.mark.parametrize("assume", ["same negatives", "same rows"])
def test_rows_with_a_limited_share_of_negatives(capsys, folder, model, assume):
    done = run(
        capsys, "choose", "result/model", "new.csv", "--max-false", 0.2, "--assume", assume, "--keep", "y",
        "--out", "o.csv",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows, scores = model.holdout_scores, new_scores(model)
    expected = hr.choose(rows.positive, rows.scores, scores, max_false_share=0.1, assume=assume)
    table = pl.read_csv("o.csv")
    assert table.columns == ["id", "score", "rank", "chosen", "y"]
    assert table.height == N_NEW
    assert table["score"].to_list() == sorted(scores, reverse=True)
    assert table["chosen"].sum() == expected.n_chosen > 20
    assert table["chosen"].to_list() == (table["score"] >= expected.threshold).to_list()
    assert f"Chose {expected.n_chosen} of 300 rows" in done.out
    assert "expected share of negatives among them is at most 20 %" in done.out


def test_labelled_scores_instead_of_a_model(capsys, scores, scored, tmp_path):
    new = tmp_path / "new.csv"
    scored.with_columns(pl.col("id").str.replace("p", "00"), rank=pl.lit("x")).select("id", "good", "rank").write_csv(
        new
    )
    out = tmp_path / "o.csv"
    options = ("--score", "good", "--id", "id", "--keep", "rank", "--out", out)
    done = run(capsys, "choose", scores, new, "--target", "ill", *options, "--list", 100, "--confidence", 0.9)
    assert done.code == 0, done.err
    expected = hr.certify_list(scored["y"], scored["good"], scored["good"], confidence=0.9)
    table = pl.read_csv(out, infer_schema=False)
    assert table.columns == ["id", "score", "rank", "at_least", "rank_"]
    assert table["at_least"].cast(int).to_list() == expected.promised[:100].tolist()
    assert table["id"][0] == f"00{expected.order[0]}"
    assert "with 90 % confidence" in done.out
    assert "selection" not in done.out
    without_id = run(
        capsys, "choose", scores, new, "--target", "y", "--score", "good", "--max-false", 0.3, "--out", out
    )
    assert without_id.code == 0
    assert pl.read_csv(out).columns == ["row", "score", "rank", "chosen"]
    assert pl.read_csv(out)["row"][0] == expected.order[0] + 1


def test_none_chosen_is_an_answer_that_says_what_it_takes(capsys, folder):
    cases(N_NEW, 3, share=0.01).write_csv("few.csv")
    done = run(capsys, "choose", "result", "few.csv", "--max-false", 0.02, "--out", "o.csv")
    assert done.code == 0
    assert not pl.read_csv("o.csv")["chosen"].any()
    assert "None of 300 new rows can be chosen with an expected share of negatives of at most 0.02" in done.out
    assert "label more rows or allow a larger share" in done.out or "use a better scorer" in done.out
    cases(N_NEW, 3, share=0.0).write_csv("none.csv")
    done = run(capsys, "choose", "result", "none.csv", "--list", 30, "--out", "o.csv")
    assert done.code == 0, done.err
    assert pl.read_csv("o.csv")["at_least"].to_list() == [0] * 30
    assert "None of these 30 rows can be promised to be positive" in done.out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, ["expected --max-false Q or --list K, got none"]),
        (("--list", 5, "--max-false", 0.1), 2, ["got both"]),
        (("--max-false", 1.5), 2, ["--max-false"]),
        (("--max-false", 0.1, "--confidence", 0.9), 2, ["which has no confidence"]),
        (("--list", 301), 2, ["--list", "new.csv has only 300 rows"]),
        (("--list", 5, "--target", "y"), 2, ["--target", "a model has its own labels"]),
        (("--list", 5, "--score", "size"), 2, ["--target", "name the column of labels"]),
        (("--max-false", 0.001), 5, ["needs at least 1,999 labelled negatives", "but there are"]),
        (("--list", 1), 5, ["at least 1 of the first 1 of 300 rows", "labelled negatives", "50 % of the risk"]),
    ],
)
def test_what_cannot_be_asked_leaves_no_file(capsys, folder, options, code, words):
    assert refused(run(capsys, "choose", "result", "new.csv", *options, "--out", "o.csv"), code, *words)
    assert left_in(folder) == ["new.csv", "result"]


def test_models_without_labelled_rows_are_refused(capsys, folder, model):
    for changes, words in (
        ({"holdout_scores": None}, ["contains no scores of its holdout", "--no-calibration", "fit it again"]),
        ({"holdout_scores": None, "qid_column": "query"}, ["trained with queries", "train without --qid"]),
    ):
        save(dataclasses.replace(model, **changes), "other")
        assert refused(run(capsys, "choose", "other", "new.csv", "--list", 5, "--out", "o.csv"), 3, *words)


def test_groups_need_one_new_row_each(capsys, folder, model):
    by_class = dataclasses.replace(model.holdout_scores, by_class=True, holds="for new patients")
    save(dataclasses.replace(model, group_column="patient", holdout_scores=by_class), "grouped")
    rows = cases(N_NEW, 2).with_columns(patient=pl.int_range(N_NEW) // 2)
    rows.write_csv("visits.csv")
    done = run(capsys, "choose", "grouped", "visits.csv", "--list", 30, "--out", "o.csv")
    assert refused(done, 3, "300 rows with 150 values of 'patient'", "keep one row of each")
    rows.gather_every(2).write_csv("once.csv")
    done = run(capsys, "choose", "grouped", "once.csv", "--list", 30, "--out", "o.csv")
    assert done.code == 0, done.err
    assert "It holds for new patients." in done.out
    assert pl.read_csv("o.csv").columns == ["id", "score", "rank", "at_least"]
    done = run(capsys, "choose", "grouped", "once.csv", "--list", 30, "--assume", "same rows", "--out", "o.csv")
    assert refused(done, 3, "drawn by class", "'same negatives'")


def test_score_promises_something_about_flagged_rows(capsys, folder, model):
    expected = model.holdout_scores.certify_list(new_scores(model))
    n_flagged = int(model.flags(new_scores(model)).sum())
    done = run(capsys, "score", "result/model", "new.csv", "--out", "o.csv", "--block", 70)
    assert done.code == 0, done.err
    line = f"At least {expected.at_least(n_flagged)} of the {n_flagged} flagged rows are positive, with 95 % confidence"
    assert done.out.splitlines()[-1].startswith(line)
    save(dataclasses.replace(model, threshold=None), "open")
    k = expected.largest_list(0.5)
    done = run(capsys, "score", "open", "new.csv", "--out", "o.csv")
    assert f"At least {expected.at_least(k)} of the {k} first rows are positive" in done.out
    save(dataclasses.replace(model, group_column="patient"), "grouped")
    assert "At least" not in run(capsys, "score", "grouped", "new.csv", "--out", "o.csv").out


def test_fit_keeps_scores_of_the_holdout_unless_told_otherwise(capsys, folder):
    cases(600, 5).write_csv("t.csv")
    options = ("fit", "t.csv", "--target", "y", "--models", "linear", "--out", "fitted", "--overwrite")
    assert run(capsys, *options).code == 0
    kept = load("fitted/model").holdout_scores
    assert kept.n_models == 2
    assert 0 < kept.share < 1
    assert kept.scores.size == kept.positive.size == 135  # three quarters of the holdout
    assert (np.diff(kept.scores) >= 0).all()
    ranked = pl.read_csv("fitted/ranked.csv")
    assert set(kept.scores) <= set(ranked["score"])
    assert run(capsys, "choose", "fitted", "new.csv", "--list", 50, "--out", "o.csv").code == 0
    same_rows = ("choose", "fitted", "new.csv", "--list", 50, "--assume", "same rows", "--out", "o.csv")
    assert refused(run(capsys, *same_rows), 3, "drawn by class", "'same negatives'", "--top")
    assert run(capsys, *options, "--top", 0.2).code == 0
    assert not load("fitted/model").holdout_scores.by_class
    assert run(capsys, *same_rows).code == 0
    assert run(capsys, *options, "--no-calibration").code == 0
    assert load("fitted/model").holdout_scores is None
    assert json.loads((folder / "fitted/result.json").read_text())["reproduce"]["command"].endswith(
        "--no-calibration --out result"
    )
