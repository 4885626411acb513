"""The experiment on lists of new rows, on few and small splits."""

from io import StringIO

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import headrank as hr
from experiments import new_lists
from samples import gaussians


@pytest.fixture(scope="module")
def rows():
    X, y = gaussians(n_pos=150, n_neg=850, shift=3.0)
    return X, y == 1


@pytest.fixture(scope="module")
def found(rows):
    results = []
    for number, split in enumerate(new_lists.splits(*rows, n_splits=2)):
        results += new_lists.judged("made up", number, split, lengths=(10, 40))
    return results


def test_splits_have_a_quarter_of_labelled_and_of_new_rows(rows):
    (split,) = new_lists.splits(*rows, n_splits=1)
    assert split.y.size == split.scores.size == 250
    assert split.new.size == split.new_scores.size == 250


def test_results_are_those_of_the_library(rows, found):
    split = next(new_lists.splits(*rows, n_splits=1))
    certificate = hr.certify_list(split.y, split.scores, split.new_scores, assume="same rows")
    result = next(each for each in found if (each.split, each.assume, each.k) == (0, "same rows", 40))
    assert result.promised == certificate.at_least(40)
    assert result.likely == certificate.likely[39]
    assert result.true == split.new[certificate.order[:40]].sum()
    assert 0 < result.promised <= result.true
    assert result.n_chosen > 20


def test_tables_have_means_over_splits(found):
    console = Console(width=200, record=True, file=StringIO())
    promises, candidates = new_lists.tables(found)
    console.print(promises)
    text = console.export_text()
    assert promises.row_count == 4
    assert candidates.row_count == 2
    mean = np.mean([each.promised for each in found if (each.assume, each.k) == ("same negatives", 40)])
    assert f"{mean:.1f}" in text
    assert "2 of 2" in text


def test_the_script_reads_sets_and_writes_a_frame(tmp_path, monkeypatch, capsys, rows):
    np.savez(tmp_path / "rows.npz", X=rows[0], y=rows[1].astype(np.int8))
    (tmp_path / "load.py").write_text(
        "import numpy as np\nfrom pathlib import Path\n"
        "def load(name):\n    z = np.load(Path(__file__).with_name(name + '.npz'))\n    return z['X'], z['y'], {}\n"
    )
    monkeypatch.setattr(new_lists, "SETS", ("rows",))
    new_lists.main(["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--splits", "1"])
    assert "first k rows" in capsys.readouterr().out
    frame = pl.read_csv(tmp_path / "out" / "new_lists.csv")
    assert frame.height == 2 * len(new_lists.LENGTHS)
    assert frame["data"].unique().to_list() == ["rows"]
