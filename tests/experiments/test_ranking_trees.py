"""The comparison of ranking trees, forests and boosted trees runs, and the order of its columns is right."""

import numpy as np
import pytest

import headrank as hr
from experiments import ranking_trees as rt
from headrank.estimators import ForestRanker

pytestmark = pytest.mark.filterwarnings("ignore:.*in the sample of every tree")


def test_the_columns_are_the_methods():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 3)) + y[:, None]
    (row,) = rt.compared([("toy", X, y)], n_splits=1, most_rows=300, n_estimators=30)
    values = (row.tree, row.forest, row.product, row.boosted, row.out_of_bag)
    assert str(row).split() == [
        "toy",
        "150",
        str(row.n_pos),
        *(f"{value:.3f}" for value in values),
        "0",
        f"{100 * row.wins:.0f}",
        "%",
    ]
    train, test = next(rt.StratifiedShuffleSplit(1, train_size=150, test_size=150, random_state=0).split(X, y))
    assert row.wins == (row.forest > row.tree)
    assert (row.n_rows, row.n_pos) == (150, y[train].sum())
    by_product = ForestRanker("pauc@0.1", n_estimators=30, aggregate="product").fit(X[train], y[train])
    assert row.product == pytest.approx(by_product.score(X[test], y[test]))


def test_rows_in_every_tree_have_no_out_of_bag_score():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 3)) + y[:, None]
    (row,) = rt.compared([("toy", X, y)], n_splits=1, most_rows=300, n_estimators=3)
    train, _ = next(rt.StratifiedShuffleSplit(1, train_size=150, test_size=150, random_state=0).split(X, y))
    scores = ForestRanker("pauc@0.1", n_estimators=3).fit(X[train], y[train]).oob_scores_
    scored = [i for i, score in enumerate(scores) if score == score]
    assert row.in_all_trees == 150 - len(scored) > 0
    assert row.out_of_bag == pytest.approx(hr.measure("pauc@0.1")(y[train][scored], scores[scored]))


def test_no_scorer_is_better_than_the_best():
    for row in rt.made_up(n_splits=1, n_rows=300, n_estimators=5):
        assert min(row.as_in_r, row.tree, row.forest) > 0.5
        assert max(row.as_in_r, row.tree, row.forest) < row.best + 0.02


def test_the_command_prints_both_tables(tmp_path, capsys, monkeypatch):
    (tmp_path / "load.py").write_text(
        "import numpy as np\n"
        "def load(name):\n"
        "    rng = np.random.default_rng(0)\n"
        "    y = (rng.random(300) < 0.3).astype(np.int8)\n"
        "    return rng.normal(size=(300, 3)) + y[:, None], y, {}\n"
    )
    monkeypatch.setattr(rt, "SHAPES", {"2 features, far": (2, 2.0)})
    rt.main(["--data", str(tmp_path), "--sets", "toy", "--splits", "1", "--trees", "30"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["pauc@0.1", "toy", "auc, made up", "2 features, far"]
