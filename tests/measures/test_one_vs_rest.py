"""Several classes: each against the rest, and the mean over them."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import headrank as hr
from headrank.exceptions import InvalidSampleError, OneClassError


def sample(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [n // 2, n // 3, n // 6]))
    scores = rng.random((n, 3)).round(1) + np.eye(3)[y]
    return y, scores / scores.sum(axis=1, keepdims=True), rng.integers(1, 4, n)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parity_with_scikit_learn(average, weighted):
    y, scores, weights = sample()
    weights = weights if weighted else None
    theirs = roc_auc_score(y, scores, multi_class="ovr", average=average, sample_weight=weights)
    assert hr.one_vs_rest("auc", y, scores, average=average, sample_weight=weights) == pytest.approx(theirs)


def test_each_class_is_measured_against_the_rest():
    y, scores, weights = sample()
    found = hr.one_vs_rest("pauc@0.3", y, scores, sample_weight=weights)
    one_by_one = {c: hr.measure("pauc@0.3")(y == c, scores[:, c], sample_weight=weights) for c in range(3)}
    assert found.values == one_by_one
    assert float(found) == pytest.approx(np.mean(list(one_by_one.values())))
    assert sum(found.shares.values()) == pytest.approx(1)
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.values, again.average) == (found, found.values, "macro")


def test_columns_are_in_the_order_that_is_given():
    y, scores, _ = sample()
    names = np.array(["cat", "ant", "bee"])[y]
    expected = hr.one_vs_rest("auc", y, scores)
    assert hr.one_vs_rest("auc", names, scores, classes=["cat", "ant", "bee"]) == expected
    assert hr.one_vs_rest("auc", names, scores[:, [1, 2, 0]]) == pytest.approx(float(expected))  # sorted by default


def test_what_is_refused():
    y, scores, _ = sample()
    with pytest.raises(ValueError, match="'macro', 'weighted', got 'micro'"):
        hr.one_vs_rest("auc", y, scores, average="micro")
    with pytest.raises(InvalidSampleError, match=r"3 classes, but scores have shape \(90, 2\)"):
        hr.one_vs_rest("auc", y, scores[:, :2])
    with pytest.raises(InvalidSampleError, match=r"y contains \[2\], for which scores have no column"):
        hr.one_vs_rest("auc", y, scores[:, :2], classes=[0, 1])
    with pytest.raises(OneClassError, match=r"no rows of the classes \[2\]"):
        hr.one_vs_rest("auc", y[y < 2], scores[y < 2], classes=[0, 1, 2])
    with pytest.raises(InvalidSampleError, match="y contains 1 NaN"):
        hr.one_vs_rest("auc", [0, 1, np.nan], np.eye(3))
    with pytest.raises(ValueError, match="only once"):
        hr.one_vs_rest("auc", y, scores, classes=[0, 1, 1])
    with pytest.raises(OneClassError, match="several classes"):
        hr.one_vs_rest("auc", np.zeros(90), scores[:, :1])
