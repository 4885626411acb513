"""On many rows only the head is sorted; the value is that of the whole curve."""

import numpy as np
import pytest

import headrank as hr

NAMES = [
    "pauc@0.05",
    "pauc@0.9",
    "pauc@0.2:0.3",
    "p@100",
    "tpr@fpr=0.01",
    "fpr@tpr=0.5",
    "fpr@tpr=1",
    "locauc@0.1",
    "ap@100",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share_of_positives", [0.001, 0.3, 0.99])
@pytest.mark.parametrize("n_levels", [3, 50, 10**6])
def test_the_head_gives_the_value_of_the_whole_curve(name, share_of_positives, n_levels):
    rng = np.random.default_rng(0)
    y = rng.random(4001) < share_of_positives
    y[:2] = True, False
    scores = rng.integers(0, n_levels, y.size).astype(np.float32)
    measure = hr.measure(name)
    assert measure(y, scores) == pytest.approx(measure.value(hr.RocCurve.from_scores(y, scores)), abs=1e-12)
