"""Input that is odd but allowed, input that is refused, and what is said of both."""

import re

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import headrank as hr
from estimators.trees.boosting import boosted, boosted_cv, combined, every_kind, whole_numbers
from headrank.estimators.cv import fold_rows, folds
from headrank.exceptions import CollapsedFitWarning, OneClassError
from samples import gaussians

pytestmark = pytest.mark.usefixtures("few_trees")

RANKERS = {"boosted": boosted, "chosen": boosted_cv, "combined": combined}


@pytest.fixture(params=list(RANKERS))
def make(request):
    return RANKERS[request.param]


def test_nan_and_infinities_are_values(make):
    """Infinities are the ends of the order, NaN is a value of its own."""
    X, y = gaussians(60, 180, 2)
    X[:, 1] = np.where(y == 1, np.nan, 0)
    X[:30, 0], X[30:60, 0] = np.inf, -np.inf
    ranker = make().fit(X, y)
    scores = ranker.decision_function(X)
    assert np.isfinite(scores).all()
    assert scores[y == 1].min() > scores[y == 0].max()
    large = np.where(np.isinf(X), np.sign(X) * 1e30, X)
    np.testing.assert_allclose(make().fit(large, y).decision_function(large), scores, atol=1e-9)


def test_a_feature_that_is_always_missing(make):
    X, y = whole_numbers()
    gone = np.c_[X, np.full(y.size, np.nan)]
    ranker = make().fit(gone, y)
    assert np.ptp(ranker.decision_function(gone)) > 0
    np.testing.assert_allclose(ranker.contributions(gone).sum(axis=1), ranker.decision_function(gone), atol=1e-6)


def test_one_class(make):
    X, y = whole_numbers()
    for labels in (np.zeros(y.size), np.ones(y.size)):
        with pytest.raises(ValueError, match=r"y has only one class, .*; a ranking needs rows of two classes"):
            make().fit(X, labels)
    with pytest.raises(OneClassError, match="all 150 rows are negative and none is positive"):
        make().fit(X, y, sample_weight=(y == 0).astype(float))


def test_three_positives(make):
    X, y = gaussians(3, 120, 2, shift=4.0)
    ranker = make("pauc@0.5").fit(X, y)
    assert ranker.score(X, y) > 0.5
    assert (ranker.predict(X) == 1).sum() <= 40
    if make is not boosted:
        with pytest.warns(UserWarning, match="cv=4 folds need as many rows of each class; there are 3, so 3 folds"):
            assert len(make(cv=4).fit(X, y).out_of_fold_) == 3


def test_one_feature(make):
    X, y = gaussians(40, 160, 1, shift=2.0)
    ranker = make().fit(X, y)
    assert ranker.score(X, y) > 0.5
    assert ranker.contributions(X).shape == (200, 2)


def test_constant_features_collapse(make):
    _, y = whole_numbers()
    X = np.ones((y.size, 3))
    with pytest.warns(CollapsedFitWarning, match="check whether X says anything about y"):
        ranker = make().fit(X, y)
    assert ranker.collapsed_
    assert np.ptp(ranker.decision_function(X)) == 0
    assert not ranker.contributions(X)[:, :-1].any()


def test_constant_features_collapse_for_every_objective():
    _, y = whole_numbers()
    for objective in ("logistic", "push", "smooth"):
        with pytest.warns(CollapsedFitWarning, match="no feature separates the classes"):
            ranker = boosted(objective=objective).fit(np.ones((y.size, 3)), y)
        assert len(list(ranker.staged_decision_function(np.ones((2, 3))))) == 1


def test_too_few_rows_for_two_leaves():
    X, y = gaussians(5, 25)
    with pytest.warns(CollapsedFitWarning, match="30 rows are too few for two leaves of 20 rows; lower min_samples_"):
        hr.BoostedRanker().fit(X, y)


def test_many_categories():
    """A hundred thousand codes; those that say something are frequent enough for LightGBM."""
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(20_000) < 0.5, rng.integers(0, 100_000, 20_000), 7 * rng.integers(0, 40, 20_000))
    codes[0] = 99_999
    y = rng.random(20_000) < np.where((codes < 280) & (codes % 2 == 0), 0.6, 0.1)
    X = codes[:, None].astype(float)
    ranker = boosted(categorical_features=[0]).fit(X, y)
    as_numbers = boosted().fit(X, y)
    assert ranker.score(X, y) > as_numbers.score(X, y) + 0.05
    assert np.isfinite(ranker.decision_function([[123_456.0], [np.nan], [2.0**31], [-1.0]])).all()


def test_categories_by_number_name_and_mask():
    X, y = whole_numbers()
    by_number = boosted(categorical_features=[1]).fit(X, y).decision_function(X)
    mask = boosted(categorical_features=np.array([False, True, False])).fit(X, y).decision_function(X)
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    by_name = boosted(categorical_features=["b"]).fit(frame, y).decision_function(frame)
    sparse = boosted(categorical_features=[1]).fit(csr_matrix(X), y).decision_function(X)
    for each in (mask, by_name, sparse):
        np.testing.assert_allclose(each, by_number, atol=1e-9)


@pytest.mark.parametrize("code", [-1.0, 0.5, 2.0**31, np.inf])
@pytest.mark.parametrize("storage", [np.asarray, csr_matrix])
def test_codes_that_are_none(code, storage):
    X, y = whole_numbers()
    X[17, 1] = code
    with pytest.raises(
        ValueError,
        match=rf"codes of categories must be whole numbers from 0 .* feature 1 has {re.escape(f'{code:g}')};",
    ):
        boosted(categorical_features=[1]).fit(storage(X), y)
    with pytest.raises(ValueError, match="codes of categories"):
        boosted_cv(categorical_features=[1]).fit(storage(X), y)


def test_graded_relevance_is_refused(make):
    X, _ = whole_numbers()
    with pytest.raises(
        ValueError, match=r"multiclass: .*; of graded relevance, choose a grade to reach, such as y >= 2"
    ):
        make().fit(X, np.arange(200) % 4, qid=np.arange(200) // 10)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"objective": "hinge"},
            ValueError,
            "objective must be one of 'logistic', 'push', 'smooth', 'lambdarank', got 'hinge'",
        ),
        ({"n_estimators": 0}, ValueError, "n_estimators must be at least 1, got 0"),
        ({"n_estimators": 2.5}, TypeError, "n_estimators must be a whole number, got 2.5"),
        ({"learning_rate": 0}, ValueError, r"learning_rate must lie in \(0, 1\], got 0"),
        ({"learning_rate": 1.5}, ValueError, r"learning_rate must lie in \(0, 1\], got 1.5"),
        ({"max_leaf_nodes": 1}, ValueError, "max_leaf_nodes must be at least 2, got 1"),
        ({"max_leaf_nodes": 10**6}, ValueError, "max_leaf_nodes must be at most 131,072, got 1000000"),
        ({"min_samples_leaf": 0}, ValueError, "min_samples_leaf must be at least 1, got 0"),
        ({"l2_regularization": -1}, ValueError, "l2_regularization must not be negative, got -1"),
        ({"l2_regularization": np.nan}, ValueError, "l2_regularization must be finite, got nan"),
        ({"max_features": 0.0}, ValueError, r"max_features must lie in \(0, 1\], got 0"),
        ({"subsample": "half"}, TypeError, "subsample must be a number, got 'half'"),
        ({"random_splits": 1}, TypeError, "random_splits must be True or False, got 1"),
        ({"power": 0}, ValueError, "power must be above 0, got 0"),
        ({"bandwidth": -1}, ValueError, "bandwidth must be above 0, got -1"),
        ({"n_refining": 0}, ValueError, "n_refining must be at least 1, got 0"),
        ({"monotonic_cst": [1, 0]}, ValueError, r"one of -1, 0 and 1 for each of the 3 features, got \[1, 0\]"),
        ({"monotonic_cst": [0.5, 0, 0]}, ValueError, r"one of -1, 0 and 1 .* got \[0.5, 0, 0\]"),
        ({"monotonic_cst": 7}, ValueError, "one of -1, 0 and 1 .* got 7"),
        ({"categorical_features": [3]}, ValueError, r"numbers from 0 to 2, names of features, or a mask .* got \[3\]"),
        ({"categorical_features": ["b"]}, ValueError, r"categorical_features must be numbers .* got \['b'\]"),
        ({"categorical_features": [True]}, ValueError, r"a mask of length 3, got \[True\]"),
        ({"categorical_features": 1}, ValueError, "categorical_features must be numbers .* got 1"),
        ({"n_jobs": -2}, ValueError, "n_jobs must be at least -1, got -2"),
        ({"measure": "best"}, ValueError, "unknown measure 'best'"),
    ],
)
def test_parameters_that_are_refused(options, error, words):
    X, y = whole_numbers()
    with pytest.raises(error, match=words):
        boosted(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"grid": []}, ValueError, r"grid must be one or more dicts with parameters of BoostedRanker, got \[\]"),
        ({"grid": {"max_leaf_nodes": 4}}, TypeError, "grid must be a sequence, got"),
        ({"grid": ["loose"]}, ValueError, r"grid must be one or more dicts .* got \['loose'\]"),
        ({"grid": [{"depth": 4}]}, ValueError, "grid must have parameters of BoostedRanker, some of .*, got depth"),
        ({"grid": [{"n_estimators": 4}]}, ValueError, "some of learning_rate, .*, power, got n_estimators"),
        ({"grid": [{"max_leaf_nodes": 1}]}, ValueError, "max_leaf_nodes must be at least 2, got 1"),
        ({"grid": [{"objective": "smooth"}]}, ValueError, "must be 'logistic' or 'push', got 'smooth'"),
        ({"grid": [{"objective": "push", "power": 0}]}, ValueError, "power must be above 0, got 0"),
        ({"max_estimators": 0}, ValueError, "max_estimators must be at least 1, got 0"),
        ({"max_seconds": 0}, ValueError, "max_seconds must be above 0, got 0"),
        ({"cv": "five"}, ValueError, "cv must be an int, a splitter, or an iterable .* got 'five'"),
        ({"cv": 1}, ValueError, "cv must be at least 2, got 1"),
        ({"cv": []}, ValueError, "cv has no folds; pass an int"),
    ],
)
def test_parameters_of_a_choice_that_are_refused(options, error, words):
    X, y = whole_numbers()
    with pytest.raises(error, match=words):
        boosted_cv(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"families": ()}, ValueError, r"families must be some of 'boosted trees', 'linear', .* got \(\)"),
        ({"families": "linear"}, TypeError, r"families must be a sequence, got 'linear'; .* pass \['linear'\]"),
        ({"families": ("forest",)}, ValueError, r"families must be some of .* got \('forest',\)"),
        ({"max_seconds": -1}, ValueError, "max_seconds must be above 0, got -1"),
        ({"max_seconds": "1"}, TypeError, "max_seconds must be a number, got '1'"),
        ({"cv": 0}, ValueError, "cv must be at least 2, got 0"),
    ],
)
def test_parameters_of_a_combination_that_are_refused(options, error, words):
    X, y = whole_numbers()
    with pytest.raises(error, match=words):
        combined(**options).fit(X, y)


@pytest.mark.parametrize("name", ["chosen", "combined"])
def test_folds_of_every_kind(name):
    """A splitter, its result as a list and as a generator are the same folds; a generator is asked once."""
    X, y = whole_numbers()
    make, splitter = RANKERS[name], StratifiedKFold(3)
    expected = make(cv=list(splitter.split(X, y))).fit(X, y)
    assert len(expected.out_of_fold_) == 3
    for cv in (splitter, splitter.split(X, y)):
        np.testing.assert_array_equal(make(cv=cv).fit(X, y).decision_function(X), expected.decision_function(X))
    shuffled = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    ranker = make(cv=shuffled).fit(X, y)
    assert [scores.size for scores in ranker.out_of_fold_] == [67, 67, 66]


@pytest.mark.parametrize("name", ["chosen", "combined"])
def test_no_query_is_split_over_folds(name, monkeypatch):
    """Rows of a query are alike: split, each would tell of the others."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), 8)
    y = (rng.random(240) < 0.3).astype(int)
    y[::8], y[1::8] = 1, 0
    X = np.c_[qid, rng.normal(size=(240, 2)) + 2 * y[:, None]]
    seen = []

    def watched(*args, **options):
        seen.append(folds.splits_of(*args, **options))
        return seen[-1]

    monkeypatch.setattr(fold_rows, "splits_of", watched)
    ranker = RANKERS[name]("pauc@0.5").fit(X, y, qid=qid)
    assert len(seen) == {"chosen": 1, "combined": 3}[name]
    for splits in seen:
        assert [test.size for _, test in splits] == [80, 80, 80]
        assert not any(np.intersect1d(qid[train], qid[test]).size for train, test in splits)
        assert all(np.array_equal(test, first) for (_, test), (_, first) in zip(splits, seen[0], strict=True))
    by_group = RANKERS[name]("pauc@0.5", cv=GroupKFold(3)).fit(X, y, qid=qid)
    by_fold = zip(by_group.out_of_fold_, GroupKFold(3).split(X, y, qid), strict=True)
    values = [hr.measure("pauc@0.5")(y[test], scores, qid=qid[test]) for scores, (_, test) in by_fold]
    assert by_group.best_score_ == pytest.approx(np.mean(values))
    assert ranker.score(X, y, qid=qid) > 0.7


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
def test_leaves_of_equal_value_are_no_start_for_the_smooth_objective():
    """With 2 of 5 rows positive in both leaves; whether that is a split at all depends on rounding."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = np.sort(rng.normal(size=(10, 1)), axis=0), np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, 1])
        ranker = boosted("auc", objective="smooth").fit(X, y)
        assert len(ranker.trees_) == 1
        assert np.ptp(ranker.decision_function(X)) == pytest.approx(0, abs=1e-12)


def test_queries_are_means_in_the_smooth_objective():
    X, y = whole_numbers()
    none, one, many = (
        boosted("auc", objective="smooth").fit(X, y, qid=qid).decision_function(X)
        for qid in (None, np.zeros(200), np.arange(200) // 20)
    )
    np.testing.assert_allclose(one, none, atol=1e-6)
    assert np.abs(one - many).max() > 1e-3


@pytest.mark.parametrize("name", list(every_kind()))
def test_fit_leaves_the_constructor_arguments_alone(name):
    X, y = whole_numbers()
    ranker = every_kind()[name]
    before = dict(ranker.get_params())
    assert ranker.fit(X, y) is ranker
    assert ranker.get_params() == before


def test_lengths_that_differ(make):
    X, y = whole_numbers()
    with pytest.raises(ValueError, match="sample_weight must have one value per row: X has 200 rows, sample_weight 7"):
        make().fit(X, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="qid must have one value per row: X has 200 rows, qid 7"):
        make().fit(X, y, qid=np.ones(7))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        make().fit(X, y).decision_function(X[:, :2])
