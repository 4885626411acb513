"""The examples run, draw, and what they conclude follows from their numbers."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import headrank as hr

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def canvas():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def run(name: str) -> dict:
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert plt.get_fignums(), "no picture"
    return found


def test_every_example_is_tested():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_plot_")}
    assert tested == {file.stem for file in EXAMPLES.glob("*.py")}


def test_plot_1_equal_auc():
    found = run("plot_1_equal_auc")
    assert not found["by_auc"].told_apart
    assert found["by_head"].told_apart
    assert found["by_head"].estimate > 0.1
    assert found["found"]["kernel SVM"] > found["found"]["logistic regression"] + 10
    end = hr.measure("pauc@0.2:1")
    curves = found["curves"]
    assert end.value(curves["kernel SVM"]) < end.value(curves["logistic regression"])  # it pays at the end of the list


def test_plot_2_train_for_the_head():
    found = run("plot_2_train_for_the_head")
    ranker, logistic = found["scores"].values()
    assert found["ranker"].best_.surrogate in ("smooth", "average of smooth")
    assert any(trial.has_collapsed for trial in found["ranker"].trials_)
    head, auc = hr.measure("pauc@0.05"), hr.AUC()
    assert head(found["y_test"], ranker) > head(found["y_test"], logistic)
    assert auc(found["y_test"], ranker) < auc(found["y_test"], logistic)
    assert int(found["y_test"].sum()) == 70


def test_plot_3_how_sure():
    found = run("plot_3_how_sure")
    widths = {method: each.high - each.low for method, each in found["intervals"].items()}
    assert widths["fixed_range"] < widths["tail"] < widths["dkw"]
    ratios = [
        widths[wide] / widths[narrow] for wide in ("fixed_range", "tail", "dkw") for narrow in ("delong", "bootstrap")
    ]
    assert 1.5 < min(ratios) <= max(ratios) < 5.5
    assert found["y"].size == 899
    assert int(found["y"].sum()) == 87


def test_plot_4_false_positive_budget():
    broken = run("plot_4_false_positive_budget")["broken"]
    assert 0.4 < broken["obvious"] < 0.6
    assert 0.02 < broken["certified"] <= 0.07


def test_plot_5_best_fraction():
    found = run("plot_5_best_fraction")
    labels, eta, spoiler, top = (found[name] for name in ("labels", "eta", "spoiler", "top"))
    assert hr.TruncatedAUC(top)(labels, eta) < hr.TruncatedAUC(top)(labels, spoiler)
    assert hr.LocalAUC(top)(labels, eta) > hr.LocalAUC(top)(labels, spoiler)
    assert hr.TopTPR(top)(labels, eta) > hr.TopTPR(top)(labels, spoiler)
    out_of_fold, own = found["shares"].values()
    assert abs(out_of_fold - 0.05) < abs(own - 0.05)


def test_plot_6_how_many_positives():
    found = run("plot_6_how_many_positives")
    interval = found["interval"]
    assert interval.estimate - interval.low < 0.05
    assert interval.high - interval.estimate < 0.05
    assert found["population"].auc() in interval


def test_plot_7_trees_for_the_head():
    found = run("plot_7_trees_for_the_head")
    values = {trial.candidate: trial.mean for trial in found["ranker"].trials_}
    assert (
        min(values[name] for name in ("boosted trees", "kernel", "extra trees", "random forest")) > 2 * values["linear"]
    )
    assert "linear" not in {part.family for part in found["ranker"].parts_}
    assert len(plt.get_fignums()) == 3
    y, (ranker, linear) = found["y_test"], found["scores"].values()
    assert found["rate"](y, ranker) > 2 * found["rate"](y, linear)
    assert found["difference"].told_apart
    assert found["difference"].estimate > 0.3
    assert found["n_pos"] == 70


def test_plot_8_which_50_compounds():
    found = run("plot_8_which_50_compounds")
    certificate, n_libraries = found["certificate"], found["n_libraries"]
    assert 35 < certificate.at_least(50) <= certificate.likely[49] <= 50
    assert found["broken"]["same negatives"] <= 0.08 * n_libraries
    assert found["broken"]["same rows"] > 0.1 * n_libraries
    assert np.mean(found["promised"]["same rows"]) > np.mean(found["promised"]["same negatives"])
    assert found["plan"].n_neg > 4000
