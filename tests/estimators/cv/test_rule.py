"""The rule by which LinearRankerCV chooses, and the sentence that says why, on trials made by hand."""

import numpy as np
import pytest

import headrank as hr
from headrank.estimators.cv.candidates import Average, Candidate, Trial, as_one, corrected_error, trails
from headrank.estimators.cv.rule import in_order_of_choice, tied_best, why


def trial(surrogate, values, *, C=1.0, collapsed=False):
    values = np.array(values, dtype=float)
    flags = np.broadcast_to(collapsed, values.shape)
    return Trial(Candidate(surrogate, C), values, flags, np.ones(values.size, dtype=int))


def average(values, *members):
    values = np.array(values, dtype=float)
    return Trial(Average(tuple(t.candidate for t in members)), values, values < -9, np.ones(values.size, dtype=int))


def chosen(*trials):
    return in_order_of_choice(trials)[0]


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


def test_a_smooth_one_must_lead_by_more_than_the_standard_error_of_the_difference():
    simple = trial("logistic", [0.50, 0.60, 0.70])
    clear = trial("smooth", [0.52, 0.63, 0.71], C=1.0)  # ahead by 0.02, standard error 0.0058
    noisy = trial("smooth", [0.56, 0.57, 0.73], C=1.0)  # ahead by 0.02, standard error 0.026
    assert chosen(simple, clear) is clear
    assert chosen(simple, noisy) is simple
    assert chosen(simple, trial("smooth", [0.48, 0.57, 0.69])) is simple


def test_equals_keep_the_convex():
    simple = trial("logistic", [0.5, 0.6])
    assert chosen(trial("smooth", [0.5, 0.6]), simple) is simple
    assert chosen(trial("smooth", [0.4, 0.5]), simple) is simple


def test_within_a_surrogate_the_best_mean_wins():
    best = trial("logistic", [0.51, 0.50], C=10.0)
    assert chosen(trial("logistic", [0.5, 0.5]), best, trial("logistic", [0.4, 0.3], C=100.0)) is best


def test_to_be_averaged_is_the_best_of_each_surrogate_that_is_not_clearly_behind():
    best = trial("svc", [0.60, 0.60, 0.60])
    near = trial("tight", [0.55, 0.57, 0.65])  # behind by 0.01, standard error 0.031
    clear = trial("auc", [0.58, 0.59, 0.58])  # behind by 0.017, standard error 0.0033
    other_C = trial("svc", [0.59, 0.60, 0.605], C=10.0)
    assert tied_best([clear, near, other_C, best]) == [best, near]
    assert tied_best([best]) == [best]
    assert tied_best([]) == []


def test_the_border_of_the_average_is_one_standard_error():
    best, lead = trial("logistic", [0.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, -1.0, -1.0])
    error = lead.std(ddof=1) / 2
    for factor, stays in ((0.99, True), (1.01, False)):
        other = trial("tight", lead - factor * error)
        assert (other in tied_best([best, other])) == stays


def test_what_has_collapsed_is_not_averaged():
    good, nothing = trial("logistic", [0.3, 0.3]), trial("tight", [0.9, 0.9], collapsed=True)
    assert tied_best([good, nothing]) == [good]
    assert tied_best([nothing]) == []


def test_the_average_stands_for_its_members():
    """Whichever of them looks best: that is what the folds cannot tell."""
    members = trial("logistic", [0.5, 0.6, 0.7]), trial("svc", [0.6, 0.5, 0.71])
    together = average([0.55, 0.55, 0.7], *members)
    assert chosen(*members, together) is together
    better = trial("smooth", [0.65, 0.66, 0.81])
    assert chosen(*members, together, better) is better
    assert chosen(*members, together, trial("smooth", [0.56, 0.54, 0.69])) is together


def test_an_average_reads_well_and_that_of_one_is_itself():
    one, two, three = (Candidate(name, 1.0) for name in ("logistic", "svc", "auc"))
    assert as_one([one]) is one
    assert str(as_one([one, two])) == "the average of logistic (C=1) and svc (C=1)"
    assert str(as_one([one, two, three])) == "the average of logistic (C=1), svc (C=1) and auc (C=1)"


def test_what_has_collapsed_gives_way_to_anything_that_has_not():
    nothing = trial("tight", [0.2, 0.2, 0.2], collapsed=True)
    noisy = trial("smooth", [0.9, 0.0, 0.0])
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
        trial("smooth", [0.8, 0.12]),
        trial("logistic", [0.3, 0.3], C=2.0),
        average([0.47, 0.47], trial("logistic", [0.5, 0.5]), trial("auc", [0.4, 0.4])),
    ]
    assert in_order_of_choice(trials) == [trials[i] for i in (5, 0, 3, 1, 4, 2)]


def said(*trials, measure="auc"):
    return why(chosen(*trials), trials, hr.measure(measure))


def test_the_sentence_says_what_and_why():
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.6, 0.7, 0.81]))
    assert text.startswith("Selected smooth (C=1) for auc: mean 0.7033 over 3 folds, standard error 0.061.")
    assert "logistic (C=1), trails by 0.1, standard error of the difference 0.0033" in text
    text = said(trial("logistic", [0.5, 0.6, 0.7]), trial("smooth", [0.5, 0.55, 0.72]))
    assert text.startswith("Selected logistic (C=1)")
    assert "The best other candidate, smooth (C=1), trails by 0.01" in text
    assert said(trial("logistic", [0.5, 0.6])).endswith("standard error 0.05.")


def test_the_sentence_shows_lower_is_better_as_it_is():
    text = said(trial("logistic", [-0.5, -0.3]), trial("smooth", [-0.2, -0.1]), measure="mass@0.1")
    assert "for mass@0.1: mean 0.15" in text
    assert "trails by 0.25" in text


def test_the_sentence_does_not_speak_of_the_lead_of_a_collapsed_fit():
    text = said(trial("logistic", [0.3, 0.3, 0.3]), trial("tight", [0.9, 0.9, 0.9], collapsed=True))
    assert "leads" not in text


def test_the_sentence_does_not_hide_that_another_is_ahead():
    """Clearly, as it may be when the first in order has collapsed on all rows, or by less than the noise."""
    simple = trial("logistic", [0.5, 0.6, 0.7])
    clear, noisy = trial("tight", [0.61, 0.7, 0.8]), trial("tight", [0.6, 0.5, 0.75])
    assert why(simple, (simple, clear), hr.measure("auc")).endswith(
        "tight (C=1) leads by 0.1, standard error of the difference 0.0033."
    )
    part = average([0.5, 0.6, 0.7], clear, trial("svc", [0.5, 0.6, 0.7]))
    assert why(simple, (simple, clear, part), hr.measure("auc")).endswith(
        " 0.0033, but the average that contains it does not."
    )
    equal = trial("tight", [0.5, 0.6, 0.7 + 1e-14])
    assert " trails by " in why(simple, (simple, equal), hr.measure("auc"))
    assert why(simple, (simple, noisy), hr.measure("auc")).endswith("within the noise, so it is not preferred.")


def test_the_sentence_names_the_members_and_compares_with_others_only():
    members = trial("logistic", [0.5, 0.6, 0.7]), trial("svc", [0.6, 0.5, 0.72])
    together = average([0.55, 0.55, 0.7], *members)
    text = said(*members, together)
    assert text.startswith("Selected the average of logistic (C=1) and svc (C=1) for auc: mean 0.6 over 3 folds")
    assert text.endswith("These candidates are tied.")
    text = said(*members, together, trial("smooth", [0.4, 0.4, 0.4]), trial("tight", [0.45, 0.45, 0.45]))
    assert "The best other candidate, tight (C=1), trails by 0.15" in text


def test_the_sentence_says_where_the_smooth_one_starts():
    start = trial("logistic", [0.5, 0.6, 0.7]), trial("svc", [0.6, 0.5, 0.7])
    candidate = Candidate("smooth", 10.0, 0.5, tuple(t.candidate for t in start))
    smooth = Trial(candidate, np.array([0.7, 0.7, 0.8]), np.zeros(3, dtype=bool), np.ones(3))
    text = said(*start, average([0.6, 0.6, 0.7], *start), smooth)
    assert text.startswith(
        "Selected smooth (C=10, bandwidth=0.5) for auc, starting from the average of logistic (C=1) and"
    )
    assert "The best other candidate, the average of logistic (C=1) and svc (C=1), trails by 0.1," in text


def test_the_average_of_both_is_chosen_where_there_is_one():
    convex = trial("logistic", [0.5, 0.6, 0.7]), trial("svc", [0.6, 0.5, 0.7])
    smooth = trial("smooth", [0.58, 0.6, 0.65])
    together, all_of_them = average([0.55, 0.55, 0.7], *convex), average([0.4, 0.5, 0.6], *convex, smooth)
    assert chosen(*convex, together, smooth, all_of_them) is all_of_them
    assert all_of_them.candidate.surrogate == "average of both"
    text = said(*convex, together, smooth, all_of_them, trial("tight", [0.1, 0.2, 0.3]))
    assert text.startswith("Selected the average of logistic (C=1), svc (C=1) and smooth (C=1) for auc: mean 0.5")
    assert " The convex and the smooth candidates are tied. The best other candidate, tight (C=1), trails" in text


def test_an_average_of_smooth_ones_stands_for_them():
    convex, members = (
        trial("logistic", [0.5, 0.6, 0.7]),
        (trial("smooth", [0.7, 0.8, 0.81]), trial("smooth", [0.7] * 3)),
    )
    together = average([0.6, 0.7, 0.81], *members)
    assert together.candidate.surrogate == "average of smooth"
    assert chosen(convex, *members, together) is together
    assert chosen(convex, *members, average([0.4, 0.5, 0.9], *members)) is convex


def test_bandwidths_are_averaged_like_surrogates():
    sharp, soft = (Candidate("smooth", C, h) for C, h in ((1.0, 0.1), (10.0, 0.5)))
    best, near, worse = (
        Trial(candidate, np.array(values), np.zeros(3, dtype=bool), np.ones(3))
        for candidate, values in (
            (sharp, [0.60, 0.60, 0.60]),
            (soft, [0.55, 0.57, 0.65]),
            (Candidate("smooth", 1.0, 0.5), [0.54, 0.56, 0.64]),
        )
    )
    assert tied_best([worse, near, best]) == [best, near]


def test_the_error_over_folds_is_corrected_for_the_rows_they_share():
    lead = np.array([0.1, -0.2, 0.4, 0.0, 0.3])
    assert corrected_error(lead) == pytest.approx(1.5 * lead.std(ddof=1) / np.sqrt(5))
    assert corrected_error(lead[:1]) == 0
    assert trails(np.zeros(5), np.full(5, 0.1))
    assert not trails(np.zeros(5), lead)
