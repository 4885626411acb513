"""What commands read: several files, standard input, workbooks, other separators and decimal marks."""

import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.running import refused, run
from cli.tables import clean

GERMAN = ["--separator", ";", "--decimal", ","]


def german(frame, path):
    """Write a table with semicolons and decimal commas."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    changed = frame.with_columns(pl.col(floats).cast(pl.String).str.replace(".", ",", literal=True))
    changed.write_csv(path, separator=";")


@pytest.fixture(params=["semicolons", "several", "standard input", "workbook", "several, mixed", "folder"])
def layout(request, tmp_path, monkeypatch):
    """Return how to write a table, and what to type to have it read."""

    def write(frame, name):
        half = frame.height // 2
        if request.param == "semicolons":
            german(frame, tmp_path / f"{name}.csv")
            return [tmp_path / f"{name}.csv"], GERMAN
        if request.param == "standard input":
            text = io.BytesIO(frame.write_csv(separator="\t").encode())
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(text))
            return ["-"], ["--separator", "tab"]
        if request.param == "workbook":
            frame.write_excel(tmp_path / f"{name}.xlsx")
            return [tmp_path / f"{name}.xlsx"], []
        if request.param == "folder":
            (tmp_path / name).mkdir()
            frame[half:].write_parquet(tmp_path / name / "2.parquet")
            frame[:half].write_parquet(tmp_path / name / "1.parquet")
            (tmp_path / name / "_SUCCESS").touch()
            return [tmp_path / name], []
        german(frame[:half], tmp_path / f"{name}1.csv")
        if request.param == "several":
            german(frame[half:], tmp_path / f"{name}2.csv")
        else:
            frame[half:].write_parquet(tmp_path / f"{name}2.parquet")
        return sorted(tmp_path.glob(f"{name}[12].*")), GERMAN

    return write


@pytest.fixture(scope="module")
def table():
    """Rounded, since Excel has 15 digits."""
    return clean(900).with_columns(pl.col("size", "weight", "noise").round(6))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, table):
    """A model of the plain table, and its folder."""
    from headrank.cli import main

    folder = tmp_path_factory.mktemp("plain")
    table.write_csv(folder / "t.csv")
    out = ["--models", "linear", "--fpr", "0.2", "--out", str(folder / "out")]
    assert main(["fit", str(folder / "t.csv"), "--target", "broken", *out]) == 0
    return folder


ANSWERS = {}
"""What each command says of the plain file, once it was asked."""


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "--score", "good", "--score", "weak", "--fpr", "0.1"],
        ["compare", "--score", "good", "--score", "weak"],
        ["threshold", "--score", "good", "--max-fpr", "0.1"],
    ],
)
def test_scores_are_the_same_however_they_are_written(capsys, tmp_path, scored, layout, command):
    frame = scored.with_columns(pl.col("good", "weak").round(6))
    frame.write_csv(tmp_path / "plain.csv")
    files, options = layout(frame, "s")
    name, *rest = command
    if name not in ANSWERS:
        done = run(capsys, name, tmp_path / "plain.csv", "--target", "y", *rest, "--json")
        assert done.code == 0, done.err
        ANSWERS[name] = json.loads(done.out)
    done = run(capsys, name, *files, "--target", "y", *rest, *options, "--json")
    assert done.code == 0, done.err
    plain, found = dict(ANSWERS[name]), json.loads(done.out)
    assert found.pop("source") != plain.pop("source")
    assert found == plain


def test_a_fit_is_the_same_and_the_model_does_not_know_how_the_table_was_written(
    capsys, tmp_path, table, fitted, layout
):
    files, options = layout(table, "t")
    done = run(
        capsys, "fit", *files, "--target", "broken", *options, "--models", "linear", "--fpr", "0.2",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    for name in ("ranked.csv", "model"):
        assert (tmp_path / "out" / name).read_bytes() == (fitted / "out" / name).read_bytes()
    command = json.loads((tmp_path / "out" / "result.json").read_text())["reproduce"]["command"]
    assert command.startswith(f"headrank fit {' '.join(Path(file).name for file in files)} --target broken")
    if "--decimal" in options:
        assert "--separator ';' --decimal ," in command


def test_scores_of_a_model_are_the_same(capsys, tmp_path, table, fitted, layout):
    new = table.drop("broken").with_row_index("id", offset=1)
    new.write_csv(tmp_path / "plain.csv")
    files, options = layout(new, "t")
    written = []
    for given, layout_options in (([tmp_path / "plain.csv"], []), (files, options)):
        out = tmp_path / f"scores{len(written)}.csv"
        # A kept feature is copied as it is written, and the model reads it all the same.
        keep = ["--id", "id", "--keep", "size", "--block", "70"]
        done = run(capsys, "score", fitted / "out" / "model", *given, *layout_options, *keep, "--out", out)
        assert done.code == 0, done.err
        written.append(pl.read_csv(out, infer_schema=False))
    plain, found = written
    assert found.with_columns(pl.col("size").str.replace(",", ".", literal=True)).equals(plain)


def test_lists_are_the_same(capsys, tmp_path, table, fitted, layout):
    table.drop("broken").write_csv(tmp_path / "plain.csv")
    files, options = layout(table.drop("broken"), "t")
    texts = []
    for given, layout_options in (([tmp_path / "plain.csv"], []), (files, options)):
        out = tmp_path / f"list{len(texts)}.csv"
        done = run(capsys, "choose", fitted / "out", *given, *layout_options, "--max-false", "0.9", "--out", out)
        assert done.code == 0, done.err
        texts.append(out.read_text())
    assert texts[0] == texts[1]


def test_labelled_and_new_scores_share_their_layout(capsys, tmp_path, scored):
    new = scored.select("id", "good")
    scored.write_csv(tmp_path / "plain.csv")
    new.write_csv(tmp_path / "new.csv")
    german(scored, tmp_path / "labelled;.csv")
    german(new, tmp_path / "new;.csv")
    texts = []
    for names, options in ((["plain.csv", "new.csv"], []), (["labelled;.csv", "new;.csv"], GERMAN)):
        out = tmp_path / "out.csv"
        paths = [tmp_path / name for name in names]
        asked = ["--target", "y", "--score", "good", "--max-false", "0.2", "--id", "id", "--out", out]
        assert run(capsys, "choose", *paths, *asked, *options).code == 0
        texts.append(out.read_text())
    assert texts[0] == texts[1]


# Standard input.


def piped(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_the_copy_of_standard_input_is_removed(capsys, tmp_path, monkeypatch, scored):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    piped(monkeypatch, scored.write_csv())
    assert run(capsys, "threshold", "-", "--target", "y", "--score", "good", "--max-fpr", "0.1").code == 0
    piped(monkeypatch, scored.write_csv())
    assert run(capsys, "threshold", "-", "--target", "nothing", "--score", "good", "--max-fpr", "0.1").code == 3
    assert not list(tmp_path.iterdir())


def test_standard_input_is_called_so(capsys, monkeypatch):
    piped(monkeypatch, "a,b\n1,2\n")
    done = run(capsys, "evaluate", "-", "--target", "y", "--score", "b")
    assert refused(done, 3, "standard input has no column 'y'; it has 'a', 'b'")
    piped(monkeypatch, "")
    assert refused(run(capsys, "evaluate", "-", "--target", "y", "--score", "b"), 3, "standard input is empty")


def test_standard_input_is_read_once(capsys, tmp_path, monkeypatch):
    piped(monkeypatch, "a,y\n1,0\n2,1\n")
    assert refused(run(capsys, "evaluate", "-", "-", "--target", "y", "--score", "a"), 2, "only once")
    piped(monkeypatch, "a,y\n1,0\n2,1\n")
    done = run(capsys, "fit", "-", "--target", "y", "--test", "-", "--out", tmp_path / "out")
    assert refused(done, 2, "only once")


# What is refused.


def test_another_separator_is_named_in_every_command(capsys, tmp_path, table, fitted, scored):
    german(table, tmp_path / "t.csv")
    german(scored, tmp_path / "s.csv")
    labels = ["--target", "y", "--score", "good"]
    model = fitted / "out" / "model"
    for command in (
        ["fit", "t.csv", "--target", "broken", "--out", "out"],
        ["score", model, "t.csv", "--out", "o.csv"],
        ["choose", model, "t.csv", "--list", "5", "--out", "o.csv"],
        ["evaluate", "s.csv", *labels],
        ["compare", "s.csv", *labels, "--score", "weak"],
        ["threshold", "s.csv", *labels, "--max-fpr", "0.1"],
    ):
        words = [tmp_path / word if word in ("t.csv", "s.csv", "out", "o.csv") else word for word in command]
        assert refused(run(capsys, *words), 3, "separated by ';', not by ','", "--separator ';'")
        assert refused(run(capsys, *words, "--separator", ";"), 3, "--decimal ,")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--separator", "ab"], "one character"),
        (["--decimal", ";"], "must be '.' or ','"),
        (["--sheet", "a"], "none of the files is a workbook"),
    ],
)
def test_impossible_layouts_are_usage_errors(capsys, scores, options, words):
    assert refused(run(capsys, "evaluate", scores, "--target", "y", "--score", "good", *options), 2, words)


def test_a_separator_of_parquet_is_a_usage_error(capsys, tmp_path, scored):
    scored.write_parquet(tmp_path / "s.parquet")
    arguments = ["evaluate", tmp_path / "s.parquet", "--target", "y", "--score", "good", "--separator", ";"]
    assert refused(run(capsys, *arguments), 2, "none of the files is text")


def test_a_workbook_without_the_extra_says_what_to_install(capsys, tmp_path, scored, monkeypatch):
    scored.write_excel(tmp_path / "s.xlsx")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    done = run(capsys, "evaluate", tmp_path / "s.xlsx", "--target", "y", "--score", "good")
    assert refused(done, 2, 'fastexcel is not installed; install it with: pip install "headrank[excel]"')


def test_tables_and_svmlight_files_do_not_mix(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n")
    (tmp_path / "a.txt").write_text("1 1:2\n")
    arguments = ["fit", tmp_path / "a.csv", tmp_path / "a.txt", "--target", "y", "--out", tmp_path / "out"]
    assert refused(run(capsys, *arguments), 3, "some are tables, others svmlight")


@pytest.mark.parametrize("option", [["--decimal", ","], ["--sheet", "a"]])
def test_svmlight_files_have_no_layout(capsys, tmp_path, option):
    (tmp_path / "a.txt").write_text("1 1:2\n0 1:3\n")
    done = run(capsys, "fit", tmp_path / "a.txt", *option, "--out", tmp_path / "out")
    assert done.code == 2, done
    assert option[0] in done.complaint


def test_several_svmlight_files_are_one(capsys, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(240) < 0.4
    lines = [f"{int(each)} 1:{rng.normal() + 2 * each:.4f}" + " 3:1" * (i > 200) for i, each in enumerate(y)]
    for name, part in (("whole", lines), ("one", lines[:150]), ("two", lines[150:])):
        (tmp_path / f"{name}.txt").write_text("\n".join(part) + "\n")
    for files, out in ((["whole"], "a"), (["one", "two"], "b")):
        paths = [tmp_path / f"{name}.txt" for name in files]
        done = run(capsys, "fit", *paths, "--models", "linear", "--fpr", "0.2", "--out", tmp_path / out)
        assert done.code == 0, done.err
        done = run(capsys, "score", tmp_path / "a" / "model", *paths, "--out", tmp_path / f"{out}.csv")
        assert done.code == 0, done.err
    assert (tmp_path / "a" / "ranked.csv").read_bytes() == (tmp_path / "b" / "ranked.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_no_file_that_is_read_is_written(capsys, tmp_path, fitted, table):
    for name in ("a.csv", "b.csv"):
        table.write_csv(tmp_path / name)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    done = run(capsys, "score", fitted / "out" / "model", *files, "--out", tmp_path / "b.csv")
    assert refused(done, 2, "this is the input")


def test_a_holdout_of_several_files(capsys, tmp_path, table):
    for name, part in (("old.csv", table[:450]), ("new1.csv", table[450:600]), ("new2.csv", table[600:])):
        part.write_csv(tmp_path / name)
    tests = [word for name in ("new1.csv", "new2.csv") for word in ("--test", tmp_path / name)]
    options = ["--target", "broken", "--models", "linear", "--fpr", "0.2"]
    done = run(capsys, "fit", tmp_path / "old.csv", *tests, *options, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "drawn like those of new1.csv, new2.csv" in done.out
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (result["data"]["n_train"], result["data"]["n_holdout"]) == (450, 450)
    assert "--test new1.csv --test new2.csv" in result["reproduce"]["command"]
