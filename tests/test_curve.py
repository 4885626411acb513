"""The curve: what is counted, what merges, what a head knows and what it refuses to say."""

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

import headrank as hr
from headrank.curve import share
from headrank.exceptions import InvalidSampleError, OneClassError, ShallowHeadError
from reference.measure_parameters import PARAMETERS
from reference.measures import exact, expand, expected, fpr_at_tpr, hits, partial_auc, tpr_at_fpr, truncated_auc
from strategies import RANGES, RATES, any_rankings, fractional_rankings, ranges, rates, small_rankings

RocCurve = hr.RocCurve


def close(value):
    return pytest.approx(float(value), rel=1e-11, abs=1e-12)


def same(one, two):
    """The same curve, number for number.

    A head that happens to hold every row may or may not know that there is nothing below its floor.
    """
    assert (one.n_pos, one.n_neg) == (two.n_pos, two.n_neg)
    everything = one.pos.sum() + one.neg.sum() == one.n
    assert one.floor == two.floor or (everything and {one.floor, two.floor} == {-np.inf, one.scores[-1]})
    for name in ("scores", "pos", "neg", "fpr", "tpr", "thresholds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    return True


def joined(*rankings):
    return np.concatenate([r.y for r in rankings]), np.concatenate([r.scores for r in rankings])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_intermediate_points_are_dropped_as_in_scikit_learn(ties, weighted):
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 2, 300), rng.normal(size=300)
    scores = scores.round(1) if ties else scores
    weights = rng.integers(1, 3, 300) if weighted else None
    whole = RocCurve.from_scores(y, scores, weights)
    frame, points = whole.to_frame(drop_intermediate=True), roc_curve(y, scores, sample_weight=weights)
    np.testing.assert_allclose(frame.select("fpr", "tpr", "threshold").to_numpy().T, points)
    assert np.trapezoid(frame["tpr"], frame["fpr"]) == pytest.approx(whole.area())
    assert frame.height < whole.to_frame().height


@given(any_rankings())
def test_counts_rows_at_each_distinct_score(ranking):
    curve, rows = RocCurve.from_scores(*ranking), expand(*ranking)
    assert curve.scores.tolist() == sorted({score for _, score in rows}, reverse=True)
    assert curve.pos.tolist() == [rows.count((1, z)) for z in curve.scores]
    assert curve.neg.tolist() == [rows.count((0, z)) for z in curve.scores]
    assert (curve.n_pos, curve.n_neg, curve.n) == (sum(curve.pos), sum(curve.neg), len(rows))
    assert curve.positive_rate == curve.n_pos / len(rows)
    assert curve.complete
    assert curve.floor == -np.inf


@given(any_rankings())
def test_points_are_the_rates_at_each_threshold(ranking):
    curve, rows = RocCurve.from_scores(*ranking), expand(*ranking)
    assert curve.thresholds[0] == np.inf
    assert curve.thresholds[1:].tolist() == curve.scores.tolist()
    for threshold, fpr, tpr in zip(curve.thresholds, curve.fpr, curve.tpr, strict=True):
        assert fpr == sum(s >= threshold for label, s in rows if label == 0) / curve.n_neg
        assert tpr == sum(s >= threshold for label, s in rows if label == 1) / curve.n_pos
    frame = curve.to_frame()
    assert frame.height == len(curve.thresholds)


@given(small_rankings(), small_rankings(), small_rankings())
def test_merge_is_associative_and_commutative(a, b, c):
    one, two, three = (RocCurve.from_scores(r.y, r.scores) for r in (a, b, c))
    assert same(one.merge(two), two.merge(one))
    assert same(one.merge(two).merge(three), one.merge(two.merge(three)))
    assert same(one.merge(two).merge(three), RocCurve.from_scores(*joined(a, b, c)))


@given(small_rankings(), small_rankings(), small_rankings(), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_merge_of_heads_is_exact_down_to_the_highest_floor(a, b, c, depths):
    heads = [RocCurve.from_scores(r.y, r.scores).head(n) for r, n in zip((a, b, c), depths, strict=True)]
    one, two, three = heads
    merged, whole = one.merge(two).merge(three), RocCurve.from_scores(*joined(a, b, c))
    assert same(merged, one.merge(two.merge(three)))
    assert same(merged, three.merge(two).merge(one))
    assert merged.floor == max(head.floor for head in heads)
    above = whole.scores >= merged.floor
    assert merged.scores.tolist() == whole.scores[above].tolist()
    assert merged.pos.tolist() == whole.pos[above].tolist()
    assert merged.neg.tolist() == whole.neg[above].tolist()
    assert (merged.n_pos, merged.n_neg) == (whole.n_pos, whole.n_neg)


@given(any_rankings(), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
def test_head_reaches_its_depth_and_takes_in_ties(ranking, n_neg, n_pos, n_rows):
    assume(n_neg or n_pos or n_rows)
    whole = RocCurve.from_scores(*ranking)
    head = whole.head(n_neg, n_pos=n_pos, n_rows=n_rows)
    assert same(head, RocCurve.head_from_scores(*ranking, n_neg=n_neg, n_pos=n_pos, n_rows=n_rows))
    size = len(head.scores)
    assert head.scores.tolist() == whole.scores[:size].tolist()
    assert (head.n_pos, head.n_neg, head.n) == (whole.n_pos, whole.n_neg, whole.n)
    pos, neg = sum(head.pos), sum(head.neg)
    assert (neg >= n_neg and pos >= n_pos and pos + neg >= n_rows) or (head.complete and size == len(whole.scores))
    if not head.complete:  # and not one level further than needed
        pos, neg = sum(head.pos[:-1]), sum(head.neg[:-1])
        assert neg < n_neg or pos < n_pos or pos + neg < n_rows
        assert head.floor == head.scores[-1]


READERS = {
    "mean_tpr": (lambda c, ends: c.mean_tpr(min_fpr=ends[0], max_fpr=ends[1]), RANGES),
    "area": (lambda c, ends: c.area(min_fpr=ends[0], max_fpr=ends[1]), RANGES),
    "tpr_at": (lambda c, rate: c.tpr_at(rate), (0.0, *RATES)),
    "fpr_at": (lambda c, rate: c.fpr_at(rate), (0.0, *RATES)),
    "tp_in_first": (lambda c, rate: c.tp_in_first(rate * c.n), RATES),
    "first": (lambda c, rate: c.first(rate * c.n), RATES),
    "quantile": (lambda c, rate: c.quantile(rate), RATES),
}
every_reader = pytest.mark.parametrize(("read", "arguments"), READERS.values(), ids=READERS)


@every_reader
@given(ranking=any_rankings())
def test_head_is_right_or_refuses(read, arguments, ranking):
    whole = RocCurve.from_scores(*ranking)
    heads = [whole.head(n_rows=n) for n in range(1, int(whole.n) + 1)]
    for argument in arguments:
        refused = True
        for head in heads:  # from shallow to deep: once it can answer, it goes on answering
            try:
                assert read(head, argument) == read(whole, argument)
                refused = False
            except ShallowHeadError:
                assert refused
                assert not head.complete


@every_reader
def test_head_refuses_below_its_depth(read, arguments):
    whole = RocCurve.from_scores([1, 0] * 50, np.arange(100))
    deep, shallow = arguments[-1], whole.head(n_rows=20)
    with pytest.raises(ShallowHeadError, match="head"):
        read(shallow, deep)
    with pytest.raises(ShallowHeadError):
        shallow.require_complete("this test")
    whole.require_complete("this test")


OUT_OF_RANGE = {
    "empty range": lambda c: c.mean_tpr(min_fpr=0.5, max_fpr=0.5),
    "range upside down": lambda c: c.area(min_fpr=0.5, max_fpr=0.2),
    "range beyond 1": lambda c: c.mean_tpr(max_fpr=2.0),
    "rate above 1": lambda c: c.tpr_at(1.5),
    "rate below 0": lambda c: c.tpr_at(-0.5),
    "rate that is none": lambda c: c.fpr_at(float("nan")),
    "TPR above 1": lambda c: c.fpr_at(1.5),
    "TPR below 0": lambda c: c.fpr_at(-0.5),
    "fewer rows than none": lambda c: c.tp_in_first(-1),
    "more rows than there are": lambda c: c.tp_in_first(100),
    "top above 1": lambda c: c.quantile(1.5),
    "top below 0": lambda c: c.quantile(-0.5),
    "head of nothing": lambda c: c.head(0),
    "head of less": lambda c: c.head(-1),
    "head of nan": lambda c: c.head(float("nan")),
}


@pytest.mark.parametrize("read", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_readers_refuse_what_is_no_rate(read):
    with pytest.raises(ValueError, match=r"must|needs|expected"):
        read(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]))


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    st.integers(1, 4),
)
def test_stream_of_blocks_is_the_whole(blocks, depth):
    rows = [row for block in blocks for row in block]
    assume({label for label, _ in rows} == {0, 1})
    whole = RocCurve.from_scores(*zip(*rows, strict=True))
    for asked in ({"n_neg": depth}, {"n_pos": depth}, {"n_rows": depth}):
        heads = (RocCurve.head_from_scores(*zip(*block, strict=True), **asked) for block in blocks)
        assert same(reduce(RocCurve.merge, heads).head(**asked), whole.head(**asked))


def test_block_of_one_class_cannot_be_read_alone():
    block = RocCurve.head_from_scores([0, 0], [2, 1], n_neg=1)
    for read in (lambda: block.tpr, lambda: block.area(), lambda: block.tpr_at(0.5), lambda: hr.AUC().value(block)):
        with pytest.raises(OneClassError, match="positive"):
            read()
    with pytest.raises(OneClassError):
        RocCurve.from_scores([0, 0], [2, 1])


@given(any_rankings(), ranges)
def test_mean_tpr_and_area(ranking, ends):
    curve, rows = RocCurve.from_scores(*ranking), expand(*ranking)
    mean = partial_auc(rows, exact(ends[0]), exact(ends[1]))
    assert curve.mean_tpr(min_fpr=ends[0], max_fpr=ends[1]) == close(mean)
    assert curve.area(min_fpr=ends[0], max_fpr=ends[1]) == close(mean * (exact(ends[1]) - exact(ends[0])))


@given(any_rankings(), st.just(0.0) | rates)
def test_rates_at_a_rate(ranking, rate):
    curve, rows = RocCurve.from_scores(*ranking), expand(*ranking)
    assert curve.tpr_at(rate) == close(tpr_at_fpr(rows, exact(rate)))
    assert curve.fpr_at(rate) == close(fpr_at_tpr(rows, exact(rate)))


@given(any_rankings(), rates)
def test_first_rows_and_top(ranking, rate):
    curve, rows = RocCurve.from_scores(*ranking), expand(*ranking)
    assert curve.tp_in_first(rate * curve.n) == close(expected(rows, lambda labels: hits(labels, rate)))
    first = curve.first(rate * curve.n)
    assert first.tp + first.fp == close(rate * curve.n)
    assert first.pairs == close(truncated_auc(rows, exact(rate)) * int(curve.n_pos * curve.n_neg))
    least = 0 if rate == 1 else len(rows) * (1 - exact(rate))  # rows at or below the quantile, at least
    assert curve.quantile(rate) == min(z for _, z in rows if sum(score <= z for _, score in rows) >= least)


@pytest.mark.parametrize("n", [7, 10, 100, 1000])
def test_decimals_do_not_lose_a_row(n):
    # 0.29 * 100 is 28.999999999999996 in floating point; the 29th negative is in all the same.
    curve = RocCurve.from_scores([0, 1] * n, np.arange(2 * n, 0, -1))  # - + - + ... from the top
    for i in range(1, n):
        rate = round(i / n, 3)
        if round(rate * n, 9) == i:
            assert share(rate, n) == i
            assert curve.tpr_at(rate) == i / n  # i negatives may pass, and with them i positives
            assert curve.fpr_at(rate) == i / n
            assert curve.quantile(rate) == 2 * (n - i)  # F(z) >= 1 - rate holds for the row after the first 2 i already


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_ulp_apart_is_distinct(dtype):
    one = dtype(1)
    scores = np.array([one, np.nextafter(one, dtype(2)), np.nextafter(one, dtype(0))], dtype=dtype)
    curve = RocCurve.from_scores([0, 1, 0], scores)
    assert len(curve.scores) == 3
    assert hr.AUC().value(curve) == 1.0
    assert curve.merge(curve).scores.tolist() == curve.scores.tolist()


def test_zero_has_one_sign():
    curve = RocCurve.from_scores([1, 0], [0.0, -0.0])
    assert len(curve.scores) == 1
    assert hr.AUC().value(curve) == 0.5
    one, two = RocCurve.from_scores([1, 0], [0.0, 1.0]), RocCurve.from_scores([0, 1], [-0.0, 1.0])
    assert len(one.merge(two).scores) == 2


def test_merge_of_two_precisions_keeps_scores_apart():
    near = np.float64(np.float32(0.1)) + 1e-12
    narrow = RocCurve.from_scores([1, 0], np.array([0.1, -1], dtype=np.float32))
    wide = RocCurve.from_scores([0, 1], np.array([near, -2]))
    for merged in (narrow.merge(wide), wide.merge(narrow)):
        assert len(merged.scores) == 4
        assert merged.scores[0] == near


@pytest.mark.parametrize("scale", [1e308, 1e-308, 5e-324, 1.0])
def test_huge_and_tiny_scores(scale):
    scores = np.array([1.0, -1.0, 0.0, 1.0]) * scale
    assert RocCurve.from_scores([1, 0, 0, 0], scores).area() == close(2.5 / 3)


def test_weights_far_apart_and_tiny():
    y, scores = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    for scale in (1e-100, 1e-12, 0.1, 1 / 3, 1e12, 1e100):
        curve = RocCurve.from_scores(y, scores, np.full(6, scale))
        assert curve.area() == close(6 / 9)
        assert curve.fpr[-1] == curve.tpr[-1] == 1.0
        assert curve.fpr_at(1.0) == close(2 / 3)
        assert curve.tpr_at(1.0) == 1.0
    curve = RocCurve.from_scores(y, scores, [1e-9, 1, 1, 1e-9, 1, 1])
    assert curve.area(max_fpr=1e-10) == pytest.approx(1e-10 * 1e-9 / (2 + 1e-9), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_weights_whose_products_leave_the_range_of_floats_are_measured_or_refused(scale):
    try:
        area = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1], np.full(4, scale)).area()
    except InvalidSampleError:
        return
    assert area == close(0.75)


@given(small_rankings(), st.sampled_from([0.1, 1 / 3, 0.7, 1e-5, 0.25]), rates)
def test_scale_of_the_weights_does_not_matter(ranking, scale, rate):
    one = RocCurve.from_scores(ranking.y, ranking.scores)
    two = RocCurve.from_scores(ranking.y, ranking.scores, np.full(len(ranking.y), scale))
    assert two.quantile(rate) == one.quantile(rate)
    assert two.tpr_at(rate) == close(one.tpr_at(rate))
    assert two.fpr_at(rate) == close(one.fpr_at(rate))
    assert two.mean_tpr(max_fpr=rate) == close(one.mean_tpr(max_fpr=rate))


@given(fractional_rankings())
def test_rates_of_fractional_weights_end_at_one(ranking):
    curve = RocCurve.from_scores(*ranking)
    assert curve.fpr[-1] == curve.tpr[-1] == 1.0
    assert (np.diff(curve.fpr) >= 0).all()


def test_input_is_never_modified():
    y, scores, weights = np.array([1, 0, 1, 0]), np.array([1.0, 2.0, 2.0, 0.5]), np.array([1.0, 0.0, 2.0, 1.0])
    copies = [array.copy() for array in (y, scores, weights)]
    for array in (y, scores, weights):
        array.flags.writeable = False
    whole = RocCurve.from_scores(y, scores, weights)
    RocCurve.head_from_scores(y, scores, weights, n_neg=1).merge(whole).head(n_rows=2)
    for measure in map(hr.measure, ("auc", "pauc@0.3", "locauc@0.3", "w@0.3", "p@0.3", "ks")):
        measure(y, scores, sample_weight=weights, qid=np.zeros(4))
    for array, copy in zip((y, scores, weights), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_views_are_read_as_they_lie():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 2, 40), rng.integers(-3, 3, 40), rng.integers(0, 3, 40)]).astype(float)
    view = [table[::-2, i] for i in range(3)]
    assert not view[1].flags.contiguous
    assert same(RocCurve.from_scores(*view), RocCurve.from_scores(*(column.copy() for column in view)))


def test_curve_keeps_its_own_numbers():
    scores = np.array([3.0, 2.0, 1.0])
    curve = RocCurve.from_scores([1, 0, 1], scores)
    scores[:] = 0
    assert curve.scores.tolist() == [3.0, 2.0, 1.0]
    assert same(pickle.loads(pickle.dumps(curve)), curve)


@given(any_rankings())
def test_curve_rises(ranking):
    curve = RocCurve.from_scores(*ranking)
    points = list(zip(curve.fpr, curve.tpr, strict=True))
    assert points[0] == (0, 0)
    assert points[-1] == (1, 1)
    assert all(a != b and a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(points))


@given(small_rankings(), st.sampled_from([None, 0.1, 1 / 3, 0.7]))
def test_read_at_its_own_vertices(ranking, weight):
    weights = None if weight is None else np.full(len(ranking.y), weight)
    curve = RocCurve.from_scores(ranking.y, ranking.scores, weights)
    for fpr, tpr in zip(curve.fpr, curve.tpr, strict=True):
        assert curve.tpr_at(fpr) == close(curve.tpr[np.isclose(curve.fpr, fpr)].max())
        assert curve.fpr_at(tpr) == close(curve.fpr[np.isclose(curve.tpr, tpr)].min())


@pytest.mark.parametrize("n", [3, 7, 49, 99, 100, 997])
def test_fractions_of_a_count_are_counts(n):
    y, scores = np.arange(2 * n) % 2, -np.arange(2 * n)  # - + - + ...
    curve = RocCurve.from_scores(y, scores)
    for k in range(n):
        assert curve.tpr_at(k / n) == close(k / n)
        assert curve.head(n_neg=max(k, 1)).mean_tpr(max_fpr=max(k, 1) / n) >= 0  # a head of the right size suffices


@given(small_rankings(), st.sampled_from([0.1, 1 / 3, 0.7]), st.integers(1, 5))
def test_weighted_head_of_a_head(ranking, weight, k):
    weights = np.full(len(ranking.y), weight)
    head = RocCurve.head_from_scores(ranking.y, ranking.scores, weights, n_neg=k * weight)
    again, whole = head.head(n_neg=k * weight), RocCurve.from_scores(*ranking[:2], weights).head(n_neg=k * weight)
    for name in ("scores", "pos", "neg", "floor"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("kind", PARAMETERS, ids=lambda kind: kind.__name__)
@settings(max_examples=2)
@given(data=st.data())
def test_no_measure_reads_a_curve_of_one_class(kind, label, data):
    curve = RocCurve.head_from_scores([label, label], [2, 1], n_rows=5)
    with pytest.raises(OneClassError, match="has no"):
        data.draw(PARAMETERS[kind]).value(curve)


def test_light_class_is_read_to_its_own_rounding():
    y = np.r_[np.zeros(1000), np.ones(4)]
    scores = np.r_[np.linspace(0, 1, 1000), 0.1, 0.2, 0.3, 0.4]
    heavy = RocCurve.from_scores(y, scores)
    light = RocCurve.from_scores(y, scores, np.r_[np.ones(1000), np.full(4, 1e-11)])
    assert light.fpr_at(0.5) == close(heavy.fpr_at(0.5))
