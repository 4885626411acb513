"""select: picks the best scorer, and promises of it no more than the union over all scorers allows."""

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

import headrank as hr
from headrank._format import rounded_down
from headrank.bounds.intervals import interval_of
from headrank.measures import AUC

N_POS, N_NEG = 60, 140
CONFIDENCE = 0.9


@pytest.fixture(scope="module")
def y():
    return np.tile([1, 0, 0, 1, 0, 0, 0, 1, 0, 0], 20)


@pytest.fixture(scope="module")
def scores(y):
    """Scorers from good to useless; none is perfect, so that no end of an interval is cut off at 0 or 1."""
    rng = np.random.default_rng(0)
    gains = {"useless": 0.0, "fair": 1.0, "good": 2.0, "poor": 0.5}
    return {name: gain * y + rng.normal(size=y.size) for name, gain in gains.items()}


@pytest.fixture(scope="module")
def selection(scores, y):
    return hr.select(scores, y)


# -- the union bound -------------------------------------------------------------------------------------------------


def radius(n_scorers):
    """Corollary 3 of Agarwal et al. (2004)."""
    share = N_POS / (N_POS + N_NEG)
    return sqrt((log(n_scorers) + log(2 / (1 - CONFIDENCE))) / (2 * share * (1 - share) * (N_POS + N_NEG)))


@pytest.mark.parametrize("n_scorers", [1, 2, 3, 4])
def test_corollary_3(n_scorers, scores, y):
    assert (np.count_nonzero(y), y.size) == (N_POS, N_POS + N_NEG)
    given = dict(list(scores.items())[:n_scorers])
    picked = hr.select(given, y, method="mcdiarmid", confidence=CONFIDENCE)
    assert picked.n_scorers == n_scorers
    for interval in picked.intervals.values():
        assert interval.estimate - interval.low == pytest.approx(radius(n_scorers), rel=1e-9)
        assert min(interval.high - interval.estimate, 1 - interval.estimate) == pytest.approx(
            min(radius(n_scorers), 1 - interval.estimate), rel=1e-9
        )


@pytest.mark.parametrize("n_scorers", [5, 100, 10**6])
def test_corollary_3_of_a_larger_class(n_scorers, scores, y):
    shown = {name: scores[name] for name in ("fair", "useless")}
    picked = hr.select(shown, y, method="mcdiarmid", confidence=CONFIDENCE, n_scorers=n_scorers)
    assert picked.interval.estimate - picked.interval.low == pytest.approx(radius(n_scorers), rel=1e-6)
    assert picked.n_scorers == n_scorers
    assert f"the best of {n_scorers:,} scorers" in str(picked)
    assert f"union bound over {n_scorers} scorers" in picked.interval.theorem


@pytest.mark.parametrize("method", ["auto", "kl", "hoeffding", "bernstein", "tail", "dkw"])
def test_each_interval_takes_its_share_of_the_risk(method, scores, y):
    picked = hr.select(scores, y, method=method, confidence=CONFIDENCE, side="lower")
    for name, interval in picked.intervals.items():
        curve = hr.RocCurve.from_scores(y, scores[name])
        one = interval_of(curve, AUC(), confidence=1 - (1 - CONFIDENCE) / 4, side="lower", method=method)
        assert (interval.low, interval.estimate, interval.high) == (one.low, one.estimate, one.high)
        assert (interval.confidence, interval.side, interval.method) == (CONFIDENCE, "lower", one.method)
        assert interval.low <= interval_of(curve, AUC(), confidence=CONFIDENCE, side="lower", method=method).low


def test_one_scorer_is_an_interval(scores, y):
    picked = hr.select({"fair": scores["fair"]}, y)
    alone = hr.interval(y, scores["fair"])
    assert (picked.interval.low, picked.interval.high) == pytest.approx((alone.low, alone.high))
    assert picked.differences is None
    assert picked.not_told_apart == ()
    assert str(picked).startswith("fair is the best of 1 scorer by auc")
    assert str(picked).endswith("There was no other scorer.")
    assert picked.to_frame().height == 1


# -- which is picked -------------------------------------------------------------------------------------------------


def test_the_best_is_picked(selection, scores, y):
    assert selection.picked == "good"
    assert selection.interval is selection.intervals["good"]
    assert list(selection.intervals) == list(scores)
    for name, interval in selection.intervals.items():
        assert interval.estimate == pytest.approx(AUC()(y, scores[name]))


@pytest.mark.parametrize("measure", ["mass@0.3", "fpr@tpr=0.7", "alpha@0.3", "rankrisk@0.3"])
def test_of_an_error_the_least_is_picked(measure, scores, y):
    picked = hr.select(scores, y, measure=measure)
    assert picked.picked == "good"
    estimates = [interval.estimate for interval in picked.intervals.values()]
    assert picked.interval.estimate == min(estimates)
    assert picked.to_frame()["estimate"].to_list() == sorted(estimates)
    assert picked.to_frame()["scorer"][0] == "good"


@pytest.mark.parametrize("measure", ["auc", "mass@0.3"])
def test_of_those_that_tie_the_first_is_picked(measure, scores, y):
    same = {"second": scores["poor"], "b": scores["good"], "a": scores["good"], "c": 2 * scores["good"] + 1}
    picked = hr.select(same, y, measure=measure)
    assert picked.picked == "b"
    assert set(picked.not_told_apart) >= {"a", "c"}
    assert picked.to_frame()["scorer"].to_list() == ["b", "a", "c", "second"]


# -- which rivals may be as good -------------------------------------------------------------------------------------


def test_scorers_that_differ_clearly_are_told_apart(y):
    noise = np.random.default_rng(1).normal(size=y.size)
    picked = hr.select({"bad": -y + 0.5 * noise, "good": y + 0.5 * noise}, y)
    assert picked.picked == "good"
    assert picked.not_told_apart == ()
    assert str(picked).endswith("It is better than the other, with the same confidence.")
    three = hr.select({"bad": -y + 0.5 * noise, "worse": -y, "good": y + 0.5 * noise}, y)
    assert str(three).endswith("It is better than each of the 2 others, with the same confidence.")


def test_the_verdict_is_that_of_the_paired_differences(selection, scores, y):
    differences = hr.compare_many(scores, y)
    for own, other in zip(selection.differences, differences, strict=True):
        assert own == replace(other, asymptotic=None)
    rivals = [name for name in scores if name != "good"]
    unsure = [n for n in rivals if not any(d.told_apart for d in differences if set(d.names) == {n, "good"})]
    assert list(selection.not_told_apart) == unsure
    assert "useless" not in unsure


def test_pairing_tells_apart_what_the_intervals_do_not():
    rng = np.random.default_rng(0)
    y = np.tile([1, 0], 1000)
    better = y + rng.normal(size=2000)
    worse = better + 0.8 * rng.normal(size=2000)
    picked = hr.select({"worse": worse, "better": better}, y)
    assert picked.intervals["worse"].high > picked.intervals["better"].low
    assert picked.not_told_apart == ()


def test_where_more_were_in_the_running_nothing_is_paired(scores, y):
    shown = {name: scores[name] for name in ("useless", "good")}
    all_shown, some_shown = hr.select(shown, y), hr.select(shown, y, n_scorers=20)
    assert all_shown.differences is not None
    assert some_shown.differences is None
    for name in shown:
        assert some_shown.intervals[name].low < all_shown.intervals[name].low
        assert all_shown.intervals[name].high < some_shown.intervals[name].high
    # Told apart then only where the intervals, which hold at once, have no value in common; of errors as well.
    assert some_shown.intervals["good"].low > some_shown.intervals["useless"].high
    assert some_shown.not_told_apart == ()
    assert hr.select(shown, y, n_scorers=10**9).not_told_apart == ("useless",)
    errors = hr.select({"bad": -y, "good": y}, y, measure="fpr@tpr=0.7", n_scorers=3)
    assert (errors.picked, errors.not_told_apart) == ("good", ())


def test_names_need_not_be_strings(y):
    picked = hr.select({1: -y, 2: y}, y)
    assert (picked.picked, picked.not_told_apart) == ("2", ())
    assert str(picked).startswith("2 is the best of 2 scorers")


# -- what it says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "stated"),
    [("validation", "fixed before these rows were seen"), ("training", "a finite class fixed before these rows")],
)
def test_it_states_on_which_rows_it_was_picked(rows, stated, scores, y):
    picked = hr.select(scores, y, rows=rows)
    assert picked.rows == rows
    for interval in picked.intervals.values():
        assert stated in interval.assumptions
        assert "independent draws" in interval.assumptions
        assert "Agarwal et al. 2004" in interval.theorem
    assert f"selected on {rows} rows." in str(picked)
    other = hr.select(scores, y)
    assert (picked.interval.low, picked.interval.high) == (other.interval.low, other.interval.high)


def test_the_sentence(selection):
    best = selection.interval
    text = str(selection)
    assert text.startswith("good is the best of 4 scorers by auc, selected on validation rows. With 95 % confidence ")
    assert f"its true value is {best.where}, the selection accounted for" in text
    assert f"(estimate {best.estimate:.4g}, fixed_range)" in text
    rivals = selection.not_told_apart
    assert text.endswith(
        f"It cannot be told apart from {', '.join(rivals)}." if rivals else "with the same confidence."
    )
    assert repr(selection) == f"<Selection: {text}>"


def test_one_sided(scores, y):
    picked = hr.select(scores, y, side="lower", confidence=0.99)
    assert f"With 99 % confidence its true value is at least {rounded_down(picked.interval.low)}," in str(picked)
    assert picked.interval.low > hr.select(scores, y, confidence=0.99).interval.low
    assert picked.interval.high == 1


def test_the_frame_has_the_best_first(selection):
    frame = selection.to_frame()
    assert frame.columns == ["scorer", "picked", "told_apart", "low", "estimate", "high", "method"]
    assert frame["scorer"].to_list() == ["good", "fair", "poor", "useless"]
    assert frame["picked"].to_list() == [True, False, False, False]
    expected = [name != "good" and name not in selection.not_told_apart for name in frame["scorer"]]
    assert frame["told_apart"].to_list() == expected
    assert frame["low"].to_list() == [selection.intervals[name].low for name in frame["scorer"]]


# -- what else comes in ----------------------------------------------------------------------------------------------


def test_queries(scores, y):
    qid = np.repeat(np.arange(20), 10)
    picked = hr.select(scores, y, qid=qid, measure="pauc@0.5")
    assert picked.picked == "good"
    assert picked.interval.method == "over_queries"
    assert picked.interval.n_queries == 20
    one = hr.interval(y, scores["good"], qid=qid, measure="pauc@0.5", confidence=1 - 0.05 / 4)
    assert (picked.interval.low, picked.interval.high) == (one.low, one.high)


def test_labels_by_name(selection, scores, y):
    words = np.where(y == 1, "yes", "no")
    picked = hr.select(scores, words, pos_label="yes")
    assert picked.intervals == selection.intervals
    assert picked.not_told_apart == selection.not_told_apart


def test_refusals(scores, y):
    with pytest.raises(ValueError, match="at least one scorer, got none"):
        hr.select({}, y)
    with pytest.raises(ValueError, match="n_scorers must be at least 4, got 3"):
        hr.select(scores, y, n_scorers=3)
    with pytest.raises(TypeError, match="n_scorers must be a whole number"):
        hr.select(scores, y, n_scorers=4.5)
    with pytest.raises(ValueError, match="rows must be one of 'validation', 'training', got 'test'"):
        hr.select(scores, y, rows="test")
    for method in ("delong", "bootstrap"):
        with pytest.raises(ValueError, match=f"needs a finite-sample method, got '{method}', which is asymptotic"):
            hr.select(scores, y, method=method)
    with pytest.raises(ValueError, match="method must be one of"):
        hr.select(scores, y, method="wald")
    with pytest.raises(ValueError, match="method='kl' is a bound for the AUC"):
        hr.select(scores, y, method="kl", measure="pauc@0.1")
    with pytest.raises(ValueError, match="not percent"):
        hr.select(scores, y, confidence=95)
    with pytest.raises(ValueError, match="one value per row"):
        hr.select(scores | {"short": y[:-1]}, y)
