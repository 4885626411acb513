"""hr.interval: labels, weights, queries and clusters; what is refused, and what an Interval says."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import headrank as hr
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import METHODS, OF_THE_AUC
from headrank.exceptions import InvalidSampleError, OneClassError
from headrank.measures import AUC, PartialAUC


@pytest.fixture(scope="module")
def sample():
    """40 positives, 80 negatives, in 12 queries of 10 rows with both classes."""
    rng = np.random.default_rng(0)
    y = np.tile([1, 0, 0], 40)
    return y, rng.normal(size=120) + y


@pytest.fixture(scope="module")
def qid():
    return np.repeat(np.arange(12), 10)


# -- what comes besides scores ---------------------------------------------------------------------------------------


def test_labels_of_any_kind(sample):
    y, scores = sample
    plain = hr.interval(y, scores)
    words = np.where(y == 1, "spam", "ham")
    assert hr.interval(words, scores, pos_label="spam") == plain
    assert hr.interval(y == 1, scores) == hr.interval(2 * y - 1, scores) == plain
    other = hr.interval(words, -scores, pos_label="ham")
    assert (other.low, other.high) == pytest.approx((plain.low, plain.high))
    assert (other.n_pos, other.n_neg) == (80, 40)
    with pytest.raises(InvalidSampleError, match="pos_label"):
        hr.interval(words, scores)


@pytest.mark.parametrize("measure", ["auc", "pauc@0.3", "tpr@fpr=0.1", "p@0.1", "ks"])
@pytest.mark.parametrize("weight", [1, 2, 0.5])
def test_weights_are_refused_with_a_reason(measure, weight, sample):
    with pytest.raises(ValueError, match=r"needs unweighted rows.*'bootstrap', which is asymptotic"):
        hr.interval(*sample, measure=measure, sample_weight=np.full(120, weight))


@pytest.mark.parametrize(
    "method", [method for method in METHODS if method not in ("at_point", "at_fraction", "bootstrap")]
)
def test_no_other_method_takes_weights(method, sample):
    with pytest.raises(ValueError, match="needs unweighted rows"):
        hr.interval(*sample, method=method, sample_weight=np.full(120, 2.0))


def test_the_bootstrap_takes_weights(sample):
    y, scores = sample
    weights = np.where(np.arange(120) < 60, 2.0, 1.0)
    interval = hr.interval(y, scores, method="bootstrap", sample_weight=weights, n_replicates=400, random_state=0)
    assert interval.estimate == pytest.approx(AUC()(y, scores, sample_weight=weights))
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1


def test_clusters_need_the_bootstrap(sample, qid):
    with pytest.raises(ValueError, match=r"method='auto' assumes independent rows.*use method='bootstrap'"):
        hr.interval(*sample, clusters=qid)
    with pytest.raises(ValueError, match="method='kl' assumes independent rows"):
        hr.interval(*sample, clusters=qid, method="kl")
    y, scores = (np.repeat(values, 8) for values in sample)  # eight copies of each row are one observation
    options = {"method": "bootstrap", "n_replicates": 400, "random_state": 0}
    clustered = hr.interval(y, scores, clusters=np.repeat(np.arange(120), 8), **options)
    assert clustered.width > 2 * hr.interval(y, scores, **options).width


def test_clusters_of_rows_without_weight_are_left_out(sample, qid):
    y, scores = sample
    options = {"method": "bootstrap", "n_replicates": 400, "random_state": 0}
    present = np.arange(120) >= 20
    weighted = hr.interval(y, scores, clusters=qid, sample_weight=1.0 * present, **options)
    left = hr.interval(y[present], scores[present], clusters=qid[present], **options)
    assert (weighted.low, weighted.high) == pytest.approx((left.low, left.high))


def test_with_queries_it_is_a_mean_over_them(sample, qid):
    y, scores = sample
    interval = hr.interval(y, scores, qid=qid)
    means = [AUC()(y[qid == query], scores[qid == query]) for query in range(12)]
    assert interval.estimate == pytest.approx(np.mean(means))
    assert (interval.method, interval.n_queries) == ("over_queries", 12)
    assert (interval.n_pos, interval.n_neg) == (40, 80)
    assert "12 queries are independent draws" in interval.assumptions
    assert " in 12 queries; " in str(interval)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    order = np.random.default_rng(0).permutation(120)
    again = hr.interval(y[order], scores[order], qid=qid[order])
    assert (again.low, again.high) == pytest.approx((interval.low, interval.high))


def test_queries_by_hand():
    # Perfect in each of 12: as for 12 coins that all fell on one side.
    y, scores, qid = np.tile([1, 0], 12), np.tile([1, 0], 12), np.repeat(np.arange(12), 2)
    assert hr.interval(y, scores, qid=qid).low == pytest.approx(0.025 ** (1 / 12))
    assert hr.interval(y, scores, qid=qid, side="lower").low == pytest.approx(0.05 ** (1 / 12))
    # A query with one class has no value; it is not counted.
    longer = [np.append(values, more) for values, more in ((y, [0, 0]), (scores, [5, 6]), (qid, [99, 99]))]
    interval = hr.interval(longer[0], longer[1], qid=longer[2])
    assert interval.n_queries == 12
    assert interval.low == pytest.approx(0.025 ** (1 / 12))


def test_what_queries_refuse(sample, qid):
    with pytest.raises(ValueError, match=r"with qid, method must be 'auto' or 'bootstrap'.*got 'kl'"):
        hr.interval(*sample, qid=qid, method="kl")
    with pytest.raises(ValueError, match="a bound over queries needs unweighted rows"):
        hr.interval(*sample, qid=qid, sample_weight=np.full(120, 2.0))
    with pytest.raises(ValueError, match="each of the 120 queries has a single class; check qid"):
        hr.interval(*sample, qid=np.arange(120))  # no query has both classes


def test_queries_by_the_bootstrap(sample, qid):
    interval = hr.interval(*sample, qid=qid, method="bootstrap", n_replicates=400, random_state=0)
    exact = hr.interval(*sample, qid=qid)
    assert interval.estimate == pytest.approx(exact.estimate)
    assert not interval.finite_sample
    assert interval.width < exact.width


def test_a_known_share_of_positives_narrows_what_depends_on_it(sample):
    for measure in ("r@0.2", "locauc@0.2", "push@4"):
        unknown = hr.interval(*sample, measure=measure)
        known = hr.interval(*sample, measure=measure, positive_rate=1 / 3)
        assert known.width < unknown.width
        assert "the share of positives in the population is 0.333333" in known.assumptions
        assert "random sample of the population" in unknown.assumptions
    assert hr.interval(*sample, positive_rate=1 / 3) == hr.interval(*sample)  # the AUC does not
    for rate in (0, 1, 33, -0.1):
        with pytest.raises(ValueError, match="positive_rate must lie strictly between 0 and 1"):
            hr.interval(*sample, measure="p@0.2", positive_rate=rate)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_methods_that_do_not_exist_or_do_not_fit(sample):
    with pytest.raises(ValueError, match=r"method must be one of 'auto', 'mcdiarmid'.*'bootstrap', got 'wald'"):
        hr.interval(*sample, method="wald")
    for method in OF_THE_AUC:
        for measure in ("pauc@0.1", "ks", "tpr@fpr=0.1"):
            with pytest.raises(ValueError, match=rf"method='{method}' is a bound for the AUC only, not for {measure}"):
                hr.interval(*sample, measure=measure, method=method)
    with pytest.raises(TypeError, match="fixed_range is for areas over a range"):
        hr.interval(*sample, measure="ks", method="fixed_range")
    with pytest.raises(ValueError, match="DeLong's method is for areas"):
        hr.interval(*sample, measure="ks", method="delong")


@pytest.mark.parametrize("method", [method for method in METHODS if method != "at_point"])
@pytest.mark.parametrize("confidence", [95, 99.9, 100])
def test_percent_is_refused_with_a_hint(method, confidence, sample):
    with pytest.raises(ValueError, match="it is a fraction, not percent"):
        hr.interval(*sample, method=method, confidence=confidence)


@pytest.mark.parametrize("measure", ["auc", "tpr@fpr=0.1", "ks"])
def test_confidences_and_sides_that_are_none(measure, sample, qid):
    for options in ({}, {"qid": qid}):
        for confidence in (0, 1, -0.5, 101, float("nan"), float("inf")):
            with pytest.raises(ValueError, match="confidence must"):
                hr.interval(*sample, measure=measure, confidence=confidence, **options)
        for confidence in ("0.95", None, True):
            with pytest.raises(TypeError, match="confidence must be a number"):
                hr.interval(*sample, measure=measure, confidence=confidence, **options)
        with pytest.raises(ValueError, match="side must be one of 'two-sided', 'lower', 'upper', got 'both'"):
            hr.interval(*sample, measure=measure, side="both", **options)


def test_samples_that_are_none():
    with pytest.raises(OneClassError):
        hr.interval([1, 1], [1, 2])
    with pytest.raises(InvalidSampleError):
        hr.interval([1, 0], [1, float("nan")])
    with pytest.raises(InvalidSampleError):
        hr.interval([], [])
    with pytest.raises(ValueError, match="did you mean 'auc'"):
        hr.interval([1, 0], [1, 0], measure="acu")


# -- what it says ----------------------------------------------------------------------------------------------------


def made(**changed):
    given = {"low": 0.25, "estimate": 0.5, "high": 0.875, "confidence": 0.95, "measure": PartialAUC(max_fpr=0.05)}
    given |= {"method": "kl", "theorem": "T", "assumptions": "A", "n_pos": 1200, "n_neg": 34_000}
    return Interval(**given | changed)


def test_the_sentence():
    assert str(made()) == (
        "pauc@0.05 is 0.5 on 1,200 positives and 34,000 negatives; the truth is between 0.25 and 0.875 with 95 % "
        "confidence (kl: any distribution, any sample size)"
    )
    assert repr(made()) == f"<Interval: {made()}>"
    assert "the truth is at least 0.25 with 99.9 % confidence" in str(made(side="lower", confidence=0.999))
    assert "the truth is at most 0.875 with 2.5 % confidence" in str(made(side="upper", confidence=0.025))
    assert "on 1 positive and 1 negative in 1 query;" in str(made(n_pos=1, n_neg=1, n_queries=1))
    assert "in 2,000 queries;" in str(made(n_queries=2000))
    assert str(made(finite_sample=False)).endswith("(kl: asymptotic, for large samples)")
    assert str(made(simultaneous=True)).endswith("any sample size, simultaneously for all ranges)")


def test_high_and_low_confidences_are_printed_with_their_digits(sample):
    assert " 99.9999999999 % " in str(hr.interval(*sample, confidence=1 - 1e-12))
    assert " 1e-07 % " in str(hr.interval(*sample, confidence=1e-9))


def test_as_numbers(sample):
    interval = hr.interval(*sample, measure="pauc@0.3", side="lower")
    plain = interval.as_dict()
    assert list(plain) == [field.name for field in fields(Interval)]
    assert plain["measure"] == "pauc@0.3"
    assert Interval(**plain | {"measure": hr.measure(plain["measure"])}) == interval
    frame = interval.to_frame()
    assert frame.height == 1
    assert frame.columns == list(plain)
    assert frame.row(0, named=True) == plain
    assert all(type(plain[name]) is float for name in ("low", "estimate", "high", "confidence"))
    assert all(type(plain[name]) is int for name in ("n_pos", "n_neg"))


def test_width_and_membership():
    interval = made()
    assert interval.width == 0.625
    assert all(value in interval for value in (0.25, 0.5, 0.875))
    assert not any(value in interval for value in (0.2499, 0.8751, float("nan")))
    with pytest.raises(FrozenInstanceError):
        interval.low = 0.0
