"""A warning if the new scores cannot come from what is assumed, and none without reason."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

import headrank as hr
from headrank.bounds.lists.rows import _mixture_shares
from headrank.exceptions import ShiftedScoresWarning


def drawn(rng, n_pos, n_neg):
    return np.repeat([1, 0], [n_pos, n_neg]), np.concatenate([rng.normal(2, 1, n_pos), rng.normal(0, 1, n_neg)])


@pytest.mark.parametrize("change", [lambda s: 1 / (1 + np.exp(-s)), lambda s: 10 * s, lambda s: s - 3, lambda s: s + 3])
@pytest.mark.parametrize("judge", [hr.certify_list, hr.choose])
def test_scores_on_another_scale_are_noticed(change, judge):
    rng = np.random.default_rng(0)
    y, scores = drawn(rng, 200, 2000)
    new = change(drawn(rng, 30, 600)[1])
    with pytest.warns(ShiftedScoresWarning, match="have another distribution than any mixture") as caught:
        judge(y, scores, new)
    assert caught[0].filename == __file__


def test_label_shift_is_noticed_only_if_it_matters():
    rng = np.random.default_rng(1)
    y, scores = drawn(rng, 1000, 1000)
    new = drawn(rng, 20, 980)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.certify_list(y, scores, new)
    with pytest.warns(ShiftedScoresWarning, match="another distribution than the labelled rows.* does not hold"):
        hr.certify_list(y, scores, new, assume="same rows")


@pytest.mark.parametrize("n_pos", [0, 1, 40, 400])
def test_false_alarms_are_as_rare_as_stated(n_pos):
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(300):
        new = np.sort(drawn(rng, n_pos, 400 - n_pos)[1])
        labelled, scores = drawn(rng, 50, 200)
        low, high = _mixture_shares(np.sort(scores[labelled == 1]), np.sort(scores[labelled == 0]), new)
        alarms += low > high
    assert alarms <= binom.ppf(1 - 1e-6, 300, 0.001)


def test_the_share_of_positives_is_found():
    rng = np.random.default_rng(3)
    pos, neg = rng.normal(2, 1, 50_000), rng.normal(0, 1, 50_000)
    new = np.concatenate([rng.normal(2, 1, 15_000), rng.normal(0, 1, 35_000)])
    low, high = _mixture_shares(np.sort(pos), np.sort(neg), np.sort(new))
    assert 0.25 < low < 0.3 < high < 0.35


def test_without_labelled_positives_any_share_of_anything_is_possible():
    assert _mixture_shares(np.zeros(0), np.arange(1000.0), np.arange(5000.0, 6000.0)) == (
        pytest.approx(0.84, abs=0.1),
        1,
    )
