"""How numbers are printed: what a limit promises in print is never more than what was proved."""

from hypothesis import given
from hypothesis import strategies as st

import headrank._format as fmt

numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(numbers)
def test_limits_in_a_sentence_are_rounded_outward_to_four_significant_digits(value):
    low, high = float(fmt.rounded_down(value)), float(fmt.rounded_up(value))
    assert low <= value <= high
    assert value - low <= 2e-3 * abs(value)
    assert high - value <= 2e-3 * abs(value)
    for text in (fmt.rounded_down(value), fmt.rounded_up(value)):
        assert text == f"{float(text):.4g}"


@given(numbers, st.integers(1, 6))
def test_limits_in_a_table_are_rounded_outward_to_so_many_decimals(value, digits):
    low, high = fmt.lower_limit(value, digits), fmt.upper_limit(value, digits)
    assert float(low) <= value <= float(high)
    assert float(high) - float(low) <= 1.001 * 10**-digits
    assert all(len(text.split(".")[1]) == digits for text in (low, high))
    assert not low.startswith("-0.") or float(low) < 0


@given(st.floats(0.1, 1.0))
def test_a_table_with_four_decimals_and_a_sentence_agree(value):
    assert float(fmt.lower_limit(value, 4)) == float(fmt.rounded_down(value))
    assert float(fmt.upper_limit(value, 4)) == float(fmt.rounded_up(value))


def test_what_is_not_finite_is_printed_as_such():
    assert fmt.rounded_up(float("inf")) == fmt.upper_limit(float("inf")) == "inf"
    assert fmt.rounded_down(float("-inf")) == fmt.lower_limit(float("-inf")) == "-inf"
    assert fmt.lower_limit(0.25, 2, sign="+") == "+0.25"
