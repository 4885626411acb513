"""What the registry says of each surrogate is so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import headrank as hr
from headrank.surrogates import KINDS, RowFacts, kind_of, surrogate_for

SCORES = arrays(np.float64, 4, elements=st.integers(-3, 3))
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
    if KINDS[name].needs_range:
        with pytest.raises(ValueError, match="has no convex surrogate"):
            surrogate_for(hr.LocalAUC(0.1), name)
    else:
        surrogate_for(hr.LocalAUC(0.1), name)


@EVERY
@pytest.mark.parametrize("measure", [hr.PartialAUC(max_fpr=0.5), hr.LocalAUC(0.1), hr.BEDROC(), hr.KS()], ids=str)
def test_a_surrogate_can_be_made_of_the_measures_it_says_it_supports_and_of_no_others(name, measure):
    if KINDS[name].supports(measure):
        surrogate_for(measure, name)
    else:
        with pytest.raises(ValueError, match=r"has no (convex|smooth) surrogate"):
            surrogate_for(measure, name)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"surrogate must be one of 'logistic', .*'smooth', got 'hinge'"):
        kind_of("hinge")
