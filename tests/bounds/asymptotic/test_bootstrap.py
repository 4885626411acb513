"""The bootstrap: exact resampling on presorted scores, for every measure, with weights, clusters and queries."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console
from scipy.stats import ks_2samp

import headrank as hr
from headrank.bounds.asymptotic import resampling
from headrank.bounds.asymptotic.bootstrap import bootstrap, percentiles
from headrank.bounds.asymptotic.delong import delong
from headrank.bounds.asymptotic.resampling import ClusterDraws, QueryDraws, RowDraws, replicates
from headrank.bounds.sample_curves import Levels, SampleCurves
from headrank.datasets import Binormal
from headrank.exceptions import ShallowHeadError
from headrank.labels import check_binary
from strategies import Ranking, small_rankings, weighted_rankings

MEASURES = (
    hr.AUC(),
    hr.PartialAUC(max_fpr=0.05),
    hr.PartialAUC(min_fpr=0.02, max_fpr=0.1),
    hr.StandardizedPartialAUC(max_fpr=0.1),
    hr.TwoWayPartialAUC(max_fpr=0.3, min_tpr=0.3),
    hr.LocalAUC(0.1),
    hr.WRanking(0.1),
    hr.TPRAtFPR(0.05),
    hr.FPRAtTPR(0.3),
    hr.PrecisionAt(20),
    hr.RecallAt(0.1),
    hr.EnrichmentFactor(0.05),
    hr.BEDROC(2.0),
    hr.KS(),
    hr.MassConstrainedError(0.1),
    hr.PNormPush(4),
    hr.AveragePrecision(),
    hr.PrecisionRecallArea(),
)


def sample(n_pos: int = 60, n_neg: int = 240, seed: int = 0, decimals: int = 1) -> tuple[np.ndarray, np.ndarray]:
    y, scores = Binormal(separation=1.2).sample_classes(n_pos, n_neg, random_state=seed)
    return y, np.round(scores, decimals)


def resampled_rows(y, scores, measure, n_replicates: int, seed: int) -> np.ndarray:
    """The obvious twin: copy the rows that were drawn, and measure them."""
    rng = np.random.default_rng(seed)
    pos, neg = np.flatnonzero(y), np.flatnonzero(~y)
    rows = (np.concatenate([rng.choice(pos, pos.size), rng.choice(neg, neg.size)]) for _ in range(n_replicates))
    return np.array([measure(y[drawn], scores[drawn]) for drawn in rows])


def same_law(first: np.ndarray, second: np.ndarray) -> bool:
    # Two samples of one law fail on one seed in a million; values that differ by rounding are one value.
    return bool(ks_2samp(np.round(first, 9), np.round(second, 9), method="asymp").pvalue > 1e-6)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_replicates_have_the_law_of_resampled_rows(measure: hr.Measure) -> None:
    y, scores = sample()
    draws = RowDraws.of_curve(hr.RocCurve.from_scores(y, scores), measure)
    ours = replicates(draws, 600, random_state=1)[:, 0]
    assert same_law(ours, resampled_rows(y, scores, measure, 600, seed=2))
    assert np.ptp(ours) > 0


@pytest.mark.parametrize("shortfall", [1, 10])
@pytest.mark.parametrize("measure", [hr.PartialAUC(max_fpr=0.05), hr.FPRAtTPR(0.3), hr.LocalAUC(0.1)], ids=str)
def test_a_head_too_short_is_completed_exactly(
    measure: hr.Measure, shortfall: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With heads one level short of what the sample itself needs many replicates have to draw the rest, with ten all.
    y, scores = sample()
    twin = resampled_rows(y, scores, measure, 600, seed=2)
    depth = measure.depth(60, 240)
    head = hr.RocCurve.from_scores(y, scores).head(depth.n_neg, n_pos=depth.n_pos, n_rows=depth.n_rows)
    monkeypatch.setattr(resampling, "_levels_in_head", lambda *_: head.scores.size - shortfall)
    draws = RowDraws.of_curve(hr.RocCurve.from_scores(y, scores), measure)
    seen = []
    original = RowDraws._measured_whole
    monkeypatch.setattr(RowDraws, "_measured_whole", lambda *given: seen.append(1) or original(*given))
    assert same_law(replicates(draws, 600, random_state=1)[:, 0], twin)
    assert len(seen) > 60
    assert (len(seen) == 600) == (shortfall == 10)


def test_only_the_head_is_drawn_row_by_row() -> None:
    y, scores = sample(1000, 9000, decimals=9)
    draws = RowDraws.of_curve(hr.RocCurve.from_scores(y, scores), hr.PartialAUC(max_fpr=0.05))
    assert draws._head_rows[1].size < 0.07 * 9000


def test_a_head_of_a_curve_suffices_while_it_is_deep_enough() -> None:
    y, scores = sample(300, 3000, decimals=6)
    whole = hr.RocCurve.from_scores(y, scores)
    measure = hr.PartialAUC(max_fpr=0.05)
    head = bootstrap(whole.head(n_neg=400), measure, n_replicates=400, random_state=0)
    # Not the same random numbers, but the same law.
    assert head.low == pytest.approx(bootstrap(whole, measure, n_replicates=400, random_state=0).low, abs=0.02)
    with pytest.raises(ShallowHeadError):
        bootstrap(whole.head(n_neg=150), measure, n_replicates=400, random_state=0)


def test_class_sizes_are_kept_or_drawn() -> None:
    y, scores = sample(20, 80)
    curve = hr.RocCurve.from_scores(y, scores)

    class Sizes(hr.AUC):
        def _value(self, curve: hr.RocCurve) -> float:
            assert curve.tp[-1] == curve.n_pos
            assert curve.fp[-1] == curve.n_neg
            assert curve.n == 100
            return float(curve.n_pos)

    assert set(replicates(RowDraws.of_curve(curve, Sizes()), 50, random_state=0)[:, 0]) == {20.0}
    drawn = replicates(RowDraws.of_curve(curve, Sizes(), stratified=False), 1000, random_state=0)[:, 0]
    assert drawn.mean() == pytest.approx(20, abs=0.5)
    assert drawn.std() == pytest.approx(4, abs=0.4)  # binomial


@given(weighted_rankings(max_rows=7))
def test_weights_multiply(ranking: Ranking) -> None:
    # Weights of one are no weights, and all weights doubled change nothing: same random numbers, same values.
    y, scores = ranking.y, ranking.scores
    measure = hr.AUC()
    results = []
    for weights in (np.ones(y.size), np.full(y.size, 2.0)):
        checked = check_binary(y, scores, weights)
        draws = RowDraws([Levels.of(checked.scores)], checked.positive, measure, weights=checked.weights)
        results.append(replicates(draws, 20, random_state=0)[:, 0])
    plain = RowDraws([Levels.of(scores)], y == 1, measure)
    assert results[0] == pytest.approx(results[1])
    assert results[0] == pytest.approx(replicates(plain, 20, random_state=0)[:, 0])


def test_weighted_rows_have_the_law_of_weighted_resampled_rows() -> None:
    y, scores = sample(30, 60)
    weights = np.random.default_rng(5).integers(1, 5, y.size) / 2
    rng = np.random.default_rng(7)
    twin = []
    for _ in range(1000):
        rows = np.concatenate([rng.choice(np.flatnonzero(part), part.sum()) for part in (y, ~y)])
        twin.append(hr.PartialAUC(max_fpr=0.2)(y[rows], scores[rows], sample_weight=weights[rows]))
    checked = check_binary(y, scores, weights)
    draws = RowDraws([Levels.of(checked.scores)], checked.positive, hr.PartialAUC(max_fpr=0.2), weights=checked.weights)
    assert same_law(replicates(draws, 1000, random_state=1)[:, 0], np.array(twin))


def test_clusters_are_drawn_whole() -> None:
    # Each row five times over, as a cluster: the rows alone would look five times as many as they are.
    y, scores = sample(40, 160, decimals=6)
    repeated = check_binary(np.repeat(y, 5), np.repeat(scores, 5))
    clusters = np.repeat(np.arange(y.size), 5)
    alone = bootstrap(check_binary(y, scores), hr.AUC(), n_replicates=1000, random_state=0, stratified=False)
    wrong = bootstrap(repeated, hr.AUC(), n_replicates=1000, random_state=0)
    right = bootstrap(repeated, hr.AUC(), clusters=clusters, n_replicates=1000, random_state=0)
    assert right.width == pytest.approx(alone.width, rel=0.15)
    assert wrong.width < 0.6 * alone.width
    assert "clusters" in right.assumptions
    named = bootstrap(repeated, hr.AUC(), clusters=[f"c{i:03}" for i in clusters], n_replicates=1000, random_state=0)
    assert named == right


def test_a_cluster_of_each_row_is_the_bootstrap_by_row() -> None:
    y, scores = sample(30, 60)
    levels = [Levels.of(scores)]
    by_cluster = ClusterDraws(levels, y, np.arange(y.size), hr.AUC())
    by_row = RowDraws(levels, y, hr.AUC(), stratified=False)
    first, second = (replicates(draws, 800, random_state=seed)[:, 0] for seed, draws in enumerate((by_cluster, by_row)))
    assert same_law(first, second)


def test_queries_are_drawn_whole() -> None:
    y, scores = sample(200, 200)
    qid = np.random.default_rng(0).integers(0, 40, y.size)
    checked = check_binary(y, scores, qid=qid)
    interval = bootstrap(checked, hr.AUC(), n_replicates=1000, random_state=0)
    assert interval.estimate == hr.AUC()(y, scores, qid=qid)
    values = QueryDraws([SampleCurves(checked)], hr.AUC()).values[0]
    error = values.std(ddof=1) / np.sqrt(values.size)
    assert interval.width == pytest.approx(2 * 1.96 * error, rel=0.15)
    assert (interval.n_pos, interval.n_neg) == (200, 200)
    with pytest.raises(ValueError, match="two queries"):
        bootstrap(check_binary([1, 0, 1], [1, 2, 3], qid=[1, 1, 2]), hr.AUC())
    with pytest.raises(ValueError, match="got both"):
        bootstrap(checked, hr.AUC(), clusters=qid)


def test_the_interval_is_the_same_for_any_number_of_jobs() -> None:
    curve = hr.RocCurve.from_scores(*sample())
    first = bootstrap(curve, hr.AUC(), n_replicates=210, random_state=3)
    assert bootstrap(curve, hr.AUC(), n_replicates=210, random_state=3, n_jobs=2) == first
    assert bootstrap(curve, hr.AUC(), n_replicates=210, random_state=np.random.default_rng(3)) == first
    assert bootstrap(curve, hr.AUC(), n_replicates=210, random_state=4) != first


def test_it_shows_progress_only_when_asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bars = []

    def track(parts: object, *, description: str, console: Console, **_: object) -> object:
        bars.append((description, console.stderr))
        return parts

    monkeypatch.setattr("rich.progress.track", track)
    curve = hr.RocCurve.from_scores(*sample())
    quiet = bootstrap(curve, hr.AUC(), n_replicates=50, random_state=3)
    assert not bars
    assert bootstrap(curve, hr.AUC(), n_replicates=50, random_state=3, progress=True) == quiet
    assert bars == [("bootstrap", True)]
    assert capsys.readouterr() == ("", "")


def test_ends_are_order_statistics() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1, 1000))  # 1..999
    assert percentiles(values, 0.025) == (25, 975)
    assert percentiles(values, 0.5) == (500, 500)
    assert percentiles(values, 0.001) == (1, 999)


def test_it_agrees_with_delong_on_a_large_sample() -> None:
    curve = hr.RocCurve.from_scores(*sample(1000, 9000, decimals=9))
    for measure in (hr.AUC(), hr.PartialAUC(max_fpr=0.1), hr.PartialAUC(min_fpr=0.02, max_fpr=0.05)):
        ours, theirs = bootstrap(curve, measure, n_replicates=1000, random_state=0), delong(curve, measure)
        assert ours.width == pytest.approx(theirs.width, rel=0.12)
        assert ours.low == pytest.approx(theirs.low, abs=0.1 * theirs.width)


@given(small_rankings(max_rows=9))
def test_small_samples_stay_in_range_or_are_refused(ranking: Ranking) -> None:
    curve = hr.RocCurve.from_scores(*ranking)
    for measure in (hr.PartialAUC(max_fpr=0.3), hr.PrecisionAt(1)):
        values = replicates(RowDraws.of_curve(curve, measure), 40, random_state=0)
        if np.ptp(values) == 0:
            with pytest.raises(ValueError, match="sees no uncertainty"):
                bootstrap(curve, measure, n_replicates=40, random_state=0)
            continue
        interval = bootstrap(curve, measure, n_replicates=40, random_state=0)
        assert 0 <= interval.low <= interval.high <= 1
        assert not interval.finite_sample


@pytest.mark.parametrize(
    ("y", "scores"), [([1, 1, 0, 0], [4, 3, 2, 1]), ([1, 0, 1, 0], [1, 1, 1, 1]), ([1, 0], [2, 1])]
)
def test_where_all_replicates_are_equal_it_refuses(y: list[int], scores: list[float]) -> None:
    with pytest.raises(ValueError, match="sees no uncertainty"):
        bootstrap(hr.RocCurve.from_scores(y, scores), hr.AUC(), n_replicates=100, random_state=0)


def test_one_sided_intervals_promise_one_end() -> None:
    curve = hr.RocCurve.from_scores(*sample())
    both = bootstrap(curve, hr.AUC(), confidence=0.9, n_replicates=999, random_state=0)
    lower = bootstrap(curve, hr.AUC(), confidence=0.95, side="lower", n_replicates=999, random_state=0)
    assert (lower.low, lower.high) == (both.low, 1.0)
    factor = bootstrap(curve, hr.EnrichmentFactor(0.1), side="lower", n_replicates=99, random_state=0)
    assert factor.high == 10


def test_it_refuses_what_it_cannot_do() -> None:
    y, scores = sample()
    curve = hr.RocCurve.from_scores(y, scores)
    with pytest.raises(ValueError, match="use at least"):
        bootstrap(curve, hr.AUC(), confidence=1 - 1e-12)
    with pytest.raises(ValueError, match="at least 1"):
        bootstrap(curve, hr.AUC(), n_replicates=0)
    with pytest.raises(ValueError, match="pass the sample to the bootstrap"):
        bootstrap(hr.RocCurve.from_scores(y, scores, np.full(y.size, 2.0)), hr.AUC())
    with pytest.raises(ValueError, match="pass the sample to the bootstrap"):
        bootstrap(curve, hr.AUC(), clusters=np.arange(y.size))
    with pytest.raises(ValueError, match="one value per row"):
        bootstrap(check_binary(y, scores), hr.AUC(), clusters=[1, 2])
    with pytest.raises(ValueError, match="at least two clusters"):
        bootstrap(check_binary(y, scores), hr.AUC(), clusters=np.zeros(y.size))
    # All positives in one cluster of a hundred: every third draw lacks them, and is drawn again.
    clusters = np.where(y, 0, np.arange(y.size) % 100)
    assert bootstrap(check_binary(y, scores), hr.AUC(), clusters=clusters, n_replicates=99, random_state=0).low < 1


def test_no_warnings_from_empty_levels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for measure in MEASURES:
            bootstrap(hr.RocCurve.from_scores(*sample(12, 200)), measure, n_replicates=60, random_state=0)


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(10), 4)])
def test_grades_of_a_single_list_are_not_taken_for_two_classes(clusters: np.ndarray | None) -> None:
    """A curve has no grades: replicates used to be those of y > 0, around another value than the estimate."""
    rng = np.random.default_rng(0)
    y, first, second = rng.integers(0, 4, 40), rng.normal(size=40), rng.normal(size=40)
    options = {"measure": "ndcg", "method": "bootstrap", "n_replicates": 40, "random_state": 0, "clusters": clusters}
    with pytest.raises(ValueError, match="needs qid"):
        hr.interval(y, first, **options)
    with pytest.raises(ValueError, match="needs qid"):
        hr.compare(y, first, second, **options)
    if clusters is None:
        qid = np.repeat(np.arange(10), 4)
        found = hr.interval(y, first, qid=qid, **options)
        assert found.low < hr.measures.NDCG()(y, first, qid=qid) < found.high
