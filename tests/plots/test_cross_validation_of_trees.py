"""CrossValidationDisplay of boosted trees and of families: numbers are drawn where they are, also from a file."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt

import headrank as hr
from estimators.trees.boosting import GRID as SMALL_GRID
from estimators.trees.boosting import boosted_cv, combined
from headrank.estimators.cv.candidates import Trial
from headrank.estimators.trees.boosted_members import BoostedAverage, BoostedCandidate
from headrank.estimators.trees.settings import Settings
from headrank.plots import CrossValidationDisplay
from samples import gaussians

GRID = [{"max_leaf_nodes": 4}, {"max_leaf_nodes": 8, "objective": "push", "power": 4.0}]


@pytest.fixture(scope="module")
def boosted():
    return boosted_cv(grid=GRID).fit(*gaussians())


@pytest.fixture(scope="module")
def families():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrank.estimators.trees.boosted_cv.GRID", SMALL_GRID)
        return combined(families=("boosted trees", "linear")).fit(*gaussians())


def trial(candidate, *values, collapsed=False):
    return Trial(candidate, np.array(values), np.full(len(values), collapsed), np.ones(len(values)))


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def error_bars(display, axis):
    """Where the bars are, and half their length, in order."""
    found = []
    for container in display.ax_.containers:
        (segment,) = container.lines[2][0].get_segments()
        found.append((container.lines[0].get_xydata()[0], np.ptp(segment[:, axis]) / 2))
    return found


# Boosted trees


def test_each_setting_is_a_line_through_its_choice(boosted):
    display = CrossValidationDisplay(boosted)
    assert display.plot() is display
    lines = {line.get_label(): line for line in display.ax_.lines}
    single = boosted.trials_[:2]
    for each, path, (place, half) in zip(single, boosted.paths_, error_bars(display, 1), strict=True):
        line = lines[f"{each.candidate.label}: {each.candidate.n_trees} trees"]
        np.testing.assert_array_equal(line.get_xydata().T, path)
        assert place[0] == each.candidate.n_trees
        assert place[1] == each.mean == pytest.approx(path[1][list(path[0]).index(each.candidate.n_trees)])
        assert half == pytest.approx(each.standard_error)
    assert display.ax_.get_ylabel() == "pauc@0.3, mean over 3 folds"
    assert display.ax_.get_xlabel() == "number of trees"


def made_up(*trials, best=0, measure="pauc@0.1", paths=None):
    singles = [each for each in trials if not hasattr(each.candidate, "members")]
    paths = paths or [np.array([[10.0, each.candidate.n_trees], [0.1, 0.2]]) for each in singles]
    return SimpleNamespace(
        measure_=hr.measure(measure), trials_=trials, best_=trials[best].candidate, paths_=tuple(paths)
    )


STIFF = BoostedCandidate(Settings(max_leaf_nodes=4), "logistic", None, 120)
LOOSE = BoostedCandidate(Settings(learning_rate=0.05, max_features=0.5, random_splits=True), "push", 2.0, 60)


def rings(display, label):
    return [line.get_xydata() for line in display.ax_.lines if line.get_label() == label]


def test_the_selected_setting_is_circled():
    display = CrossValidationDisplay(made_up(trial(STIFF, 0.5, 0.7), trial(LOOSE, 0.2, 0.3))).plot()
    (ring,) = rings(display, "selected")
    assert ring.tolist() == [[120, pytest.approx(0.6)]]
    assert legend(display) == [
        "4 leaves: 120 trees",
        "31 leaves, rate 0.05, 50 % of features, random splits, push with power 2: 60 trees",
        "selected",
    ]


def test_the_members_of_an_average_are_circled_and_the_average_is_a_level():
    average = trial(BoostedAverage((STIFF, LOOSE)), 0.7, 0.8)
    display = CrossValidationDisplay(made_up(trial(STIFF, 0.5, 0.7), trial(LOOSE, 0.6, 0.8), average, best=2)).plot()
    (ring,) = rings(display, "averaged")
    assert ring.tolist() == [[120, pytest.approx(0.6)], [60, pytest.approx(0.7)]]
    (level,) = [line for line in display.ax_.lines if line.get_label() == "average"]
    assert level.get_ydata() == pytest.approx([0.75, 0.75])
    assert "selected" not in legend(display)


def test_what_has_collapsed_says_so_and_one_fold_has_no_mean():
    display = CrossValidationDisplay(made_up(trial(STIFF, 0.5, collapsed=True))).plot()
    assert legend(display)[0] == "4 leaves, collapsed: 120 trees"
    assert display.ax_.get_ylabel() == "pauc@0.1, one fold"


def test_an_error_of_trees_is_shown_as_it_is():
    ranker = boosted_cv("mass@0.2").fit(*gaussians())
    display = CrossValidationDisplay(ranker).plot()
    for each, (place, _) in zip(ranker.trials_, error_bars(display, 1), strict=False):
        assert place[1] == -each.mean > 0
        assert place[1] in ranker.paths_[ranker.trials_.index(each)][1]


def test_more_settings_than_colours_still_differ():
    many = [BoostedCandidate(Settings(max_leaf_nodes=n), "logistic", None, 10 * n) for n in range(2, 12)]
    display = CrossValidationDisplay(made_up(*(trial(each, 0.5, 0.6) for each in many))).plot()
    lines = [line for line in display.ax_.lines if "leaves" in line.get_label()]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == len(lines) == 10


# Families


def test_each_family_and_the_combination_are_dots_with_bars(families):
    display = CrossValidationDisplay(families).plot()
    for row, (each, (place, half)) in enumerate(zip(families.trials_, error_bars(display, 0), strict=True)):
        assert place == pytest.approx([each.mean, row])
        assert half == pytest.approx(each.standard_error)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["boosted trees", "linear", "combination"]
    assert display.ax_.get_xlabel() == "pauc@0.3, mean over 3 folds"


def notes(display):
    (right,) = display.ax_.child_axes
    return [label.get_text() for label in right.get_yticklabels()]


def test_weights_and_what_was_left_out_are_said():
    ranker = SimpleNamespace(
        measure_=hr.FPRAtTPR(0.5),
        trials_=[trial(name, -0.25, -0.15) for name in ("boosted trees", "linear", "extra trees", "combination")],
        parts_=[SimpleNamespace(family="linear", weight=2 / 3), SimpleNamespace(family="boosted trees", weight=1 / 3)],
        left_out_={"random forest": "not finished within 60 s"},
    )
    display = CrossValidationDisplay(ranker).plot()
    assert notes(display) == ["0.200, weight 33.3 %", "0.200, weight 66.7 %", "0.200, not used", "0.200", "left out"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()][-1] == "random forest"


def test_given_axes_are_used(families, boosted):
    _, axes = plt.subplots(1, 2)
    for ranker, ax in zip((families, boosted), axes, strict=True):
        assert CrossValidationDisplay(ranker).plot(ax).ax_ is ax


@pytest.mark.parametrize("kind", ["boosted", "families"])
def test_a_ranker_that_was_saved_and_loaded_is_drawn_alike(kind, request, tmp_path):
    ranker = request.getfixturevalue(kind)
    hr.save(ranker, tmp_path / "model")
    one, two = (CrossValidationDisplay(each).plot() for each in (ranker, hr.load(tmp_path / "model")))
    for mine, its in zip(one.ax_.lines, two.ax_.lines, strict=True):
        np.testing.assert_array_equal(mine.get_xydata(), its.get_xydata())
        assert kind == "families" or mine.get_label() == its.get_label()
