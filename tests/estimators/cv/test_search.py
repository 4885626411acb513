"""How candidates are tried: grids that go on, what starts where, and who is averaged with whom."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import headrank as hr
from headrank import LinearRankerCV
from headrank.estimators.cv import search
from headrank.estimators.cv.candidates import Candidate, Fold, Outcome, trial_of, tried
from headrank.estimators.cv.search import Search
from headrank.estimators.cv.tally import Tally
from headrank.surrogates import KINDS
from samples import few_gaussians as gaussians


def folds_of(measure="pauc@0.3", n_folds=3):
    X, y = gaussians(40, 120)
    problem = LinearRankerCV()._pose(hr.measure(measure), X, y, None, None)
    return [Fold(problem, *split) for split in StratifiedKFold(n_folds).split(X, y)]


@pytest.fixture
def made_up(monkeypatch):
    """Run a search in which a candidate is worth what a function says; return the trials, and who was asked for."""

    def run(worth, groups, *, open_ended=True, collapsed=lambda _candidate: False):
        asked, told = [], []

        def fake(fold, group, *, told, before, anchor, **_limits):
            k = folds.index(fold)
            asked.extend((candidate, k, before, anchor) for candidate in group)
            for _ in group:
                told()
            weights = [np.array([1.0, np.log10(c.C), float(k)]) for c in group]
            return [Outcome(worth(c, k), collapsed(c), 1, w) for c, w in zip(group, weights, strict=True)]

        folds = folds_of()
        monkeypatch.setattr(search, "tried", fake)
        tally = Tally(lambda done, total: told.append((done, total)))
        running = Search(folds, open_ended, tol=1e-3, max_iter=9, n_jobs=None, tally=tally)
        trials = [trial_of(candidate, outcomes) for candidate, outcomes in running.outcomes(groups).items()]
        assert told[-1] == (len(asked), len(asked))
        return trials, asked

    return run


def path(surrogate, *Cs, bandwidth=None):
    return [Candidate(surrogate, C, bandwidth) for C in Cs]


def grid(trials, surrogate="logistic"):
    return [trial.candidate.C for trial in trials if trial.candidate.surrogate == surrogate]


def near(best_C):
    """Best where C is this, the same on every fold."""
    return lambda candidate, _k: -abs(np.log10(candidate.C / best_C))


@pytest.mark.parametrize(
    ("best_C", "expected"),
    [
        (0.1, [0.1, 1.0]),
        (1.0, [0.1, 1.0, 10.0]),
        (10.0, [0.1, 1.0, 10.0, 100.0]),
        (1e6, [0.1, 1.0, 10.0, 100.0]),
    ],
)
def test_a_grid_that_is_best_at_its_end_goes_on_for_two_steps_at_most(made_up, best_C, expected):
    trials, asked = made_up(near(best_C), [path("logistic", 0.1, 1.0)])
    assert grid(trials) == expected
    for candidate, k, before, _ in asked:
        if candidate.C > 1:  # it starts from what the last one has learned on the same fold
            assert before.weights.tolist() == [1.0, np.log10(candidate.C / 10), k]
        else:
            assert before is None


def test_a_grid_that_was_asked_for_is_kept(made_up):
    trials, _ = made_up(near(1e6), [path("logistic", 0.1, 1.0)], open_ended=False)
    assert grid(trials) == [0.1, 1.0]


def test_only_the_default_grids_are_open_ended(monkeypatch):
    """Two copies of a feature that differ in the sign of their noise: the less penalty, the better."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    noise = 30 * rng.normal(size=400)
    X = np.column_stack([y + rng.normal(size=400) + noise, noise])
    monkeypatch.setitem(KINDS, "logistic", replace(KINDS["logistic"], Cs=(1.0, 10.0)))
    ranker = LinearRankerCV("auc", surrogates=("logistic",), cv=2).fit(X, y)
    assert grid(ranker.trials_) == [1.0, 10.0, 100.0, 1000.0]
    ranker.set_params(Cs=(1.0, 10.0)).fit(X, y)
    assert grid(ranker.trials_) == [1.0, 10.0]


def test_a_level_grid_does_not_go_on(made_up):
    trials, _ = made_up(lambda _candidate, _k: 0.5, [path("logistic", 0.1, 1.0)])
    assert grid(trials) == [0.1, 1.0]


def test_a_grid_that_ends_in_collapse_does_not_go_on(made_up):
    trials, _ = made_up(near(1e6), [path("logistic", 0.1, 1.0)], collapsed=lambda candidate: candidate.C >= 1)
    assert grid(trials) == [0.1, 1.0]


@pytest.mark.parametrize("surrogate", ["auc", "tight", "structural"])
def test_the_grid_of_a_hinge_does_not_go_on(made_up, surrogate):
    trials, _ = made_up(near(1e6), [path(surrogate, 0.1, 1.0)])
    assert grid(trials, surrogate) == [0.1, 1.0]


def test_every_group_goes_on_by_itself(made_up):
    def worth(candidate, k):
        return near(1e6 if (candidate.surrogate, candidate.bandwidth) in [("svc", None), ("smooth", 0.5)] else 0.1)(
            candidate, k
        )

    groups = [path(name, 0.1, 1.0) for name in ("logistic", "svc")]
    groups += [path("smooth", 0.1, 1.0, bandwidth=h) for h in (0.1, 0.5)]
    trials, asked = made_up(worth, groups)
    assert grid(trials) == [0.1, 1.0]
    assert grid(trials, "svc") == [0.1, 1.0, 10.0, 100.0]
    assert grid(trials, "smooth") == [0.1, 1.0, 0.1, 1.0, 10.0, 100.0]
    assert all(anchor is not None for candidate, *_, anchor in asked if candidate.surrogate == "smooth")


def flat(**by_surrogate):
    """The same worth on every fold but for a little noise, which differs by surrogate."""
    noise = {name: np.random.default_rng(i).normal(size=3) for i, name in enumerate(by_surrogate)}

    def worth(candidate, k):
        name = candidate.surrogate if candidate.bandwidth != 0.5 else "soft"
        return by_surrogate[name] + 1e-3 * float(noise[name][k])

    return worth


GROUPS = [
    *(path(name, 1.0) for name in ("logistic", "svc", "tight")),
    *(path("smooth", 1.0, bandwidth=h) for h in (0.1, 0.5)),
]


def averages(trials):
    names = {}
    for trial in trials:
        if trial.candidate.surrogate.startswith("average"):
            members = [m.surrogate if m.bandwidth != 0.5 else "soft" for m in trial.candidate.members]
            names[trial.candidate.surrogate] = set(members)
    return names


def test_equals_are_averaged_within_the_convex_within_the_smooth_and_then_both(made_up, monkeypatch):
    worth = flat(logistic=0.5, svc=0.5, tight=0.3, smooth=0.5, soft=0.3)
    monkeypatch.setattr(Fold, "measured", lambda _self, _weights: 0.501)  # so is, about, what the average is worth
    trials, asked = made_up(worth, GROUPS, open_ended=False)
    assert averages(trials) == {
        "average of convex": {"logistic", "svc"},
        "average of both": {"logistic", "svc", "smooth"},
    }
    starts = {candidate.start for candidate, *_ in asked if candidate.surrogate == "smooth"}
    assert [{member.surrogate for member in start} for start in starts] == [{"logistic", "svc"}]


def test_what_is_clearly_ahead_is_not_averaged_with_what_is_behind(made_up, monkeypatch):
    monkeypatch.setattr(Fold, "measured", lambda _self, _weights: 0.901)
    ahead, _ = made_up(flat(logistic=0.5, svc=0.4, tight=0.3, smooth=0.9, soft=0.9), GROUPS, open_ended=False)
    assert averages(ahead) == {"average of smooth": {"smooth", "soft"}}
    behind, _ = made_up(flat(logistic=0.9, svc=0.9, tight=0.3, smooth=0.5, soft=0.4), GROUPS, open_ended=False)
    assert averages(behind) == {"average of convex": {"logistic", "svc"}}


def test_an_average_that_is_clearly_behind_all_its_parts_is_left_out(made_up, monkeypatch):
    """Good scorers that look in different directions: between them may lie nothing good."""
    monkeypatch.setattr(Fold, "measured", lambda _self, _weights: 0.4)
    worth = flat(logistic=0.5, svc=0.5, tight=0.3, smooth=0.5, soft=0.3)
    trials, asked = made_up(worth, GROUPS, open_ended=False)
    assert averages(trials) == {}
    ahead = max((trial for trial in trials if trial.candidate.surrogate in ("logistic", "svc")), key=lambda t: t.mean)
    assert {candidate.start for candidate, *_ in asked if candidate.surrogate == "smooth"} == {(ahead.candidate,)}


def test_families_that_have_collapsed_are_not_averaged(made_up, monkeypatch):
    monkeypatch.setattr(Fold, "measured", lambda _self, _weights: 0.501)
    worth = flat(logistic=0.5, svc=0.5, tight=0.5, smooth=0.5, soft=0.5)
    trials, asked = made_up(worth, GROUPS, open_ended=False, collapsed=lambda c: c.surrogate != "smooth")
    assert averages(trials) == {"average of smooth": {"smooth", "soft"}}
    assert {(candidate.start, anchor) for candidate, *_, anchor in asked if candidate.surrogate == "smooth"} == {
        ((), None)
    }
    assert averages(made_up(worth, GROUPS, open_ended=False, collapsed=lambda _c: True)[0]) == {}


@pytest.mark.parametrize("surrogate", ["logistic", "svc", "auc", "tight", "structural", "smooth"])
def test_going_on_from_where_a_grid_ended_is_worth_what_a_longer_grid_is(surrogate):
    bandwidth, limits = (0.5 if surrogate == "smooth" else None), {"tol": 1e-5, "max_iter": 500, "told": lambda: None}
    first, second = path(surrogate, 0.1, 1.0, bandwidth=bandwidth)
    for fold in folds_of():
        one, two = tried(fold, [first, second], **limits)
        (again,) = tried(fold, [second], before=one, **limits)
        assert again.value == pytest.approx(two.value, abs=0.02)
        assert again.collapsed == two.collapsed
        cosine = again.weights @ two.weights / np.linalg.norm(again.weights) / np.linalg.norm(two.weights)
        assert cosine > 0.999


def test_a_hinge_that_has_collapsed_on_a_fold_is_not_tried_there_again():
    limits = {"tol": 1e-3, "max_iter": 50, "told": lambda: None}
    nothing = Outcome(0.1, True, 5, np.zeros(3))
    fold = folds_of()[0]
    assert tried(fold, path("tight", 1.0, 10.0), before=nothing, **limits) == [nothing._replace(n_iter=0)] * 2
    (other,) = tried(fold, path("logistic", 1.0), before=nothing, **limits)
    assert other.n_iter > 0


def test_a_tally_tells_what_is_done_and_what_is_known_to_come():
    told = []
    tally = Tally(lambda done, total: told.append((done, total)))
    tally.expect(2)
    tally.done()
    tally.expect(3)
    tally.left(1)
    tally.done()
    assert told == [(0, 2), (1, 2), (1, 5), (1, 2), (2, 2)]
