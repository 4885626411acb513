"""Tables of every kind, and the results trained on them: once, as training takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from headrank.estimators.combined import linear_part
from headrank.estimators.trees import forests
from headrank.training.goal import Goal
from headrank.training.result import TrainingResult
from headrank.training.table_info import DataSource
from headrank.training.train import train
from training.tables import messy_frame

SOURCE = DataSource(source="cases.csv", target="ill", positive="yes", id_column="case", dropped=("note",))


@pytest.fixture(autouse=True, scope="module")
def _few_candidates():
    """Tables of single tests are fitted by fewer linear scorers than usual; those below, for the session, by all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic", "tight"))
        yield


@dataclass(frozen=True, eq=False)
class Case:
    """Rows and the result they gave."""

    features: Any
    y: Any
    result: TrainingResult
    qid: Any = None


def of_few_trees(*rows: Any, **options: Any) -> TrainingResult:
    """What `train` returns with forests of 20 trees instead of 100."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "_N_TREES", 20)
        return train(*rows, **options)


@pytest.fixture(scope="session")
def messy() -> Case:
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.25
    frame = messy_frame(rng, y)
    ids = np.array([f"case {i}" for i in range(y.size)])
    return Case(frame, y, of_few_trees(frame, y, goal=Goal(max_fpr=0.1), source=SOURCE, ids=ids))


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
    result = of_few_trees(csr_array(X), y, goal=Goal(top=0.3), source=source, qid=qid, models="all")
    return Case(csr_array(X), y, result, qid)
