"""KernelRanker: the linear rankers on the features of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem

from headrank._numbers import above_zero, real, seed, short_repr, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._problem import variances_of
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.estimators.linear import LinearRanker
from headrank.measures import Measure
from headrank.rows import open_rows

_TAKES_GAMMA = ("rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2")
_TAKES_DEGREE = ("poly", "polynomial")
_TAKES_COEF0 = (*_TAKES_DEGREE, "sigmoid")


class KernelRanker(Scorer):
    """Scorer that is linear in the features of a kernel, trained for the head of the list.

    The kernel extension of SVM-pAUC (Narasimhan & Agarwal 2013, section 3). With up to ``n_components`` rows it is
    exact: the features are those of the whole kernel matrix, and by the representer theorem no other scorer in the
    kernel's space has a lower objective. With more rows, ``n_components`` random ones span the features (Nyström
    approximation). scikit-learn's `Nystroem` computes the features in both cases.

    Kernels work poorly on features of different scales. Scale them first, as in
    ``make_pipeline(StandardScaler(), KernelRanker(...))``.

    Cost: with m = min(n_rows, n_components), O(n_rows m) kernel values, O(m^3) for their root, and a dense float64
    matrix of n_rows x m for the linear ranker.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        The measure to maximise.
    ranker : LinearRanker or LinearRankerCV, optional
        The linear ranker; its own measure is replaced by this one. Default `LinearRankerCV`.
    kernel : str or callable, default="rbf"
        As in scikit-learn's `Nystroem`: "rbf", "poly", "sigmoid", "laplacian", "linear", ...
    gamma : float or "scale", default="scale"
        "scale" is 1 / (n_features * variance of X), as for scikit-learn's `SVC`.
    degree, coef0 : float
        Parameters of the polynomial and sigmoid kernels.
    n_components : int, default=1000
        Maximum number of features, and of rows for which the kernel is exact.
    random_state : int or RandomState, default=0
        Seed for the choice of the rows that span the features.

    Attributes
    ----------
    ranker_ : LinearRanker or LinearRankerCV
        The linear ranker, fitted to the features.
    features_ : Nystroem
        The map from rows to features.
    exact_ : bool
        Whether the features are those of the whole kernel matrix.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = KernelRanker("pauc@0.3", ranker=LinearRanker(C=100), gamma=0.002, n_components=100).fit(X, y)
    >>> ranker.exact_, ranker.score(X, y) > 0.8
    (False, True)
    """

    exact_: bool

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        ranker: LinearRanker | LinearRankerCV | None = None,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        n_components: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.measure = measure
        self.ranker = ranker
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Compute the features and fit the linear ranker to them. Parameters as in `LinearRanker.fit`."""
        X, positive = admitted(self, X, y)
        n_components = whole("n_components", self.n_components, at_least=1)
        self.exact_ = bool(X.shape[0] <= n_components)
        template = LinearRankerCV(standardize=False) if self.ranker is None else self.ranker
        if not isinstance(template, LinearRanker | LinearRankerCV):
            raise TypeError(f"ranker must be a LinearRanker or a LinearRankerCV, got {short_repr(template)}")
        self.features_, features = self._made_features(X, n_components)
        self.ranker_ = clone(template).set_params(measure=self.measure)
        self.ranker_.fit(features, positive, sample_weight=sample_weight, qid=qid)
        return self

    def _made_features(self, X: Any, n_components: int) -> tuple[Any, Vector]:
        """Return the map from rows to features and the features of these rows; raise if they are not finite."""
        known = self.kernel if isinstance(self.kernel, str) else ""
        features = Nystroem(
            kernel=self.kernel if isinstance(self.kernel, str) or callable(self.kernel) else short_repr(self.kernel),
            gamma=self._gamma(X) if known in _TAKES_GAMMA else None,
            degree=real("degree", self.degree) if known in _TAKES_DEGREE else None,
            coef0=real("coef0", self.coef0) if known in _TAKES_COEF0 else None,
            n_components=min(n_components, X.shape[0]),
            random_state=seed(self.random_state),
        )
        try:
            with np.errstate(all="ignore"):
                values: Vector = features.fit(X).transform(X)
                finite = bool(np.isfinite(values).all())
        except (np.linalg.LinAlgError, ArithmeticError):
            finite = False
        except ValueError as error:  # of SciPy, which scikit-learn before 1.9 uses for the decomposition
            if "infs or NaNs" not in str(error):
                raise
            finite = False
        if not finite:
            raise ValueError(
                f"kernel={short_repr(self.kernel)} overflows float64 on these rows; scale the features first, as "
                "in make_pipeline(StandardScaler(), KernelRanker(...)), or lower gamma, coef0 and degree"
            )
        return features, values

    def _gamma(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return above_zero("gamma", self.gamma)
        if self.gamma != "scale":
            raise ValueError(f"gamma must be a number above 0 or 'scale', got {self.gamma!r}")
        variance = _variance(X)
        return 1 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _scores(self, X: Any) -> Vector:
        scores: Vector = self.ranker_.decision_function(self.features_.transform(X))
        return scores


def _variance(X: Any) -> float:
    """Return the variance of all values of X, within features and between their means. X is not copied."""
    means = open_rows(X).combine(np.full(X.shape[0], 1 / X.shape[0]))
    return float(variances_of(X, None).mean() + means.var())
