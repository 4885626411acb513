"""What local measures prefer, and what two steps lose: exact claims first, then that the commands run."""

import numpy as np
import pytest

from experiments import combinations as com
from experiments import optimal_scorers as opt
from experiments import two_steps as two
from headrank.datasets import LinearEta
from headrank.measures import LocalAUC, TruncatedAUC, WRanking

POPULATIONS = [LinearEta(low=a, high=b, n_features=2) for a, b in ((0.0, 0.8), (0.0, 1.0), (0.3, 0.5), (0.0, 0.05))]
TOPS = (0.05, 0.2, 0.5, 0.8)
cases = pytest.mark.parametrize(("population", "top"), [(p, u) for p in POPULATIONS for u in TOPS])


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def random_scorer(rng, n_pieces=8):
    """Pieces of the range of eta in a random order, each upwards, downwards or mixed."""
    ends = np.sort(np.concatenate([[0.0, 1.0], rng.random(n_pieces - 1)]))
    pieces = []
    for i in rng.permutation(n_pieces):
        low, high = float(ends[i]), float(ends[i + 1])
        first, last = (low, high) if rng.random() < 0.3 else (high, low)
        pieces.append(opt.Piece(first, last, bool(rng.random() < 0.3)))
    return opt.Scorer("random", tuple(pieces))


@cases
def test_the_exact_ranking_by_eta_is_the_population(population, top):
    eta = opt.scorers(population, top)[0].ranking(population)
    assert eta.positive_rate == pytest.approx(population.positive_rate)
    assert eta.rates_at_top(top) == pytest.approx(population.rates_at_top(top))
    for name in opt.MEASURES:
        assert getattr(eta, name)(top) == pytest.approx(getattr(population, name)(top), abs=1e-12)
    assert eta.truncated_auc(1.0) == pytest.approx(population.auc())


@cases
def test_local_auc_and_w_ranking_are_highest_for_the_optimal_scorers(population, top):
    eta, optimal, *others = (scorer.ranking(population) for scorer in opt.scorers(population, top))
    rng = np.random.default_rng(0)
    others += [random_scorer(rng).ranking(population) for _ in range(200)]
    for name in ("local_auc", "w_ranking"):
        best = getattr(eta, name)(top)
        assert getattr(optimal, name)(top) == pytest.approx(best, abs=1e-14)
        assert all(getattr(other, name)(top) <= best + 1e-12 for other in others)


@cases
def test_the_spoiler_beats_eta_and_all_others_on_the_truncated_auc(population, top):
    eta, _, slight, best, *others = (scorer.ranking(population) for scorer in opt.scorers(population, top))
    assert eta.truncated_auc(top) < slight.truncated_auc(top) < best.truncated_auc(top)
    assert best.local_auc(top) < slight.local_auc(top) < eta.local_auc(top)
    rng = np.random.default_rng(1)
    others += [random_scorer(rng).ranking(population) for _ in range(200)]
    others += [opt.spoilt(top, mass).ranking(population) for mass in np.linspace(0, top, 50)]
    assert max(other.truncated_auc(top) for other in others) <= best.truncated_auc(top) + 1e-12


def test_any_small_spoiling_gains_truncated_auc_at_the_predicted_rate():
    population, top, mass = opt.POPULATION, 0.2, 1e-6
    gap = population.quantile(top) - population.low
    expected = gap * population.rates_at_top(top)[1] / (1 - population.positive_rate)
    gain = opt.spoilt(top, mass).ranking(population).truncated_auc(top) - population.truncated_auc(top)
    assert gain / mass == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_samples_agree_with_the_exact_values(seed):
    population, top = opt.POPULATION, 0.3
    scorer = random_scorer(np.random.default_rng(seed))
    X, y = population.sample(200_000, seed)
    scores, ranking = scorer.scores(X), scorer.ranking(population)
    assert np.unique(scores).size > 199_000
    for measure, name in ((TruncatedAUC, "truncated_auc"), (LocalAUC, "local_auc"), (WRanking, "w_ranking")):
        # Each is a smooth function of rates whose standard errors are below 0.0025.
        assert measure(top)(y, scores) == pytest.approx(getattr(ranking, name)(top), abs=0.015)


def test_the_table_of_scorers(tmp_path, capsys):
    opt.main(["--quick", "--out", str(tmp_path / "new")])
    assert is_png(tmp_path / "new" / "optimal_scorers.png")
    header, *rows = (tmp_path / "new" / "optimal_scorers.csv").read_text().splitlines()
    for name in ("top", "scorer", "alpha", "beta", "truncated_auc", "local_auc", "w_ranking", "truncated_auc_gain_se"):
        assert name in header.split(",")
    assert len(rows) == len(opt.TOPS) * 7
    assert "best spoiler" in capsys.readouterr().out


def test_samples_show_the_spoiler_ahead_by_many_standard_errors():
    frame = opt.optimal_scorers(tops=[0.2], n_rows=20_000, n_samples=5).to_frame()
    spoiler = frame.filter(frame["scorer"] == "best spoiler").row(0, named=True)
    assert spoiler["truncated_auc_gain"] > 10 * spoiler["truncated_auc_gain_se"]
    assert spoiler["local_auc_gain"] < -10 * spoiler["local_auc_gain_se"]


def test_a_single_sample_is_refused():
    with pytest.raises(ValueError, match="n_samples must be at least 2, got 1"):
        opt.optimal_scorers(tops=[0.2], n_rows=100, n_samples=1)


# -- two steps -------------------------------------------------------------------------------------------------------


@cases
@pytest.mark.parametrize("factor", [0.5, 1.0, 1.3, 4.0, np.inf])
def test_a_combination_has_the_optimal_scorer_only_up_to_weight_one_over_alpha(population, top, factor):
    weight = factor / population.rates_at_top(top)[0]

    def criterion(ranking):
        found, error = ranking.rates_at_top(top)[1], ranking.discordance(top)
        return -error if weight == np.inf else found - weight * error

    mass = com.spoilt_share(population, top, weight)
    best = criterion(opt.spoilt(top, mass).ranking(population))
    assert (mass > 1e-12) == (factor > 1)
    rng = np.random.default_rng(2)
    others = [opt.spoilt(top, each) for each in np.linspace(0, top, 60)] + [random_scorer(rng) for _ in range(60)]
    assert max(criterion(other.ranking(population)) for other in others) <= best + 1e-11


def test_combinations_lose_unless_they_are_the_right_ones():
    rows = {row.criterion: row for row in com.combinations()}
    assert rows["beta - R' = LocalAUC"].loss == 0
    assert rows["beta: finding alone (worst case)"].loss > 0.004
    for name in ("-R': ranking alone", "beta + AUC within the top", "beta * AUC within the top"):
        assert rows[name].loss > 0.04
        assert rows[name].spoilt > 0.1


def test_two_steps_lose_in_the_population():
    truth = two.population_criteria()
    one, find, rank = (
        two.CLUSTERS.ranking(*(two.DIRECTIONS[i] for i in strategy(truth)), two.TOP)
        for strategy in (two.one_step, two.find_then_rank, two.rank_cut_rerank)
    )
    assert find.rates_at_top(two.TOP)[1] > one.rates_at_top(two.TOP)[1]  # it does find more
    assert find.discordance(two.TOP) > 3 * one.discordance(two.TOP)
    assert one.local_auc(two.TOP) - find.local_auc(two.TOP) > 0.02
    assert one.local_auc(two.TOP) - rank.local_auc(two.TOP) > 0.05


def test_no_scorer_of_the_class_is_undecided_between_clusters():
    scores = np.array(two.CLUSTERS.centres) @ two.DIRECTIONS.T
    gaps = np.diff(np.sort(scores, axis=0), axis=0)
    assert gaps.min() > 2 * np.sqrt(2) * two.CLUSTERS.radius


def test_criteria_of_a_large_sample_are_those_of_the_population():
    X, y = two.CLUSTERS.sample(40_000, np.random.default_rng(0))
    sample, truth = two.sample_criteria(X, y), two.population_criteria()
    for i, j in ((0, 18), (9, 9), (6, 0)):
        assert sample.local_auc(i) == pytest.approx(truth.local_auc(i), abs=0.02)
        assert sample.auc(i) == pytest.approx(truth.auc(i), abs=0.02)
        assert sample.auc_within(i, j) == pytest.approx(truth.auc_within(i, j), abs=0.03)


def test_the_tables_of_two_steps(tmp_path, capsys):
    two.main(["--quick", "--out", str(tmp_path)])
    assert is_png(tmp_path / "two_steps.png")
    header, *rows = (tmp_path / "two_steps.csv").read_text().splitlines()
    for name in ("n_rows", "strategy", "finder", "ranker", "beta", "ranking_error", "local_auc", "loss", "loss_se"):
        assert name in header.split(",")
    assert len(rows) == (1 + len(two.QUICK_ROWS)) * len(two.STRATEGIES)
    assert (tmp_path / "combinations.csv").read_text().startswith("criterion,spoilt")
    assert "find, then rank" in capsys.readouterr().out
