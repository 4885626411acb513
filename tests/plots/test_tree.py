"""TreeDisplay draws the regions where they lie in the list, and the polyline of each level."""

import io

import numpy as np
import pytest

import headrank as hr
from headrank.exceptions import CollapsedFitWarning
from headrank.plots.tree import TreeDisplay


@pytest.fixture(scope="module")
def ranker(rows):
    return hr.TreeRanker("pauc@0.2", cv=None, min_samples_split=40).fit(*rows)


def test_boxes_are_the_regions(ranker, rows):
    X, y = rows
    display = TreeDisplay(ranker).plot()
    tree, leaf = ranker.tree_, ranker.apply(X)
    assert len(display.boxes_) == tree.left.size
    leaves = [box for box, inner in zip(display.boxes_, tree.is_inner, strict=True) if not inner]
    start = 0.0
    for k, box in enumerate(leaves):
        assert box.get_x() == pytest.approx(start)
        assert box.get_width() == pytest.approx((leaf == k).mean())
        assert box.get_y() + box.get_height() == tree.depths.max() + 1
        start += box.get_width()
    assert start == pytest.approx(1)
    assert display.boxes_[0].get_bbox().bounds == (0, 0, 1, 1)
    shares = np.array([y[leaf == k].mean() for k in range(len(leaves))])
    darkness = -np.array([sum(box.get_facecolor()[:3]) for box in leaves])
    assert (np.argsort(shares, kind="stable") == np.argsort(darkness, kind="stable")).mean() > 0.5
    assert darkness[shares.argmax()] == darkness.max()
    texts = [text.get_text() for text in display.axes_[0].texts]
    assert texts[0] == f"{100 * y.mean():.3g} %"
    display.figure_.savefig(io.BytesIO())


def test_the_axis_ends_within_the_last_region(ranker):
    display = TreeDisplay(ranker).plot()
    last = display.boxes_[-1]
    left, right = display.axes_[0].get_xlim()
    assert left == 0
    assert last.get_x() < right < 1
    assert display.axes_[1].get_xlim() == pytest.approx((0, 0.23))


@pytest.mark.parametrize(("name", "marked"), [("pauc@0.2", True), ("locauc@0.15", True), ("auc", False), ("ks", False)])
def test_the_end_of_the_head_is_marked(name, marked, rows):
    X, y = rows
    ranker = hr.TreeRanker(name, cv=None).fit(X, y)
    ax = TreeDisplay(ranker).plot().axes_[0]
    assert len(ax.lines) == marked
    assert ax.get_xlabel().endswith(f"(dashed: end of {name})") == marked
    if marked:
        curve = hr.RocCurve.from_scores(y, ranker.decision_function(X))
        (end, _) = ax.lines[0].get_xdata()
        if name == "locauc@0.15":
            assert end == 0.15
        else:
            tpr = hr.TPRAtFPR(0.2).value(curve)
            assert end == pytest.approx((tpr * y.sum() + 0.2 * (1 - y).sum()) / y.size)


def test_polylines_are_the_curves_of_each_level(ranker, rows):
    X, y = rows
    display = TreeDisplay(ranker).plot()
    deepest = int(ranker.tree_.depths.max())
    assert len(display.polylines_) == deepest + 1
    np.testing.assert_allclose(display.polylines_[0].get_xydata(), [[0, 0], [1, 1]])
    curve = hr.RocCurve.from_scores(y, ranker.decision_function(X))
    np.testing.assert_allclose(display.polylines_[-1].get_xydata(), np.c_[curve.fpr, curve.tpr])
    for depth, line in enumerate(display.polylines_):
        same = hr.TreeRanker("pauc@0.2", cv=None, min_samples_split=40, max_depth=max(depth, 1)).fit(X, y)
        if depth:
            np.testing.assert_allclose(line.get_ydata(), same.tree_.curve().tpr)
    labels = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert labels[0] == "no split: 0.100"
    assert labels[1].startswith("1 split deep: 0.")
    assert labels[-1] == f"{deepest} splits deep: {ranker.score(X, y):.3f}"
    assert display.axes_[1].get_legend().get_title().get_text() == "pauc@0.2, training"


def test_the_table_of_regions(ranker, rows):
    frame = TreeDisplay(ranker).to_frame()
    tree = ranker.tree_
    assert frame.height == tree.left.size
    assert frame["gain_in_auc"].sum() + 0.5 == pytest.approx(hr.AUC().value(tree.curve()))
    leaves = frame.filter(~tree.is_inner)
    assert leaves["fpr"].to_list() == pytest.approx(tree.curve().fpr[1:].tolist())
    assert leaves["tpr"].to_list() == pytest.approx(tree.curve().tpr[1:].tolist())
    assert leaves["first"].to_list()[1:] == pytest.approx(leaves["last"].to_list()[:-1])
    assert frame["better_part"].to_list() == [ranker.better_part(i) for i in range(frame.height)]


def test_a_single_region(rows):
    X, y = rows
    with pytest.warns(CollapsedFitWarning):
        ranker = hr.TreeRanker("auc").fit(np.ones_like(X), y)
    display = TreeDisplay(ranker).plot()
    assert len(display.boxes_) == len(display.polylines_) == 1
    assert display.axes_[0].get_xlim() == (0, 1)


@pytest.mark.parametrize("ranker", [hr.TreeRanker(), 3, None])
def test_refusals(ranker):
    with pytest.raises(TypeError, match=r"expected a fitted TreeRanker, got .*; call fit first"):
        TreeDisplay(ranker)
