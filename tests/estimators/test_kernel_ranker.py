"""KernelRanker: exact where it says so, near it elsewhere, and as customary in scikit-learn."""

import pickle
import tracemalloc

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import headrank as hr
from fits import alike
from headrank import KernelRanker, LinearRanker, LinearRankerCV
from reference.programs import solved


def gaussians(n_pos=15, n_neg=45, n_features=3, shift=1.5, seed=0):
    """Unit Gaussians, the positives shifted along the first direction; the rows are in no order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(y.size, n_features))
    X[y == 1, 0] += shift
    return X, y


def xor(n=200, seed=0):
    """Positive where the signs agree: no linear scorer is better than chance."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


# Exact


@pytest.mark.parametrize("surrogate", ["tight", "structural", "logistic"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_linear_kernel_is_the_linear_ranker(surrogate, C):
    X, y = gaussians()
    linear = LinearRanker("pauc@0.4", surrogate=surrogate, C=C, tol=1e-6).fit(X, y)
    kernel = KernelRanker("pauc@0.4", ranker=LinearRanker(surrogate=surrogate, C=C, tol=1e-6), kernel="linear").fit(
        X, y
    )
    assert kernel.exact_
    assert kernel.ranker_.objective_ == pytest.approx(linear.objective_, rel=3e-6)
    fresh = gaussians(seed=1)[0]
    np.testing.assert_allclose(kernel.decision_function(fresh), linear.decision_function(fresh), atol=0.02)
    assert linear.decision_function(fresh).std() > 0.05


def explicit_features(K):
    """Features whose inner products are K, by its eigenvectors; what is left out is rounding, not rank."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-11 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_the_objective_is_the_minimum_over_the_kernels_space(kernel, C):
    """On features whose inner products are the kernel: minimise |w|^2 / 2 + C R(w), here for the hinge of the AUC."""
    X, y = gaussians(8, 14, 2)
    K = pairwise_kernels(X, metric=kernel, gamma=0.5, **({"degree": 2, "coef0": 0.7} if kernel == "poly" else {}))
    features = explicit_features(K)
    assert features.shape[1] == 6 or kernel == "rbf"  # 1, a, b, a^2, ab, b^2
    differences = (features[y == 1][:, None] - features[y == 0][None]).reshape(8 * 14, -1)
    w = cp.Variable(features.shape[1])
    risk = cp.sum(cp.pos(1 - differences @ w)) / len(differences)
    reference = solved(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * risk)))
    ranker = KernelRanker("auc", ranker=LinearRanker(C=C, tol=1e-6), kernel=kernel, gamma=0.5, degree=2, coef0=0.7).fit(
        X, y
    )
    assert ranker.ranker_.objective_ == pytest.approx(reference, rel=3e-6)
    assert reference < 0.98 * C  # better than no ranking at all
    scores = ranker.decision_function(X)
    differences = (scores[y == 1][:, None] - scores[y == 0][None]).ravel()
    assert np.maximum(1 - differences, 0).mean() == pytest.approx(ranker.ranker_.risk_)


def test_when_exact_the_state_does_not_matter():
    X, y = gaussians()
    one, other = (
        KernelRanker("pauc@0.3", ranker=LinearRanker(C=10, tol=1e-6), random_state=state).fit(X, y) for state in (0, 1)
    )
    assert one.ranker_.objective_ == pytest.approx(other.ranker_.objective_, rel=1e-5)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=0.02)


@pytest.mark.parametrize(("n_components", "exact"), [(59, False), (60, True), (61, True)])
def test_exact_up_to_as_many_rows_as_components(n_components, exact):
    X, y = gaussians()
    ranker = KernelRanker("auc", ranker=LinearRanker(), n_components=n_components).fit(X, y)
    assert ranker.exact_ is exact
    assert ranker.features_.components_.shape[0] == min(n_components, 60)


# Nyström


def test_few_components_come_near_the_exact_scorer():
    X, y = xor()
    exact = KernelRanker("auc", ranker=LinearRanker(C=10), gamma=1.0).fit(X, y)
    near = KernelRanker("auc", ranker=LinearRanker(C=10), gamma=1.0, n_components=60).fit(X, y)
    assert exact.exact_
    assert not near.exact_
    assert near.ranker_.coef_.shape == (60,)
    assert near.ranker_.objective_ >= exact.ranker_.lower_bound_ * (1 - 1e-9)  # a part of the space
    assert near.ranker_.objective_ == pytest.approx(exact.ranker_.objective_, rel=0.02)
    fresh = xor(500, seed=1)[0]
    assert np.corrcoef(near.decision_function(fresh), exact.decision_function(fresh))[0, 1] > 0.99


def test_the_state_decides_the_components():
    X, y = xor()
    fits = [KernelRanker("auc", ranker=LinearRanker(), n_components=5, random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert (fits[0].features_.components_ == fits[1].features_.components_).all()
    assert alike(fits[0].decision_function(X), fits[1].decision_function(X))
    assert (fits[0].features_.components_ != fits[2].features_.components_).any()


# What it learns


def test_it_solves_what_no_linear_scorer_can():
    X, y = xor()
    fresh = xor(1000, seed=1)
    kernel = KernelRanker("pauc@0.1", ranker=LinearRanker(C=100)).fit(X, y)
    assert kernel.score(*fresh) > 0.8
    assert LinearRanker("auc", surrogate="logistic").fit(X, y).score(*fresh) < 0.6
    assert kernel.score(*fresh) == pytest.approx(hr.measure("pauc@0.1")(fresh[1], kernel.decision_function(fresh[0])))


def test_by_default_the_linear_ranker_is_chosen_by_cross_validation():
    X, y = xor(80)
    ranker = KernelRanker("pauc@0.3", n_components=20).fit(X, y)
    assert isinstance(ranker.ranker_, LinearRankerCV)
    assert ranker.ranker_.measure == "pauc@0.3"
    assert ranker.ranker_.choice_.startswith("Selected")
    assert ranker.score(*xor(500, seed=1)) > 0.6


def test_the_ranker_is_a_template():
    X, y = xor(80)
    template = LinearRanker("auc", surrogate="smooth", C=3)
    ranker = KernelRanker("pauc@0.3", ranker=template, n_components=20).fit(X, y)
    assert template.measure == "auc"
    assert not hasattr(template, "coef_")
    assert (ranker.ranker_.measure, ranker.ranker_.surrogate, ranker.ranker_.C) == ("pauc@0.3", "smooth", 3)


def test_weights_and_queries_reach_the_ranker():
    X, y = gaussians()
    rng = np.random.default_rng(0)
    weights, qid = rng.uniform(0.5, 2, y.size), rng.integers(0, 4, y.size)
    ranker = KernelRanker("pauc@0.5", ranker=LinearRanker(C=5)).fit(X, y, weights, qid)
    features = ranker.features_.transform(X)
    twin = LinearRanker("pauc@0.5", C=5).fit(features, y, weights, qid)
    assert alike(twin.coef_, ranker.ranker_.coef_)
    assert (LinearRanker("pauc@0.5", C=5).fit(features, y).coef_ != twin.coef_).any()
    measured = hr.measure("pauc@0.5")(y, ranker.decision_function(X), sample_weight=weights, qid=qid)
    assert ranker.score(X, y, sample_weight=weights, qid=qid) == pytest.approx(measured)


def test_a_weight_of_two_is_the_row_twice_when_exact():
    X, y = gaussians()
    weights = np.arange(y.size) % 3
    fit = KernelRanker("auc", ranker=LinearRanker(C=10, tol=1e-7), gamma=0.3).fit
    weighted = fit(X, y, sample_weight=weights).decision_function(X)
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=0.01)
    assert np.abs(fit(X, y).decision_function(X) - repeated).max() > 0.1


# Kernels and their parameters


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=lambda f: f.__name__)
def test_the_scale_is_that_of_svc(stored):
    X, y = gaussians()
    X = X * [1, 10, 0.1] + [0, 3, 1]
    X[X < 0] = 0
    ranker = KernelRanker("auc", ranker=LinearRanker()).fit(stored(X), y)
    assert ranker.features_.gamma == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma)
    assert KernelRanker("auc", ranker=LinearRanker(), gamma=0.3).fit(stored(X), y).features_.gamma == 0.3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stored", [np.asarray, np.asfortranarray, sparse.csr_array], ids=lambda f: f.__name__)
def test_the_scale_is_that_of_all_values_and_takes_no_copy_of_them(stored, dtype, monkeypatch):
    monkeypatch.setattr("headrank.estimators._problem._BLOCK_VALUES", 10_000)
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20_000, 60)) * rng.uniform(0.1, 10, 60) + rng.normal(size=60)) * (rng.random(60) < 0.7)
    X[rng.random(X.shape) < 0.3] = 0
    expected = 1 / (60 * X.var())  # scikit-learn's formula
    X = stored(X.astype(dtype))
    tracemalloc.start()
    gamma = KernelRanker()._gamma(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gamma == pytest.approx(expected, rel=1e-12 if dtype == np.float64 else 1e-5)
    assert peak < (X.data if sparse.issparse(X) else X).nbytes / 2


def test_the_scale_of_values_far_from_zero_is_not_rounding():
    X = sparse.csr_array(1e8 + np.random.default_rng(0).normal(size=(500, 2)))
    assert KernelRanker()._gamma(X) == pytest.approx(1 / (2 * X.toarray().var()), rel=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "cosine", "linear"])
def test_sparse_rows_give_the_same_answer(kernel):
    X, y = gaussians()
    X *= np.random.default_rng(0).random(X.shape) < 0.6
    dense = KernelRanker("pauc@0.3", ranker=LinearRanker("auc", surrogate="logistic", tol=1e-8), kernel=kernel).fit(
        X, y
    )
    fitted = clone(dense).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(fitted.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-3)
    assert dense.decision_function(X).std() > 0.05


def test_a_kernel_of_ones_own():
    X, y = gaussians()

    def overlap(a, b):
        return float(np.exp(-0.5 * ((a - b) ** 2).sum()))

    own = KernelRanker("pauc@0.3", ranker=LinearRanker(C=10, tol=1e-6), kernel=overlap).fit(X, y)
    named = KernelRanker("pauc@0.3", ranker=LinearRanker(C=10, tol=1e-6), gamma=0.5).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-2)


def test_degree_and_offset_reach_the_kernel():
    X, y = gaussians()
    ranker = KernelRanker("auc", ranker=LinearRanker(), kernel="poly", degree=2, coef0=3.0, gamma=0.1).fit(X, y)
    features = ranker.features_.transform(X)
    np.testing.assert_allclose(features @ features.T, (0.1 * linear_kernel(X) + 3) ** 2, rtol=1e-6)
    ranker = KernelRanker("auc", ranker=LinearRanker(), gamma=0.1).fit(X, y)
    features = ranker.features_.transform(X)
    np.testing.assert_allclose(features @ features.T, rbf_kernel(X, gamma=0.1), atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kernel": "nonsense"}, ValueError, "kernel"),
        ({"gamma": 0.0}, ValueError, "gamma"),
        ({"gamma": "auto"}, (TypeError, ValueError), "gamma"),
        ({"n_components": 0}, ValueError, "n_components"),
        ({"measure": "nonsense"}, ValueError, "nonsense"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters, error, message):
    X, y = gaussians()
    with pytest.raises(error, match=message):
        KernelRanker(ranker=LinearRanker()).set_params(**parameters).fit(X, y)


def test_constant_rows_have_a_scale_too():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    with pytest.warns(hr.exceptions.CollapsedFitWarning):
        ranker = KernelRanker("auc", ranker=LinearRanker(surrogate="logistic")).fit(X, y)
    assert ranker.score(X, y) == 0.5


# The customs of scikit-learn

SCALE = 'gamma="scale" is that of the rows, weighted or not, as in SVC'
DRAWN = "the rows that span the features are drawn by number, not by weight"


def expected_failures(ranker):
    if ranker.gamma != "scale" and ranker.n_components > 100:
        return {}
    reason = SCALE if ranker.gamma == "scale" else DRAWN
    return {f"check_sample_weight_equivalence_on_{storage}_data": reason for storage in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # many checks fit noise
@parametrize_with_checks(
    [
        KernelRanker("auc", ranker=LinearRanker("auc", tol=1e-6)),
        KernelRanker("auc", ranker=LinearRanker("auc", surrogate="logistic"), gamma=0.1),
        KernelRanker("auc", ranker=LinearRanker("auc", surrogate="logistic"), n_components=10, gamma=0.1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_fit_leaves_the_constructor_arguments_alone_and_can_be_run_again():
    X, y = gaussians()
    ranker = KernelRanker("pauc@0.3", ranker=LinearRanker(C=3), n_components=20)
    before = dict(ranker.get_params())
    assert ranker.fit(X, y) is ranker
    assert ranker.get_params() == before
    first = ranker.decision_function(X)
    assert alike(ranker.fit(X, y).decision_function(X), first)
    for copy in (pickle.loads(pickle.dumps(ranker)), clone(ranker).fit(X, y)):
        assert alike(copy.decision_function(X), first)


def test_labels_and_frames():
    X, y = gaussians(shift=3.0)
    names = np.array(["benign", "malignant"])
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    ranker = KernelRanker("pauc@0.3", ranker=LinearRanker(C=10)).fit(table, names[y])
    assert list(ranker.classes_) == ["benign", "malignant"]
    assert list(ranker.feature_names_in_) == ["a", "b", "c"]
    assert (ranker.predict(table) == "malignant").sum() == 15
    assert ranker.score(table, names[y]) > 0.8


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")  # of gamma=1e-4, which is not chosen
def test_searches():
    X, y = xor()
    search = GridSearchCV(
        KernelRanker("pauc@0.3", ranker=LinearRanker()), {"gamma": [1e-4, 1.0], "ranker__C": [1.0, 100.0]}, cv=2
    )
    with_gamma = search.fit(X, y).best_params_["gamma"]
    assert with_gamma == 1.0
    assert cross_val_score(search.best_estimator_, X, y, cv=2).mean() > 0.6
