"""``headrank plan --test``: the numbers are the library's, and options that do not fit are refused."""

import json

import numpy as np
import pytest

import headrank as hr
from cli.running import refused, run

COMMON = ["plan", "--test", "--auc", "0.9", "--positive-rate", "0.1"]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {"auc": 0.9}),
        (
            ["--versus", "0.85", "--correlation", "0.6", "--power", "0.8"],
            {"auc": (0.9, 0.85), "correlation": 0.6, "power": 0.8},
        ),
        (
            ["--versus", "0.8", "--two-samples", "--confidence", "0.9"],
            {"auc": (0.9, 0.8), "paired": False, "level": 0.1},
        ),
        (["--versus", "0.8", "--fpr", "0:0.2"], {"auc": (0.9, 0.8), "measure": "pauc@0.2"}),
        (["--method", "obuchowski"], {"auc": 0.9, "method": "obuchowski"}),
    ],
)
def test_the_numbers_are_those_of_the_library(capsys, options, arguments):
    done = run(capsys, *COMMON, *options, "--json")
    found, expected = json.loads(done.out), hr.sample_size_of_test(positive_rate=0.1, **arguments)
    assert (found["n_pos"], found["n_neg"]) == pytest.approx((expected.n_pos, expected.n_neg))
    assert found["n"] == np.ceil(expected.n_pos) + np.ceil(expected.n_neg)
    assert str(expected) in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--test", "--auc", "0.9"], "--positive-rate"),
        ([*COMMON, "--top", "0.1"], "--top"),
        ([*COMMON, "--epsilon", "0.1"], "--epsilon"),
        ([*COMMON, "--correlation", "0.1"], "--versus"),
        ([*COMMON, "--versus", "0.8", "--two-samples", "--correlation", "0.1"], "--correlation"),
        ([*COMMON, "--method", "kl"], "delong"),
        (["plan", "--versus", "0.9"], "--test"),
        (["plan", "--test", "--auc", "2", "--positive-rate", "0.1"], "auc"),
    ],
)
def test_options_that_do_not_fit_are_refused(capsys, arguments, message):
    refused(run(capsys, *arguments), 2, message)
