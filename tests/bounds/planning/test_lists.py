"""Plans for a list: so many negatives suffice, one less does not, and what cannot be promised is refused."""

import numpy as np
import pytest
from scipy.stats import norm

import headrank as hr
from headrank.bounds.inequalities.interleavings import precedence
from headrank.bounds.planning.lists import plan_list

GOAL = {"k": 30, "precision": 0.6, "n_new": 300}
SCORER = {"auc": 0.94, "positive_rate": 0.2}


def perfect_promise(n_neg, k, n_new, confidence=0.95):
    """What is promised of the first k rows if at least k positives score above all negatives."""
    found = hr.certify_list(
        np.zeros(n_neg), np.zeros(n_neg), np.repeat([1.0, -1.0], [k, n_new - k]), confidence=confidence
    )
    return found.at_least(k)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.ShiftedScoresWarning")
@pytest.mark.parametrize(("k", "precision", "n_new"), [(30, 0.6, 300), (20, 0.95, 100), (50, 0.9, 60), (10, 1.0, 20)])
def test_so_many_negatives_suffice_for_a_perfect_scorer_and_one_less_does_not(k, precision, n_new):
    plan = plan_list(k, precision, n_new=n_new)
    assert plan.n_neg == plan.n_neg_perfect
    assert perfect_promise(plan.n_neg, k, n_new) >= precision * k - 1e-9
    assert perfect_promise(plan.n_neg - 1, k, n_new) < precision * k - 1e-9


def test_a_list_without_negatives_needs_the_highest_limit_to_be_zero():
    plan = plan_list(10, 1.0, n_new=20, confidence=0.9)
    assert precedence(plan.n_neg, 20, 0.1).most[0] == 0


def test_typical_samples_of_this_size_are_promised_the_list():
    plan = plan_list(**GOAL, **SCORER)
    assert plan.n_neg > plan.n_neg_perfect

    def promise(n_neg):
        spread = [norm.ppf((np.arange(n) + 0.5) / n) for n in (n_neg, 60, 240)]
        new = np.append(spread[1] + np.sqrt(2) * norm.ppf(0.94), spread[2])
        return hr.certify_list(np.zeros(n_neg), spread[0], new).at_least(30)

    assert promise(plan.n_neg) >= 18
    assert promise(int(plan.n_neg / 1.02) - 1) < 18


def test_random_samples_are_promised_about_as_much():
    plan = plan_list(**GOAL, **SCORER)
    rng, found = np.random.default_rng(0), []
    shift = np.sqrt(2) * norm.ppf(0.94)
    for _ in range(40):
        new = rng.normal(size=300) + shift * (np.arange(300) < 60)
        found.append(hr.certify_list(np.zeros(plan.n_neg), rng.normal(size=plan.n_neg), new).at_least(30))
    assert np.mean(found) == pytest.approx(18, abs=2)


@pytest.mark.parametrize("more", [{"confidence": 0.999}, {"precision": 0.8}, {"n_new": 1000}])
def test_more_is_asked_more_negatives_are_needed(more):
    assert plan_list(**GOAL | more).n_neg > plan_list(**GOAL).n_neg


def test_a_better_scorer_needs_fewer():
    needed = [plan_list(**GOAL, auc=auc, positive_rate=0.2).n_neg for auc in (0.94, 0.96, 0.999)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] == plan_list(**GOAL).n_neg


def test_a_plan_is_a_sentence_and_a_table():
    plan = plan_list(**GOAL, **SCORER)
    assert str(plan) == (
        f"To promise that at least 18 of the first 30 of 300 new rows are positive, with 95 % confidence, you need "
        f"about {plan.n_neg} labelled negatives if scores are normal, the AUC is 0.94 and 20 % of the new rows are "
        f"positive; even a scorer that ranks all positives first needs {plan.n_neg_perfect} labelled negatives"
    )
    assert repr(plan) == f"<ListPlan: {plan}>"
    assert plan.to_frame().row(0, named=True) == plan.as_dict()
    assert str(plan_list(**GOAL)).endswith("even for a scorer that ranks all positives first")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"k": 0}, ValueError, "k must be at least 1"),
        ({"k": 301}, ValueError, "k must be at most n_new, the number of new rows, got k=301, n_new=300"),
        ({"precision": 0}, ValueError, "precision must lie in"),
        ({"precision": 60}, ValueError, "not percent"),
        ({"n_new": 2.5}, TypeError, "n_new must be a whole number"),
        ({"confidence": 1}, ValueError, "confidence must lie strictly between"),
        ({"auc": 0.9}, TypeError, "auc and positive_rate must be given together"),
        ({"auc": 1.0, "positive_rate": 0.1}, ValueError, "normal scores overlap"),
        ({"auc": 0.6, "positive_rate": 0.1}, ValueError, "about 5 of the first 30 of 300 .* 18 cannot be promised"),
    ],
)
def test_what_cannot_be_planned_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        plan_list(**GOAL | wrong)


def test_more_negatives_than_anybody_has_are_refused(monkeypatch):
    monkeypatch.setattr("headrank.bounds.planning.lists.MOST_NEGATIVES", 1000)
    with pytest.raises(ValueError, match=r"1,000 labelled negatives are not enough to promise this list"):
        plan_list(10, 1.0, n_new=100)
