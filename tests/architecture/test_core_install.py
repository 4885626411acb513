"""With the hard dependencies alone, measures, intervals and rankers work; the rest names the extra to install."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRA = ("jinja2", "matplotlib", "polars", "rich", "skops", "skrub", "typer")
ALSO_BLOCKED = ("cvxpy", "hypothesis", "onnx", "pandas", "pyarrow")

BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {(*EXTRA, *ALSO_BLOCKED)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
import numpy as np
import headrank as hr
from headrank.datasets import coarse_eights
X, y = coarse_eights()
X, y = X[:300], y[:300]
"""


def run(code, **options):
    command = [sys.executable, "-c", BLOCK + code]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_measures_rankers_and_intervals_work():
    done = run(
        """
for name in ("auc", "pauc@0.05", "p@20"):
    hr.measure(name)(y, X[:, 0])
ranker = hr.LinearRanker("pauc@0.3", surrogate="logistic").fit(X, y)
hr.LinearRanker("pauc@0.3", C=10, standardize=True).fit(X, y)
chosen = hr.LinearRankerCV("pauc@0.3", Cs=(1.0,), cv=2).fit(X, y)
assert len(chosen.trials_) > 5 and chosen.choice_
scores = chosen.decision_function(X)
for measure, method in (("pauc@0.3", "auto"), ("locauc@0.2", "auto"), ("auc", "delong"), ("p@20", "bootstrap")):
    str(hr.interval(y, scores, measure=measure, method=method, n_replicates=100, random_state=0))
hr.band(hr.RocCurve.from_scores(y, scores)).lower_at(0.1)
hr.compare(y, scores, X[:, 0])
hr.threshold_at(y, scores, max_fpr=0.5)
str(hr.certify_list(y, scores, scores)), str(hr.choose(y, scores, scores)), str(hr.plan_list(9, 0.5, n_new=20))
hr.path(ranker, X, y, Cs=(0.1, 1.0))
hr.FPRBudgetClassifier(ranker, max_fpr=0.5).fit(X, y).predict(X)
print("done")
"""
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr


NEEDS_MORE = {
    "hr.RocCurve.from_scores(y, X[:, 5]).to_frame()": "polars",
    "hr.interval(y, X[:, 5]).to_frame()": "polars",
    "hr.LinearRankerCV('auc', surrogates=['logistic'], Cs=[1.0], cv=2).fit(X, y).cv_results_": "polars",
    "import headrank.readers; headrank.readers.read_table('x.csv', target='y')": "polars",
    "hr.RocDisplay.from_predictions(y, X[:, 5])": "matplotlib",
    "hr.ListDisplay(hr.certify_list(y, X[:, 5], X[:, 5])).plot()": "matplotlib",
    "hr.LinearRankerCV('auc', surrogates=['logistic'], Cs=[1.0], cv=2, verbose=1).fit(X, y)": "rich",
    "hr.interval(y, X[:, 5], method='bootstrap', n_replicates=100, progress=True)": "rich",
    "hr.report(y, X[:, 5])": "jinja2",
    "hr.fit(None, target='y')": "jinja2",
    "hr.save(hr.LinearRanker('auc', surrogate='logistic').fit(X, y), 'model')": "skops",
}


@pytest.fixture(scope="module")
def raised(tmp_path_factory):
    """What each statement raises, all in one process, which takes seconds to start."""
    folder = tmp_path_factory.mktemp("raised")
    (folder / "x.csv").write_text("a,y\n1,0\n2,1\n")
    done = run(
        f"""
import json
messages = {{}}
for code in {list(NEEDS_MORE)!r}:
    try:
        exec(code)
    except (ImportError, ValueError) as error:
        messages[code] = str(error)
print(json.dumps(messages))
""",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("code", NEEDS_MORE)
def test_what_is_missing_is_named_with_the_remedy(code, raised):
    missing = NEEDS_MORE[code]
    assert raised[code].endswith(f'{missing} is not installed; install it with: pip install "headrank[cli]"')


def test_the_command_says_what_to_install():
    done = run("from headrank.cli import main; sys.exit(main(['demo']))")
    assert done.returncode == 2
    assert done.stderr == 'headrank: typer is not installed; install it with: pip install "headrank[cli]"\n'


def test_the_extra_is_what_is_blocked_here():
    def names(requirements):
        return {each.split(">")[0].split("<")[0] for each in requirements}

    core, extra = names(PROJECT["dependencies"]), names(PROJECT["optional-dependencies"]["cli"])
    assert extra == set(EXTRA)
    assert core == {"numpy", "scipy", "scikit-learn", "joblib", "lightgbm", "piqp", "threadpoolctl"}
    installed = {name.lower() for names in packages_distributions().values() for name in names}
    assert core | extra <= installed
