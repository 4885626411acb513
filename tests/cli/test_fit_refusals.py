"""Bad input to ``headrank fit``: one line that names the cause and the remedy, a code, and no file left."""

import signal

import polars as pl
import pytest

from cli.running import finish, left_in, refused, run, start, start_and_stand
from cli.tables import clean, letor
from headrank import LinearRankerCV
from headrank.exceptions import InvalidSampleError, TooFewRowsError
from platforms import file_size_limits, posix_signals, proc


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "parts.csv"
    clean().write_csv(path)
    return path


def fit(capsys, path, *options, target="broken", out="out"):
    named = [] if target is None else ["--target", target]
    return run(capsys, "fit", path, *named, "--models", "linear", *options, "--out", path.parent / out)


@pytest.mark.parametrize(
    ("options", "target", "code", "words"),
    [
        ((), "brokn", 3, ["no column 'brokn'", "did you mean 'broken'"]),
        (("--id", "name"), "broken", 3, ["no column 'name'"]),
        (("--drop", "colour"), "broken", 3, ["no column 'colour'"]),
        (("--qid", "query"), "broken", 3, ["no column 'query'"]),
        (("--id", "broken"), "broken", 3, ["different columns", "'broken'"]),
        (("--drop", "size", "--drop", "weight", "--drop", "noise"), "broken", 3, ["no feature left", "drop fewer"]),
        (("--positive", "maybe"), "broken", 3, ["maybe"]),
        (("--fpr", "0:2"), "broken", 2, ["--fpr", "0.02"]),
        (("--fpr", "0.3:0.1"), "broken", 2, ["--fpr"]),
        (("--top", "5"), "broken", 2, ["--top", "0.05"]),
        (("--top", "0"), "broken", 2, ["--top"]),
        (("--fpr", "0.1", "--top", "0.1"), "broken", 2, ["one of --fpr and --top"]),
        (("--holdout", "1"), "broken", 2, ["--holdout"]),
        (("--holdout", "0.999"), "broken", 3, ["positive"]),
        (("--confidence", "95"), "broken", 2, ["--confidence", "fraction"]),
        (("--models", "deep"), "broken", 2, ["deep"]),
        ((), None, 2, ["--target"]),
    ],
)
def test_wrong_options(table, capsys, options, target, code, words):
    assert refused(fit(capsys, table, *options, target=target), code, *words)
    assert left_in(table.parent) == ["parts.csv"]


def broken_tables():
    good = clean()
    return {
        "three classes": (good.with_columns(broken=pl.int_range(600) % 3), ["broken", "--positive"]),
        "one class": (good.with_columns(broken=pl.lit(1)), ["broken"]),
        "no label": (good.with_columns(broken=pl.lit(None, dtype=pl.Int64)), ["broken", "missing"]),
        "some labels missing": (
            good.with_columns(broken=pl.when(pl.int_range(600) < 3).then(None).otherwise(pl.col("broken"))),
            ["3 missing", "broken"],
        ),
        "five rows": (good.head(5), ["positive"]),
        "two positives": (
            good.with_columns(broken=(pl.int_range(600) < 2).cast(pl.Int64)),
            ["positive"],
        ),
        "numbers as target": (good.with_columns(broken=pl.col("size")), ["broken", "--positive"]),
    }


@pytest.mark.parametrize("name", broken_tables())
def test_tables_that_cannot_be_learned(tmp_path, capsys, name):
    frame, words = broken_tables()[name]
    frame.write_csv(tmp_path / "parts.csv")
    assert refused(fit(capsys, tmp_path / "parts.csv"), 3, *words)
    assert left_in(tmp_path) == ["parts.csv"]


def broken_files():
    text = clean().write_csv()
    return {
        "empty.csv": (b"", ["empty"]),
        "header.csv": (text.splitlines()[0].encode() + b"\n", ["no rows"]),
        "twice.csv": (text.replace("noise", "size", 1).encode(), ["two columns named 'size'"]),
        "latin.csv": (text.replace("noise", "bruit é", 1).encode("latin-1"), ["UTF-8", "iconv"]),
        "semicolons.csv": (text.replace(",", ";").encode(), ["';'"]),
        "ragged.csv": (text.encode() + b"1,2,3,1,5,6,7\n", ["fields"]),
        "text.xls": (b"\xd0\xcf", [".xls files are not supported", "save the table as .csv"]),
        "letor.txt": (b"this is no LETOR file\n", ["line 1", "expected a label"]),
    }


@pytest.mark.parametrize("name", broken_files())
def test_files_that_cannot_be_read(tmp_path, capsys, name):
    content, words = broken_files()[name]
    (tmp_path / name).write_bytes(content)
    target = "broken" if name.endswith(".csv") else None
    assert refused(fit(capsys, tmp_path / name, target=target), 3, *words)
    assert left_in(tmp_path) == [name]


def test_a_parquet_file_that_was_cut_off(tmp_path, capsys):
    path = tmp_path / "parts.parquet"
    clean().write_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    assert refused(fit(capsys, path), 3, "cut off")
    assert left_in(tmp_path) == ["parts.parquet"]


def test_no_such_file(tmp_path, capsys):
    assert refused(fit(capsys, tmp_path / "parts.csv"), 3, "no file", "parts.csv")
    assert left_in(tmp_path) == []


def test_only_names_and_nested_columns_are_no_features(tmp_path, capsys):
    clean().with_columns(tags=pl.lit([1, 2])).write_parquet(tmp_path / "parts.parquet")
    assert refused(fit(capsys, tmp_path / "parts.parquet"), 3, "tags", "--drop")
    clean().select(pl.lit(None, dtype=pl.String).alias("a"), "broken").write_csv(tmp_path / "gaps.csv")
    assert refused(fit(capsys, tmp_path / "gaps.csv"), 3, "column")


def test_options_for_columns_do_not_fit_letor(tmp_path, capsys):
    path = tmp_path / "letor.txt"
    path.write_text(letor())
    assert refused(fit(capsys, path, target="label"), 2, "--target", "no named columns")
    assert refused(fit(capsys, path, "--positive", "high", target=None), 2, "--positive", "expected a number")
    assert refused(fit(capsys, path, "--positive", "7", target=None), 3, "--positive", "0 of 600")


def test_a_letor_file_of_one_query_cannot_be_split(tmp_path, capsys):
    path = tmp_path / "letor.txt"
    path.write_text(letor(n_queries=1))
    assert refused(fit(capsys, path, target=None), 3, "quer")
    assert left_in(tmp_path) == ["letor.txt"]


@pytest.mark.parametrize("value", ["nan", "inf", "-1e300"])
def test_a_letor_file_needs_finite_numbers(tmp_path, capsys, value):
    lines = letor().splitlines()
    lines[41] = f"1 qid:5 1:0.5 3:{value}"
    (tmp_path / "letor.txt").write_text("\n".join(lines))
    done = fit(capsys, tmp_path / "letor.txt", target=None)
    assert refused(done, 3, "in row 42", "leave the feature out")
    assert left_in(tmp_path) == ["letor.txt"]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InvalidSampleError("the table is odd; mend it"), 3, "headrank: the table is odd; mend it"),
        (TooFewRowsError("needs 9 rows", 9, 3), 5, "needs 9 rows"),
        (ValueError("operands could not be broadcast"), 1, "this is a bug"),
    ],
)
def test_only_what_training_refuses_is_bad_input(table, capsys, monkeypatch, error, code, words):
    def refusing(*_args, **_options):
        raise error

    monkeypatch.setattr("headrank.training.train.train", refusing)
    assert refused(fit(capsys, table, out="n1/n2/out"), code, words)
    assert left_in(table.parent) == ["parts.csv"]


@pytest.mark.parametrize("out", ["parts.csv", "parts.csv/out"])
def test_an_output_that_cannot_be_a_folder(table, capsys, out):
    before = table.read_bytes()
    assert refused(fit(capsys, table, out=out), 4)
    assert table.read_bytes() == before
    assert left_in(table.parent) == ["parts.csv"]


@proc
def test_an_output_that_may_not_be_written(table, capsys):
    done = run(capsys, "fit", table, "--target", "broken", "--models", "linear", "--out", "/proc/headrank/out")
    assert refused(done, 4, "cannot be written")


@pytest.mark.slow  # `test_installed.py` fills the disk while rows are scored
@file_size_limits
def test_a_full_disk_leaves_nothing(table):
    import resource

    def tiny_files_only():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    out = table.parent / "out"
    process = start("fit", table, "--target", "broken", "--models", "linear", "--out", out, preexec_fn=tiny_files_only)
    assert refused(finish(process), 4, "cannot be written", "nothing was written")
    assert left_in(table.parent) == ["parts.csv"]


@posix_signals
@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interruption_leaves_nothing(table, tmp_path_factory, how):
    mark = tmp_path_factory.mktemp("mark") / "in the middle of it"
    out = table.parent / "out"
    process = start_and_stand(LinearRankerCV.fit, mark, "fit", table, "--target", "broken", "--out", out)
    assert len(left_in(table.parent)) == 2
    process.send_signal(how)
    assert refused(finish(process), 130, "interrupted", "nothing was written")
    assert left_in(table.parent) == ["parts.csv"]
