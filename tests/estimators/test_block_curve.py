"""The curve of blocks is that of all rows, for any cut; of a measure of the head, as much of it as it needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrank as hr
from cuts import borders, cut

RNG = np.random.default_rng(0)
N = 60
X = RNG.integers(-2, 3, (N, 3)).astype(float)  # many ties
Y = (RNG.random(N) < 0.3).astype(int)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
RANKER = hr.LinearRanker("auc", surrogate="logistic").fit(X, X[:, 0] + Y > 1)
RANKER.coef_ = np.array([1.0, -1.0, 0.5])  # exact products


def blocks_of(at, rows=X, weights=None, **options):
    weights = None if weights is None else cut(weights, at)
    return hr.Blocks.from_arrays(cut(rows, at), cut(Y, at), sample_weight=weights, **options)


@settings(max_examples=25, deadline=None)
@given(borders(N), st.sampled_from(["pauc@0.2", "pauc@0.1:0.4", "p@5", "tpr@fpr=0.1", "auc"]), st.booleans())
def test_measures_are_those_of_all_rows(at, name, weighted):
    measure = hr.measure(name)
    weights = WEIGHTS if weighted else None
    whole = hr.RocCurve.from_scores(Y, RANKER.decision_function(X), weights)
    blocks = blocks_of(at, weights=weights)
    assert measure.value(hr.block_curve(blocks, RANKER, measure=name)) == measure.value(whole)
    merged = hr.block_curve(blocks, RANKER)
    assert merged.complete
    assert merged.area() == whole.area()
    np.testing.assert_array_equal(merged.scores, whole.scores)


def test_a_column_of_scores_needs_no_scorer():
    scores, y = np.arange(2000.0), np.arange(2000) % 7 == 0
    blocks = hr.Blocks.from_arrays([scores[:900, None], scores[900:, None]], [y[:900], y[900:]])
    head = hr.block_curve(blocks, measure="pauc@0.2")
    assert not head.complete
    assert hr.measure("pauc@0.2").value(head) == pytest.approx(hr.measure("pauc@0.2")(y, scores), rel=1e-12)


class Other:
    """A scorer that is not headrank's."""

    def decision_function(self, rows):
        return rows[:, 0]


def test_any_scorer_will_do():
    curve = hr.block_curve(blocks_of([0, 7, N]), Other())
    assert curve.area() == hr.measure("auc")(Y, X[:, 0])


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: hr.block_curve(X, RANKER), TypeError, "expected Blocks, got .* use RocCurve.from_scores"),
        (lambda: hr.block_curve(blocks_of([0, N])), ValueError, "the only feature must be the score, got 3 features"),
        (lambda: hr.block_curve(hr.Blocks.from_arrays([X]), RANKER), ValueError, "these Blocks have no labels"),
        (
            lambda: hr.block_curve(hr.Blocks.from_arrays([X], [Y], qid=[Y]), RANKER),
            ValueError,
            "a mean over queries, not read from one curve",
        ),
        (
            lambda: hr.block_curve(hr.Blocks.from_arrays([X], [np.arange(N) % 3]), RANKER),
            ValueError,
            "expected labels of two classes, got 3",
        ),
    ],
)
def test_refusals(call, kind, says):
    with pytest.raises(kind, match=says):
        call()
