"""Do promises about new lists hold if the scorer was picked on the labelled rows? Simulated."""

import numpy as np
import pytest

import headrank as hr
from headrank.measures import PartialAUC
from headrank.training.holdout_scores import labelled_scores
from validity.test_lists import CONFIDENCE, SHARE, broken, false_share, highest_mean, most_misses

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::headrank.exceptions.ShiftedScoresWarning"),
]

N_BATCHES = 400
N_UNPAID = 1500
MEASURE = PartialAUC(max_fpr=0.1)


def drawn(n_scorers, rng, *, n_pos=60, n_neg=60, n_new=120, new_share=0.2):
    """Labels of labelled and new rows, and the scores of scorers that are equally good and independent."""
    y = np.repeat([True, False], [n_pos, n_neg])
    new = rng.random(n_new) < new_share
    scores, new_scores = (rng.normal(size=(n_scorers, each.size)) + 2.0 * each for each in (y, new))
    return y, scores, new, new_scores


def simulated(n_scorers, n_batches, *, paid):
    """Broken promises, and the mean share of negatives, of the scorer with most positives above its third negative."""
    rng, misses, shares = np.random.default_rng(n_scorers), 0, []
    for _ in range(n_batches):
        y, scores, positive, new_scores = drawn(n_scorers, rng)
        third = np.sort(scores[:, ~y], axis=1)[:, -3:-2]
        picked = int(np.argmax((scores[:, y] > third).sum(axis=1)))
        new = new_scores[picked]
        if paid:
            rows = labelled_scores(y, scores, picked, MEASURE, rng, holds="")
            certificate = rows.certify_list(new, confidence=CONFIDENCE)
            candidates = rows.choose(new, max_false_share=SHARE)
        else:
            certificate = hr.certify_list(y, scores[picked], new, confidence=CONFIDENCE)
            candidates = hr.choose(y, scores[picked], new, max_false_share=SHARE)
        misses += broken(certificate, positive)
        shares.append(false_share(candidates, positive))
    return misses, float(np.mean(shares))


@pytest.mark.parametrize("n_scorers", [3, 10])
def test_with_the_payment_the_promise_and_the_limit_are_kept(n_scorers):
    misses, mean = simulated(n_scorers, N_BATCHES, paid=True)
    assert misses <= most_misses(1 - CONFIDENCE, N_BATCHES)
    assert mean <= highest_mean(SHARE, N_BATCHES)


def test_same_rows_keep_both_if_all_rows_are_drawn_alike():
    """Labels are random, and so is the part that divides the risk: labelled and new rows are exchangeable."""
    rng, misses, shares = np.random.default_rng(8), 0, []
    for _ in range(N_BATCHES):
        y, new = (rng.random(size) < 0.5 for size in (120, 100))
        if y.all() or not y.any():
            continue
        scores, new_scores = (rng.normal(size=(3, each.size)) + 2.0 * each for each in (y, new))
        picked = int(np.argmax((scores[:, y] > np.sort(scores[:, ~y], axis=1)[:, -3:-2]).sum(axis=1)))
        rows = labelled_scores(y, scores, picked, MEASURE, rng, holds="")
        certificate = rows.certify_list(new_scores[picked], confidence=CONFIDENCE, assume="same rows")
        misses += broken(certificate, new)
        shares.append(false_share(rows.choose(new_scores[picked], max_false_share=SHARE, assume="same rows"), new))
    assert misses <= most_misses(1 - CONFIDENCE, N_BATCHES)
    assert np.mean(shares) <= highest_mean(SHARE, N_BATCHES)


def test_without_it_both_are_broken_by_many_scorers():
    misses, mean = simulated(200, N_UNPAID, paid=False)
    assert misses > most_misses(1 - CONFIDENCE, N_UNPAID)
    assert mean > highest_mean(SHARE, N_UNPAID)
