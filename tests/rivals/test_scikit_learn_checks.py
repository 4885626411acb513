"""scikit-learn's own checks, on settings that are small enough."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from headrank.rivals import ColumnGeneration, GreedyCombination, PartialAUCBoost

DRAWN = "the noise that orders tied rows is drawn by rows, not by weight"


def expected(estimator):
    if not isinstance(estimator, PartialAUCBoost):
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@parametrize_with_checks(
    [
        PartialAUCBoost("auc", penalties=[1e-4], max_rounds=4, cv=2, n_knots=4),
        GreedyCombination("auc", n_angles=9, max_pairs=9),
        ColumnGeneration("auc", Cs=[10.0], max_rounds=3, min_samples_leaf=2, cv=2),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
