"""What the tests of trees share."""

import pytest

from headrank.estimators.trees import forests


@pytest.fixture
def few_trees(monkeypatch):
    """Forests of 20 trees instead of 100, where their number is of no account."""
    monkeypatch.setattr(forests, "_N_TREES", 20)
