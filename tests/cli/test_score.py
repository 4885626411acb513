"""``headrank score``: the scores of the model, whatever the packing and the block size; or no file at all."""

import dataclasses
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skrub import TableVectorizer

import headrank.model_io
from cli.running import left_in, refused, run
from headrank.estimators import LinearRanker
from headrank.model_io import load, save
from headrank.training.columns import Column
from headrank.training.goal import Goal
from headrank.training.table_model import TableModel
from platforms import proc

N_ROWS = 230


@pytest.fixture(scope="module")
def rows():
    """Rows with an id, a number with gaps, a category, and columns that are no features."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 20, N_ROWS)
    return pl.DataFrame(
        {
            "id": [f'p "{i}", \n ü' for i in range(N_ROWS)],
            "age": pl.Series(np.where(rng.random(N_ROWS) < 0.1, np.nan, age)).fill_nan(None),
            "sex": rng.choice(["f", "m"], N_ROWS),
            "ill": rng.integers(0, 2, N_ROWS),
            "note": ["x"] * N_ROWS,
        }
    )


@pytest.fixture(scope="module")
def model(rows):
    features = rows.select("age", "sex").with_columns(pl.col("age").fill_null(50))
    pipeline = make_pipeline(TableVectorizer(), LogisticRegression()).fit(features, rows["ill"])
    return TableModel(
        name="logistic regression",
        estimator=pipeline,
        columns=(Column("age", "number"), Column("sex", "text")),
        n_features=2,
        target="ill",
        positive="1",
        id_column=None,
        qid_column=None,
        dropped=("note",),
        goal=Goal(max_fpr=0.1),
        threshold=0.05,
        promise="flag scores of at least 0.05: the false positive rate stays at or below 0.1.",
    )


@pytest.fixture(scope="module")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    save(model, path)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch, model_file, rows):
    """A folder to work in, with a model and a table without gaps."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(model_file, "model")
    filled(rows).write_csv("t.csv")
    # Loading takes a second or more; a file of the same bytes is loaded once.
    monkeypatch.setattr(headrank.model_io, "load", load_once)
    return tmp_path


LOADED = {}


def load_once(path):
    content = Path(path).read_bytes() if Path(path).is_file() else None
    if content not in LOADED:
        LOADED[content] = load(path)
    return LOADED[content]


def filled(rows):
    return rows.with_columns(pl.col("age").fill_null(50))


def expected(model, rows):
    scores = model.decision_function(filled(rows).select("age", "sex"))
    return pl.DataFrame({"id": rows["id"], "score": scores, "flagged": scores >= 0.05})


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet"])
@pytest.mark.parametrize("block", [7, 100, 100_000])
def test_scores_do_not_depend_on_packing_or_blocks(capsys, folder, model, rows, name, block):
    frame = filled(rows)
    if name.endswith("parquet"):
        frame.write_parquet(name)
    else:
        text = frame.write_csv(separator="\t" if name == "t.tsv" else ",").encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    done = run(capsys, "score", "model", name, "--out", "o.csv", "--id", "id", "--block", block)
    assert (done.code, done.err) == (0, ""), done.err
    assert pl.read_csv("o.csv").equals(expected(model, rows))
    assert left_in(folder) == sorted({"model", "t.csv", "o.csv", name})


def test_rows_without_a_name_are_numbered(capsys, folder, rows):
    assert run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--drop", "id", "--block", "50").code == 0
    written = pl.read_csv("o.csv")
    assert written.columns == ["row", "score", "flagged"]
    assert written["row"].to_list() == list(range(1, N_ROWS + 1))


def test_what_is_said(capsys, folder, model, rows):
    n_flagged = int(expected(model, rows)["flagged"].sum())
    done = run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--id", "id", "--json")
    assert json.loads(done.out) == {
        "command": "score",
        "source": "t.csv",
        "model": "logistic regression",
        "out": "o.csv",
        "n_rows": N_ROWS,
        "n_written": N_ROWS,
        "n_tied_with_last": 0,
        "n_flagged": n_flagged,
        "flagged_share": n_flagged / N_ROWS,
        "holdout_flagged_share": None,
        "promised_flagged_share": None,
        "threshold": 0.05,
        "promise": "flag scores of at least 0.05: the false positive rate stays at or below 0.1.",
        "list_promise": None,
        "drift": None,
    }
    words = run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--id", "id").out
    assert "Scored 230 rows with the model (logistic regression) and wrote them to o.csv" in words
    assert f"Flagged {n_flagged} rows ({100 * n_flagged / N_ROWS:.3g} %)." in words
    assert "0.05" not in words  # what the threshold promises is said by fit, and on request
    words = run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--id", "id", "--verbose").out
    assert "From the report: Flag scores of at least 0.05: the false positive rate stays" in words
    assert words.count("0.05") == 1


def test_a_model_without_a_threshold_flags_nothing(capsys, folder, model):
    save(dataclasses.replace(model, threshold=None, promise="too few rows", id_column="id"), "plain")
    done = run(capsys, "score", "plain", "t.csv", "--out", "o.csv")
    assert "No rows are flagged, because the model has no threshold.\n" in done.out
    assert "no threshold. Too few rows" in run(capsys, "score", "plain", "t.csv", "--out", "o.csv", "--verbose").out
    assert pl.read_csv("o.csv").columns == ["id", "score"]  # the id column of the training is known


def test_an_old_file_is_replaced_whole(capsys, folder):
    (folder / "o.csv").write_text("old")
    assert run(capsys, "score", "model", "t.csv", "--out", "o.csv", "--id", "id").code == 0
    assert (folder / "o.csv").read_text().startswith("id,score,flagged\n")


@pytest.mark.filterwarnings("default:.* did not occur in training")
def test_svmlight(capsys, folder, model):
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    ranker = LinearRanker("auc", surrogate="logistic").fit(X, y)
    fitted = TableModel(
        name="ranker",
        estimator=ranker,
        columns=(),
        n_features=4,
        target="",
        positive="1",
        goal=Goal(top=0.1),
        threshold=None,
        promise="",
    )
    save(fitted, "svm")
    X[:, 3] = 0  # a file whose last feature never occurs
    dump_svmlight_file(X, y, "t.txt", zero_based=True)
    assert run(capsys, "score", "svm", "t.txt", "--out", "o.csv", "--block", "7").code == 0
    assert np.allclose(pl.read_csv("o.csv")["score"], ranker.decision_function(X), rtol=1e-12)
    assert refused(run(capsys, "score", "svm", "t.txt", "--out", "p.csv", "--id", "id"), 2, "no named columns")
    (folder / "t.txt").write_text("1 5:1\n")
    done = run(capsys, "score", "svm", "t.txt", "--out", "p.csv")
    assert done.code == 0
    assert done.err == (
        "headrank: warning: t.txt has features that did not occur in training, such as 5; they are ignored\n"
    )
    assert np.allclose(pl.read_csv("p.csv")["score"], ranker.decision_function(np.zeros((1, 4))))
    assert refused(run(capsys, "score", "svm", "t.txt", "--out", "p.csv", "--keep", "y"), 2, "no named columns")
    X[:, 0] = 0  # nor does its first: it is not taken to count from 1
    dump_svmlight_file(X, y, "t.txt", zero_based=True)
    assert run(capsys, "score", "svm", "t.txt", "--out", "p.csv").code == 0
    assert np.allclose(pl.read_csv("p.csv")["score"], ranker.decision_function(X), rtol=1e-12)


# -- columns that are kept ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", ["csv", "parquet"])
@pytest.mark.parametrize("block", [7, 100_000])
def test_columns_are_kept_and_scores_are_the_same(capsys, folder, model, rows, packing, block):
    frame = filled(rows).with_columns(clinic=pl.Series([f"{i:03d}" for i in range(N_ROWS)]))
    getattr(frame, f"write_{packing}")(f"more.{packing}")
    keep = [word for name in ("ill", "clinic", "age", "ill", "id") for word in ("--keep", name)]
    done = run(capsys, "score", "model", f"more.{packing}", "--out", "o.csv", "--id", "id", *keep, "--block", block)
    assert (done.code, done.err) == (0, "")
    written = pl.read_csv("o.csv", schema_overrides={"clinic": pl.String})
    assert written.columns == ["id", "score", "flagged", "ill", "clinic", "age"]
    assert written.select("id", "score", "flagged").equals(expected(model, rows))
    assert written.select("ill", "clinic", "age").equals(frame.select("ill", "clinic", "age"))


def test_a_column_that_was_empty_in_training_may_be_missing(capsys, folder, model):
    spare = Column("spare", "text", n_missing=N_ROWS, n_distinct=0)
    features = pl.DataFrame({"age": [1.0, 2.0], "sex": ["f", "m"], "spare": pl.Series([None, None], dtype=pl.String)})
    pipeline = make_pipeline(TableVectorizer(), LogisticRegression()).fit(features, [0, 1])
    save(dataclasses.replace(model, estimator=pipeline, columns=(*model.columns, spare), n_features=3), "spare")
    (folder / "less.csv").write_text("age,sex\n1,f\n")
    (folder / "more.csv").write_text("spare,age,sex\nx,1,f\n")
    for name in ("less.csv", "more.csv"):
        done = run(capsys, "score", "spare", name, "--out", f"o-{name}")
        assert done.code == 0, done.err
    assert (folder / "o-less.csv").read_text() == (folder / "o-more.csv").read_text()


def test_what_is_kept_stands_as_it_stood(capsys, folder):
    (folder / "odd.csv").write_text('age,sex,why\n 007 ,f,"a ""b"", c"\n1e1,m,\n')
    assert run(capsys, "score", "model", "odd.csv", "--out", "o.csv", "--keep", "age", "--keep", "why").code == 0
    assert run(capsys, "score", "model", "odd.csv", "--out", "p.csv", "--drop", "why").code == 0
    kept, plain = (pl.read_csv(name, infer_schema=False) for name in ("o.csv", "p.csv"))
    assert kept.select("row", "score", "flagged").equals(plain)
    assert kept.select("age", "why").rows() == [(" 007 ", 'a "b", c'), ("1e1", None)]


@pytest.mark.parametrize(
    ("options", "columns", "copied"),
    [
        (["--id", "score", "--drop", "row"], ["score_", "score", "flagged"], {"score_": 7}),
        (["--keep", "score", "--keep", "row"], ["row", "score", "flagged", "score_", "row_"], {"score_": 7, "row_": 8}),
        (["--id", "row", "--keep", "score"], ["row", "score", "flagged", "score_"], {"score_": 7, "row": 8}),
    ],
)
def test_names_that_the_output_has_already(capsys, folder, options, columns, copied):
    (folder / "named.csv").write_text("score,row,age,sex\n7,8,2,f\n")
    done = run(capsys, "score", "model", "named.csv", *options, "--out", "o.csv")
    assert done.code == 0, done.err
    written = pl.read_csv("o.csv")
    assert written.columns == columns
    assert written.select(list(copied)).row(0, named=True) == copied


GOOD = "id,age,sex\na,1,f\n"
BAD = {
    "no model": (["absent", "t.csv", "--out", "o.csv"], 3, "there is no file absent"),
    "a model that is none": (["t.csv", "t.csv", "--out", "o.csv"], 3, "t.csv is not a headrank model"),
    "no data": (["model", "absent.csv", "--out", "o.csv"], 3, "there is no file absent.csv"),
    "a column is missing": (["model", "less.csv", "--out", "o.csv"], 3, "less.csv: the table lacks the column 'age'"),
    "a column is spelled otherwise": (["model", "case.csv", "--out", "o.csv"], 3, "did you mean 'Age'?"),
    "an unknown column": (
        ["model", "more.csv", "--out", "o.csv"],
        3,
        "'extra'; leave it out with --drop",
    ),
    "no such id": (["model", "t.csv", "--id", "name", "--out", "o.csv"], 3, "has no column 'name'"),
    "no such dropped column": (["model", "t.csv", "--drop", "name", "--out", "o.csv"], 3, "has no column 'name'"),
    "no such kept column": (["model", "t.csv", "--keep", "name", "--out", "o.csv"], 3, "has no column 'name'"),
    "lists are kept": (["model", "lists.parquet", "--keep", "list", "--out", "o.csv"], 3, "'list'", "List(Int64)"),
    "kept words for numbers": (["model", "words.csv", "--id", "id", "--keep", "age", "--out", "o.csv"], 3, "'old'"),
    "words for numbers": (["model", "words.csv", "--id", "id", "--out", "o.csv"], 3, "has 'old' in row 2"),
    "no rows": (["model", "empty.csv", "--id", "id", "--out", "o.csv"], 3, "header but no rows"),
    "an empty file": (["model", "void.csv", "--id", "id", "--out", "o.csv"], 3, "is empty"),
    "not UTF-8": (["model", "latin.csv", "--id", "id", "--out", "o.csv"], 3, "not UTF-8 text: line 2"),
    "two columns of a name": (["model", "twice.csv", "--id", "id", "--out", "o.csv"], 3, "two columns named 'age'"),
    "a cut-off Parquet file": (["model", "cut.parquet", "--id", "id", "--out", "o.csv"], 3, "it is cut off"),
    "no folder": (["model", "one.csv", "--id", "id", "--out", "absent/o.csv"], 4, "the folder absent does not exist"),
    "a folder": (["model", "one.csv", "--id", "id", "--out", "folder.csv"], 4, "is a folder"),
    "below a file": (
        ["model", "one.csv", "--id", "id", "--out", "one.csv/o.csv"],
        4,
        "the folder one.csv does not exist",
    ),
    "not writable": (["model", "one.csv", "--id", "id", "--out", "/proc/o.csv"], 4, "cannot be written", "nothing was"),
    "Parquet wanted": (["model", "one.csv", "--id", "id", "--out", "o.parquet"], 2, "ending in .csv"),
    "over the input": (["model", "one.csv", "--id", "id", "--out", "one.csv"], 2, "this is the input"),
    "no block": (["model", "one.csv", "--out", "o.csv", "--block", "0"], 2, "Invalid value for '--block'"),
    "no out": (["model", "one.csv"], 2, "Missing option '--out'"),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=name, marks=proc if "/proc/o.csv" in case[0] else ()) for name, case in BAD.items()]
)
def test_what_cannot_be_scored_leaves_no_file(capsys, folder, rows, case):
    arguments, code, *words = case
    texts = {
        "one": GOOD,
        "less": "sex\nf\n",
        "case": "Age,sex\n1,f\n",
        "more": "age,sex,extra\n1,f,2\n",
        "words": GOOD + "b,old,m\n",
        "empty": "id,age,sex\n",
        "void": "",
        "twice": "id,age,age,sex\na,1,1,f\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    (folder / "latin.csv").write_bytes("id,age,sex\né,1,f\n".encode("latin-1"))
    filled(rows).write_parquet("whole.parquet")
    pl.DataFrame({"age": [1], "sex": ["f"], "list": [[1]]}).write_parquet("lists.parquet")
    whole = (folder / "whole.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "folder.csv").mkdir()
    before = left_in(folder)
    assert refused(run(capsys, "score", *arguments), code, *words)
    assert left_in(folder) == before
    assert (folder / "one.csv").read_text() == GOOD


def test_a_model_that_knows_no_columns_is_refused(capsys, folder):
    rng = np.random.default_rng(0)
    ranker = LinearRanker("auc", surrogate="logistic").fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    save(ranker, "ranker")
    done = run(capsys, "score", "ranker", "t.csv", "--out", "o.csv")
    assert refused(done, 3, "ranker contains a LinearRanker", "headrank fit")


def test_a_score_that_is_not_finite_is_refused_by_row(capsys, folder, model, monkeypatch):
    def broken(self, rows, *, first_row=1):
        scores = np.zeros(rows.height)
        if first_row > 100:
            scores[3] = np.nan
        return scores

    monkeypatch.setattr(TableModel, "decision_function", broken)
    done = run(capsys, "score", "model", "t.csv", "--id", "id", "--out", "o.csv", "--block", "100")
    assert refused(done, 3, "the score of row 104 of t.csv is not finite")
    assert left_in(folder) == ["model", "t.csv"]


def test_a_model_that_cannot_say_why_says_so(capsys, folder):
    done = run(capsys, "score", "model", "t.csv", "--id", "id", "--out", "why.csv", "--why", "1")
    assert done.code != 0
    assert "cannot say what each column adds" in done.err
    assert not (folder / "why.csv").exists()
