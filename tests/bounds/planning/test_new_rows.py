"""From how many new rows a list can be promised: exactly for a perfect scorer, typically for others."""

import pytest

import headrank as hr
from headrank.bounds.inequalities.interleavings import precedence

SCORER = {"auc": 0.95, "positive_rate": 0.4}


def promised(n_neg, n_new, most):
    return any(limit <= most for limit in precedence(n_neg, n_new, 0.05).most.tolist())


@pytest.mark.parametrize(("k", "precision", "n_neg"), [(20, 0.5, 100), (5, 0.2, 300), (50, 0.9, 400)])
def test_from_so_many_new_rows_a_perfect_scorer_is_promised_the_list_and_from_one_more_not(k, precision, n_neg):
    found = hr.plan_new_rows(k, precision, n_neg=n_neg)
    most = k - found.n_promised
    assert found.fewest == k
    assert found.most == found.most_perfect
    assert promised(n_neg, found.most, most)
    assert not promised(n_neg, found.most + 1, most)
    # The two plans agree: so many new rows take no more than these negatives, and one more takes more.
    assert hr.plan_list(k, precision, n_new=found.most).n_neg <= n_neg
    assert hr.plan_list(k, precision, n_new=found.most + 1).n_neg > n_neg


def test_typical_lists_need_enough_rows_and_not_too_many():
    found = hr.plan_new_rows(20, 0.5, n_neg=200, **SCORER)
    assert 20 < found.fewest < found.most <= found.most_perfect
    for n_new in (found.fewest, found.most):
        assert hr.plan_list(20, 0.5, n_new=n_new, **SCORER).n_neg <= 1.02 * 200
    with pytest.raises(ValueError, match="cannot be promised"):
        hr.plan_list(20, 0.5, n_new=20, auc=0.95, positive_rate=0.3)


def test_more_negatives_reach_further():
    few, many = (hr.plan_new_rows(20, 0.5, n_neg=n_neg, **SCORER) for n_neg in (150, 400))
    assert many.fewest <= few.fewest
    assert many.most > few.most


def test_it_is_a_sentence_and_a_table():
    found = hr.plan_new_rows(20, 0.5, n_neg=150)
    assert str(found) == (
        "With 150 labelled negatives, a list of 20 with at least 10 positives can be promised with 95 % confidence "
        f"from at most {found.most:,} new rows, even for a scorer that ranks all positives first"
    )
    assert repr(found) == f"<NewRowsPlan: {found}>"
    assert found.to_frame()["most"].to_list() == [found.most]
    typical = hr.plan_new_rows(20, 0.5, n_neg=150, **SCORER)
    assert f"from about {typical.fewest:,} to {typical.most:,} new rows if scores are normal" in str(typical)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k": 0}, ValueError, "k must be at least 1"),
        ({"n_neg": 0}, ValueError, "n_neg must be at least 1"),
        ({"precision": 50}, ValueError, "not percent"),
        ({"n_neg": 3}, ValueError, "3 labelled negatives cannot promise 10 of 20 rows, even of a perfect scorer"),
        ({"auc": 0.9}, TypeError, "must be given together"),
        ({"auc": 1.0, "positive_rate": 0.1}, ValueError, "strictly between 0 and 1"),
        ({"auc": 0.6, "positive_rate": 0.1}, ValueError, "cannot be promised from any number of new rows"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        hr.plan_new_rows(**{"k": 20, "precision": 0.5, "n_neg": 150, **arguments})
