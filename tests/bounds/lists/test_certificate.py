"""Promises about a list: the formula of the theorem, laws, bad input and words."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import headrank as hr
from headrank.bounds.inequalities.interleavings import precedence
from headrank.exceptions import InvalidSampleError, OneClassError, ShiftedScoresWarning
from reference import lists as slow
from strategies import small_rankings

ASSUME = ("same negatives", "same rows")
assumptions = st.sampled_from(ASSUME)
confidences = st.sampled_from([0.2, 0.5, 0.8, 0.95])


@st.composite
def small_lists(draw, max_new=12):
    """A few labelled and new rows with scores in -3..5, so that ties abound."""
    y, scores, _ = draw(small_rankings(max_rows=14))
    new = draw(st.lists(st.integers(-3, 5), min_size=1, max_size=max_new))
    return y, scores, np.array(new, dtype=float)


def certify(y, scores, new, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftedScoresWarning)
        return hr.certify_list(y, scores, new, **options)


# -- the theorem and its laws ------------------------------------------------------------------------------------


@given(small_lists(), assumptions, confidences)
def test_equals_the_formula_of_the_theorem(rows, assumption, confidence):
    y, scores, new = rows
    found = certify(y, scores, new, assume=assumption, confidence=confidence)
    n = y.size if assumption == "same rows" else int((y == 0).sum())
    limits = precedence(n, new.size, 1 - confidence)
    expected = [
        slow.promise(scores[y == 0].tolist(), new.tolist(), limits.ranks.tolist(), limits.most.tolist(), k)
        for k in range(1, new.size + 1)
    ]
    assert found.promised.tolist() == expected
    assert [found.at_least(k) for k in range(new.size + 1)] == [0, *expected]


@given(small_lists(), assumptions, confidences)
def test_promises_grow_by_one_at_most(rows, assumption, confidence):
    found = certify(*rows, assume=assumption, confidence=confidence)
    steps = np.diff(found.promised, prepend=0)
    assert set(steps.tolist()) <= {0, 1}
    k = np.arange(1, found.n_new + 1)
    assert np.all(found.promised <= found.likely)
    assert np.all(found.likely <= k)
    assert np.all(np.diff(found.likely) >= 0)


@given(small_lists(), assumptions, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, assumption, random):
    y, scores, new = rows
    old, later = list(range(y.size)), list(range(new.size))
    random.shuffle(old)
    random.shuffle(later)
    one = certify(y, scores, new, assume=assumption, confidence=0.5)
    other = certify(y[old], scores[old], new[later], assume=assumption, confidence=0.5)
    assert one.promised.tolist() == other.promised.tolist()
    np.testing.assert_allclose(one.likely, other.likely)
    assert new[one.order].tolist() == new[later][other.order].tolist()


@given(small_lists(), assumptions)
def test_a_monotone_change_of_all_scores_does_not_matter(rows, assumption):
    y, scores, new = rows
    one = certify(y, scores, new, assume=assumption, confidence=0.5)
    other = certify(y, np.exp(scores), np.exp(new), assume=assumption, confidence=0.5)
    assert one.promised.tolist() == other.promised.tolist()
    assert one.order.tolist() == other.order.tolist()


@given(small_lists(max_new=10), confidences)
def test_a_labelled_negative_above_everything_does_not_raise_the_promise(rows, confidence):
    y, scores, new = rows
    assume((y == 0).sum() <= 9)
    one = certify(y, scores, new, confidence=confidence)
    more = certify(np.append(y, 0), np.append(scores, 10.0), new, confidence=confidence)
    assert np.all(more.promised <= one.promised)


@given(small_lists(), assumptions, confidences, st.data())
def test_a_negative_moved_to_the_top_does_not_raise_the_promise(rows, assumption, confidence, data):
    y, scores, new = rows
    one = certify(y, scores, new, assume=assumption, confidence=confidence)
    raised = scores.copy()
    raised[data.draw(st.sampled_from(np.flatnonzero(y == 0).tolist()))] = 10.0
    assert np.all(certify(y, raised, new, assume=assumption, confidence=confidence).promised <= one.promised)


@given(small_lists(), assumptions, confidences)
def test_ties_make_it_safer(rows, assumption, confidence):
    y, scores, new = rows
    apart = certify(y, scores, new + 0.5, assume=assumption, confidence=confidence)  # new rows win every tie
    tied = certify(y, scores, new, assume=assumption, confidence=confidence)
    behind = certify(y, scores, new - 0.5, assume=assumption, confidence=confidence)
    assert np.all(tied.promised <= apart.promised)
    assert tied.promised.tolist() == behind.promised.tolist()


@given(small_lists())
def test_labelled_positives_matter_for_the_estimate_only(rows):
    y, scores, new = rows
    one = certify(y, scores, new, confidence=0.5)
    other = certify(y[y == 0], scores[y == 0], new, confidence=0.5)
    assert one.promised.tolist() == other.promised.tolist()


@given(small_lists(), assumptions)
def test_more_confidence_promises_less(rows, assumption):
    found = [certify(*rows, assume=assumption, confidence=each).promised for each in (0.5, 0.9, 0.99)]
    assert np.all(found[0] >= found[1])
    assert np.all(found[1] >= found[2])


def test_same_rows_is_tighter_if_many_labelled_rows_are_positive():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [500, 500])
    scores, new = rng.normal(size=1000) + 2 * y, rng.normal(size=600) + 2 * (np.arange(600) < 300)
    negatives, rows = (hr.certify_list(y, scores, new, assume=each).promised for each in ASSUME)
    assert np.all(rows >= negatives)
    assert rows[299] > negatives[299] + 5


def test_a_batch_of_perfect_rows_among_labelled_positives():
    # Sorted by class first, the first labelled row is positive: all new negatives precede it, so there are few.
    found = hr.certify_list([1] * 200, np.arange(200), np.arange(100) + 50.0, assume="same rows")
    limits = precedence(200, 100, 0.05)
    assert found.at_least(100) == 100 - limits.most[0]
    assert found.likely.tolist() == list(range(1, 101))


# -- what is asked of it -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [100, 2000])
    positive = np.repeat([True, False], [100, 900])
    return hr.certify_list(y, rng.normal(size=2100) + 3 * y, rng.normal(size=1000) + 3 * positive)


def test_the_largest_list(found):
    for precision in (0.3, 0.5, 0.8, 0.9, 1.0):
        k = found.largest_list(precision)
        fits = [k for k in range(1, 1001) if found.promised[k - 1] >= precision * k - 1e-9]
        assert k == max(fits, default=0)
    assert found.largest_list(0.5) > found.largest_list(0.9) > 0
    assert found.precision_at_least(50) == found.at_least(50) / 50
    k = found.largest_list(0.9)
    assert found.explain(0.9) == (
        f"at least {found.at_least(k)} of the first {k} new rows are positive, with 95 % confidence"
    )


def test_estimates_are_near_the_truth(found):
    positive = found.order < 100
    truth = np.cumsum(positive)
    assert np.all(np.abs(found.likely - truth)[:200] < 12)
    assert found.likely[-1] == pytest.approx(100, abs=15)


def test_a_certificate_is_a_sentence_and_a_table(found):
    k = found.largest_list(0.9)
    assert str(found).startswith(f"at least {found.at_least(k)} of the first {k} new rows are positive, with 95 %")
    for words in ("negative hypergeometric", "assumes same negatives", "2,000 labelled negatives, 1,000 new rows"):
        assert words in str(found)
    assert repr(found) == f"<ListCertificate: {found}>"
    frame = found.to_frame()
    assert frame.columns == ["k", "row", "at_least", "precision_at_least", "likely"]
    assert frame["at_least"].to_list() == found.promised.tolist()
    assert frame["row"].to_list() == found.order.tolist()
    best = frame.filter(pl.col("precision_at_least") >= 0.9)["k"].max()
    assert best == k
    assert found.as_dict()["n_new"] == 1000
    assert found.as_dict()["assume"] == "same negatives"


def test_nothing_promised_is_explained():
    none = hr.certify_list([0, 1], [1, 2], [1, 2, 3])
    assert none.promised.tolist() == [0, 0, 0]
    assert none.largest_list(0.01) == 0
    assert "1 labelled negative cannot rule out that all are negative" in str(none)
    new = np.append(np.arange(61), np.arange(100, 119))
    few = hr.certify_list(np.repeat([0, 1], [100, 9]), np.arange(109), new)
    assert few.largest_list(0.9) == 0
    assert (few.allowed[0], few.reach[0]) == (5, 19)
    assert "up to 5 negatives cannot be ruled out" in few.explain(0.9)
    assert "so at least 50 new rows would have to score above them, but 19 do" in few.explain(0.9)
    assert "cannot be ruled out among the first 19 new rows" in few.explain(1.0)


def test_all_new_scores_tied():
    y, scores = np.repeat([0, 1], [300, 5]), np.arange(305.0)
    below = certify(y, scores, np.full(40, 280.0))  # tied with the 20th negative
    above = certify(y, scores, np.full(40, 300.0))
    assert above.at_least(40) > below.at_least(40)
    assert above.order.tolist() == list(range(40))


# -- bad input and scales ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1], [1, 2], []), InvalidSampleError, "new_scores is empty: expected at least one new row"),
        (([0, 1], [1, 2], [np.nan]), InvalidSampleError, "new_scores must be finite, got 1 NaN"),
        (([0, 1], [1, np.inf], [1]), InvalidSampleError, "scores must be finite"),
        (([0, 1], [1, 2], [[1, 2]]), InvalidSampleError, r"new_scores must be one column .*predict_proba"),
        (([0, 1], [1, 2, 3], [1]), InvalidSampleError, "one value per row"),
        (([1, 1], [1, 2], [1]), OneClassError, "needs labelled negatives, but all labelled rows are positive"),
        (([1], [1], [1]), OneClassError, "the only labelled row is positive"),
        (([0, 1], [1, 2], ["a"]), InvalidSampleError, "new_scores must be real numbers"),
    ],
)
def test_bad_rows_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        hr.certify_list(*arguments)


def test_bad_options_are_refused(found):
    with pytest.raises(ValueError, match=r"confidence .* not percent"):
        hr.certify_list([0, 1], [1, 2], [1], confidence=95)
    with pytest.raises(ValueError, match="assume must be one of 'same negatives', 'same rows'"):
        hr.certify_list([0, 1], [1, 2], [1], assume="all")
    with pytest.raises(ValueError, match="k must be at most 1000, the number of new rows, got 1001"):
        found.at_least(1001)
    with pytest.raises(ValueError, match="k must be at least 1"):
        found.precision_at_least(0)
    with pytest.raises(ValueError, match="precision must lie in"):
        found.largest_list(0)


def test_one_labelled_row():
    assert hr.certify_list([0], [1.0], [2.0, 0.0]).promised.tolist() == [0, 0]
    assert hr.certify_list([1], [1.0], [2.0, 0.0], assume="same rows").n_neg == 0


def test_labels_of_any_kind():
    labels = np.where(np.arange(100) < 10, "active", "inactive")
    scores = np.arange(100, 0, -1)
    named = hr.certify_list(labels, scores, [95, 99, 3], pos_label="active")
    assert named.promised.tolist() == hr.certify_list(labels == "active", scores, [95, 99, 3]).promised.tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("which", ["labelled", "new"])
def test_scores_of_lower_precision_tie_with_their_originals(kind, which):
    rng = np.random.default_rng(0)
    y, scores = np.repeat([0, 1], [400, 20]), rng.random(420)
    scores[400:] += 1
    new = scores[300:420].copy()  # every new score is also a labelled one
    exact = hr.certify_list(y, scores.astype(kind), new.astype(kind))
    if which == "labelled":
        mixed = hr.certify_list(y, scores.astype(kind), new)
    else:
        mixed = hr.certify_list(y, scores, new.astype(kind))
    assert mixed.promised.tolist() == exact.promised.tolist()


def test_whole_numbers_and_floats_mix():
    y, scores = np.repeat([0, 1], [50, 5]), np.arange(55)
    expected = hr.certify_list(y, scores, [50, 52, 60]).promised.tolist()
    for kind in (np.float16, np.float32, np.float64, np.uint8):
        assert hr.certify_list(y, scores.astype(kind), [50, 52, 60]).promised.tolist() == expected
        assert hr.certify_list(y, scores, np.array([50, 52, 60], dtype=kind)).promised.tolist() == expected
    huge = hr.certify_list(y, scores * 10_000.0, np.array([1.0, 2.0], dtype=np.float16))  # float16 would overflow
    assert huge.n_new == 2
