"""Partial areas over ranges of specificity and of sensitivity, as pROC's tests expect them (test-auc.R)."""

import pytest

import headrank as hr
from reference.subarachnoid import NDKA, POOR, WFNS


@pytest.mark.parametrize(
    ("scores", "name", "width", "area"),
    [
        (WFNS, "pauc@0.1", 0.1, 0.0334417344173442),
        (WFNS, "pauc@0.1:0.2", 0.1, 0.0598373983739837),
        (WFNS, "pauc@0.5:1", 0.5, 0.488134475939354),
        (NDKA, "pauc@0.1", 0.1, 0.0107046070460705),
        (NDKA, "pauc@0.1:0.2", 0.1, 0.0277777777777778),
        (WFNS, "tpauc@tpr=0.9:1", 0.1, 0.0400999322493225),
        (WFNS, "tpauc@tpr=0.8:0.9", 0.1, 0.0609953703703703),
        (NDKA, "tpauc@tpr=0.9:1", 0.1, 0.0037940379403794),
        (NDKA, "tpauc@tpr=0:0.5", 0.5, 0.428523035230352),
        (WFNS, "spauc@0.1", 1, 0.649693339038653),
    ],
)
def test_published_partial_areas(scores, name, width, area):
    assert width * hr.measure(name)(POOR, scores) == pytest.approx(area, abs=1e-14)
