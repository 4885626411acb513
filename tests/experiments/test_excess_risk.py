"""True and empirical risks of a finite class, and the slopes fitted to their excess."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from experiments import excess_risk as er
from headrank.measures import LocalRankingRisk, MassConstrainedError

BY_NAME = {case.name: case for case in er.CASES}
each_case = pytest.mark.parametrize("case", er.CASES, ids=lambda case: case.name)


@each_case
def test_the_first_scorer_is_the_best(case):
    for excess in (case.excess.mass_error, case.excess.ranking_risk):
        assert excess[0] == 0
        assert excess[1:].min() > 0


@pytest.mark.parametrize("case", [case for case in er.CASES if isinstance(case, er.Plane)], ids=lambda case: case.name)
def test_excess_error_is_that_of_proposition_1(case):
    """L - L* = 2 E(|eta - Q| 1{the two tops differ}), by another quadrature."""
    for i in (1, 5, 15, 24):
        cos, sin = np.cos(case.angles[i]), abs(np.sin(case.angles[i]))

        def integrand(x, cos=cos, sin=sin):
            other = ndtr((cos * x - er.BORDER) / sin)  # P(in the other top | x)
            differ = 1 - other if x >= er.BORDER else other
            return 2 * abs(float(case.above_quantile(np.array([ndtr(x)]))[0])) * differ * norm.pdf(x)

        ends = er.BORDER + sin * np.array([-300, -50, -10, -3, -1, 0, 1, 3, 10, 50, 300])
        ends = np.unique(np.clip(np.concatenate([[-9], ends, [9]]), -9, 9))
        expected = sum(quad(integrand, a, b, epsabs=1e-13)[0] for a, b in pairwise(ends))
        assert case.excess.mass_error[i] == pytest.approx(expected, rel=1e-4, abs=1e-10)


def margin(case, t):
    """P(|eta - Q| <= t): the condition that sets the rate."""
    ranks = (np.arange(400_000) + 0.5) / 400_000
    return np.mean(np.abs(case.eta_at(0, ndtri(ranks)) - case.quantile) <= t)


@pytest.mark.parametrize("name", ["linear eta (margin)", "linear eta, coarse class"])
def test_eta_has_the_margin_of_theorem_10(name):
    """P(|eta - Q| <= t) is linear in t: neither a jump, of which there is nothing near Q, nor flat there."""
    case = BY_NAME[name]
    for t in (0.002, 0.01, 0.05, 0.2):
        assert margin(case, t) / t == pytest.approx(margin(case, 0.1) / 0.1, rel=0.01)


def test_the_other_populations_break_the_margin_either_way():
    jump, flat = BY_NAME["jump of eta at Q"], BY_NAME["flat eta (no margin)"]
    assert margin(jump, 0.19) == 0
    assert margin(flat, 0.001) > 10 * 0.001 * margin(flat, 0.1) / 0.1


@pytest.mark.parametrize(("name", "power"), [("linear eta (margin)", 2), ("jump of eta at Q", 1)])
def test_the_loss_of_a_small_angle_is_the_power_that_makes_the_rate(name, power):
    """With a loss of a^2 and a standard deviation of (a / n)^(1/2), a is n^(-1/3) and the excess n^(-2/3)."""
    case = BY_NAME[name]
    small = [i for i, angle in enumerate(case.angles) if 0 < angle < 0.1]
    assert len(small) > 10
    slope = np.polyfit(np.log(np.array(case.angles)[small]), np.log(case.excess.mass_error[small]), 1)[0]
    assert slope == pytest.approx(power, abs=0.02)


@each_case
def test_true_risks_are_those_of_a_large_sample(case):
    positive, scores = case.sample(200_000, np.random.default_rng(0))
    assert positive.mean() == pytest.approx(case.positive_rate, abs=5 * 0.5 / 200_000**0.5)
    sample = er.empirical_risks(positive, scores)
    for name in er.CRITERIA:
        found, true = getattr(sample, name), getattr(case.excess, name)
        np.testing.assert_allclose(found - found[0], true, atol=0.01)  # standard errors are below 0.002


@pytest.mark.parametrize("n", [2, 7, 40, 101])
def test_empirical_risks_are_the_measures(n):
    rng = np.random.default_rng(n)
    positive = rng.random(n) < 0.4
    positive[:2] = True, False
    scores = rng.random((5, n))
    risks = er.empirical_risks(positive, scores, top=0.3)
    for i, row in enumerate(scores):
        assert risks.mass_error[i] == pytest.approx(MassConstrainedError(0.3)(positive, row))
        assert risks.ranking_risk[i] == pytest.approx(LocalRankingRisk(0.3)(positive, row))


def test_slopes_are_recovered():
    points = [er.Point("case", "mass_error", n, 10, 3 * n**-0.6, 0.1 * n**-0.6, 0.0) for n in (100, 1000, 10_000)]
    slope, error = er.fit_slope(points)
    assert slope == pytest.approx(-0.6)
    assert 0 < error < 0.02
    nothing = [er.Point("case", "mass_error", n, 10, 0.0, 0.0, 1.0) for n in (100, 1000)]
    assert np.isnan(er.fit_slope(nothing)[0])


def test_excess_falls_with_the_sample():
    points = er.excess_risk([BY_NAME["linear eta (margin)"]], n_rows={100: 60, 3000: 60})
    for criterion in er.CRITERIA:
        few, many = (point for point in points if point.criterion == criterion)
        assert few.excess - many.excess > 3 * np.hypot(few.standard_error, many.standard_error)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rate", "other"), [("linear eta (margin)", -2 / 3, -1 / 2), ("class without s*", -1 / 2, -2 / 3)]
)
def test_the_slope_is_that_of_the_theorem(name, rate, other):
    """Theorem 10 with the margin; Theorem 5 without s*, where these n leave the logarithm within the tolerance.

    With a known quantile the jump would fall like 1 / n, so this tells both populations apart, too.
    """
    case = BY_NAME[name]
    points = er.excess_risk([case], n_rows={100: 1500, 1000: 600, 10_000: 200})
    found = {slope.criterion: slope for slope in er.slopes(points, [case])}
    for criterion in ("mass_error", "known_quantile"):
        slope, tolerance = found[criterion].slope, norm.isf(0.5e-6) * found[criterion].slope_se
        assert abs(slope - rate) < tolerance
        assert abs(slope - other) > tolerance


def test_the_figure_draws_the_slopes_of_the_theorems():
    case = BY_NAME["linear eta (margin)"]
    points = er.excess_risk([case], n_rows={100: 5, 1000: 5})
    for ax in er.plot_excess_risk(points, er.slopes(points, [case])).axes:
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        named = {}
        for note in ax.texts:  # the end of which line it stands at
            (line,) = [line for line in ax.lines if tuple(line.get_xydata()[-1]) == note.xy]
            x, y = np.log(line.get_xydata()).T
            named[note.get_text()] = np.diff(y)[0] / np.diff(x)[0]
        assert named == {"-1/2": pytest.approx(-1 / 2), "-2/3": pytest.approx(-2 / 3)}


def test_the_command_writes_points_slopes_and_figure(tmp_path, capsys):
    er.main(["--quick", "--out", str(tmp_path / "new")])
    assert (tmp_path / "new" / "excess_risk.png").read_bytes().startswith(b"\x89PNG")
    header, *rows = (tmp_path / "new" / "excess_risk.csv").read_text().splitlines()
    assert header == "case,criterion,n_rows,n_samples,excess,standard_error,share_best"
    assert len(rows) == len(er.CASES) * len(er.QUICK_ROWS) * len(er.CRITERIA)
    slopes = (tmp_path / "new" / "excess_slopes.csv").read_text().splitlines()
    assert slopes[0] == "case,criterion,rate,slope,slope_se,late_slope,late_slope_se"
    assert len(slopes) == 1 + len(er.CASES) * len(er.CRITERIA)
    assert "Theorem 10" in capsys.readouterr().out
