"""Plans for the head: the interval that will be used is as narrow as asked for, and fewer rows are too few."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import headrank as hr
from headrank.bounds.planning.head import plan_head
from headrank.datasets import Binormal

WISH = {"epsilon": 0.1, "positive_rate": 0.1, "auc": 0.9}


def reach(found):
    return max(found.estimate - found.low, found.high - found.estimate)


def expected(measure, n_rows, *, positive_rate, auc, confidence=0.95, n_scorers=1):
    """The interval of scores at even steps, by another way to write the same."""
    n_pos = max(round(positive_rate * n_rows), 1)
    positives, negatives = (norm.ppf(np.linspace(1 / (2 * n), 1 - 1 / (2 * n), n)) for n in (n_pos, n_rows - n_pos))
    scores = np.append(positives + norm.ppf(auc) * np.sqrt(2), negatives)
    y = np.repeat([1, 0], [n_pos, n_rows - n_pos])
    return hr.interval(y, scores, measure=measure, confidence=1 - (1 - confidence) / n_scorers)


# -- laws --------------------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(
    st.sampled_from(["pauc@0.1", "pauc@0.05:0.2", "tpr@fpr=0.05", "fpr@tpr=0.8", "auc"]),
    st.floats(0.1, 0.4),
    st.floats(0.02, 0.1) | st.floats(0.9, 0.95),
    st.floats(0.6, 0.99),
    st.sampled_from([1, 5]),
)
def test_so_many_rows_suffice_and_a_few_less_do_not(measure, epsilon, positive_rate, auc, n_scorers):
    wish = {"positive_rate": positive_rate, "auc": auc, "n_scorers": n_scorers}
    plan = plan_head(measure, epsilon=epsilon, **wish)
    assert plan.n == plan.n_pos + plan.n_neg
    assert reach(expected(measure, plan.n, **wish)) <= epsilon + 1e-9
    if plan.n > np.ceil(1 / min(positive_rate, 1 - positive_rate)):
        fewer = range(plan.n - 1, int((plan.n - 1) / 1.02) - 1, -1)
        assert any(reach(expected(measure, n, **wish)) > epsilon for n in fewer)


@pytest.mark.parametrize("measure", ["pauc@0.1", "tpr@fpr=0.1", "r@0.1", "locauc@0.1"])
def test_samples_drawn_at_random_are_known_about_as_precisely(measure):
    plan = plan_head(measure, **WISH)
    population = Binormal(separation=np.sqrt(2) * norm.ppf(0.9))
    samples = [population.sample_classes(plan.n_pos, plan.n_neg, random_state=seed) for seed in range(8)]
    drawn = [hr.interval(*sample, measure=measure) for sample in samples]
    assert np.mean([reach(each) for each in drawn]) == pytest.approx(0.1, rel=0.1)
    assert np.mean([each.estimate for each in drawn]) == pytest.approx(plan.expected.estimate, abs=0.03)


@pytest.mark.parametrize("more", [{"epsilon": 0.05}, {"confidence": 0.999}, {"n_scorers": 50}, {"positive_rate": 0.02}])
def test_more_is_asked_more_rows_are_needed(more):
    assert plan_head("pauc@0.1", **WISH | more).n > plan_head("pauc@0.1", **WISH).n


def test_the_head_needs_more_rows_than_the_whole():
    wish = {"epsilon": 0.2, "positive_rate": 0.02, "auc": 0.9}
    assert plan_head("pauc@0.02", **wish).n > plan_head("auc", **wish).n


# -- words, tables, refusals -------------------------------------------------------------------------------------


def test_a_plan_is_a_sentence_and_a_table():
    plan = plan_head(hr.TPRAtFPR(0.1), **WISH, n_scorers=3)
    assert str(plan).startswith(
        f"To know tpr@fpr=0.1 of each of 3 scorers to within 0.1 with 95 % confidence at 10 % positives, you need "
        f"about {plan.n:,} rows, {plan.n_pos:,} of them positive, if scores are normal and the AUC is 0.9"
    )
    assert repr(plan) == f"<HeadPlan: {plan}>"
    row = plan.to_frame().row(0, named=True)
    assert row == plan.as_dict()
    assert (row["measure"], row["n"], row["epsilon"]) == ("tpr@fpr=0.1", plan.n, 0.1)


def test_what_one_row_of_the_rarer_class_tells_needs_no_search():
    assert plan_head("pauc@0.1", epsilon=1, positive_rate=0.25, auc=0.9).n == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0, got 0"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"auc": 1.0}, "auc must lie strictly between 0 and 1, got 1.0: normal scores overlap"),
        ({"positive_rate": 0.0}, "positive_rate must lie strictly between 0 and 1"),
        ({"confidence": 95}, "a fraction, not percent"),
        ({"n_scorers": 0}, "n_scorers must be at least 1"),
        ({"measure": "p@100"}, "p@100 depends on a count of rows.*use a share"),
    ],
)
def test_what_cannot_be_planned_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        plan_head(**{"measure": "pauc@0.1"} | WISH | wrong)


def test_more_rows_than_anybody_has_are_refused(monkeypatch):
    monkeypatch.setattr("headrank.bounds.planning.head.MOST_ROWS", 1000)
    with pytest.raises(ValueError, match=r"with 1,000 rows pauc@0\.1 is known to within 0\.\d+ only; .*than 0\.01"):
        plan_head("pauc@0.1", **WISH | {"epsilon": 0.01})
