"""Tables of every kind, and the results trained on them: once, as training takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from headrank.training.goal import Goal
from headrank.training.result import TrainingResult
from headrank.training.table_info import DataSource
from headrank.training.train import train
from training.tables import messy_frame

SOURCE = DataSource(source="cases.csv", target="ill", positive="yes", id_column="case", dropped=("note",))


@dataclass(frozen=True, eq=False)
class Case:
    """Rows and the result they gave."""

    features: Any
    y: Any
    result: TrainingResult
    qid: Any = None


@pytest.fixture(scope="session")
def messy() -> Case:
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.25
    frame = messy_frame(rng, y)
    ids = np.array([f"case {i}" for i in range(y.size)])
    return Case(frame, y, train(frame, y, goal=Goal(max_fpr=0.1), source=SOURCE, ids=ids))


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
    source = DataSource(source="letor.txt", target="label", positive=">= 1", qid_column="qid")
    result = train(csr_array(X), y, goal=Goal(top=0.3), source=source, qid=qid, models="all")
    return Case(csr_array(X), y, result, qid)
