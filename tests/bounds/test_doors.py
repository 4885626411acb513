"""What the doors of bounds check, before anything is read, and what they build of a sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank.bounds.intervals import METHODS, interval_of
from headrank.bounds.sample_curves import SampleCurves
from headrank.curve import RocCurve
from headrank.datasets import Binormal
from headrank.labels import check_binary
from headrank.levels import Depth
from strategies import small_rankings

CONFIDENCES = (0, 1, -0.1, 1.5, float("nan"), 95)
HEAD_MEASURES = ("pauc@0.05", "pauc@0.02:0.1", "spauc@0.05", "tpr@fpr=0.01", "fpr@tpr=0.1")


class Unread:
    """Stands for a sample that must not be read yet."""

    def __array__(self, *_args, **_options):
        raise AssertionError("the sample was read before the arguments were checked")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        *(({"confidence": confidence}, ValueError, "confidence must") for confidence in CONFIDENCES),
        ({"confidence": "high"}, TypeError, "confidence must be a number"),
        ({"side": "both"}, ValueError, "side must be one of"),
        ({"positive_rate": 1.5}, ValueError, "positive_rate must lie"),
        ({"measure": "no such measure"}, ValueError, "no such measure"),
    ],
)
def test_an_interval_checks_its_arguments_before_it_reads_the_sample(method, wrong, error, message):
    with pytest.raises(error, match=message):
        hr.interval(Unread(), Unread(), method=method, **wrong)


def test_an_unknown_method_is_refused_before_the_sample_is_read():
    with pytest.raises(ValueError, match="method must be one of"):
        hr.interval(Unread(), Unread(), method="guess")
    with pytest.raises(ValueError, match="method must be one of"):
        hr.select({"a": [1.0, 2.0]}, [0, 1], method="guess")


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_other_doors_check_the_confidence(confidence):
    for door in (
        lambda: hr.compare(Unread(), Unread(), Unread(), confidence=confidence),
        lambda: hr.compare_many({"a": Unread(), "b": Unread()}, Unread(), confidence=confidence),
        lambda: hr.select({"a": Unread()}, Unread(), confidence=confidence),
        lambda: hr.threshold_at(Unread(), Unread(), max_fpr=0.1, confidence=confidence),
        lambda: hr.band(RocCurve.from_scores([1, 0], [2, 1]), confidence=confidence),
    ):
        with pytest.raises(ValueError, match="confidence must"):
            door()


@pytest.mark.parametrize("side", ["two-sided", "lower", "upper"])
@pytest.mark.parametrize("measure", HEAD_MEASURES)
def test_an_interval_of_the_head_sorts_the_head_alone(measure, side, monkeypatch):
    y, scores = Binormal(separation=1.5).sample_classes(2000, 40_000, random_state=0)
    whole = interval_of(RocCurve.from_scores(y, scores), hr.measure(measure), side=side)
    read = levels_read(monkeypatch)
    head = hr.interval(y, scores, measure=measure, side=side)
    # The same rows add up in sums of other lengths: equal but for the last digits.
    assert (head.low, head.estimate, head.high) == pytest.approx((whole.low, whole.estimate, whole.high), rel=1e-12)
    assert len(read) == 1
    assert read[0] < 0.2 * y.size


def test_a_head_that_is_too_short_is_replaced_by_the_whole_curve(monkeypatch):
    y, scores = Binormal(separation=1.5).sample_classes(2000, 40_000, random_state=0)
    sure = {"measure": "tpr@fpr=0.01", "confidence": 1 - 1e-15}
    whole = interval_of(RocCurve.from_scores(y, scores), hr.measure("tpr@fpr=0.01"), confidence=1 - 1e-15)
    monkeypatch.setattr(Depth, "deeper", lambda depth: Depth(n_neg=depth.n_neg + 70))
    read = levels_read(monkeypatch)
    found = hr.interval(y, scores, **sure)
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), rel=1e-12)
    assert read[0] < read[1] == y.size


@given(small_rankings(), st.sampled_from(HEAD_MEASURES), st.sampled_from([0.1, 0.9, 1 - 1e-9]))
def test_from_rows_an_interval_is_that_of_their_whole_curve(ranking, measure, confidence):
    y, scores = ranking.y, ranking.scores
    whole = interval_of(RocCurve.from_scores(y, scores), hr.measure(measure), confidence=confidence)
    found = hr.interval(y, scores, measure=measure, confidence=confidence)
    assert (found.low, found.estimate, found.high) == pytest.approx((whole.low, whole.estimate, whole.high))


@given(small_rankings(), st.integers(0, 2**20))
def test_curves_by_query_are_those_of_the_queries(ranking, seed):
    y, scores = ranking.y, ranking.scores
    qid = np.random.default_rng(seed).integers(0, 3, y.size)
    mixed = [query for query in np.unique(qid) if 0 < y[qid == query].sum() < (qid == query).sum()]
    curves = SampleCurves(check_binary(y, scores, qid=qid))
    if not mixed:
        with pytest.raises(hr.exceptions.OneClassError, match="check qid"):
            _ = curves.each
        return
    assert curves.values(hr.AUC()).tolist() == [hr.AUC()(y[qid == query], scores[qid == query]) for query in mixed]
    assert curves.each is curves.each


def levels_read(monkeypatch):
    """Distinct scores of each curve that is built from now on."""
    read = []
    build = RocCurve.of_sample.__func__

    def counted(cls, sample, depth=None):
        curve = build(cls, sample, depth)
        read.append(curve.scores.size)
        return curve

    monkeypatch.setattr(RocCurve, "of_sample", classmethod(counted))
    return read
