"""scikit-learn's own checks, on settings that are small enough."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.ranking_trees.growing import forest, loose, tree
from headrank.estimators import ForestRanker

DRAWN = "samples are drawn by rows, not by weight"


def expected(estimator):
    if not isinstance(estimator, ForestRanker):
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@pytest.mark.filterwarnings("ignore:.*in the sample of every tree:UserWarning")
@parametrize_with_checks([tree("auc", cv=2), loose(), forest("auc", n_estimators=12)], expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
