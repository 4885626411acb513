"""The rule by which LinearRankerCV chooses, and the sentence that says why, on trials made by hand."""

import numpy as np
import pytest

import headrank as hr
from headrank.estimators._candidates import SURROGATES, Candidate, Trial
from headrank.estimators.cross_validation import _in_order_of_choice, _why


def trial(surrogate, values, *, C=1.0, collapsed=False):
    values = np.array(values, dtype=float)
    flags = np.broadcast_to(collapsed, values.shape)
    return Trial(Candidate(surrogate, C), values, flags, np.ones(values.size, dtype=int))


def chosen(*trials, surrogates=SURROGATES):
    present = [name for name in surrogates if any(t.candidate.surrogate == name for t in trials)]
    return _in_order_of_choice(trials, present)[0]


def test_a_trial_knows_mean_and_standard_error():
    t = trial("logistic", [0.2, 0.4, 0.9])
    assert t.mean == pytest.approx(0.5)
    assert t.standard_error == pytest.approx(np.std([0.2, 0.4, 0.9], ddof=1) / np.sqrt(3))
    assert trial("logistic", [0.2]).standard_error == 0


@pytest.mark.parametrize(
    ("flags", "has"), [([0, 0, 0, 1], False), ([1, 1, 0, 0], False), ([1, 1, 1, 0], True), ([1, 1, 1, 1], True)]
)
def test_a_trial_has_collapsed_when_most_folds_have(flags, has):
    assert trial("tight", [0.1] * 4, collapsed=np.array(flags, dtype=bool)).has_collapsed == has


def test_a_challenger_within_one_paired_standard_error_loses():
    simple = trial("logistic", [0.50, 0.60, 0.70])
    # The lead 0.06, -0.03, 0.03 has mean 0.02 and standard error 0.0265.
    assert chosen(simple, trial("smooth", [0.56, 0.57, 0.73])) is simple


def test_a_challenger_ahead_by_more_wins_however_much_folds_differ():
    """Folds that differ by 0.2 do not hide a lead of 0.02 that is the same in each: the error is that of the lead."""
    simple, daring = trial("logistic", [0.50, 0.70, 0.90]), trial("smooth", [0.519, 0.720, 0.921])
    assert chosen(simple, daring) is daring


def test_the_border_is_one_standard_error():
    simple = trial("logistic", [0.0, 0.0, 0.0, 0.0])
    lead = np.array([1.0, 1.0, -1.0, -1.0])
    error = lead.std(ddof=1) / 2
    for factor, wins in ((0.99, False), (1.01, True)):
        assert (chosen(simple, trial("smooth", lead + factor * error)) is simple) != wins


def test_equals_keep_the_simpler():
    simple = trial("logistic", [0.5, 0.6])
    assert chosen(trial("smooth", [0.5, 0.6]), simple) is simple
    assert chosen(trial("smooth", [0.4, 0.5]), simple) is simple


def test_within_a_surrogate_the_best_mean_wins():
    best = trial("logistic", [0.51, 0.50], C=10.0)
    assert chosen(trial("logistic", [0.5, 0.5]), best, trial("logistic", [0.4, 0.3], C=100.0)) is best


def test_the_order_of_the_surrogates_says_what_is_simple():
    one, other = trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.6, 0.55, 0.66])
    assert _in_order_of_choice([one, other], ("logistic", "smooth"))[0] is one
    assert _in_order_of_choice([one, other], ("smooth", "logistic"))[0] is other


def test_a_collapsed_incumbent_is_replaced_by_anything_better():
    nothing = trial("tight", [0.2, 0.2, 0.2], collapsed=True)
    noisy = trial("smooth", [0.9, 0.0, 0.0])  # within the error, but better and not collapsed
    assert chosen(nothing, noisy) is noisy


def test_a_collapsed_challenger_never_wins():
    simple = trial("logistic", [0.3, 0.3, 0.3])
    assert chosen(simple, trial("tight", [0.9, 0.9, 0.9], collapsed=True)) is simple
    assert chosen(simple, trial("logistic", [0.9, 0.9, 0.9], C=9.0, collapsed=True)) is simple


def test_all_others_follow_by_their_means_the_collapsed_last():
    trials = [
        trial("logistic", [0.5, 0.5]),
        trial("auc", [0.4, 0.4]),
        trial("tight", [0.45, 0.45], collapsed=True),
        trial("smooth", [0.9, 0.12]),
        trial("logistic", [0.3, 0.3], C=2.0),
    ]
    order = _in_order_of_choice(trials, SURROGATES[:3] + SURROGATES[4:])
    assert order == [trials[i] for i in (0, 3, 1, 4, 2)]


def said(*trials, measure="auc"):
    return _why(chosen(*trials), trials, hr.measure(measure))


def test_the_sentence_says_what_and_why():
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.6, 0.7, 0.81]))
    assert text.startswith("Chose smooth (C=1) for auc: 0.7033 on average over 3 folds, standard error 0.061.")
    assert "logistic (C=1), is behind by 0.1, standard error of the difference 0.0033" in text
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.56, 0.57, 0.73]))
    assert text.startswith("Chose logistic (C=1)")
    assert "smooth (C=1) is ahead by 0.02" in text
    assert "too little" in text
    assert said(trial("logistic", [0.5, 0.6])).endswith("standard error 0.05.")


def test_the_sentence_shows_lower_is_better_as_it_is():
    text = said(trial("logistic", [-0.5, -0.3]), trial("smooth", [-0.2, -0.1]), measure="mass@0.1")
    assert "for mass@0.1: 0.15 on average" in text
    assert "behind by 0.25" in text


def test_the_sentence_does_not_call_the_lead_of_a_collapsed_fit_too_little():
    text = said(trial("logistic", [0.3, 0.3, 0.3]), trial("tight", [0.9, 0.9, 0.9], collapsed=True))
    assert "too little" not in text


def test_the_sentence_does_not_call_the_chosen_simpler_than_what_comes_before_it():
    text = said(
        trial("logistic", [0.5, 0.5, 0.5, 0.5]),
        trial("auc", [0.9, 0.3, 0.9, 0.4]),  # ahead, but by chance: loses to logistic
        trial("smooth", [0.52, 0.53, 0.52, 0.53]),
    )
    assert text.startswith("Chose smooth")
    assert "simpler" not in text
