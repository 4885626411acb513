"""CrossValidationDisplay draws each mean where it is, rings the choice, and marks what has collapsed."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline

import headrank as hr
from headrank.datasets import coarse_eights
from headrank.estimators import LinearRankerCV
from headrank.estimators.cv.candidates import Average, Candidate, Trial
from headrank.plots import CrossValidationDisplay


@pytest.fixture(scope="module")
def fitted():
    ranker = LinearRankerCV("pauc@0.3", surrogates=("logistic", "smooth"), Cs=(0.1, 1.0), cv=3)
    return ranker.fit(*coarse_eights())


def trial(surrogate, C, values, *, bandwidth=None, collapsed=(False, False, False)):
    start = None if bandwidth is None else 1.0
    return Trial(Candidate(surrogate, C, bandwidth, start), np.array(values), np.array(collapsed), np.ones(3))


def chosen_from(trials, best=0, measure="pauc@0.1"):
    return SimpleNamespace(measure_=hr.measure(measure), trials_=trials, best_=trials[best].candidate)


@pytest.fixture
def made_up():
    """A hinge that collapses as C falls, on most folds; on one fold of three it still counts."""
    return chosen_from(
        [
            trial("logistic", 0.1, [0.5, 0.6, 0.7]),
            trial("logistic", 1.0, [0.7, 0.8, 0.9]),
            trial("tight", 0.1, [0.1, 0.1, 0.1], collapsed=(True, True, False)),
            trial("tight", 1.0, [0.4, 0.4, 0.7], collapsed=(True, False, False)),
        ],
        best=1,
    )


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def lines_by_label(display):
    return {line.get_label(): line for line in display.ax_.lines}


def drawn(display):
    """C, mean and standard error of all that is drawn, in order."""
    points = []
    for container in display.ax_.containers:
        line, _, (bars,) = container.lines
        halves = [np.ptp(segment[:, 1]) / 2 for segment in bars.get_segments()]
        points += [(*xy, half) for xy, half in zip(line.get_xydata(), halves, strict=True)]
    return np.array(points)


def test_each_mean_is_drawn_where_it_is(fitted):
    display = CrossValidationDisplay(fitted)
    assert display.plot() is display
    points = drawn(display)
    assert len(points) == len(fitted.trials_) == 6
    for (C, mean, half), each in zip(points, fitted.trials_, strict=True):
        assert mean == each.mean
        assert half == pytest.approx(each.standard_error)
        assert pytest.approx(each.candidate.C, rel=0.15) == C  # moved aside a little, so that bars do not hide bars
    assert len(set(points[:, 0])) == 6
    assert display.ranker is fitted


def test_one_line_per_surrogate_and_bandwidth(fitted):
    display = CrossValidationDisplay(fitted).plot()
    labels = [container.get_label() for container in display.ax_.containers]
    assert labels == ["logistic", "smooth, bandwidth 0.1", "smooth, bandwidth 0.5"]
    logistic, narrow, wide = (container.lines[0] for container in display.ax_.containers)
    assert narrow.get_color() == wide.get_color() != logistic.get_color()
    assert narrow.get_linestyle() != wide.get_linestyle()
    assert {*labels, f"selected: {fitted.best_}"} == {*legend(display)}


def test_the_axes_say_what_they_show(fitted):
    ax = CrossValidationDisplay(fitted).plot().ax_
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "C", "pauc@0.3, mean over 3 folds")


def test_the_label_is_the_measure_as_it_was_taken_on_the_folds():
    """The first k rows of all are the same fraction of a fold's."""
    X, y = coarse_eights()
    ranker = LinearRankerCV(hr.PrecisionAt(len(y) // 10), surrogates=("logistic",), Cs=(1.0,), cv=3).fit(X, y)
    label = CrossValidationDisplay(ranker).plot().ax_.get_ylabel()
    assert label == f"{ranker.measure_}, mean over 3 folds"
    assert str(ranker.measure_) in ranker.cv_results_.columns
    assert str(ranker.measure) not in label


@pytest.mark.parametrize("best", range(4))
def test_the_choice_is_ringed(made_up, best):
    made_up.best_ = made_up.trials_[best].candidate
    display = CrossValidationDisplay(made_up).plot()
    (ring,) = [line for name, line in lines_by_label(display).items() if name.startswith("selected: ")]
    assert ring.get_label() == f"selected: {made_up.best_}"
    np.testing.assert_array_equal(ring.get_xydata(), drawn(display)[best : best + 1, :2])
    assert ring.get_fillstyle() == "none"
    assert ring.get_markersize() > 10


def test_what_has_collapsed_on_most_folds_is_crossed(made_up):
    display = CrossValidationDisplay(made_up).plot()
    crosses = [line for line in display.ax_.lines if line.get_marker() == "x"]
    assert [line.get_label() for line in crosses] == ["tight, collapsed"]
    np.testing.assert_array_equal(crosses[0].get_xydata(), drawn(display)[2:3, :2])
    assert "tight, collapsed" in legend(display)


def test_where_none_has_collapsed_there_is_no_cross(fitted):
    display = CrossValidationDisplay(fitted).plot()
    assert not [line for line in display.ax_.lines if line.get_marker() == "x"]


@pytest.mark.parametrize("measure", ["mass@0.2", hr.FPRAtTPR(0.8)], ids=str)
def test_an_error_is_shown_as_it_is(measure):
    # Trials hold what is to be maximised: the error, negated.
    ranker = chosen_from([trial("logistic", 1.0, [-0.1, -0.2, -0.3]), trial("tight", 1.0, [-0.4] * 3)], measure=measure)
    display = CrossValidationDisplay(ranker).plot()
    assert drawn(display)[:, 1] == pytest.approx([0.2, 0.4])
    ring = lines_by_label(display)["selected: logistic (C=1)"]
    assert ring.get_ydata() == pytest.approx([0.2])
    assert display.ax_.get_ylabel() == f"{measure}, mean over 3 folds"


def test_a_fitted_error_is_shown_as_it_is():
    X, y = coarse_eights()
    ranker = LinearRankerCV("mass@0.2", surrogates=("logistic",), Cs=(0.1, 1.0), cv=3).fit(X, y)
    display = CrossValidationDisplay(ranker).plot()
    (ring,) = [line for name, line in lines_by_label(display).items() if name.startswith("selected: ")]
    assert ring.get_ydata() == pytest.approx([ranker.best_score_])
    assert ring.get_ydata()[0] == min(drawn(display)[:, 1]) > 0


def test_given_axes_are_used(made_up):
    _, axes = plt.subplots(1, 2)
    display = CrossValidationDisplay(made_up).plot(axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert not axes[0].lines


def test_one_fold_has_no_spread():
    one = Trial(Candidate("logistic", 1.0), np.array([0.5]), np.array([False]), np.ones(1))
    display = CrossValidationDisplay(chosen_from([one])).plot()
    assert drawn(display)[0, 2] == 0


def test_what_is_not_fitted_is_refused():
    for ranker in (LinearRankerCV(), hr.BoostedRankerCV(), hr.RankerCV(), make_pipeline(LinearRankerCV())):
        name = type(ranker).__name__
        with pytest.raises(
            ValueError, match=rf"expected a fitted .* or RankerCV, got {name}\(.*call fit first.*last step"
        ):
            CrossValidationDisplay(ranker)
    assert not plt.get_fignums()


def test_an_average_is_a_level_line_and_its_members_are_ringed(made_up):
    members = [made_up.trials_[i] for i in (1, 3)]
    together = Average(tuple(t.candidate for t in members))
    made_up.trials_ = [
        *made_up.trials_,
        Trial(together, np.array([0.7, 0.8, 0.6]), np.zeros(3, dtype=bool), np.ones(3)),
    ]
    made_up.best_ = together
    display = CrossValidationDisplay(made_up).plot()
    lines = lines_by_label(display)
    assert lines[together.surrogate].get_ydata() == pytest.approx([0.7, 0.7])
    for member in members:
        assert lines[f"averaged: {member.candidate}"].get_ydata()[0] == pytest.approx(member.mean)
    assert not any(label.startswith("selected") for label in legend(display))
    plt.close(display.figure_)
