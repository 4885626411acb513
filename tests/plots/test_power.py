"""Curves of power: the numbers of the library, and a label for each line."""

import matplotlib.pyplot as plt
import pytest

import headrank as hr


def test_lines_are_powers_at_growing_sizes():
    tests = {"one": {"auc": 0.7}, "simulated": {"auc": 0.9, "method": "finite", "n_runs": 5}}
    display = hr.PowerDisplay(tests, positive_rate=0.25, min_rows=20, max_rows=200).plot()
    frame = display.to_frame()
    assert set(frame["name"]) == {"one", "simulated"}
    for row in frame.filter(frame["name"] == "one").head(3).iter_rows(named=True):
        assert row["power"] == hr.power(n_pos=int(row["n_pos"]), n_neg=int(row["n_neg"]), auc=0.7).power
    assert [line.get_label() for line in display.ax_.lines] == ["one", "simulated"]
    assert len(display.ax_.collections) == 1  # two standard errors of the simulated line
    plt.close(display.figure_)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        hr.PowerDisplay({})
    with pytest.raises(ValueError, match="less than"):
        hr.PowerDisplay({"a": {"auc": 0.8}}, min_rows=100, max_rows=50)
