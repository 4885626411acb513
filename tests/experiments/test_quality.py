"""The parts of the quality benchmark that need no data sets: cells, splits, resuming, goals."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import quality
import quality_cells as qc
import quality_summary as qs

DATA, MEASURE = "toy", "pauc@0.1"


def result(model, value, *, split=0, data=DATA, measure=MEASURE, **other):
    facts = {"seconds": 1.0, "cpu_seconds": 1.0, "chosen": "C=1", "remarks": "", "n_train": 60, "n_test": 40}
    facts |= {"n_features": 3, "rows": 100} | other
    return qc.Result(data=data, measure=measure, split=split, model=model, value=value, **facts)


def frame(results):
    empty = quality.read_results(Path("absent.csv"), None)
    return quality.joined(empty, results)


def contest(values):
    """Results of all models, by a list of values per split each."""
    return frame([result(model, x, split=i) for model, xs in values.items() for i, x in enumerate(xs)])


@pytest.fixture
def even():
    return {model: [0.5, 0.6, 0.7] for model in qc.MODELS}


@pytest.fixture
def folder(tmp_path):
    """A data folder with one set of plain rows and one of queries."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(np.int8)
    X = (rng.normal(size=(400, 3)) + y[:, None] * [3.0, 1.0, 0.0]).astype(np.float32)
    for name, extra in {"plain": {}, "queries": {"qid": np.repeat(np.arange(20), 20)}}.items():
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "data.npz", X=X, y=y, **extra)
    (tmp_path / "load.py").write_text(
        "import pathlib, numpy as np\n"
        "def tasks(name): return []\n"
        "def load(name):\n"
        "    z = np.load(pathlib.Path(__file__).parent / name / 'data.npz')\n"
        "    return z['X'], z['y'], {k: z[k] for k in z.files if k == 'qid'}\n"
    )
    return tmp_path


def test_splits_are_stratified_capped_and_never_share_a_row():
    y = np.repeat([0, 1], [900, 100])
    train, test = qc.split_rows(y, None, seed=3, cap=300)
    assert (train.size, test.size) == (300, 400)
    assert (y[train].sum(), y[test].sum()) == (30, 40)
    assert not np.intersect1d(train, test).size
    again = qc.split_rows(y, None, seed=3, cap=300)
    assert np.array_equal(again[0], train)
    assert not np.array_equal(qc.split_rows(y, None, seed=4, cap=300)[0], train)


@pytest.mark.parametrize("cap", [1000, 150])
def test_splits_keep_queries_whole(cap):
    qid = np.repeat(np.arange(50), 10)
    train, test = qc.split_rows(np.tile([0, 1], 250), qid, seed=0, cap=cap)
    assert train.size == min(300, cap)
    assert test.size == 200
    assert not np.intersect1d(qid[train], qid[test]).size
    assert set(np.unique(qid[train], return_counts=True)[1]) == {10}


def test_folds_are_those_of_the_ranker(folder):
    for name in ("plain", "queries"):
        rows = qc.read(folder, name)
        mine = qc.folds_of(rows)
        given = qc.LinearRankerCV(MEASURE, surrogates=("logistic",), Cs=(1.0,), cv=mine)
        default = qc.LinearRankerCV(MEASURE, surrogates=("logistic",), Cs=(1.0,))
        assert np.array_equal(
            given.fit(rows.X, rows.y, qid=rows.qid).trials_[0].values,
            default.fit(rows.X, rows.y, qid=rows.qid).trials_[0].values,
        )


def test_a_cell_is_done_when_all_its_models_are_there():
    cells = quality.cells_of([DATA], [MEASURE], n_splits=1)
    assert cells == [qc.Cell(DATA, 0), qc.Cell(DATA, 0, MEASURE)]
    classifiers = [result(model, 0.5) for model in qc.CLASSIFIERS]
    assert quality.missing(cells, [MEASURE], frame(classifiers[:1])) == cells
    assert quality.missing(cells, [MEASURE], frame(classifiers)) == cells[1:]
    assert quality.missing(cells, [MEASURE, "auc"], frame(classifiers)) == cells
    assert quality.missing(cells, [MEASURE], contest({model: [0.5] for model in qc.MODELS})) == []


def test_results_survive_the_file_and_replace_older_ones(tmp_path):
    results = frame([result("tight", 0.5, remarks="collapsed"), result("smooth", 0.6)])
    quality.write_results(results, tmp_path / "results.csv")
    back = quality.read_results(tmp_path / "results.csv", 100)
    assert back.fill_null("").equals(results)
    newer = quality.joined(back, [result("tight", 0.7)])
    assert dict(newer.select("model", "value").iter_rows()) == {"tight": 0.7, "smooth": 0.6}
    with pytest.raises(SystemExit, match="--rows 100, not 200"):
        quality.read_results(tmp_path / "results.csv", 200)


def test_cases_hold_the_splits_that_all_models_have(even):
    results = contest(even).filter((pl.col("model") != "tight") | (pl.col("split") != 1))
    cases = qs.cases_of(results)
    assert all(values.tolist() == [0.5, 0.7] for values in cases[DATA, MEASURE].values())
    assert qs.cases_of(results.filter(pl.col("model") != "tight")) == {}


def test_goals_are_judged_by_paired_differences(even):
    # Behind smooth by 0.02 ± 0.0058 though both vary much more; ahead of logistic by 0.1 exactly.
    values = even | {"smooth": [0.62, 0.73, 0.81], "logistic": [0.5, 0.6, 0.7], qc.CHOICE: [0.6, 0.7, 0.8]}
    (best,) = qs.against_best(cases := qs.cases_of(contest(values)))
    assert best.rival == "smooth"
    assert best.mean == pytest.approx(-0.02)
    assert best.standard_error == pytest.approx(0.01 / 3**0.5)
    assert best.behind(1)
    assert not best.behind(4)
    (baseline,) = qs.against(cases, "logistic")
    assert baseline.ahead(2)
    text = qs.goals(cases)
    assert "NOT met, behind in 1 of 1" in text
    assert "met, ahead in 1 of 1 (100%)" in text


def test_equal_models_are_neither_ahead_nor_behind(even):
    cases = qs.cases_of(contest(even))
    for each in qs.against_best(cases):
        assert not each.ahead(1)
        assert not each.behind(1)
    assert "Goal 1" in qs.goals(cases)
    assert all(f"{model} 1" in qs.wins(cases) for model in qc.MODELS)


def test_one_split_decides_nothing():
    values = {model: [0.5] for model in qc.MODELS} | {qc.CHOICE: [0.9]}
    (lead,) = qs.against(qs.cases_of(contest(values)), "logistic")
    assert lead.mean == pytest.approx(0.4)
    assert not lead.ahead(2)


@pytest.mark.parametrize("name", ["plain", "queries"])
def test_the_command_runs_resumes_and_reports(folder, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr(qc, "CLASSIFIER_CS", (0.1, 1.0))
    out = tmp_path / "out"
    command = ["--data", str(folder), "--out", str(out), "--sets", name, "--splits", "1", "--measures", MEASURE]
    quality.main(command)
    results = quality.read_results(out / "results.csv", 12_000)
    assert set(results["model"]) == set(qc.MODELS)
    assert results["value"].is_between(0.2, 1).all()
    assert (out / "quality.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(qc, "rank", None)  # all is there: nothing is learned again
    quality.main(command)
    assert quality.read_results(out / "results.csv", 12_000).equals(results)
    assert "Goal 2" in capsys.readouterr().out


def test_the_summary_says_what_was_averaged():
    chosen = (
        "svc C=0.1 + smooth C=1 bandwidth=0.1 from (svc C=0.1 + auc C=10) + smooth C=10 bandwidth=0.5 from (svc C=0.1)"
    )
    text = qs.choices(frame([result(qc.CHOICE, 0.5, chosen=chosen), result("tight", 0.5, chosen="tight C=1000")]))
    assert "chose an average in 1 of 1 fits" in text
    assert "among what it chose: " in text
    assert {"svc 1", "smooth 1"} == set(text.splitlines()[1].split(": ")[1].split(", "))
    assert "tight 1" in text.splitlines()[2]
    assert qc.CHOICE not in text.splitlines()[2]
