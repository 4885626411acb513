"""``headrank fit`` of tables that stay on disk: the same report, and where it ran; nothing is left behind."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from distributed import Client, LocalCluster

from cli.running import left_in, run
from cli.tables import clean, letor, of_all_kinds
from headrank.cli import _stored_source
from headrank.estimators.combined import linear_part
from headrank.readers import stored
from headrank.training import stored_sample
from headrank.training.stored_table import StoredTable

OPTIONS = ["--target", "churned", "--id", "customer", "--drop", "remark", "--top", "0.1", "--models", "linear"]
SIMPLE = ["--target", "broken", "--fpr", "0.2", "--models", "linear"]


@pytest.fixture(autouse=True)
def _few_candidates(monkeypatch):
    monkeypatch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic",))


@pytest.fixture
def temporary(tmp_path):
    """Nothing is left of the temporary files, which are made beside the output."""
    yield
    assert not list(tmp_path.glob("headrank-*"))


def days(folder, frame, n=3):
    folder.mkdir()
    for number, part in enumerate(frame.iter_slices(-(-frame.height // n))):
        part.write_parquet(folder / f"{number}.parquet")
    return folder


def result_of(folder):
    result = json.loads((folder / "result.json").read_text())
    return result, result.pop("reproduce")


def test_the_report_is_that_of_a_table_in_memory(tmp_path, temporary, capsys):
    table = of_all_kinds()
    table.write_csv(tmp_path / "customers.csv")
    text = (tmp_path / "customers.csv").read_text().replace("\n", "\n\n", 9)  # with empty lines
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    folder = days(tmp_path / "days", table)
    done = run(capsys, "fit", tmp_path / "customers.csv", *OPTIONS, "--out", tmp_path / "memory")
    assert done.code == 0, done.err
    expected, again = result_of(tmp_path / "memory")
    assert again["place"] == ""
    for name, data in (("one", tmp_path / "customers.csv"), ("gz", tmp_path / "packed.csv.gz"), ("many", folder)):
        done = run(capsys, "fit", data, *OPTIONS, "--memory", "1kB", "--out", tmp_path / name)
        assert done.code == 0, done.err
        result, again = result_of(tmp_path / name)
        assert "--memory 1kB" in again["command"]
        n = 3 if name == "many" else 1
        said = f"on one machine, read from disk in {n} part{'s' if n > 1 else ''} of up to {600 // n} rows"
        assert again["place"] == said
        assert said in (tmp_path / name / "report.html").read_text()
        assert result["answer"] == expected["answer"]
        assert result["warnings"] == expected["warnings"]
        assert left_in(tmp_path / name) == ["model", "ranked.csv", "report.html", "result.json"]
    out = tmp_path / "scores.csv"
    assert run(capsys, "score", tmp_path / "many", folder, "--out", out).code == 0
    assert pl.read_csv(out).height == 600


def test_a_table_above_the_free_memory_is_read_in_parts_without_being_told(tmp_path, temporary, capsys, monkeypatch):
    folder = days(tmp_path / "days", clean())
    later = tmp_path / "later.parquet"
    clean(seed=1).write_parquet(later)
    needed = stored._BYTES_OF_VALUE * 1200 * 4
    for free, place in ((2.1 * needed, False), (1.9 * needed, True)):
        monkeypatch.setattr(_stored_source, "free_memory", lambda free=free: free)
        out = tmp_path / str(place)
        done = run(capsys, "fit", folder, *SIMPLE, "--test", later, "--out", out)
        assert done.code == 0, done.err
        _, again = result_of(out)
        assert bool(again["place"]) == place
        assert ("--memory 5e+04" in again["command"]) == place  # half of what it would take: parts on any machine


def test_a_file_that_changes_or_goes_away_is_an_error_of_the_input(tmp_path, temporary, capsys, monkeypatch):
    folder = days(tmp_path / "days", clean())
    columns = StoredTable.columns

    def changing(change):
        def changed(table):
            found = columns(table)
            change(folder / "1.parquet")
            return found

        return changed

    monkeypatch.setattr(StoredTable, "columns", changing(lambda file: clean(seed=9).write_parquet(file)))
    done = run(capsys, "fit", folder, *SIMPLE, "--memory", "0", "--out", tmp_path / "out")
    assert done.code == 3
    assert "1.parquet was changed while it was read" in done.complaint
    monkeypatch.setattr(StoredTable, "columns", changing(Path.unlink))
    done = run(capsys, "fit", folder, *SIMPLE, "--memory", "0", "--out", tmp_path / "out")
    assert done.code == 3
    assert "the rows cannot be read any more" in done.complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--memory", "much"], "'--memory': expected a number of bytes such as 4GB or 500MB, got 'much'"),
        (["--dask", "nowhere"], "no Dask scheduler answers at nowhere"),
    ],
)
def test_options_that_are_refused(arguments, says, tmp_path, temporary, capsys, monkeypatch):
    monkeypatch.setattr("headrank.rows.dask._SECONDS_TO_CONNECT", 1)
    folder = days(tmp_path / "days", clean())
    done = run(capsys, "fit", folder, *SIMPLE, *arguments, "--out", tmp_path / "out")
    assert done.code in (2, 3)
    assert says in done.complaint


@pytest.mark.parametrize("arguments", [["--memory", "1GB"], ["--dask", "local"]])
def test_svmlight_files_are_in_memory(arguments, tmp_path, capsys):
    (tmp_path / "letor.txt").write_text(letor())
    done = run(capsys, "fit", tmp_path / "letor.txt", *arguments, "--out", tmp_path / "out")
    assert done.code == 2
    assert f"'{arguments[0]}': letor.txt is read as an svmlight file, which is in memory; omit" in done.complaint


def test_a_cluster_gives_the_result_of_one_machine(tmp_path, temporary, capsys, monkeypatch):
    monkeypatch.setattr(stored_sample, "MOST_VALUES", 3 * 300)
    folder = days(tmp_path / "days", clean(n_rows=1200))
    done = run(capsys, "fit", folder, *SIMPLE, "--memory", "0", "--out", tmp_path / "one")
    assert done.code == 0, done.err
    # Workers are threads here, reached by TCP as others are; the estimators have tests with processes.
    options = {"processes": False, "protocol": "tcp", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster):
        done = run(capsys, "fit", folder, *SIMPLE, "--dask", cluster.scheduler_address, "--out", tmp_path / "two")
        assert done.code == 0, done.err
    (one, _), (two, again) = result_of(tmp_path / "one"), result_of(tmp_path / "two")
    assert again["place"] == "on a Dask cluster of 2 workers in 3 parts of up to 400 rows"
    assert two["answer"] == one["answer"]
    assert "Then fitted to all of them." in json.dumps(two)
    scores = [pl.read_csv(tmp_path / name / "ranked.csv")["score"] for name in ("one", "two")]
    assert (scores[0] - scores[1]).abs().max() < 1e-6


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_started_and_closed(tmp_path, temporary, capsys):
    folder = days(tmp_path / "days", clean())
    done = run(capsys, "fit", folder, *SIMPLE, "--dask", "local", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "on a Dask cluster of" in result_of(tmp_path / "out")[1]["place"]
