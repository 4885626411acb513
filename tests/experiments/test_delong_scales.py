"""Coverage of DeLong's interval on both scales, on few samples."""

from experiments.delong_scales import coverages


def test_the_logit_scale_covers_more_often_near_1():
    found = coverages(0.98, 30, 30, n_runs=150)
    assert 0.6 < found["plain"] < found["logit"]
