"""Only regions that reach into the head of the measure are split."""

import numpy as np
import pytest

from estimators.ranking_trees.growing import LOOSE, forest, loose, whole_numbers
from headrank.estimators.ranking_trees import growing
from reference.ranking_trees import regions
from samples import gaussians

MEASURES = {
    "pauc@0.1": lambda pos, neg, end: neg < 0.1,
    "pauc@0.2:0.4": lambda pos, neg, end: neg < 0.4 and end > 0.2,
    "spauc@0.1": lambda pos, neg, end: neg < 0.1,
    "tpr@fpr=0.05": lambda pos, neg, end: neg < 0.05,
    "fpr@tpr=0.3": lambda pos, neg, end: pos < 0.3,
    "tpauc@fpr=0.2,tpr=0.3": lambda pos, neg, end: neg < 0.2,
    "locauc@0.1": lambda pos, neg, end: (100 * pos + 400 * neg) / 500 < 0.1,
    "w@0.1": lambda pos, neg, end: (100 * pos + 400 * neg) / 500 < 0.1,
    "p@25": lambda pos, neg, end: (100 * pos + 400 * neg) / 500 < 0.05,
    "ef@0.05": lambda pos, neg, end: (100 * pos + 400 * neg) / 500 < 0.05,
    "auc": lambda pos, neg, end: True,
    "ks": lambda pos, neg, end: True,
}
"""Whether a region that begins at these rates, and ends at that false positive rate, lies in the head."""


def rows():
    return gaussians(100, 400, 3, shift=0.8)


@pytest.mark.parametrize("name", list(MEASURES))
def test_splits_are_counted_and_all_in_the_head(name, monkeypatch):
    """The regions that were tried, those that were split, and those that a tree of all regions splits elsewhere."""
    X, y = rows()
    calls = []

    def watched(rows, region, **options):
        calls.append(region.size)
        return split(rows, region, **options)

    split = growing.split_region
    monkeypatch.setattr(growing, "split_region", watched)
    local = loose(name, min_samples_split=10, max_cells=2).fit(X, y).tree_
    n_tried = len(calls)
    whole = loose(name, min_samples_split=10, max_cells=2, local=False).fit(X, y).tree_

    def in_head(tree):
        pos, neg = tree.before
        starts = zip(pos / 100, neg / 400, (neg + tree.neg) / 400, strict=True)
        return np.array([MEASURES[name](*each) for each in starts])

    assert in_head(local)[local.is_inner].all()
    assert local.is_inner.sum() == (whole.is_inner & in_head(whole)).sum()
    mixed = (local.pos > 0) & (local.neg > 0) & (local.pos + local.neg >= 10)
    assert n_tried == (in_head(local) & mixed & (local.depths < 10)).sum()
    if name in ("auc", "ks"):
        assert local.is_inner.sum() == whole.is_inner.sum() > 20
    else:
        assert local.is_inner.sum() < 0.7 * whole.is_inner.sum()
        assert len(calls) - n_tried > n_tried


@pytest.mark.parametrize("name", list(MEASURES))
def test_the_measure_is_that_of_the_whole_tree(name):
    """What lies outside of the head makes no difference to the measure."""
    X, y = rows()
    local, whole = (loose(name, min_samples_split=10, local=local).fit(X, y) for local in (True, False))
    assert local.score(X, y) == pytest.approx(whole.score(X, y), abs=1e-12)
    assert local.tree_.n_leaves < whole.tree_.n_leaves or name in ("auc", "ks")


@pytest.mark.parametrize("max_fpr", [0.1, 0.3, 0.6])
def test_equals_its_slow_twin(max_fpr):
    X, y = whole_numbers(40)
    n_neg = int((y == 0).sum())
    expected = regions(
        X.tolist(),
        (y == 1).tolist(),
        max_depth=3,
        **LOOSE,
        in_head=lambda before, _: sum(1 - y[i] for i in before) < max_fpr * n_neg,
    )
    leaf = loose(f"pauc@{max_fpr}", max_depth=3).fit(X, y).apply(X)
    assert [np.flatnonzero(leaf == k).tolist() for k in range(leaf.max() + 1)] == expected


def test_local_forests_have_fewer_tests():
    X, y = rows()
    local, whole = (forest("pauc@0.05", local=local).fit(X, y) for local in (True, False))
    assert local.graph_.feature.size < 0.7 * whole.graph_.feature.size
