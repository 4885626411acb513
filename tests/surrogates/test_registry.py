"""What the registry says of each surrogate is so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import headrank as hr
from headrank.surrogates import KINDS, RowFacts, kind_of, surrogate_for

SCORES = arrays(np.float64, 4, elements=st.integers(-3, 3))
MEASURES = [
    hr.PartialAUC(max_fpr=0.5),
    hr.PartialAUC(min_fpr=0.2, max_fpr=0.5),
    hr.FROCArea(0.2, 0.3, 0.5),
    hr.LocalAUC(0.1),
    hr.BEDROC(),
    hr.KS(),
    hr.TPRAtFPR(0.1),
    hr.TPRAtFPR(0.0),
]
EVERY = pytest.mark.parametrize("name", KINDS)


def risk(name, pos, neg, rows=None):
    return surrogate_for(hr.PartialAUC(max_fpr=0.5), name, rows, bandwidth=0.5)(pos, neg).risk


@EVERY
@given(a=SCORES, b=SCORES, c=SCORES, d=SCORES, share=st.sampled_from([0.25, 0.5]))
def test_the_convex_ones_are_convex(name, a, b, c, d, share):
    if KINDS[name].convex:
        between = risk(name, share * a + (1 - share) * c, share * b + (1 - share) * d)
        assert between <= share * risk(name, a, b) + (1 - share) * risk(name, c, d) + 1e-9


def test_the_others_are_not():
    """A pair far out of order that moves further costs hardly more: no convex risk levels off."""
    for name in (name for name, kind in KINDS.items() if not kind.convex):
        values = [risk(name, np.array([-at, 0.2, 0.3]), np.array([0.0, 0.1])) for at in (1.0, 3.0, 5.0)]
        assert values[1] > (values[0] + values[2]) / 2 + 1e-6


@EVERY
@given(pos=SCORES, neg=SCORES)
def test_sums_double_with_the_rows_and_means_do_not(name, pos, neg):
    pos = pos + np.arange(4)  # not all scores alike, of which the smooth risk has no value
    twice = RowFacts(np.full(4, 2.0), np.full(4, 2.0))
    factor = 2 if KINDS[name].sums else 1
    assert risk(name, pos, neg, twice) == pytest.approx(factor * risk(name, pos, neg))


@EVERY
def test_those_that_need_a_range_refuse_a_measure_without_one(name):
    if KINDS[name].needs_range or KINDS[name].needs_head:
        with pytest.raises(ValueError, match="has no convex surrogate"):
            surrogate_for(hr.LocalAUC(0.1), name)
    else:
        surrogate_for(hr.LocalAUC(0.1), name)


@EVERY
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_surrogate_can_be_made_of_the_measures_it_says_it_supports_and_of_no_others(name, measure):
    if KINDS[name].supports(measure):
        surrogate_for(measure, name)
    else:
        with pytest.raises(ValueError, match=r"has no (convex|smooth) surrogate"):
            surrogate_for(measure, name)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"surrogate must be one of 'logistic', .*'smooth', got 'hinge'"):
        kind_of("hinge")


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.needs_head])
def test_those_of_the_head_say_which_ranges_they_learn(name):
    assert surrogate_for(hr.TPRAtFPR(0.1), name).max_fpr == 0.1
    assert surrogate_for(hr.AUC(), name).max_fpr == 1.0
    with pytest.raises(ValueError, match=r"range must start at 0.*got 0\.1 to 0\.3; use surrogate='tight'"):
        surrogate_for(hr.PartialAUC(min_fpr=0.1, max_fpr=0.3), name)
    with pytest.raises(ValueError, match=r"got 0 to 0; use surrogate='toppush'"):
        surrogate_for(hr.TPRAtFPR(0.0), name)


# Parameters in names


def test_a_number_in_the_name_is_the_parameter():
    measure = hr.PartialAUC(max_fpr=0.3)
    assert surrogate_for(measure, "push").power == 4.0
    assert surrogate_for(measure, "push@8").power == 8.0
    assert surrogate_for(measure, "patmat@1e-2").beta == 0.01
    assert surrogate_for(measure, "asymmetric@0").core == 0.0
    assert kind_of("push@8").sums
    assert kind_of("push").parameter.default == 4.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("push@0", r"the power of 'push' must be a number above 0, as in 'push@4', got '0'"),
        ("push@", r"power.*got ''"),
        ("push@two", r"power.*got 'two'"),
        ("push@inf", r"power.*got 'inf'"),
        ("patmat@nan", r"beta.*got 'nan'"),
        ("asymmetric@-1", r"core of 'asymmetric' must be a number at least 0"),
        ("tight@3", r"'tight' takes no parameter, got 'tight@3'"),
        ("smooth@0.3", r"takes no parameter.*set bandwidth instead"),
        ("hinge@3", r"surrogate must be one of .*got 'hinge@3'"),
        (3, r"surrogate must be one of .*got 3"),
    ],
)
def test_other_numbers_and_names_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        kind_of(name)
