"""The papers' tables: the protocol is kept, every method runs, and the page is made of the results file alone."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize

import headrank as hr
from experiments.tables import __main__ as tables
from experiments.tables import methods
from experiments.tables.data import N_IMAGES, made_up_regions
from experiments.tables.page import page
from experiments.tables.protocol import (
    Cell,
    Method,
    Outcome,
    Parts,
    Rows,
    Task,
    by_groups,
    cells_of,
    chosen,
    fits,
    folds_of,
    outcomes,
    standardised,
    standardised_by_all,
    stratified,
    unscaled,
)
from experiments.tables.results import missing, read_results, write_results
from experiments.tables.stopped_push import StoppedPush, balanced
from experiments.tables.summary import lines_of

pytestmark = pytest.mark.filterwarnings("ignore")


def toy(n=240, *, groups=None, lists=False, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 4 == 0).astype(int)
    X = rng.normal(size=(n, 3)) + 1.5 * y[:, None] * np.array([1.0, 0.5, 0.0])
    return Rows(X, y, groups, lists=lists)


# --- The protocol -------------------------------------------------------------------------------------------------


def test_parts_share_no_row_and_keep_the_share_of_positives():
    rows = toy(400)
    parts = stratified(0.1, 0.3, 0.6)(rows, 0)
    blocks = [parts.train, parts.validation, parts.test]
    assert sorted(np.concatenate(blocks)) == list(range(400))
    assert [block.size for block in blocks] == [40, 120, 240]
    assert [rows.y[block].mean() for block in blocks] == [0.25] * 3
    again, other = stratified(0.1, 0.3, 0.6)(rows, 0), stratified(0.1, 0.3, 0.6)(rows, 1)
    assert np.array_equal(parts.train, again.train)
    assert not np.array_equal(parts.train, other.train)


def test_groups_stay_whole():
    rows = toy(400, groups=np.repeat(np.arange(80), 5))
    parts = by_groups(0.6, 0.2, 0.2)(rows, 3)
    seen = [set(rows.groups[block]) for block in (parts.train, parts.validation, parts.test)]
    assert sorted(len(each) for each in seen) == [16, 16, 48]
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]
    for learn, hold in folds_of(rows, 4):
        assert not set(rows.groups[learn]) & set(rows.groups[hold])


def test_scaling_uses_the_rows_it_says():
    rows, parts = toy(100), Parts(np.arange(30), np.arange(30, 100))
    by_train, by_all = standardised(rows, parts), standardised_by_all(rows, parts)
    assert by_train.X[:30].mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert by_train.X[:30].std(axis=0) == pytest.approx(1)
    assert by_all.X.std(axis=0) == pytest.approx(1)
    assert unscaled(rows, parts) is rows


class Remembering:
    """A scorer of one column, that notes the rows it was fitted to."""

    seen: ClassVar[list[int]] = []

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        self.seen.append(len(y))
        return self

    def decision_function(self, X):
        return X[:, self.column]


@pytest.mark.parametrize("validation", [None, np.arange(60, 120)])
def test_the_best_setting_is_chosen_without_the_test_rows(validation):
    rows = toy()
    rows.X[120:, 2] = rows.y[120:]  # perfect on the test rows, and noise elsewhere
    parts = Parts(np.arange(60) if validation is not None else np.arange(120), np.arange(120, 240), validation)
    method = Method("column", lambda measure, column: Remembering(column), (2, 1, 0))
    Remembering.seen.clear()
    assert chosen(method, hr.AUC(), rows, parts, n_folds=3) == 0
    assert set(Remembering.seen) == ({60} if validation is not None else {80})


@pytest.mark.parametrize("method", [methods.SVM_PAUC_TOP, methods.INFINITE_PUSH])
def test_the_range_of_one_negative_is_that_of_the_training_rows(method):
    rows = toy()
    rows.X[:, 0] += 3 * rows.y  # so that the fits do not collapse
    test = rows.take(np.arange(160, 240))
    for n_train in (160, 80):
        learn = rows.take(np.arange(n_train))
        exact = method.make(hr.PartialAUC(max_fpr=1 / np.sum(learn.y == 0)), 10.0).fit(learn.X, learn.y)
        narrower = method.make(hr.PartialAUC(max_fpr=1e-6), 10.0).fit(learn.X, learn.y)
        (fit,) = fits(method, hr.TPRAtFPR(0.0), learn, test, (10.0,))
        assert fit.scores == pytest.approx(test.X @ exact.coef_, abs=0.05)
        assert np.linalg.norm(narrower.coef_) < 0.1 < np.linalg.norm(exact.coef_)


def test_the_value_is_that_of_the_test_rows():
    table = replace(
        tables.TABLES["proteins"],
        tasks=(Task("toy", lambda _: toy(), (hr.PartialAUC(max_fpr=0.1),)),),
        split=stratified(0.5, 0.5),
        methods=(Method("column", lambda measure, column: Remembering(column), (0,)),),
    )
    (outcome,) = outcomes(table, Cell("proteins", "toy", 0, "column"), Path())
    rows = standardised_by_all(toy(), None)
    test = stratified(0.5, 0.5)(rows, 0).test
    assert outcome.value == hr.PartialAUC(max_fpr=0.1)(rows.y[test], rows.X[test, 0])


# --- The tables ---------------------------------------------------------------------------------------------------


def small(table):
    """The declaration of a table with 240 rows of its kind and at most two settings of each method."""
    groups = np.repeat(np.arange(30), 8) if table.name in ("retrieval", "froc") else None
    rows = toy(groups=groups, lists=table.name == "retrieval")
    split = by_groups(0.6, 0.2, 0.2) if groups is not None else stratified(0.6, 0.4)
    few = tuple(replace(method, settings=method.settings[1:3] or method.settings) for method in table.methods)
    tasks = tuple(replace(task, read=lambda _: rows) for task in table.tasks)
    return replace(table, tasks=tasks, split=split, methods=few, n_folds=2)


@pytest.mark.parametrize("name", tables.TABLES)
def test_every_table_runs_with_all_its_methods(name, monkeypatch):
    monkeypatch.setattr(methods, "MOST_ROUNDS", {"boost": 2, "trees": 2})
    table = small(tables.TABLES[name])
    for cell in cells_of(table, tasks=table.quick_tasks[:1], n_splits=1):
        values = [outcome.value for outcome in outcomes(table, cell, Path())]
        assert all(0 <= value <= 1 for value in values), cell


def test_the_papers_methods_are_all_there():
    names = {
        name: {method.name for method in table.methods if method.in_paper} for name, table in tables.TABLES.items()
    }
    rivals = {"SVM-pAUC", "SVM-AUC", "asymmetric SVM", "pAUCBoost", "greedy"}
    assert names["cheminformatics"] == names["proteins"] == rivals
    assert names["froc"] == rivals - {"asymmetric SVM"}
    assert names["retrieval"] == {"SVM-pAUC", "SVM-AUC"}
    for name in ("top_push", "tau_fpl"):
        assert {method for _, method, _, _ in tables.TABLES[name].published.values} == names[name]


def test_made_up_regions_have_the_shape_of_kdd_cup_2008():
    rows = made_up_regions(n_patients=200, n_malignant=20)
    patients = np.unique(rows.groups)
    assert patients.size == 200
    assert rows.X.shape[1] == 117
    assert len(np.unique(rows.groups[rows.y == 1])) == 20
    assert 10 <= rows.y.size / (200 * N_IMAGES) <= 20
    best = hr.AUC()(
        rows.y,
        hr.LinearRanker("auc", surrogate="logistic", standardize=True).fit(rows.X, rows.y).decision_function(rows.X),
    )
    assert 0.8 < best < 0.999  # neither hopeless nor separable


# --- TopPush and tau-FPL as their authors stop them ---------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_projection_is_the_nearest_balanced_point(k):
    rng, signs = np.random.default_rng(0), np.r_[np.ones(4), -np.ones(3)]
    for _ in range(5):
        a, q = rng.normal(size=4), rng.normal(size=3)
        found = np.concatenate(balanced(a, q, k))
        nearest = minimize(
            lambda z, to=np.r_[a, q]: ((z - to) ** 2).sum(),
            np.full(7, 0.5),
            bounds=[(0, None)] * 7,
            constraints=[
                {"type": "eq", "fun": lambda z: z @ signs},
                {"type": "ineq", "fun": lambda z: z[:4].sum() / k - z[4:]},
            ],
            tol=1e-12,
        )
        assert ((found - np.r_[a, q]) ** 2).sum() <= nearest.fun + 1e-6
        assert found @ signs == pytest.approx(0, abs=1e-9)
        assert found.min() >= 0
        assert found[4:].max() <= found[:4].sum() / k + 1e-9


@pytest.mark.parametrize(("surrogate", "max_fpr"), [("toppush", 0.0), ("tau-fpl", 0.1)])
def test_run_to_the_end_it_is_the_minimum(surrogate, max_fpr):
    rows = toy(80)
    n_top = max(round(max_fpr * np.count_nonzero(rows.y == 0)), 1)
    to_rate = n_top / np.count_nonzero(rows.y == 0)  # a whole number of negatives
    exact = hr.LinearRanker(f"pauc@{to_rate}", surrogate=surrogate, C=1.0, tol=1e-6).fit(rows.X, rows.y)
    slow = StoppedPush(1.0, to_rate - 1e-9, tol=1e-13, max_steps=20_000).fit(rows.X, rows.y)

    def objective(w):
        scores = rows.X @ w
        lost = np.maximum(0, 1 + np.sort(scores[rows.y == 0])[-n_top:].mean() - scores[rows.y == 1])
        return w @ w / 2 + np.mean(lost**2)

    assert objective(slow.coef_) == pytest.approx(objective(exact.coef_), rel=1e-4)
    assert StoppedPush(1.0, to_rate).fit(rows.X, rows.y).n_steps_ < slow.n_steps_


# --- Results, summary and page ------------------------------------------------------------------------------------


def found(method, values, task="toy", **changes):
    basis = Outcome("froc", task, 0, method, "auc", 0.5, 1.0, "", "")
    return [replace(basis, split=split, value=value, **changes) for split, value in enumerate(values)]


def test_results_are_read_back_and_only_what_is_missing_is_run(tmp_path):
    file = tmp_path / "results.csv"
    written = found("SVM-pAUC", [0.25, 0.75]) + found("greedy", [0.5])
    write_results(written, file)
    assert sorted(map(str, read_results(file))) == sorted(map(str, written))
    table = replace(tables.TABLES["froc"], methods=(methods.SVM_PAUC, methods.GREEDY))
    table = replace(table, tasks=(replace(table.tasks[0], name="toy"),))
    (cell,) = missing(cells_of(table, tasks=["toy"], n_splits=2), read_results(file))
    assert (cell.method, cell.split) == ("greedy", 1)
    assert read_results(tmp_path / "none.csv") == []


def test_methods_left_out_of_a_task_are_neither_run_nor_awaited():
    table = replace(tables.TABLES["froc"], methods=(methods.SVM_PAUC, methods.GREEDY))
    table = replace(table, tasks=(replace(table.tasks[0], name="toy", left_out=("greedy",)),))
    assert {cell.method for cell in cells_of(table, tasks=["toy"], n_splits=2)} == {"SVM-pAUC"}
    text = page([table], found("SVM-pAUC", [0.25, 0.75]))
    assert "### toy: 2 splits" in text
    assert "| SVM-pAUC | 0.500 ± 0.250 |" in text
    assert "| greedy |" not in text


def test_lines_by_hand():
    rows = found("a", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], remark="not converged")
    rows += found("b", [0.2, 0.4, 0.6, 0.8, 1.0, 1.2], remark="collapsed")
    rows += found("a", [9.0, 9.0], task="unfinished")
    a, b = lines_of(rows, measure="auc", methods=["a", "b"])
    assert (a.mean, b.mean, a.n, a.rank, b.rank) == pytest.approx((0.35, 0.7, 6, 2, 1))
    assert a.standard_error == pytest.approx(np.std([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], ddof=1) / 6**0.5)
    assert b.p_value == pytest.approx(2 / 2**6)
    assert b.significant
    assert b.ahead
    assert (b.n_collapsed, b.n_unfinished) == (6, 0)
    assert (a.n_collapsed, a.n_unfinished) == (0, 6)
    assert lines_of(rows, measure="other", methods=["a", "b"]) == []


def test_the_command_runs_resumes_and_writes_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "TABLES", {"retrieval": small(tables.TABLES["retrieval"])})
    where = ["--results", str(tmp_path / "r.csv"), "--page", str(tmp_path / "t.md"), "--tasks", "mq2008", "--splits"]
    tables.main([*where, "1"])
    first = read_results(tmp_path / "r.csv")
    tables.main([*where, "2"])
    both = read_results(tmp_path / "r.csv")
    assert len(both) == 2 * len(first)
    assert set(map(str, first)) <= set(map(str, both))
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert "### mq2008: 2 splits" in text
    assert "`pauc@0.1` | rank | p" in text
    assert text in capsys.readouterr().out


def test_the_page_in_the_documentation_is_that_of_the_committed_results():
    committed = read_results(tables.RESULTS)
    assert tables.PAGE.read_text(encoding="utf-8") == page(list(tables.TABLES.values()), committed)
    known = {
        (table.name, task, method.name)
        for table in tables.TABLES.values()
        for task in table.task_names
        for method in table.methods
    }
    assert {(each.table, each.task, each.method) for each in committed} <= known


@pytest.mark.parametrize("name", sorted(tables.TABLES))
def test_all_methods_of_each_table_have_three_splits(name):
    table, committed = tables.TABLES[name], read_results(tables.RESULTS)
    mine = [each for each in committed if each.table == name]
    assert len({each.task for each in mine}) >= 1
    for measure in {each.measure for each in mine}:
        lines = lines_of(mine, measure=measure, methods=[method.name for method in table.methods])
        assert len(lines) == len(table.methods)
        assert lines[0].n >= 3
