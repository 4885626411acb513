"""Directions: which values raise the score, for numbers, categories, missing values, and if there is no direction."""

import numpy as np

from headrank.training.directions import _ranks, directions


def one(values, added, name="age"):
    return directions(added[:, None], values[:, None], [name], np.array([0]), np.array([1.0]))[0]


def test_numbers_that_raise_lower_and_do_both():
    x = np.arange(10.0)
    assert one(x, 2 * x) == "higher values raise it"
    assert one(x, -(x**3)) == "lower values raise it"
    assert one(x, (x - 4.5) ** 2) == "no single direction"


def test_missing_values_and_constants_have_no_direction_of_their_own():
    x = np.array([1.0, np.nan, 2.0, 3.0])
    assert one(x, np.array([1.0, -99.0, 2.0, 3.0])) == "higher values raise it"
    assert one(np.ones(4), np.arange(4.0)) == ""
    assert one(np.arange(4.0), np.zeros(4)) == ""
    assert one(np.full(4, np.nan), np.arange(4.0)) == ""


def test_a_feature_without_a_name_has_no_direction():
    """A number that describes the spelling of text says nothing to a reader."""
    assert one(np.arange(4.0), np.arange(4.0), name="") == ""


def test_the_strongest_feature_speaks_for_its_column():
    hot = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    added = hot * [1.0, -3.0]
    names, both = ["city_Rome", "city_Lyon"], np.array([0, 0])
    assert directions(added, hot, names, both, np.array([0.1, -2.0])) == ("city_Lyon lowers it",)
    assert directions(added, hot, names, both, np.array([2.0, -0.1])) == ("city_Rome raises it",)
    dates = np.column_stack([np.arange(4.0), np.arange(4.0)[::-1]])
    assert directions(dates, dates, ["day_year", "day_month"], both, np.array([0.0, 1.0])) == (
        "higher values of day_month raise it",
    )


def test_ranks_are_shared_by_ties():
    from scipy.stats import rankdata

    values = np.random.default_rng(0).integers(0, 5, 40).astype(float)
    assert np.array_equal(_ranks(values), rankdata(values))
