"""Measures and guarantees of Blocks of scores are those of the arrays, for any cut; a curve says what it cannot do."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import headrank as hr
from cuts import borders, cut
from headrank.bounds.intervals import METHODS
from headrank.exceptions import (
    InvalidSampleError,
    NoIntervalError,
    NoVarianceError,
    OneClassError,
    ShallowHeadError,
    TooFewRowsError,
)

RNG = np.random.default_rng(0)
N = 1500
Y = (RNG.random(N) < 0.2).astype(int)
S = (RNG.normal(size=N) + 1.5 * Y).round(1)  # many ties, across blocks too
T = (S + RNG.normal(size=N)).round(1)
WEIGHTS = RNG.integers(0, 3, N).astype(float) / 4
WEIGHTS[300:400] = 0  # whole blocks may weigh nothing
QID = RNG.integers(0, 40, N)
CURVE = hr.RocCurve.from_scores(Y, S)

some = settings(max_examples=8, deadline=None)
cuts = borders(N)
MEASURES = (
    "auc",
    "pauc@0.02",
    "pauc@0.02:0.05",
    "tpr@fpr=0.02",
    "fpr@tpr=0.1",
    "p@20",
    "p@0.01",
    "locauc@0.05",
    "ap@20",
)
BUDGETS = ({"max_fpr": 0.03}, {"top": 0.05}, {"alerts": 40, "out_of": 900}, {"alerts": 300})


def blocks_of(at, *columns, n_jobs=1, kind=np.asarray, **beside):
    rows = np.stack(columns or [S], axis=1)
    beside = {name: cut(values, at) for name, values in beside.items()}
    return hr.Blocks.from_arrays([kind(part) for part in cut(rows, at)], cut(Y, at), n_jobs=n_jobs, **beside)


PLAIN = blocks_of([0, 700, N])
WEIGHTED = blocks_of([0, 301, 399, N], sample_weight=WEIGHTS)
QUERIED = blocks_of([0, 700, N], qid=QID)
UNLABELLED = hr.Blocks.from_arrays([S[:, None]])


def assert_same(found, expected):
    """Compare intervals or differences: the same, but for the last digits of sums."""
    ends = ("low", "estimate", "high")
    assert [getattr(found, end) for end in ends] == approx([getattr(expected, end) for end in ends])
    for name in ("method", "measure", "side", "n_pos", "n_neg", "confidence", "names"):
        assert getattr(found, name, None) == getattr(expected, name, None)


def approx(value):
    return pytest.approx(value, rel=1e-11, abs=1e-11)


@some
@given(cuts, st.integers(1, 3), st.sampled_from([np.asarray, np.float32, sparse.csr_array]))
def test_measures(at, n_jobs, kind):
    blocks = blocks_of(at, n_jobs=n_jobs, kind=kind)
    scores = S.astype(np.float32) if kind is np.float32 else S
    for name in (*MEASURES, "ndcg@10", "mrr", "bpref"):
        assert hr.measure(name)(blocks) == approx(hr.measure(name)(Y, scores))


@some
@given(cuts)
def test_measures_of_weights_and_queries(at):
    weighted, queried = blocks_of(at, sample_weight=WEIGHTS), blocks_of(at, qid=QID)
    for name in ("auc", "pauc@0.05", "p@20", "ndcg@10"):
        measure = hr.measure(name)
        assert measure(weighted) == approx(measure(Y, S, sample_weight=WEIGHTS))
        found, expected = measure(queried), measure(Y, S, qid=QID)
        assert (found, found.n_queries) == (approx(expected), expected.n_queries)
    assert hr.measure("mrr")(queried, empty="zero") == approx(hr.measure("mrr")(Y, S, qid=QID, empty="zero"))


def test_grades():
    grades = RNG.integers(0, 4, N)
    blocks = hr.Blocks.from_arrays([S[:700, None], S[700:, None]], [grades[:700], grades[700:]])
    assert hr.measure("ndcg@10")(blocks) == approx(hr.measure("ndcg@10")(grades, S))
    with pytest.raises(InvalidSampleError, match="y must be 0/1"):
        hr.measure("auc")(blocks)


@settings(max_examples=15, deadline=None)
@given(cuts, st.sampled_from(["two-sided", "lower", "upper"]), st.sampled_from(MEASURES))
def test_intervals(at, side, name):
    by = {"measure": name, "side": side}
    blocks = blocks_of(at, n_jobs=2)
    found = hr.interval(blocks, **by)
    assert_same(found, hr.interval(Y, S, **by))
    if found.method != "tail band":  # the head that block_curve keeps suffices
        assert_same(hr.interval(hr.block_curve(blocks, measure=name), **by), found)


@pytest.mark.parametrize(
    "by",
    [*({"method": method} for method in ("tail", "delong", "kl")), {"measure": "p@0.01", "positive_rate": 0.2}],
    ids=str,
)
def test_other_methods(by):
    assert_same(hr.interval(PLAIN, **by), hr.interval(Y, S, **by))


def test_heads_are_merged_not_whole_curves():
    curve = hr.block_curve(blocks_of([0, 200, 400, N]), measure="pauc@0.02")
    assert not curve.complete
    assert curve.fp[-1] < curve.n_neg / 4


def test_what_needs_rows_gathers_them():
    few = {"n_replicates": 60, "random_state": 0, "method": "bootstrap"}
    assert_same(hr.interval(PLAIN, **few), hr.interval(Y, S, **few))
    assert_same(hr.interval(PLAIN, clusters=QID, **few), hr.interval(Y, S, clusters=QID, **few))
    assert_same(hr.interval(WEIGHTED, **few), hr.interval(Y, S, sample_weight=WEIGHTS, **few))
    assert_same(hr.interval(QUERIED), hr.interval(Y, S, qid=QID))
    with pytest.raises(ValueError, match="needs unweighted rows"):
        hr.interval(WEIGHTED)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "bootstrap"])
def test_a_head_is_never_read_below_its_depth(method):
    """An interval of a head of any depth is that of the whole curve, or refused."""
    refused = []
    for name in (*MEASURES, "ef@0.02", "prauc", "spauc@0.02"):
        try:
            whole = hr.interval(CURVE, measure=name, method=method)
        except (ValueError, TypeError):  # not a method for this measure
            continue
        for n_rows in (1, 30, 120, 400, N):
            try:
                assert_same(hr.interval(CURVE.head(n_rows=n_rows), measure=name, method=method), whole)
            except ShallowHeadError as error:
                refused.append(str(error))
    assert all(says.endswith("use a deeper head, or the whole curve: block_curve without measure=") for says in refused)
    assert refused


def test_the_bootstrap_takes_a_curve():
    few = {"n_replicates": 60, "random_state": 0, "method": "bootstrap", "measure": "pauc@0.1"}
    head = hr.block_curve(blocks_of([0, 700, N]), measure="pauc@0.1")
    found = hr.interval(head, **few)
    assert found.low < found.estimate < found.high
    assert found.estimate == approx(hr.interval(CURVE, **few).estimate)


@some
@given(cuts, st.sampled_from(BUDGETS), st.sampled_from([np.float64, np.float32]))
def test_thresholds(at, budget, kind):
    blocks = blocks_of(at, kind=kind, n_jobs=2)
    found = hr.threshold_at(blocks, **budget)
    assert found == hr.threshold_at(Y, S.astype(kind), **budget)
    assert found == hr.threshold_at(hr.block_curve(blocks), **budget)


def test_a_threshold_of_a_head():
    head = CURVE.head(n_neg=60)
    assert not head.complete
    found, whole = (hr.threshold_at(curve, max_fpr=0.03) for curve in (head, CURVE))
    assert found.value == pytest.approx(whole.value, rel=1e-12)  # the margin for rounding is that of the head
    assert (found.n_flagged, found.fpr_high, found.tpr_low) == (whole.n_flagged, whole.fpr_high, whole.tpr_low)
    with pytest.raises(ShallowHeadError, match=r"needs the [\d,]+ highest negatives, but this head has \d+"):
        hr.threshold_at(head, max_fpr=0.2)
    with pytest.raises(TooFewRowsError, match="needs at least"):
        hr.threshold_at(CURVE, max_fpr=1e-4)


@some
@given(cuts)
def test_bands(at):
    found, expected = hr.band(blocks_of(at)), hr.band(CURVE)
    np.testing.assert_array_equal(found.curve.scores, expected.curve.scores)
    for name in expected.limits.__annotations__:
        np.testing.assert_array_equal(getattr(found.limits, name), getattr(expected.limits, name))


@settings(max_examples=3, deadline=None)
@given(cuts)
def test_comparisons(at):
    by = {"measure": "pauc@0.1", "names": ("old", "new"), "method": "delong"}
    assert_same(hr.compare(blocks_of(at, S, T), **by), hr.compare(Y, S, T, **by))


def test_files(tmp_path):
    table = pl.DataFrame({"old": S, "new": T, "label": np.where(Y == 1, "fraud", "ok")})
    for number, part in enumerate(table.iter_slices(400)):
        part.write_parquet(tmp_path / f"{number}.parquet")
    both = hr.Blocks.from_parquet(tmp_path, target="label", memory=0)
    old = hr.Blocks.from_parquet(tmp_path, target="label", features=["old"], memory=0)
    known = {"pos_label": "fraud"}
    labels = table["label"].to_numpy()
    assert hr.measure("pauc@0.1")(old, **known) == approx(hr.measure("pauc@0.1")(labels, S, **known))
    assert_same(hr.interval(old, measure="pauc@0.1", **known), hr.interval(labels, S, measure="pauc@0.1", **known))
    assert hr.threshold_at(old, top=0.1, **known) == hr.threshold_at(labels, S, top=0.1, **known)
    assert_same(hr.compare(both, **known), hr.compare(Y, S, T, names=("old", "new")))
    with pytest.raises(InvalidSampleError, match="y must be 0/1"):
        hr.interval(old)
    table[:300].with_columns(pl.lit(float("nan")).alias("old")).write_parquet(tmp_path / "9.parquet")
    broken = hr.Blocks.from_parquet(tmp_path, target="label", features=["old"])
    with pytest.raises(InvalidSampleError, match=r"9\.parquet: scores must be finite, got 300 NaN"):
        hr.interval(broken, **known)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: hr.interval(Y), TypeError, "interval expects labels and scores, or Blocks of scores, got only"),
        (lambda: hr.measure("auc")(CURVE), TypeError, "auc expects labels and scores, .* a measure has value"),
        (lambda: hr.compare(Y, S), TypeError, "the scores of two scorers, got one; pass b"),
        (lambda: hr.interval(PLAIN, S), ValueError, "scores cannot be given with Blocks, .* name their columns"),
        (
            lambda: hr.interval(PLAIN, qid=QID, missing="drop"),
            ValueError,
            "qid and missing cannot be given with Blocks",
        ),
        (lambda: hr.compare(blocks_of([0, N], S, T), S, T), ValueError, "a and b cannot be given with Blocks"),
        (lambda: hr.interval(CURVE, S, clusters=QID, method="bootstrap"), ValueError, "scores and clusters cannot be"),
        (lambda: hr.threshold_at(CURVE, top=0.1, pos_label=1), ValueError, "pos_label cannot be given with a curve"),
        (lambda: hr.interval(blocks_of([0, N], S, T)), ValueError, "one feature, the score, got 2 .* block_curve"),
        (lambda: hr.compare(PLAIN), ValueError, "2 features, one for each scorer, got 1"),
        (lambda: hr.interval(UNLABELLED), ValueError, "these Blocks have no labels"),
        (lambda: hr.compare(hr.Blocks.from_arrays([np.ones((3, 2))])), ValueError, "these Blocks have no labels"),
        (lambda: hr.band(QUERIED), ValueError, "takes no queries; make the Blocks without qid"),
        (lambda: hr.threshold_at(WEIGHTED, top=0.1), ValueError, "takes no weights; make the Blocks without sample_"),
        (lambda: hr.threshold_at(hr.block_curve(WEIGHTED), top=0.1), ValueError, "a curve of unweighted rows"),
        (lambda: hr.interval(hr.block_curve(WEIGHTED)), ValueError, "needs unweighted rows"),
        (lambda: hr.band(CURVE.head(50)), ShallowHeadError, "use a deeper head, or the whole curve"),
        (lambda: hr.interval(CURVE.head(50), measure="ndcg@5"), NoIntervalError, "ndcg@5 of a single list"),
        (lambda: hr.interval(PLAIN, measure="auc", pos_label=7), InvalidSampleError, "pos_label=7 does not occur in y"),
        (
            lambda: hr.measure("auc")(hr.Blocks.from_arrays([S[:, None]], [Y * 0])),
            OneClassError,
            "all 1500 rows of the",
        ),
        (lambda: hr.measure("auc")(hr.Blocks.from_arrays([S[:0, None]], [Y[:0]])), InvalidSampleError, "have no rows"),
        (
            lambda: hr.measure("auc")(hr.Blocks.from_arrays([S[:2, None]], [[0, 1]], sample_weight=[[0, 0]])),
            InvalidSampleError,
            "sample_weight is zero for every row",
        ),
        (lambda: hr.interval(hr.Blocks.from_arrays([S[:2, None]], [[0, 1]]), method="delong"), NoVarianceError, "0 on"),
        (
            lambda: hr.interval(hr.Blocks.from_arrays([S[:3, None]], [[0, np.nan, np.nan]])),
            InvalidSampleError,
            "y contains 2 NaN",
        ),
        (
            lambda: hr.interval(hr.Blocks.from_arrays([S[:3, None]], [np.array([0, None, "a"], dtype=object)])),
            InvalidSampleError,
            "y has 1 missing values",
        ),
    ],
)
def test_refusals(call, kind, says):
    with pytest.raises(kind, match=says):
        call()
