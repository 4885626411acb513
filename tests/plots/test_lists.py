"""ListDisplay draws the numbers of the certificate, the diagonal and the promised precision."""

import io

import numpy as np
import pytest
from matplotlib import pyplot as plt

import headrank as hr
from headrank.plots.lists import ListDisplay


@pytest.fixture(scope="module")
def certificate():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [100, 2000])
    positive = np.repeat([True, False], [100, 900])
    return hr.certify_list(y, rng.normal(size=2100) + 3 * y, rng.normal(size=1000) + 3 * positive)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_lines_are_the_promises_and_the_estimates(certificate):
    display = ListDisplay(certificate, precision=0.8)
    assert display.plot() is display
    for line, values in ((display.promised_, certificate.promised), (display.likely_, certificate.likely)):
        k, found = line.get_data()
        assert (k[0], found[0]) == (0, 0)
        np.testing.assert_array_equal(found[1:], values[k[1:] - 1])
    longest = k[-1]
    assert certificate.at_least(int(longest)) == certificate.promised[-1]
    assert display.diagonal_.get_xydata().tolist() == [[0, 0], [longest, longest]]
    assert display.precision_.get_xydata().tolist() == [[0, 0], [longest, 0.8 * longest]]
    best = certificate.largest_list(0.8)
    assert display.mark_.get_xydata().tolist() == [[best, certificate.at_least(best)]]
    assert display.ax_.get_xlabel() == "First k of 1,000 new rows"
    assert legend(display) == [
        "all positive",
        "likely (estimate)",
        "promised, 95 % confidence",
        "precision 80 %",
        f"first {best}: at least {certificate.at_least(best)} positive",
    ]
    display.figure_.savefig(io.BytesIO())


def test_so_many_rows_on_these_axes(certificate):
    _, ax = plt.subplots()
    display = ListDisplay(certificate).plot(ax, max_k=40)
    assert display.ax_ is ax
    assert display.promised_.get_xdata()[-1] == 40
    assert ax.get_xlim() == (0, 40)
    assert display.plot(max_k=10**6).promised_.get_xdata()[-1] == 1000


def test_a_list_without_a_promise():
    display = ListDisplay(hr.certify_list([0, 1], [1, 2], [1, 2, 3])).plot()
    assert display.mark_ is None
    assert "precision 90 %, not promised for any k" in legend(display)
    assert display.promised_.get_ydata().tolist() == [0, 0, 0, 0]


def test_a_long_list_has_few_points():
    n = 50_000
    display = ListDisplay(hr.certify_list(np.zeros(n), np.arange(n), np.arange(n) + n)).plot()
    assert len(display.promised_.get_xdata()) <= 2001
    assert display.promised_.get_xdata()[-1] == n


def test_the_numbers_stay_on_the_object(certificate):
    assert ListDisplay(certificate).to_frame()["at_least"].to_list() == certificate.promised.tolist()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3,), {}, TypeError, "certificate must be a ListCertificate, got 3"),
        ((), {"precision": 0}, ValueError, "precision must lie in"),
    ],
)
def test_refusals_come_before_the_first_stroke(certificate, arguments, options, error, message):
    with pytest.raises(error, match=message):
        ListDisplay(*(arguments or (certificate,)), **options)
    assert not plt.get_fignums()
