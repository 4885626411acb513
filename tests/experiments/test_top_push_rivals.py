"""SVM-MAP, a baseline of the TopPush table, equals brute force; and the comparison of TopPush with fixed C runs."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from experiments import top_push_stopping as stopping
from experiments.tables.svm_map import SVMMAP, AveragePrecisionHinge

pytestmark = pytest.mark.filterwarnings("ignore")


def worst_ordering(s, t):
    """The structural hinge of the average precision, by trying every ordering of the rows."""
    rows = [(score, True) for score in s] + [(score, False) for score in t]
    worst = 0.0
    for order in permutations(rows):
        precisions, wrong, above = [], 0.0, []
        for place, (score, positive) in enumerate(order, start=1):
            if positive:
                precisions.append((len(precisions) + 1) / place)
                wrong += sum(score - negative for negative in above)
            else:
                above.append(score)
        worst = max(worst, 1 - sum(precisions) / len(s) - 2 * wrong / (len(s) * len(t)))
    return worst


@pytest.mark.parametrize("seed", range(12))
def test_the_hinge_of_svm_map_is_the_worst_of_all_orderings(seed):
    rng = np.random.default_rng(seed)
    s, t = (rng.integers(-3, 4, rng.integers(1, 4)) / 2 for _ in range(2))
    cut = AveragePrecisionHinge()(s, t)
    assert cut.risk == pytest.approx(worst_ordering(s, t))
    assert cut.offset + cut.pos_coef @ s + cut.neg_coef @ t == pytest.approx(cut.risk)
    for _ in range(5):  # the plane supports the risk from below
        u, v = s + rng.normal(size=s.size), t + rng.normal(size=t.size)
        assert cut.offset + cut.pos_coef @ u + cut.neg_coef @ v <= worst_ordering(u, v) + 1e-12


def made_up(n=90):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, 3)) + 2 * y[:, None] * np.array([1.0, 0.5, 0.0]), y


def test_svm_map_is_fitted_to_its_gap():
    X, y = made_up()
    model = SVMMAP(10.0, tol=1e-3, max_iter=100).fit(X, y)
    last = model.trace_[-1]
    scores = model.decision_function(X)
    risk = AveragePrecisionHinge()(scores[y == 1], scores[y == 0]).risk
    assert model.coef_ @ model.coef_ / 2 + 10 * risk == pytest.approx(last.objective)
    assert last.objective - last.lower <= 1e-3 * last.objective < 1e-2
    with pytest.warns(ConvergenceWarning, match="stopped after 2"):
        SVMMAP(1e3, tol=1e-6, max_iter=2).fit(X, y)


def test_the_comparison_with_fixed_c_prints_its_table(tmp_path, capsys):
    (tmp_path / "load.py").write_text(
        "import numpy as np\n"
        "def load(name):\n"
        "    rng = np.random.default_rng(0)\n"
        "    y = (rng.random(150) < 0.4).astype(np.int8)\n"
        "    return rng.normal(size=(150, 3)) + 3 * y[:, None], y, {}\n"
    )
    for name, features in (("spambase", "standardised"), ("w8a", "as in the file")):
        stopping.main(
            ["--data", str(tmp_path), "--set", name, "--features", "standardised", "--splits", "2", "--Cs", "0.1", "10"]
        )
        out = capsys.readouterr().out
        assert out.count(features) == 2 + 3  # two lines of the table, three of the verdict
        assert "2 of 2" in out
        assert [line.partition(":")[0] for line in out.splitlines()[-3:]] == [
            "TopPush at minimum",
            "TopPush stopped",
            "logistic regression",
        ]


def test_the_verdict_is_about_two_published_standard_errors():
    def at(C, value):
        return stopping.Stopping("toy", C, (value,), (0.0,), (0.071,), 20, 1)

    lines = stopping.verdict("spambase", [at(1.0, 0.09), at(10.0, 0.12)]).splitlines()
    assert "0.120 (toy, C = 10) is closest to the published 0.129, within" in lines[0]
    assert "outside" in lines[1]
    assert "within" in lines[2]
