"""The choice of candidates: Benjamini-Hochberg and weighted conformal selection by their slow versions, and laws."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank.exceptions import InvalidSampleError, ShiftedScoresWarning
from reference import lists as slow
from strategies import small_rankings

ASSUME = ("same negatives", "same rows")
limits = st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8])


@st.composite
def small_lists(draw, weighted=False):
    y, scores, _ = draw(small_rankings(max_rows=18))
    m = draw(st.integers(1, 10))
    new = np.array(draw(st.lists(st.integers(-3, 6), min_size=m, max_size=m)), dtype=float)
    if not weighted:
        return y, scores, new
    some = st.sampled_from([0.5, 1.0, 2.0, 3.0])
    weights = (np.array(draw(st.lists(some, min_size=size, max_size=size))) for size in (y.size, m))
    return y, scores, new, *weights


def choose(*rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShiftedScoresWarning)
        return hr.choose(*rows, **options)


@pytest.mark.parametrize("assumption", ASSUME)
@given(rows=small_lists(), limit=limits)
def test_is_benjamini_hochberg_with_conformal_p_values(assumption, rows, limit):
    y, scores, new = rows
    found = choose(y, scores, new, assume=assumption, max_false_share=limit)
    n = y.size if assumption == "same rows" else int((y == 0).sum())
    p_values = slow.conformal_p_values(scores[y == 0], n, new)
    np.testing.assert_allclose(found.p_values, p_values)
    assert found.chosen.tolist() == slow.benjamini_hochberg(p_values, limit).tolist()
    assert found.chosen.tolist() == (new >= found.threshold).tolist()
    if found.n_chosen:
        negatives = (scores[y == 0] >= found.threshold).sum()
        estimate = new.size * (1 + negatives) / (n + 1) / found.n_chosen
        assert found.false_share == pytest.approx(min(estimate, 1))
        assert found.false_share <= limit + 1e-9


@pytest.mark.parametrize("assumption", ASSUME)
@given(rows=small_lists(weighted=True), limit=limits)
def test_is_weighted_conformal_selection(assumption, rows, limit):
    y, scores, new, weights, new_weights = rows
    found = choose(y, scores, new, assume=assumption, max_false_share=limit, weights=weights, new_weights=new_weights)
    total = weights.sum() if assumption == "same rows" else weights[y == 0].sum()
    expected = slow.weighted_choice(scores[y == 0], weights[y == 0], total, new, new_weights, limit)
    assert found.chosen.tolist() == expected.tolist()
    if found.n_chosen:
        assert found.false_share <= limit + 1e-9
        assert found.threshold == new[found.chosen].min()


@given(small_lists(), limits, st.sampled_from([1.0, 0.1, 1e6]))
def test_equal_weights_change_nothing(rows, limit, weight):
    y, _, new = rows
    plain = choose(*rows, max_false_share=limit)
    weighted = choose(
        *rows, max_false_share=limit, weights=np.full(y.size, weight), new_weights=np.full(new.size, weight)
    )
    assert plain.chosen.tolist() == weighted.chosen.tolist()
    np.testing.assert_allclose(plain.p_values, weighted.p_values)


@given(small_lists(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    y, scores, new = rows
    old, later = list(range(y.size)), list(range(new.size))
    random.shuffle(old)
    random.shuffle(later)
    one = choose(*rows, max_false_share=0.5)
    other = choose(y[old], scores[old], new[later], max_false_share=0.5)
    assert one.chosen[later].tolist() == other.chosen.tolist()


@given(small_lists())
def test_a_larger_share_chooses_more(rows):
    chosen = [choose(*rows, max_false_share=limit).chosen for limit in (0.1, 0.3, 0.6, 0.9)]
    assert all(np.all(less <= more) for less, more in pairwise(chosen))


@given(small_lists())
def test_ties_do_not_help(rows):
    y, scores, new = rows
    tied, behind = (choose(y, scores, each, max_false_share=0.5).chosen for each in (new, new - 0.5))
    assert tied.tolist() == behind.tolist()


# -- errors found in published code --------------------------------------------------------------------------------


def test_the_last_chosen_row_is_not_dropped():
    # 99 negatives far below, 5 new rows above them all: p = 1/100 <= 0.1 * 5/10 for each of the five, and only them.
    y, scores = np.repeat([0, 1], [99, 1]), np.arange(100.0)
    new = np.array([200.0, 201, 202, 203, 204, 1, 2, 3, 4, 5])
    assert choose(y, scores, new, max_false_share=0.1).chosen.tolist() == [True] * 5 + [False] * 5


def test_the_weight_of_the_row_in_question_is_added_to_all_p_values():
    # With the first row in question, both p-values are 1/100: a choice of 2 rows, of which only the first is kept, so
    # none remains. With the weight of the other row in its place, that p-value is 30/129, and the first row is chosen.
    y, scores, new, weights = np.repeat([0], 99), np.arange(99.0), [300.0, 200.0], [1.0, 30.0]
    found = choose(y, scores, new, max_false_share=0.1, weights=np.ones(99), new_weights=weights)
    assert found.p_values.tolist() == pytest.approx([1 / 100, 30 / 129])
    assert found.chosen.tolist() == [False, False]
    assert not slow.weighted_choice(scores, np.ones(99), 99, new, weights, 0.1).any()


# -- words, none chosen, refusals ------------------------------------------------------------------------------------


def test_candidates_are_a_sentence_and_a_table():
    y, scores = np.repeat([0, 1], [999, 1]), np.arange(1000.0)
    found = hr.choose(y, scores, np.append(np.arange(100) * 10.0, 5000.0), max_false_share=0.2)
    assert str(found).startswith(
        "1 of 101 new rows are chosen, with an expected share of negatives of at most 0.2 (estimated share 0.101; "
        "lowest score 5000.0). conformal selection (Jin & Candès 2023)"
    )
    assert "assumes same negatives" in str(found)
    assert repr(found) == f"<Candidates: {found}>"
    frame = found.to_frame()
    assert frame["chosen"].to_list() == found.chosen.tolist()
    assert frame["p_value"].to_list() == found.p_values.tolist()
    assert found.as_dict()["n_chosen"] == 1
    assert found.as_dict()["n_needed"] is None


def test_none_chosen_says_why_and_what_it_takes():
    y, scores = np.repeat([0, 1], [50, 5]), np.arange(55.0)
    new = np.append(np.arange(95) / 2, [100.0, 101, 102, 103, 104])
    none = hr.choose(y, scores, new, max_false_share=0.1)
    assert not none.chosen.any()
    assert none.threshold == np.inf
    assert none.n_needed == 199  # 100 / (0.1 * 5) - 1
    assert "It takes at least 199 labelled negatives, but there are 50" in str(none)
    enough = np.concatenate([np.full(149, -1.0), scores])
    assert hr.choose(np.append(np.zeros(149), y), enough, new, max_false_share=0.1).n_chosen == 5
    assert not hr.choose(np.append(np.zeros(148), y), enough[1:], new, max_false_share=0.1).n_chosen
    rows = hr.choose(y, scores, new, max_false_share=0.1, assume="same rows")
    assert "at least 199 labelled rows, but there are 55" in str(rows)
    beaten = hr.choose(y, scores, np.zeros(3), max_false_share=0.1)
    assert beaten.n_needed is None
    assert "allow a larger share or use a better scorer" in str(beaten)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_false_share": 0}, ValueError, "max_false_share must lie strictly between 0 and 1"),
        ({"max_false_share": 10}, ValueError, "not percent"),
        ({"weights": [1, 1]}, TypeError, "got weights without new_weights"),
        ({"new_weights": [1]}, TypeError, "got new_weights without weights"),
        ({"weights": [1, 1], "new_weights": [1, 1]}, InvalidSampleError, "one value per new row: expected 1, got 2"),
        ({"weights": [1, 1], "new_weights": [0.0]}, InvalidSampleError, "new_weights is zero for every row"),
        ({"weights": [1, -1], "new_weights": [1]}, InvalidSampleError, "must not be negative"),
        ({"weights": [1, 1], "new_weights": [np.nan]}, InvalidSampleError, "new_weights must be finite"),
        ({"assume": "same"}, ValueError, "assume must be one of"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        hr.choose([0, 1], [1, 2], [1], **options)


def test_new_rows_have_a_density():
    with pytest.raises(InvalidSampleError, match="must be above 0, but 1 are 0"):
        hr.choose([0, 1], [1, 2], [1, 2], weights=[1, 1], new_weights=[1, 0])


def test_labelled_rows_of_weight_zero_are_left_out():
    y, scores, new = np.repeat([0, 1], [60, 5]), np.arange(65.0), np.array([58.5, 70.0, 71.0])
    kept = np.arange(65) != 59
    found = choose(y, scores, new, weights=kept.astype(float), new_weights=np.ones(3), max_false_share=0.5)
    expected = choose(y[kept], scores[kept], new, max_false_share=0.5)
    assert found.chosen.tolist() == expected.chosen.tolist()
    np.testing.assert_allclose(found.p_values, expected.p_values)
