"""Rows, scores and curves to draw, and no figure left open."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from headrank.curve import RocCurve

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = (rng.random(800) < 0.3).astype(int)
    X = rng.normal(size=(800, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    return X, y


@pytest.fixture(scope="module")
def scores(rows):
    X, _ = rows
    return {"first": X[:, 0], "sum": X.sum(axis=1), "noise": X[:, 2]}


@pytest.fixture(scope="module")
def curves(rows, scores):
    return {name: RocCurve.from_scores(rows[1], s) for name, s in scores.items()}
