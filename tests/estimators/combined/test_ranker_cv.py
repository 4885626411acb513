"""RankerCV: what it is made of, what it says, what it leaves out and what an interrupt leaves."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from estimators.trees.boosting import combined, whole_numbers
from headrank.estimators.combined import clock, families, ranker_cv, shares
from headrank.estimators.combined.families import FAMILIES
from headrank.estimators.combined.wording import gain, why
from headrank.estimators.cv.candidates import Trial
from headrank.exceptions import CollapsedFitWarning
from samples import gaussians

QUICK = ("extra trees", "random forest")


@pytest.fixture(scope="module")
def fitted():
    X, y = gaussians(60, 240, shift=1.5)
    X[::11, 1] = np.nan
    return combined(families=("boosted trees", "linear", "extra trees")).fit(X, y), X, y


def test_scores_are_the_weighted_sum_of_the_parts(fitted):
    ranker, X, _ = fitted
    parts = sum(part.weight / part.spread * part.scorer.decision_function(X) for part in ranker.parts_)
    np.testing.assert_allclose(ranker.decision_function(X), parts + ranker.intercept_, atol=1e-9)
    assert sum(part.weight for part in ranker.parts_) == pytest.approx(1)
    for part in ranker.parts_:
        assert part.spread == pytest.approx(np.concatenate(part.scorer.out_of_fold_).std())


def test_scores_out_of_fold_are_those_of_the_combination(fitted):
    ranker, _, y = fitted
    shifts = []
    for k, scores in enumerate(ranker.out_of_fold_):
        parts = sum(part.weight / part.spread * part.scorer.out_of_fold_[k] for part in ranker.parts_)
        shifts = np.append(shifts, scores - parts)
    np.testing.assert_allclose(shifts, shifts[0], atol=1e-9)  # the thresholds of the parts
    assert sum(scores.size for scores in ranker.out_of_fold_) == y.size
    assert 0.3 < ranker.best_score_ < 1


def test_as_many_rows_are_predicted_positive_as_are(fitted):
    """On the folds, and on new rows, to which the scores out of fold are compared at the same threshold."""
    ranker, _, y = fitted
    assert (np.concatenate(ranker.out_of_fold_) + ranker.intercept_ > 0).sum() == y.sum() == 60
    new, _ = gaussians(600, 2400, shift=1.5, seed=1)
    assert 400 < (ranker.predict(new) == 1).sum() < 800


def test_one_family_keeps_its_threshold():
    X, y = gaussians(60, 240)
    ranker = combined(families=("extra trees",)).fit(X, y)
    assert ranker.intercept_ == pytest.approx(0, abs=1e-9)
    np.testing.assert_array_equal(ranker.predict(X), ranker.parts_[0].scorer.predict(X))


def test_contributions_add_up_and_missing_values_count_for_their_column(fitted):
    ranker, X, _ = fitted
    np.testing.assert_allclose(ranker.contributions(X).sum(axis=1), ranker.decision_function(X), atol=1e-6)
    linear = combined(families=("linear",)).fit(X, fitted[2])
    contributions = linear.contributions(X)
    np.testing.assert_allclose(contributions.sum(axis=1), linear.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(contributions[:, :-1].mean(axis=0), 0, atol=1e-6)
    assert np.ptp(contributions[:, -1]) < 1e-9


def test_the_choice_is_said_and_listed(fitted):
    ranker, _, _ = fitted
    for part in ranker.parts_:
        assert part.family in ranker.choice_
    assert f"mean {ranker.best_score_:.4g} over 3 folds" in ranker.choice_
    assert [trial.candidate for trial in ranker.trials_] == ["boosted trees", "linear", "extra trees", "combination"]
    table = ranker.cv_results_
    assert table["candidate"].unique(maintain_order=True).to_list() == [trial.candidate for trial in ranker.trials_]
    assert table.filter(table["candidate"] == "combination")["pauc@0.3"].mean() == pytest.approx(ranker.best_score_)
    assert ranker.left_out_ == {}


def test_what_each_part_adds_is_said():
    X, y = gaussians(60, 240, shift=1.5)
    splits = list(StratifiedKFold(3).split(X, y))
    ranker = combined(families=("linear", "extra trees", "random forest"), cv=splits).fit(X, y)
    measure, tests = hr.measure("pauc@0.3"), [test for _, test in splits]
    assert len(ranker.parts_) > 1
    for left_out in ranker.parts_:
        rest = [part for part in ranker.parts_ if part is not left_out]
        values = [
            measure(y[test], sum(part.factor * part.scorer.out_of_fold_[k] for part in rest))
            for k, test in enumerate(tests)
        ]
        lead = ranker.best_score_ - np.mean(values)
        assert f"{abs(lead):.2g} {'worse' if lead > 0 else 'better'} without {left_out.family}" in ranker.choice_


def test_a_part_that_adds_nothing():
    both, linear = trial("combination", 0.5, 0.7), trial("linear", 0.5, 0.6)
    said = why({"linear": 0.9, "extra trees": 0.1}, [linear], both, {"extra trees": both.values}, hr.measure("auc"), {})
    assert said.endswith("It would be the same without extra trees.")
    without = {"linear": both.values, "extra trees": both.values}
    said = why({"linear": 0.5, "extra trees": 0.5}, [linear], both, without, hr.measure("auc"), {})
    assert said.endswith("It would be the same without any one of them.")
    without["random forest"] = both.values - 0.1
    said = why(dict.fromkeys(without, 1 / 3), [linear], both, without, hr.measure("auc"), {})
    assert said.endswith("It would be 0.1 worse without random forest, the same without linear or extra trees.")


def test_a_measure_that_is_better_when_lower():
    X, y = gaussians(60, 240, shift=2.0)
    told = []
    ranker = combined(hr.FPRAtTPR(0.5), families=QUICK, verbose=told.append).fit(X, y)
    means = [-trial.mean for trial in ranker.trials_[:2]]
    assert ranker.best_score_ <= min(means) + 0.02
    assert {each.best for each in told} == {None, means[0]}
    assert 0 < ranker.best_score_ < 0.3
    assert ranker.score(X, y) <= 0


def test_refit_keeps_the_choice():
    X, y = gaussians(60, 240)
    ranker = combined(families=("boosted trees", "linear")).fit(X[::2], y[::2])
    choice, weights = ranker.choice_, [part.weight for part in ranker.parts_]
    before = ranker.decision_function(X)
    assert ranker.refit(X, y) is ranker
    assert (ranker.choice_, [part.weight for part in ranker.parts_]) == (choice, weights)
    assert np.abs(ranker.decision_function(X) - before).max() > 1e-3
    assert (ranker.predict(X) == 1).sum() == 60


def test_a_family_that_learned_nothing_is_not_taken():
    """Of 25 rows, boosted trees with leaves of 20 learn nothing; forests do."""
    X, y = gaussians(9, 21, 1, shift=0.2, seed=3)
    grid = ({"min_samples_leaf": 10**6},)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrank.estimators.trees.boosted_cv.GRID", grid)
        ranker = combined("auc", families=("boosted trees", "extra trees")).fit(X, y)
        assert [part.family for part in ranker.parts_] == ["extra trees"]
        assert not ranker.collapsed_
        assert "Not used: boosted trees 0.5" in ranker.choice_
        with pytest.warns(CollapsedFitWarning, match="no family has learned anything"):
            assert combined(families=("boosted trees",)).fit(X, y).collapsed_


def trial(name, *values):
    return Trial(name, np.array(values), np.zeros(len(values), dtype=bool), np.zeros(len(values)))


@pytest.mark.parametrize(
    ("together", "expected"),
    [
        ((0.6, 0.7, 0.8), "The combination gains 0.1 on linear alone, standard error 0."),
        ((0.4, 0.61, 0.7), "The combination trails linear alone by 0.03, standard error 0.056: within the noise."),
        ((0.4, 0.5, 0.6), "The combination trails linear alone by 0.1, standard error 0."),
        ((0.6,), "The combination gains 0.1 on linear alone."),
        ((0.5 - 1e-13,), "The combination is worth as much as linear alone."),
    ],
)
def test_what_a_combination_adds_is_said(together, expected):
    best = trial("linear", *(0.5, 0.6, 0.7)[: len(together)])
    assert re.sub(r"error \d\.\d*e-\d+", "error 0", gain(trial("combination", *together), best)) == expected


def test_one_fold_has_no_standard_error():
    X, y = whole_numbers()
    folds = [(np.arange(100), np.arange(100, 200))]
    choice = combined(families=("extra trees",), cv=folds).fit(X, y).choice_
    assert choice.endswith("over one fold, standard error unknown.")


# Time


def test_the_first_family_is_finished_and_the_others_are_named():
    X, y = whole_numbers()
    for first in ("boosted trees", "extra trees"):
        others = tuple(family for family in FAMILIES if family != first)
        ranker = combined(families=(first, *others), max_seconds=1e-9).fit(X, y)
        assert [part.family for part in ranker.parts_] == [first]
        assert ranker.left_out_ == dict.fromkeys(others, "not finished within 1e-09 s")
        assert f"Left out: {others[0]} (not finished within 1e-09 s); " in ranker.choice_


def test_a_family_that_runs_out_of_time_is_left_out_at_the_end_of_a_fold(monkeypatch):
    """On a clock that goes on by a second whenever it is read."""
    X, y = whole_numbers()
    ticks = iter(range(10**6))
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    told = []
    ranker = combined(families=("extra trees", "random forest"), max_seconds=19, verbose=told.append).fit(X, y)
    assert ranker.left_out_ == {"random forest": "not finished within 19 s"}
    assert [part.family for part in ranker.parts_] == ["extra trees"]
    assert told[-1].family == "random forest"
    assert 0 < told[-1].done < 3


def test_boosted_trees_may_take_all_of_the_time_if_nothing_follows(monkeypatch):
    X, y = whole_numbers()
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: 0.0))
    limits = [
        combined(families=names, max_seconds=1e6).fit(X, y).parts_[0].scorer.max_seconds
        for names in (("boosted trees",), ("boosted trees", "extra trees"))
    ]
    assert limits == [1e6, 5e5]


def test_bars_are_shown_with_a_limit_too(capsys):
    X, y = whole_numbers()
    for limit in (None, 1e6):
        combined("auc", families=QUICK, max_seconds=limit, verbose=1).fit(X, y)
        shown = capsys.readouterr().err
        assert all(f"{family} for auc" in shown for family in QUICK)


def test_enough_time_leaves_nothing_out():
    X, y = whole_numbers()
    told = []
    ranker = combined(families=QUICK, max_seconds=1e6, verbose=told.append).fit(X, y)
    assert ranker.left_out_ == {}
    assert all(0 < each.seconds_left <= 1e6 for each in told)


# Rows that not all families take


@pytest.mark.parametrize(
    ("value", "kind", "refused"),
    [
        (np.nan, "NaN", ("linear", "kernel", "extra trees", "random forest")),
        (-np.inf, "infinities", ("linear", "kernel")),
    ],
)
def test_sparse_rows_with_values_that_are_no_numbers(value, kind, refused):
    X, y = whole_numbers()
    X[X == 0] = 1
    X[5, 2] = value
    ranker = combined(families=FAMILIES, measure="auc").fit(csr_matrix(X), y)
    reason = f"not for sparse rows with {kind}, as in feature 2"
    assert ranker.left_out_ == dict.fromkeys(refused, reason)
    assert {part.family for part in ranker.parts_} <= {*FAMILIES} - {*refused}
    assert reason in ranker.choice_
    assert ranker.score(csr_matrix(X), y) > 0.8
    with pytest.raises(ValueError, match=f"linear: {reason}. Fill them in"):
        combined(families=("linear",)).fit(csr_matrix(X), y)


@pytest.mark.parametrize("n_features", [1, 3])
def test_all_families_take_three_positives(n_features):
    X, y = gaussians(3, 197, n_features, shift=3.0)
    ranker = combined("auc", families=FAMILIES).fit(X, y)
    assert [trial.candidate for trial in ranker.trials_] == [*FAMILIES, "combination"]
    assert ranker.score(X, y) > 0.9


@pytest.mark.parametrize("family", FAMILIES)
def test_new_scores_of_a_part_have_the_spread_they_are_divided_by(family):
    X, y = gaussians(200, 800, shift=1.0)
    (part,) = combined("auc", families=(family,)).fit(X[::2], y[::2]).parts_
    assert part.scorer.decision_function(X[1::2]).std() == pytest.approx(part.spread, rel=0.25)


def test_all_families_say_that_constant_features_tell_nothing():
    y = gaussians(60, 240)[1]
    with pytest.warns(CollapsedFitWarning, match="no family has learned anything"):
        ranker = combined("auc", families=FAMILIES).fit(np.ones((300, 3)), y)
    assert ranker.left_out_ == {}
    assert np.ptp(ranker.decision_function(np.ones((300, 3)))) == 0


# Progress and interrupts


def test_progress_is_told():
    X, y = whole_numbers()
    told = []
    ranker = combined(families=QUICK, verbose=told.append).fit(X, y)
    assert [(each.family, each.done, each.total) for each in told if each.family == "random forest"] == [
        ("random forest", 0, 1),
        *(("random forest", done, 4) for done in range(5)),
    ]
    assert {each.seconds_left for each in told} == {None}
    first = [each for each in told if each.family == "extra trees"]
    assert {each.best for each in first} == {None}
    assert told[-1].best == pytest.approx(ranker.trials_[0].mean)
    assert ranker.verbose is not None
    assert all(part.scorer.verbose == 0 for part in ranker.parts_)


def interrupting(family, done):
    def told(progress):
        if (progress.family, progress.done) == (family, done):
            raise KeyboardInterrupt

    return told


@pytest.mark.parametrize("done", [0, 1])
def test_an_interrupt_keeps_what_is_finished(done):
    X, y = whole_numbers()
    ranker = combined(families=("extra trees", "random forest", "linear"), verbose=interrupting("random forest", done))
    with pytest.warns(RuntimeWarning, match="interrupted; combining the families that are finished"):
        ranker.fit(X, y)
    assert [part.family for part in ranker.parts_] == ["extra trees"]
    assert ranker.left_out_ == {"random forest": "interrupted", "linear": "interrupted"}
    assert "Left out: random forest (interrupted); linear (interrupted)." in ranker.choice_
    alone = combined(families=("extra trees",)).fit(X, y)
    np.testing.assert_array_equal(ranker.decision_function(X), alone.decision_function(X))


def test_an_interrupt_of_the_linear_family_keeps_what_is_finished():
    X, y = whole_numbers()
    ranker = combined(families=("extra trees", "linear"), verbose=interrupting("linear", 1))
    with pytest.warns(RuntimeWarning, match="interrupted"):
        ranker.fit(X, y)
    assert ranker.left_out_ == {"linear": "interrupted"}


def test_an_interrupt_while_they_are_combined_loses_nothing(monkeypatch):
    X, y = whole_numbers()
    calls = []

    def combination(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return shares.combination(*given)

    monkeypatch.setattr(ranker_cv, "combination", combination)
    with pytest.warns(RuntimeWarning, match="interrupted; combining"):
        ranker = combined(families=QUICK).fit(X, y)
    plain = combined(families=QUICK).fit(X, y)
    np.testing.assert_array_equal(ranker.decision_function(X), plain.decision_function(X))
    assert ranker.left_out_ == {}


@pytest.mark.parametrize("family", ["boosted trees", "extra trees"])
def test_an_interrupt_of_the_first_family_is_raised(family):
    X, y = whole_numbers()
    ranker = combined(families=(family, "linear"), verbose=interrupting(family, 1))
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    assert not hasattr(ranker, "parts_")


def test_reasons_from_before_an_interrupt_remain(monkeypatch):
    X, y = whole_numbers()
    monkeypatch.setattr(families, "why_not", lambda: "not here")
    ranker = combined(families=("boosted trees", "extra trees", "linear"), verbose=interrupting("linear", 0))
    with pytest.warns(RuntimeWarning, match="interrupted"):
        ranker.fit(X, y)
    assert ranker.left_out_["extra trees"].endswith("could not be loaded: not here")
    assert ranker.left_out_["linear"] == "interrupted"
