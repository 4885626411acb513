"""Every measure with parameters drawn at random, for laws that hold for all of them."""

import numpy as np
from hypothesis import strategies as st

import headrank as hr
from strategies import RATES, ranges, rates

# What the laws try them with: all parameters of each measure, awkward ones first.

below_one = st.sampled_from([rate for rate in RATES if rate < 1])
first_rows = st.sampled_from([1, 2]) | rates  # every small ranking has at least two rows


def over_ranges(kind):
    return ranges.map(lambda ends: kind(min_fpr=ends[0], max_fpr=ends[1]))


def rounded_up(kind):
    return rates.map(lambda k: kind(k, rounding="up"))


PARAMETERS: dict[type[hr.Measure], st.SearchStrategy[hr.Measure]] = {
    hr.AUC: st.just(hr.AUC()),
    hr.PartialAUC: over_ranges(hr.PartialAUC),
    hr.StandardizedPartialAUC: over_ranges(hr.StandardizedPartialAUC),
    hr.TwoWayPartialAUC: st.builds(hr.TwoWayPartialAUC, max_fpr=rates, min_tpr=st.just(0.0) | below_one)
    | st.builds(
        lambda fpr, ends: hr.TwoWayPartialAUC(max_fpr=fpr, min_tpr=ends[0], max_tpr=ends[1]),
        st.just(1.0) | rates,
        ranges,
    ),
    hr.FROCArea: st.sampled_from([(0.0, 0.5, 0.3), (0.2, 0.3, 0.7), (0.1, 3.3, 0.29), (1.0, 2.0, 0.5)]).map(
        lambda p: hr.FROCArea(p[0], p[1], images_per_negative=p[2])
    ),
    **{
        kind: rates.map(kind)
        for kind in (
            hr.LocalAUC,
            hr.TruncatedAUC,
            hr.TopTPR,
            hr.TopFPR,
            hr.MassConstrainedError,
            hr.LocalRankingError,
            hr.LocalRankingRisk,
            hr.WRanking,
            hr.FPRAtTPR,
        )
    },
    hr.TPRAtFPR: (st.just(0.0) | rates).map(hr.TPRAtFPR),
    hr.PNormPush: st.sampled_from([1, 0.5, 2, 8.5]).map(hr.PNormPush),
    hr.RankStatistic: st.sampled_from([np.sqrt, np.square, np.abs]).map(hr.RankStatistic),
    hr.TailStrength: st.just(hr.TailStrength()),
    **{kind: first_rows.map(kind) for kind in (hr.PrecisionAt, hr.RecallAt)},
    **{kind: first_rows.map(kind) | rounded_up(kind) for kind in (hr.EnrichmentFactor, hr.Lift)},
    **{kind: st.sampled_from([20.0, 0.9, 3, 160.9]).map(kind) for kind in (hr.BEDROC, hr.RIE)},
    hr.KS: st.just(hr.KS()),
    hr.AveragePrecision: st.sampled_from([None, 1, 2, 3, 5, 20]).map(hr.AveragePrecision),
    hr.PrecisionRecallArea: st.just(hr.PrecisionRecallArea()),
    hr.NDCG: st.builds(hr.NDCG, st.sampled_from([None, 1, 2, 5, 20]), gain=st.sampled_from(["linear", "exponential"])),
    hr.ReciprocalRank: st.just(hr.ReciprocalRank()),
    hr.SuccessAt: st.sampled_from([1, 2, 3, 20]).map(hr.SuccessAt),
    hr.RPrecision: st.just(hr.RPrecision()),
    hr.BinaryPreference: st.just(hr.BinaryPreference()),
}
