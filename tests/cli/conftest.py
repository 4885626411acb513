"""Files that the tests of the command line share."""

import numpy as np
import polars as pl
import pytest

from headrank.estimators.combined import linear_part

N_ROWS = 1200


@pytest.fixture(autouse=True, scope="module")
def _few_candidates():
    """Fits in this process choose among fewer linear scorers than usual: the choice has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_part, "_surrogates_for", lambda _: ("logistic", "tight"))
        yield


@pytest.fixture(scope="session")
def scored():
    """Labels, groups, queries, and four scorers: good, nearly the same, weak, and the reverse of good."""
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.2
    good = rng.normal(size=N_ROWS) + 2.5 * y
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(N_ROWS)],
            "ill": np.where(y, "yes", "no"),
            "y": y.astype(int),
            "kind": np.where(y, 2, 1),
            "good": good,
            "alike": good + rng.normal(scale=0.05, size=N_ROWS),
            "weak": rng.normal(size=N_ROWS) + 0.3 * y,
            "reverse": -good,
            "place": np.where(y, "south", rng.choice(["north", "south"], size=N_ROWS)),
            "half": rng.choice(["a", "b"], size=N_ROWS),
            "query": rng.integers(0, 40, size=N_ROWS),
        }
    )


@pytest.fixture
def scores(tmp_path, scored):
    """The same, in a file."""
    path = tmp_path / "scores.csv"
    scored.write_csv(path)
    return path
