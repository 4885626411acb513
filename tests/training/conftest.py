"""Tables of every kind, and the contests trained on them: once, as training takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from headrank.training.contest import Contest, Origin
from headrank.training.goal import Goal
from headrank.training.train import train
from training.tables import messy_frame

ORIGIN = Origin("cases.csv", sha256="ab", target="ill", positive="yes", id_column="case", dropped=("note",))


@dataclass(frozen=True, eq=False)
class Case:
    """Rows and the contest they gave."""

    features: Any
    y: Any
    contest: Contest
    qid: Any = None


@pytest.fixture(scope="session")
def messy() -> Case:
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.25
    frame = messy_frame(rng, y)
    ids = np.array([f"case {i}" for i in range(y.size)])
    return Case(frame, y, train(frame, y, goal=Goal(max_fpr=0.1), origin=ORIGIN, ids=ids))


@pytest.fixture(scope="session")
def sparse() -> Case:
    """A sparse matrix with queries, of which the last has one class only."""
    rng = np.random.default_rng(1)
    n = 400
    qid = np.repeat(np.arange(40) + 7, 10)
    y = rng.random(n) < 0.3
    y[-10:] = False
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.5)
    X[:, 0] += 1.5 * y
    origin = Origin("letor.txt", sha256="cd", target="label", positive=">= 1", qid_column="qid")
    contest = train(csr_array(X), y, goal=Goal(top=0.3), origin=origin, qid=qid, models="all")
    return Case(csr_array(X), y, contest, qid)
