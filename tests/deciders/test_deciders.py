"""Deciders: the threshold they choose, what they hand to the scorer, and the customs of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from headrank.bounds.threshold import threshold_at
from headrank.deciders import FPRBudgetClassifier, TopFractionClassifier
from headrank.exceptions import OneClassError, TooFewRowsError
from headrank.measures import MassConstrainedError

DECIDERS = [
    FPRBudgetClassifier(LogisticRegression(), max_fpr=0.1, random_state=0),
    TopFractionClassifier(LogisticRegression()),
]


def gaussians(n_pos=200, n_neg=800, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(y.size, 3))
    X[:, 0] += shift * y
    return X, y


class Rescaling(LogisticRegression):
    """Scores on another scale whenever it sees other rows, as scorers without a natural scale do."""

    scales = (1.0, 100.0, 0.03, 7.0, 0.4)

    def fit(self, X, y, sample_weight=None):
        self.scale_ = self.scales[int(1000 * abs(np.asarray(X)[0, 0] + X[-1, 0])) % len(self.scales)]
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        return self.scale_ * (super().decision_function(X) - self.scale_)


class Recorder(ClassifierMixin, BaseEstimator):
    """Scores by the first feature; remembers what it was fitted to."""

    def fit(self, X, y, sample_weight=None, qid=None):
        self.fitted_ = (X, y, sample_weight, qid)
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


# scikit-learn's own checks


def expected_failures(estimator):
    failures = {}
    if isinstance(estimator, FPRBudgetClassifier):
        by_number = "which rows are held out depends on their number"
        failures |= {f"check_sample_weight_equivalence_on_{storage}_data": by_number for storage in ("dense", "sparse")}
    if hasattr(estimator.estimator, "predict_proba"):
        failures["check_classifiers_train"] = "the threshold is not at a probability of 1/2"
    return failures


@parametrize_with_checks(
    [
        FPRBudgetClassifier(RidgeClassifier(), max_fpr=0.1, confidence=0.1),
        FPRBudgetClassifier(LogisticRegression(), max_fpr=0.1, confidence=0.1),
        # Scores are compared to 1e-7, so the solver for sparse rows must be as exact; the check gives its own folds.
        TopFractionClassifier(RidgeClassifier(tol=1e-12), top=0.5, cv=2),
        TopFractionClassifier(LogisticRegression(), top=0.5, cv=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_customs_of_scikit_learn(estimator, check):
    check(estimator)


# Both


@pytest.mark.parametrize("decider", DECIDERS)
def test_predict_flags_what_reaches_the_threshold(decider):
    X, y = gaussians()
    decider = clone(decider).fit(X, y)
    scores = decider.estimator_.decision_function(X)
    value = getattr(decider.threshold_, "value", decider.threshold_)
    np.testing.assert_array_equal(decider.predict(X) == 1, scores >= value)
    np.testing.assert_array_equal(decider.decision_function(X) > 0, scores >= value)
    np.testing.assert_array_equal(decider.predict_proba(X), decider.estimator_.predict_proba(X))
    again = pickle.loads(pickle.dumps(decider))
    np.testing.assert_array_equal(again.predict(X), decider.predict(X))
    named = clone(decider).fit(X, np.where(y, "yes", "no"))
    assert list(named.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(named.predict(X) == "yes", scores >= value)
    assert named.score(X, np.where(y, "yes", "no")) == pytest.approx(decider.score(X, y))


@pytest.mark.parametrize("decider", DECIDERS)
def test_any_storage(decider):
    X, y = gaussians()
    predicted = clone(decider).fit(X, y).predict(X)
    names = ["a", "b", "c"]
    for other in (sparse.csr_array(X), sparse.coo_array(X), X.tolist(), pd.DataFrame(X, columns=names)):
        np.testing.assert_array_equal(clone(decider).fit(other, y).predict(other), predicted)
    frame = pl.DataFrame(X, schema=names)
    fitted = clone(decider).fit(frame, pl.Series(y))
    np.testing.assert_array_equal(fitted.predict(frame), predicted)
    assert (list(fitted.feature_names_in_), fitted.n_features_in_) == (names, 3)
    assert not hasattr(fitted.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize("decider", DECIDERS)
def test_both_refuse_what_cannot_be_decided(decider):
    X, y = gaussians(60, 240)
    with pytest.raises(NotFittedError):
        decider.predict(X)
    with pytest.raises(ValueError, match="one class only"):
        clone(decider).fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="multiclass"):
        clone(decider).fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        clone(decider).fit(X, y, sample_weight=np.ones(299))
    other = clone(decider).set_params(estimator=FrozenEstimator(LogisticRegression().fit(X, y + 5)))
    with pytest.raises(ValueError, match="has the classes"):
        other.fit(X, y)
    with pytest.raises(TypeError, match="cannot score rows"):
        clone(decider).set_params(estimator=StandardScaler()).fit(X, y)


def test_scorers_that_take_no_queries_are_not_given_any():
    X, y = gaussians(60, 240)
    with pytest.raises(TypeError, match="takes no qid"):
        TopFractionClassifier(LogisticRegression()).fit(X, y, qid=np.arange(300) % 10)
    with pytest.raises(TypeError, match="takes no sample_weight"):
        TopFractionClassifier(make_pipeline(LogisticRegression())).fit(X, y, sample_weight=np.ones(300))


@pytest.mark.parametrize("decider", DECIDERS)
def test_scorers_without_a_decision_function_are_read_by_probability(decider):
    X, y = gaussians()
    forest = RandomForestClassifier(20, max_depth=3, random_state=0)
    decider = clone(decider).set_params(estimator=forest).fit(X, y)
    value = getattr(decider.threshold_, "value", decider.threshold_)
    np.testing.assert_array_equal(decider.predict(X) == 1, decider.estimator_.predict_proba(X)[:, 1] >= value)
    assert 0 < decider.predict(X).mean() < 0.5


def test_probabilities_only_where_the_scorer_has_them():
    assert not hasattr(TopFractionClassifier(RidgeClassifier()), "predict_proba")
    assert hasattr(FPRBudgetClassifier(LogisticRegression()), "predict_proba")


# FPRBudgetClassifier


def test_the_scorer_never_sees_the_rows_that_choose_the_threshold():
    X, y = gaussians()
    X[:, 2] = np.arange(1000)
    classifier = FPRBudgetClassifier(Recorder(), max_fpr=0.05, calibration_size=0.4, random_state=3)
    classifier.fit(X, y, sample_weight=1 + np.arange(1000) % 2)
    fitted_X, fitted_y, weights, qid = classifier.estimator_.fitted_
    rest = np.setdiff1d(np.arange(1000), fitted_X[:, 2])
    assert (len(fitted_X), rest.size, fitted_y.sum(), y[rest].sum()) == (600, 400, 120, 80)
    np.testing.assert_array_equal(weights, 1 + fitted_X[:, 2] % 2)
    assert qid is None
    assert classifier.threshold_ == threshold_at(y[rest], X[rest, 0], max_fpr=0.05)
    assert classifier.threshold_.fpr_high <= 0.05
    again = clone(classifier).fit(X, y)
    assert again.threshold_ == classifier.threshold_
    assert clone(classifier).set_params(random_state=4).fit(X, y).threshold_ != again.threshold_
    assert classifier.score(X, y) == pytest.approx((X[y == 1, 0] >= classifier.threshold_.value).mean())


def test_rows_of_weight_zero_are_absent():
    X, y = gaussians()
    weights = (np.arange(1000) < 700).astype(float)
    for decider in (FPRBudgetClassifier(Recorder(), max_fpr=0.1, random_state=0), TopFractionClassifier(Recorder())):
        with_zeros = clone(decider).fit(X, y, sample_weight=weights)
        assert with_zeros.threshold_ == clone(decider).fit(X[:700], y[:700], sample_weight=np.ones(700)).threshold_


def test_a_frozen_scorer_gives_all_rows_to_the_threshold():
    X, y = gaussians()
    model = LogisticRegression().fit(*gaussians(seed=1))
    classifier = FPRBudgetClassifier(FrozenEstimator(model), max_fpr=0.02).fit(X, y)
    assert classifier.threshold_ == threshold_at(y, model.decision_function(X), max_fpr=0.02)
    assert (classifier.threshold_.n_pos, classifier.threshold_.n_neg) == (200, 800)
    with pytest.raises(TooFewRowsError, match=r"2,995 negatives to choose the threshold, but there are 800$"):
        FPRBudgetClassifier(FrozenEstimator(model), max_fpr=0.001).fit(X, y)


def test_queries_are_kept_whole_and_the_confidence_is_called_nominal():
    X, y = gaussians()
    X[:, 2] = qid = np.arange(1000) // 20
    classifier = FPRBudgetClassifier(Recorder(), max_fpr=0.05, random_state=0)
    with pytest.warns(UserWarning, match="rows of one query are not independent"):
        classifier.fit(X, y, qid=qid)
    fitted_X, _, _, queries = classifier.estimator_.fitted_
    np.testing.assert_array_equal(np.unique(queries).size, np.unique(fitted_X[:, 2]).size)
    assert np.unique(queries).size == 35
    assert classifier.threshold_.n_pos + classifier.threshold_.n_neg == 300


def test_too_few_negatives_are_refused_before_the_fit_and_the_advice_works():
    X, y = gaussians(200, 1000)
    classifier = FPRBudgetClassifier(Recorder(), max_fpr=0.01, calibration_size=0.2, random_state=0)
    with pytest.raises(TooFewRowsError, match=r"299 negatives .* calibration_size=0.2 holds out 200 of 1,000") as error:
        classifier.fit(X, y)
    assert (error.value.n_needed, error.value.n_given) == (299, 200)
    assert not hasattr(classifier, "estimator_")
    assert "use calibration_size=0.31, or collect at least 1,510 negatives" in str(error.value)
    classifier.set_params(calibration_size=0.31).fit(X, y)
    FPRBudgetClassifier(Recorder(), calibration_size=0.2).fit(*gaussians(200, 1510))
    with pytest.raises(TooFewRowsError, match=r": collect at least 15,125 negatives"):
        clone(classifier).set_params(max_fpr=0.001, calibration_size=0.2).fit(X, y)
    for bad in (0.0, 1.0, 30):
        with pytest.raises(ValueError, match="calibration_size must lie"):
            clone(classifier).set_params(calibration_size=bad).fit(X, y)
    with pytest.raises(OneClassError, match="none"):
        classifier.score(X[y == 0], y[y == 0])


def test_rows_or_queries_that_cannot_be_divided_are_refused():
    X, y = gaussians(3, 300)
    classifier = FPRBudgetClassifier(Recorder(), max_fpr=0.1, random_state=0)
    with pytest.raises(
        ValueError, match=r"different rows, but one class has 1 row; add rows, or fit .*FrozenEstimator"
    ):
        classifier.fit(X, np.arange(303) == 0)
    with pytest.raises(
        ValueError, match="divides 303 rows into 302 to fit the scorer to and 1 to choose the threshold"
    ):
        clone(classifier).set_params(calibration_size=0.001).fit(X, y)
    with pytest.warns(UserWarning, match="nominal"), pytest.raises(ValueError, match="but one query is all there is"):
        classifier.fit(X, y, qid=np.ones(303))
    with pytest.warns(UserWarning, match="nominal"), pytest.raises(ValueError, match="divides 3 queries into 0 to fit"):
        clone(classifier).set_params(calibration_size=0.9).fit(X, y, qid=np.arange(303) % 3)


def test_the_budget_classifier_is_searched_like_any_other():
    X, y = gaussians(300, 1500)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        FPRBudgetClassifier(pipeline, max_fpr=0.05, random_state=0),
        {"estimator__logisticregression__C": [1e-6, 1.0], "max_fpr": [0.02, 0.05]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["max_fpr"] == 0.05  # the larger budget finds more
    assert search.best_estimator_.threshold_.fpr_high <= 0.05


# TopFractionClassifier


@pytest.mark.parametrize("top", [0.001, 0.07, 0.29, 0.5, 1.0])
def test_the_top_is_that_of_the_mass_constraint(top):
    X, y = gaussians()
    X = np.round(X, 1)  # ties
    classifier = TopFractionClassifier(Recorder(), top=top).fit(X, y)
    scores = X[:, 0]
    distribution = [np.mean(scores <= z) for z in np.unique(scores)]
    quantile = np.unique(scores)[np.argmax(np.array(distribution) >= 1 - top - 1e-12)]
    assert classifier.threshold_ == quantile
    assert (classifier.predict(X) == (scores >= quantile)).all()  # a classifier calls tied rows alike
    assert classifier.score(X, y) == pytest.approx(1 - MassConstrainedError(top)(y, scores))
    weights = np.random.default_rng(0).integers(1, 3, 1000)
    weighted = clone(classifier).fit(X, y, sample_weight=weights)
    assert weighted.threshold_ == clone(classifier).fit(X.repeat(weights, 0), y.repeat(weights)).threshold_


def test_scores_out_of_fold_keep_the_mass_of_a_scorer_that_overfits():
    X, y = gaussians(100, 900, shift=1.0)
    new = gaussians(1000, 9000, shift=1.0, seed=1)[0]
    forest = RandomForestClassifier(50, random_state=0)
    shares = {cv: TopFractionClassifier(forest, top=0.03, cv=cv).fit(X, y).predict(new).mean() for cv in (None, 5)}
    assert abs(shares[5] - 0.03) < 0.01
    assert abs(shares[None] - 0.03) > 0.02


@pytest.mark.parametrize("top", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_of_the_scores_does_not_matter(top, weighted):
    X, y = gaussians()
    weights = np.random.default_rng(0).integers(1, 4, 1000) if weighted else None
    new = gaussians(2000, 8000, seed=1)[0]
    plain, rescaled = (
        TopFractionClassifier(scorer, top=top).fit(X, y, sample_weight=weights)
        for scorer in (LogisticRegression(), Rescaling())
    )
    np.testing.assert_array_equal(rescaled.predict(new), plain.predict(new))
    if not weighted:  # which share of all rows was asked for
        assert abs(rescaled.predict(new).mean() - top) < 4 * np.sqrt(top * (1 - top) / 1000)


def test_a_change_of_scale_does_not_part_ties():
    X, y = gaussians()
    X = np.round(X)

    class Stretching(Recorder):
        def decision_function(self, X):
            return super().decision_function(X) * (0.1 + np.pi * len(self.fitted_[0])) / 7 + 0.3

    for top in (0.01, 0.1, 0.3, 0.5):
        plain, stretched = (TopFractionClassifier(scorer, top=top).fit(X, y) for scorer in (Recorder(), Stretching()))
        np.testing.assert_array_equal(stretched.predict(X), plain.predict(X))


def test_a_fold_that_has_learned_nothing_says_nothing_of_the_scale():
    X, y = gaussians()

    class Failing(Recorder):
        def decision_function(self, X):
            failed = self.fitted_[0][0, 1] != first  # the first fold leaves out the first row
            return np.full(len(X), 100.0) if failed else super().decision_function(X)

    first = X[0, 1]
    classifier = TopFractionClassifier(Failing(), top=0.1).fit(X, y)
    assert 0.1 <= classifier.predict(X).mean() < 0.14  # a tenth of all rows, from four fifths of them
    constant = TopFractionClassifier(LogisticRegression(), top=0.1).fit(np.ones((1000, 1)), y)
    assert (constant.predict(np.ones((3, 1))) == 1).all()  # all rows are at the quantile


def test_folds_keep_queries_together():
    X, y = gaussians()
    qid = np.arange(1000) // 20
    seen = []

    class Watching(Recorder):
        def fit(self, X, y, sample_weight=None, qid=None):
            seen.append(np.unique(X[:, 2]))
            return super().fit(X, y, sample_weight, qid)

    X[:, 2] = qid
    TopFractionClassifier(Watching(), cv=4).fit(X, y, qid=qid)
    assert len(seen) == 5
    assert sum(50 - queries.size for queries in seen) == 50  # each query is left out once, as a whole


def test_senseless_fractions_and_folds_are_refused():
    X, y = gaussians(3, 30)
    for top in (0.0, 1.5, 10):
        with pytest.raises(ValueError, match="top must lie"):
            TopFractionClassifier(Recorder(), top=top).fit(X, y)
    with pytest.warns(UserWarning, match="there are 3, so 3 folds are used"):
        fewer = TopFractionClassifier(Recorder()).fit(X, y)
    assert fewer.threshold_ == TopFractionClassifier(Recorder(), cv=3).fit(X, y).threshold_ == np.sort(X[:, 0])[-4]
    one = TopFractionClassifier(Recorder(), cv=2)
    with pytest.raises(ValueError, match=r"at least 2 rows of each class, got 1; add rows, or set cv=None to use"):
        one.fit(X, np.arange(33) == 0)
    assert one.set_params(cv=None).fit(X, np.arange(33) == 0).predict(X).sum() == 4
    for bad in (1, "5", 2.5, [(1, 2, 3)]):
        with pytest.raises((TypeError, ValueError), match="cv must be"):
            TopFractionClassifier(Recorder(), cv=bad).fit(X, y)


def test_folds_may_be_given():
    X, y = gaussians()
    splits = list(StratifiedKFold(4).split(X, y))
    weights = np.arange(1000) % 3  # rows of weight 0 are in the folds that are given
    twin, same = (
        TopFractionClassifier(LogisticRegression(), cv=cv).fit(X, y, weights) for cv in (splits, StratifiedKFold(4))
    )
    assert same.threshold_ == twin.threshold_
    again = TopFractionClassifier(LogisticRegression(), cv=iter(splits)).fit(X, y, weights)  # any iterable, once
    assert again.threshold_ == twin.threshold_
    half = TopFractionClassifier(Recorder(), cv=[(np.arange(500), np.arange(500, 1000))]).fit(X, y)
    assert half.threshold_ == np.sort(X[500:, 0])[-51]  # of the rows that were left out


def test_rows_that_are_left_out_may_be_of_one_class():
    X, y = gaussians(10, 30)
    alone = TopFractionClassifier(Recorder(), cv=LeaveOneOut()).fit(X, y)
    assert alone.threshold_ == np.sort(X[:, 0])[-5]
    with pytest.raises(OneClassError, match="fold 1 of 1 has no rows of both classes to learn from; pass a number"):
        TopFractionClassifier(Recorder(), cv=[(np.flatnonzero(y), np.arange(40))]).fit(X, y)
