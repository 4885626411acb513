"""Trees grown by LightGBM, and kept as its text: the only module of the estimators that knows LightGBM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import local
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix

from headrank._types import IntVector, Vector
from headrank.estimators.trees.block_reader import BlockReader
from headrank.estimators.trees.settings import Settings
from headrank.estimators.trees.shapley import is_deep, shapley_values
from headrank.estimators.trees.tree_text import DEEPEST, canonical

Derivatives: TypeAlias = Callable[[Vector], tuple[Vector, Vector]]
"""Scores in, gradient and Hessian of each row out."""
_ALWAYS = {
    "verbosity": -1,
    "deterministic": True,  # equal runs give equal trees, whatever the number of threads
    "force_col_wise": True,
    "feature_pre_filter": False,  # one data set serves trees of any leaf size
    "max_bin": 255,
    "max_depth": DEEPEST,
}

_FEW_NUMBERS = 1_000_000
"""Up to this many values, threads spend more time waiting for each other than working."""

_MOST_FOR_BINS = 200_000
"""Rows that LightGBM cuts bins by."""
_VALUES_FOR_BINS = 20_000_000
"""Of blocks, most values that it cuts bins by."""
_BYTES_FOR_BINS = 28
"""What each of them takes: two copies in double precision, what is not 0 again, and its row."""
_BYTES_PER_ROW = 50
"""Of LightGBM, besides bins: scores, derivatives, the leaf of each row."""

_MANY_FEATURES, _FEATURES_PER_ROW = 2_000, 50
"""Least number of features, and of features per row, of a wide table."""


def threads_for(X: Any) -> int:
    """Return the number of threads for a matrix; 0 leaves it to LightGBM.

    It is given with every call: LightGBM keeps the number of the last call for the next one.
    """
    return 1 if X.shape[0] * X.shape[1] <= _FEW_NUMBERS else 0


def is_wide(n_rows: int, n_features: int) -> bool:
    """Whether features outnumber rows so much that time and memory depend on the features alone."""
    return n_features >= max(_MANY_FEATURES, _FEATURES_PER_ROW * n_rows)


def bytes_for(n_rows: int, n_features: int) -> float:
    """Return about how many bytes trees over blocks take while they grow, besides one block.

    >>> bytes_for(9_000_000, 100) / 1e9
    1.91
    """
    n_for_bins = min(n_rows, rows_for_bins(n_features))
    return n_rows * (n_features + _BYTES_PER_ROW) + _BYTES_FOR_BINS * n_for_bins * n_features


def rows_for_bins(n_features: int) -> int:
    """Return how many rows of blocks bins are cut by."""
    return min(_MOST_FOR_BINS, max(_VALUES_FOR_BINS // n_features, 1))


@lru_cache(maxsize=1)
def why_not() -> str:
    """Return why LightGBM cannot be used here; an empty string if it can. Its library may lack one of the system's."""
    try:
        import lightgbm  # noqa: F401
    except (ImportError, OSError) as error:
        return str(error).splitlines()[0]
    return ""


@dataclass(frozen=True, eq=False)
class LightGBMTrees:
    """Grown trees. Their scores add up.

    Attributes
    ----------
    letters : uint8 array
        LightGBM's own text, in ASCII: a model file keeps an array better than a long text.
    """

    letters: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, text: str) -> LightGBMTrees:
        """Keep a text, as `canonical` returns it."""
        return cls(np.frombuffer(text.encode("ascii"), dtype=np.uint8))

    @property
    def text(self) -> str:
        """LightGBM's own format."""
        return self.letters.tobytes().decode("ascii")

    @property
    def _booster(self) -> Any:
        """The trees as LightGBM reads them: once, and kept as long as this object is."""
        if (booster := _BOOSTERS.get(self)) is None:
            booster = _BOOSTERS[self] = _read(self.text)
        return booster

    def scores(self, X: Any) -> Vector:
        """Sum of the trees' values for each row."""
        result: Vector = self._booster.predict(_plain(X), raw_score=True, num_threads=threads_for(X))
        return result

    def staged(self, X: Any, *, every: int) -> Iterator[Vector]:
        """The scores after ``every`` trees, after twice as many, and so on to the end."""
        booster, X = self._booster, _plain(X)
        scores = np.zeros(X.shape[0])
        for start in range(0, self.n_trees, every):
            stage = {"start_iteration": start, "num_iteration": every, "num_threads": threads_for(X)}
            scores = scores + booster.predict(_plain(X), raw_score=True, **stage)
            yield scores

    def contributions(self, X: Any) -> Vector:
        """Shapley values of each feature for each row, with the mean in the last column; they add up to the scores.

        O(leaves depth²) for each row and tree: up to a millisecond for a tree of 400 leaves, some if it is deep.
        """
        if is_deep(self.text):
            return shapley_values(self.text, X)
        if hasattr(X, "nnz"):  # LightGBM answers in the precision of sparse rows
            X = X.astype(np.float64)
        values = self._booster.predict(_plain(X), pred_contrib=True, num_threads=threads_for(X))
        dense: Vector = values.toarray() if hasattr(values, "toarray") else values
        return dense

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self._booster.current_iteration())

    @property
    def learned_nothing(self) -> bool:
        """Whether no tree has a split."""
        return not self._booster.feature_importance().any()


def _plain(X: Any) -> Any:
    """Return a sparse array as a sparse matrix, which LightGBM takes without a warning. Nothing is copied."""
    return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape) if isinstance(X, csr_array) else X


_SILENT = local()
_BOOSTERS: WeakKeyDictionary[LightGBMTrees, Any] = WeakKeyDictionary()
"""Not an attribute of the trees: model files hold the text alone."""


def _read(text: str) -> Any:
    if reason := why_not():
        raise RuntimeError(f"these trees are scored by LightGBM, which could not be loaded: {reason}")
    import lightgbm

    return lightgbm.Booster(model_str=text)


@dataclass(frozen=True, eq=False)
class LightGBMRows:
    """Rows to grow trees on, with features cut into bins once. One byte per value, besides X."""

    data: Any
    n_threads: int

    @classmethod
    def of(
        cls,
        X: Any,
        target: Vector,
        weights: Vector | None,
        categorical: list[int],
        n_threads: int,
        *,
        group: IntVector | None = None,
    ) -> LightGBMRows:
        """Cut the features of X into bins. ``group`` has the number of rows of each query, which are in order."""
        import lightgbm

        parameters = {**_ALWAYS, "num_threads": n_threads}
        data = lightgbm.Dataset(
            _plain(X), target, weight=weights, group=group, categorical_feature=categorical, params=parameters
        )
        return cls(data.construct(), n_threads)

    @classmethod
    def of_blocks(
        cls, reader: BlockReader, target: Vector, weights: Vector | None, categorical: list[int], n_threads: int
    ) -> LightGBMRows:
        """Cut the features of blocks into bins: up to 100 features, the same as in memory.

        Two passes, in which blocks are loaded one after the other: one for the ends of the bins, one to fill them.
        """
        import lightgbm

        class Batches(lightgbm.Sequence):
            """The rows of a block."""

            batch_size = reader.batch_rows

            def __init__(self, number: int) -> None:
                self.number = number

            def __len__(self) -> int:
                return reader.sizes[self.number]

            def __getitem__(self, at: Any) -> Vector:
                return reader.rows(self.number, at) if isinstance(at, slice) else reader.row(self.number, at)

        n_for_bins = rows_for_bins(reader.n_features)
        parameters = {**_ALWAYS, "num_threads": n_threads, "bin_construct_sample_cnt": n_for_bins}
        blocks = [Batches(number) for number in range(len(reader.sizes))]
        data = lightgbm.Dataset(blocks, target, weight=weights, categorical_feature=categorical, params=parameters)
        rows = cls(data.construct(), n_threads)
        reader.release()
        return rows

    def part(self, kept: IntVector) -> LightGBMRows:
        """Some of the rows, in their order, without another copy of X."""
        return LightGBMRows(self.data.subset(np.sort(kept)).construct(), self.n_threads)

    def growing(
        self,
        settings: Settings,
        *,
        derivatives: Derivatives | None = None,
        start: Vector | None = None,
        monotonic: list[int] | None = None,
        random_state: int = 0,
        ranking: Mapping[str, Any] | None = None,
    ) -> LightGBMGrowing:
        """Trees to be grown on these rows, one after the other; for the log loss if no derivatives are given.

        ``start`` are the scores that the trees add to; ``ranking`` are the parameters of lambdarank.
        """
        import lightgbm

        self.data.set_init_score(start)
        n_rows, n_features = self.data.num_data(), self.data.num_feature()
        if is_wide(n_rows, n_features):  # LightGBM reserves memory for every feature in every leaf there might be
            n_leaves = max(2, n_rows // settings.min_samples_leaf)
            settings = replace(settings, max_leaf_nodes=min(settings.max_leaf_nodes, n_leaves))
        parameters: dict[str, Any] = {
            **_ALWAYS,
            **settings.for_lightgbm,
            "objective": "binary" if derivatives is None else "none",
            "seed": random_state,
            "num_threads": self.n_threads,
            **({} if monotonic is None else {"monotone_constraints": monotonic}),
            **({} if ranking is None else {"objective": "lambdarank", **ranking}),
        }
        return LightGBMGrowing(lightgbm.Booster(parameters, self.data), derivatives, self.n_threads)


def _be_silent() -> None:
    """Silence LightGBM in this thread: it keeps its log level per thread, and growing trees does not set it."""
    import lightgbm

    if not getattr(_SILENT, "is_set", False):
        lightgbm.Dataset(np.zeros((2, 1)), params={"verbosity": -1}).construct()
        _SILENT.is_set = True


@dataclass(frozen=True, eq=False)
class LightGBMGrowing:
    """Trees that are still growing."""

    booster: Any
    derivatives: Derivatives | None
    n_threads: int

    def grow(self, n_trees: int) -> None:
        """Add trees; none are added once no split is left."""
        _be_silent()
        custom = self.derivatives
        for _ in range(n_trees):
            of_rows = None if custom is None else lambda scores, _data: custom(scores)
            if self.booster.update(fobj=of_rows):
                break

    def added(self, X: Any, start: int) -> Vector:
        """What the trees from this one on add to the scores of some rows."""
        if start >= self.n_trees:
            return np.zeros(X.shape[0])
        stage = {"start_iteration": start, "num_threads": self.n_threads}
        result: Vector = self.booster.predict(_plain(X), raw_score=True, **stage)
        return result

    @property
    def n_trees(self) -> int:
        """Trees so far."""
        return int(self.booster.current_iteration())

    def trees(self, n_trees: int) -> LightGBMTrees:
        """The first trees, as they are kept."""
        return LightGBMTrees.of(canonical(self.booster.model_to_string(num_iteration=n_trees)))
