"""scikit-learn's own checks, on settings that are small enough."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.trees.boosting import boosted, boosted_cv, combined
from headrank.estimators.trees import forests

ROWS = "limits on the rows of a leaf and of a bin count rows, not weights, and forests draw rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ROWS,
    "check_sample_weight_equivalence_on_sparse_data": ROWS,
}


@pytest.fixture(autouse=True)
def very_few_trees(monkeypatch):
    monkeypatch.setattr(forests, "_N_TREES", 5)


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@parametrize_with_checks(
    [
        boosted("auc"),
        boosted("auc", objective="smooth", n_refining=3),
        boosted_cv("auc", cv=2),
        combined("auc", families=("boosted trees", "extra trees"), cv=2),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
