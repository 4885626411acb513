"""The identities of DESIGN.md, section 2: measures against each other, on samples with ties and weights."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, roc_auc_score, roc_curve

import headrank as hr
from reference.measures import discordant_top_pairs, exact, expand, local_ranking_error, signed_rank_statistic
from strategies import any_rankings, ranges, rates, untied_rankings


def close(value):
    return pytest.approx(float(value), rel=1e-11, abs=1e-12)


class On:
    """Measures read off the curve of one ranking."""

    def __init__(self, ranking):
        self.curve = hr.RocCurve.from_scores(*ranking)
        self.rows = expand(*ranking)
        self.p = self.curve.positive_rate

    def __call__(self, measure):
        return measure.value(self.curve)


@given(any_rankings(), rates)
def test_local_auc_is_truncated_auc_and_a_box(ranking, top):
    on = On(ranking)
    alpha, beta = on(hr.TopFPR(top)), on(hr.TopTPR(top))
    assert on(hr.LocalAUC(top)) == close(on(hr.TruncatedAUC(top)) + beta - alpha * beta)


@given(any_rankings(), rates)
def test_local_auc_is_beta_less_the_discordant_pairs(ranking, top):
    on = On(ranking)
    lost = float(discordant_top_pairs(on.rows, exact(top))) / (on.curve.n_pos * on.curve.n_neg)
    assert on(hr.LocalAUC(top)) == close(on(hr.TopTPR(top)) - lost)


@given(any_rankings(), rates)
def test_local_auc_from_error_and_ranking_error(ranking, top):
    # 2 p (1-p) LocalAUC = (1-p) (p + u) - (1-p) L - R, with R a probability over independent pairs: the pair of a
    # row with itself is then among the N * N, so the ranking error over N (N - 1) pairs shrinks by (N - 1) / N.
    on = On(ranking)
    p, n = on.p, on.curve.n
    independent = on(hr.LocalRankingError(top)) * (n - 1) / n
    right = (1 - p) * (p + top) - (1 - p) * on(hr.MassConstrainedError(top)) - independent
    assert 2 * p * (1 - p) * on(hr.LocalAUC(top)) == close(right)
    assert independent == close(local_ranking_error(on.rows, exact(top)) * (len(on.rows) - 1) / len(on.rows))


@given(any_rankings(), rates)
def test_w_ranking_is_local_auc_and_the_order_among_positives(ranking, top):
    # In the population W = p/2 beta (2 - beta) + (1 - p) LocalAUC; in a sample, rank / (N + 1) adds half a row.
    on = On(ranking)
    n_pos, n_neg, found = on.curve.n_pos, on.curve.n_neg, on.curve.n_pos * on(hr.TopTPR(top))
    right = n_pos * n_neg * on(hr.LocalAUC(top)) + found * (2 * n_pos + 1 - found) / 2
    assert n_pos * (on.curve.n + 1) * on(hr.WRanking(top)) == close(right)


@given(any_rankings(), rates)
def test_w_ranking_from_error_and_ranking_error(ranking, top):
    # In the population 2 p W = C + ((p + u) / 2 - 1) L - L^2 / 4 - R with C = (p + u) - (p + u)^2 / 4. In a sample,
    # rank / (N + 1) makes W smaller by N / (N + 1), and half a row is added for each positive in the top.
    on = On(ranking)
    p, n, error = on.p, on.curve.n, on(hr.MassConstrainedError(top))
    independent = on(hr.LocalRankingError(top)) * (n - 1) / n
    both = p + top
    right = both - both**2 / 4 + (both / 2 - 1) * error - error**2 / 4 - independent + (both - error) / (2 * n)
    assert 2 * p * on(hr.WRanking(top)) * (n + 1) / n == close(right)


@given(untied_rankings(), st.data())
def test_the_mass_error_is_a_signed_rank_statistic(ranking, data):
    # Proposition 14: the share of negatives and the statistic of 1{rank / (N + 1) <= v}, for a top of whole rows.
    on = On(ranking)
    n = len(on.rows)
    n_top = data.draw(st.integers(1, n))
    statistic = signed_rank_statistic(on.rows, lambda v: float(v * (n + 1) <= n - n_top))
    assert on(hr.MassConstrainedError(n_top / n)) == close(1 - on.p + statistic / n)


@given(untied_rankings(), st.sampled_from([np.sqrt, np.square, np.abs]))
def test_signed_rank_statistics_are_rank_statistics(ranking, phi):
    # Definitions 13 and 22: without ties all ranks occur once, so positives and negatives share out a constant.
    on = On(ranking)
    n, n_pos = on.curve.n, on.curve.n_pos
    all_ranks = phi(np.arange(1, n + 1) / (n + 1)).sum()
    signed = signed_rank_statistic(on.rows, lambda v: float(phi(float(v))))
    assert 2 * n_pos * on(hr.RankStatistic(phi)) - all_ranks == close(signed)


@given(untied_rankings())
def test_tail_strength_is_the_mean_of_one_less_the_ratio_of_rates(ranking):
    # At the k-th positive the false positive rate is its p-value, and k / n_pos the true positive rate.
    on = On(ranking)
    n_pos = on.curve.n_pos
    at_positives = on.curve.pos > 0
    ratios = on.curve.fpr[1:][at_positives] / on.curve.tpr[1:][at_positives]
    assert on(hr.TailStrength()) == close(1 - (n_pos + 1) / n_pos * ratios.mean())


@given(untied_rankings())
def test_discounted_gain_is_a_rank_statistic_of_lists_of_one_length(ranking):
    # Remark 26: of graded labels, or of lists of several lengths, it is none. The discount of a row needs N.
    on = On(ranking)
    n, n_pos = on.curve.n, on.curve.n_pos
    discount = hr.RankStatistic(lambda v: 1 / np.log2(1 + (n + 1) * (1 - v)))
    assert n_pos * on(discount) == close(dcg_score([ranking.y], [ranking.scores]))


@given(any_rankings(), rates)
def test_risk_is_ranking_error_and_mass_error(ranking, top):
    on = On(ranking)
    parts = on(hr.LocalRankingError(top)) + (1 - on.p) * on(hr.MassConstrainedError(top))
    assert on(hr.LocalRankingRisk(top)) == close(parts)


@given(any_rankings(), rates)
def test_rates_of_the_top_lie_on_the_control_line(ranking, top):
    on = On(ranking)
    assert on.p * on(hr.TopTPR(top)) + (1 - on.p) * on(hr.TopFPR(top)) == close(top)
    assert on(hr.TopTPR(top)) == close(on(hr.RecallAt(top)))


@given(any_rankings())
def test_rank_sum_is_auc(ranking):
    on = On(ranking)
    n_pos, n_neg, n = on.curve.n_pos, on.curve.n_neg, on.curve.n
    right = n_pos * n_neg * on(hr.AUC()) + n_pos * (n_pos + 1) / 2
    for wilcoxon in (hr.WRanking(1.0), hr.PNormPush(1), hr.RankStatistic(np.abs)):
        assert (n + 1) * n_pos * on(wilcoxon) == close(right)


@given(any_rankings())
def test_everything_on_top_is_auc(ranking):
    on = On(ranking)
    auc = on(hr.AUC())
    for whole in (hr.LocalAUC(1.0), hr.TruncatedAUC(1.0), hr.PartialAUC(), hr.StandardizedPartialAUC()):
        assert on(whole) == close(auc)
    assert on(hr.TwoWayPartialAUC(max_fpr=1.0, min_tpr=0.0)) == close(auc)


@given(any_rankings(), rates)
def test_mcclish(ranking, max_fpr):
    on = On(ranking)
    area, chance = max_fpr * on(hr.PartialAUC(max_fpr=max_fpr)), max_fpr**2 / 2
    standardized = (1 + (area - chance) / (max_fpr - chance)) / 2
    assert on(hr.StandardizedPartialAUC(max_fpr=max_fpr)) == close(standardized)


@given(any_rankings(), ranges, st.sampled_from([0.1, 0.29, 0.5]))
def test_froc_is_partial_auc_on_another_axis(ranking, ends, images):
    on = On(ranking)
    froc = hr.FROCArea(ends[0], ends[1], images_per_negative=images)
    assert on(froc) == close(on(hr.PartialAUC(min_fpr=ends[0] * images, max_fpr=ends[1] * images)))


@given(any_rankings(), rates)
def test_two_way_without_a_floor_is_one_way(ranking, max_fpr):
    on = On(ranking)
    assert on(hr.TwoWayPartialAUC(max_fpr=max_fpr, min_tpr=0.0)) == close(on(hr.PartialAUC(max_fpr=max_fpr)))


@given(any_rankings(), ranges)
def test_a_range_of_sensitivities_is_a_range_of_specificities_with_the_classes_exchanged(ranking, ends):
    low, high = ends
    of_tpr = hr.TwoWayPartialAUC(min_tpr=low, max_tpr=high)
    exchanged = hr.PartialAUC(min_fpr=float(1 - exact(high)), max_fpr=float(1 - exact(low)))
    y, scores, weights = ranking
    assert of_tpr(y, scores, sample_weight=weights) == close(exchanged(1 - y, -scores, sample_weight=weights))


@given(any_rankings(), rates, ranges)
def test_boxes_on_top_of_each_other_add_up(ranking, max_fpr, ends):
    on, (low, high) = On(ranking), ends
    whole, upper = (on(hr.TwoWayPartialAUC(max_fpr=max_fpr, min_tpr=tpr)) * (1 - tpr) if tpr < 1 else 0 for tpr in ends)
    between = on(hr.TwoWayPartialAUC(max_fpr=max_fpr, min_tpr=low, max_tpr=high)) * (high - low)
    assert between == close(whole - upper)


@pytest.mark.parametrize("seed", range(3))
def test_the_area_above_a_sensitivity_of_isic(seed):
    # The ISIC 2024 challenge: classes exchanged, scores negated, scikit-learn's area up to an FPR of 0.2, unscaled.
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [40, 160]))
    scores = rng.normal(size=200).round(1) + y
    scaled = roc_auc_score(1 - y, -scores, max_fpr=0.2)
    area = 0.2**2 / 2 + (0.2 - 0.2**2 / 2) * (2 * scaled - 1)
    assert 0.2 * hr.measure("tpauc@tpr=0.8:1")(y, scores) == close(area)


@given(any_rankings(), st.lists(rates, min_size=1, max_size=4, unique=True))
def test_areas_of_adjacent_ranges_add_up(ranking, ends):
    on = On(ranking)
    ends = [0.0, *sorted(ends)]
    parts = sum((b - a) * on(hr.PartialAUC(min_fpr=a, max_fpr=b)) for a, b in pairwise(ends))
    assert parts == close(ends[-1] * on(hr.PartialAUC(max_fpr=ends[-1])))
    assert on.curve.area(max_fpr=ends[-1]) == close(parts)


@given(untied_rankings(), ranges)
def test_partial_auc_is_the_rank_formula_without_ties(ranking, ends):
    # Narasimhan & Agarwal (2013): the j-th negative counts with the length of [(j-1)/n, j/n] inside the range.
    on = On(ranking)
    a, b = (exact(end) for end in ends)
    neg = sorted(ranking.scores[ranking.y == 0], reverse=True)
    total = 0
    for j, t in enumerate(neg):
        width = max(0, min(exact(j + 1) / len(neg), b) - max(exact(j) / len(neg), a))
        total += width * int(np.sum(ranking.scores[ranking.y == 1] > t)) / on.curve.n_pos
    assert on(hr.PartialAUC(min_fpr=ends[0], max_fpr=ends[1])) == close(total / float(b - a))


@given(any_rankings(), rates)
def test_practitioners_measures_agree_with_each_other(ranking, k):
    on = On(ranking)
    assert on(hr.EnrichmentFactor(k)) == on(hr.Lift(k)) == close(on(hr.PrecisionAt(k)) / on.p)
    assert on(hr.RecallAt(k)) == close(on(hr.PrecisionAt(k)) * k / on.p)


def sample(seed, ties, weighted):
    rng = np.random.default_rng(seed)
    y = (rng.random(300) < 0.3).astype(int)
    scores = rng.normal(size=300) + y
    weights = rng.uniform(0.1, 3, size=300) if weighted else None
    return y, np.round(scores, 1) if ties else scores, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_parity_with_scikit_learn(seed, ties, weighted):
    y, scores, weights = sample(seed, ties, weighted)
    assert hr.AUC()(y, scores, sample_weight=weights) == close(roc_auc_score(y, scores, sample_weight=weights))
    for max_fpr in (0.001, 0.05, 0.29, 0.5, 1.0):
        theirs = roc_auc_score(y, scores, sample_weight=weights, max_fpr=max_fpr)
        assert hr.StandardizedPartialAUC(max_fpr=max_fpr)(y, scores, sample_weight=weights) == close(theirs)
    fpr, tpr, thresholds = roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    curve = hr.RocCurve.from_scores(y, scores, weights)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-13)
    np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-13)


def test_higher_auc_but_lower_partial_auc():
    # After the example in Narasimhan & Agarwal (2013): 4 positives, 6 negatives, from the top
    #   f1: - + + + + - - - - -   one negative is first, then all is well:  20 of 24 pairs are right
    #   f2: + + + - - - - - - +   a clean head, one positive comes last:    18 of 24 pairs are right
    # The range [0.1, 0.2] is [0.6, 1.2] in units of a negative: 0.4 of the first one and 0.2 of the second. Above the
    # first negative f1 has no positive and f2 has 3 of 4; above the second, f1 has all 4 and f2 still has 3.
    ranks = list(range(10, 0, -1))
    f1, f2 = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert hr.AUC()(f1, ranks) == close(20 / 24)
    assert hr.AUC()(f2, ranks) == close(18 / 24)
    head = hr.PartialAUC(min_fpr=0.1, max_fpr=0.2)
    assert head(f1, ranks) == close((0.4 * 0 + 0.2 * 1) / 0.6)
    assert head(f2, ranks) == close(3 / 4)
    assert hr.AUC()(f1, ranks) > hr.AUC()(f2, ranks)
    assert head(f1, ranks) < head(f2, ranks)


def test_truncated_auc_prefers_the_worse_scorer():
    # Remark 21: the perfect scorer's top holds no negative, so there is no area left of it to count.
    ranks = [4, 3, 2, 1]
    perfect, wrong = [1, 1, 0, 0], [0, 1, 1, 0]
    assert hr.TruncatedAUC(0.5)(perfect, ranks) < hr.TruncatedAUC(0.5)([1, 0, 1, 0], ranks)
    assert hr.LocalAUC(0.5)(perfect, ranks) == 1.0
    assert hr.LocalAUC(0.5)(wrong, ranks) == 0.25


@given(any_rankings(), st.sampled_from([0.5, 5.0, 20.0, 100.0]))
@pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")
def test_bedroc_is_rie_rescaled(ranking, alpha):
    on, p = On(ranking), On(ranking).p
    greatest = hr.RIE(alpha).attainable(on.curve)
    least = greatest * np.exp(-alpha * (1 - p))
    assert on(hr.BEDROC(alpha)) == close((on(hr.RIE(alpha)) - least) / (greatest - least))


# Values of RDKit 2026.9.1, rdkit.ML.Scoring, on this list: CalcRIE, CalcBEDROC and CalcEnrichment.
LIST = [1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
RDKIT = {1: (1.2358676080416027, 0.8327938378754277), 20: (2.909394831575121, 0.9710339990286789),
         100: (2.9999998267091987, 0.9999999422364029)}  # fmt: skip


@pytest.mark.filterwarnings("ignore::headrank.exceptions.MeasureWarning")
def test_parity_with_rdkit():
    scores = -np.arange(len(LIST))
    for alpha, (rie, bedroc) in RDKIT.items():
        assert (hr.RIE(alpha)(LIST, scores), hr.BEDROC(alpha)(LIST, scores)) == (close(rie), close(bedroc))
    for fraction, factor in {0.05: 3.0, 0.1: 3.0, 0.3: 2.25, 0.4: 1.8}.items():
        assert hr.EnrichmentFactor(fraction, rounding="up")(LIST, scores) == close(factor)
    assert hr.measure("ef@0.3")(LIST, scores) != close(2.25)
    # RDKit counts 8 rows here, as 0.07 * 100 is 7.000000000000001, and returns 1.
    assert hr.measure("ef@0.07,up")([1, 0] * 50, -np.arange(100)) == close(8 / 7)
