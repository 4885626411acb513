"""Column generation: the certified solver over the columns so far, and the row weights that grow the next one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headrank._types import IntVector, Vector
from headrank.estimators._labelled import Labelled
from headrank.estimators._risk import LinearRisk, ScoredPoint
from headrank.estimators.ranking_trees.bins import BinnedRows
from headrank.estimators.ranking_trees.cells import Part, split_region
from headrank.estimators.ranking_trees.split_graph import SplitGraph
from headrank.rows import DenseRows, Rows
from headrank.solvers import Bundle, Solution, hybrid
from headrank.solvers.qp import solve_dual
from headrank.surrogates import Surrogate

_ACTIVE = 1e-9
"""Cuts with less than this share of the largest multiplier are dropped between rounds."""
_MOST_CUTS = 100
"""Kept between rounds, each with one number per row."""


@dataclass(frozen=True)
class TreeSettings:
    """Limits of the weak learners."""

    max_cells: int
    min_samples_leaf: int


@dataclass(frozen=True, eq=False)
class Round:
    """A column more, and the master problem solved with it.

    Attributes
    ----------
    graph : SplitGraph
        The new weak learner: leaf 0 gives 1, leaf 1 gives -1.
    edge : float
        Minus the slope of the risk along the new column, before its weight was found.
    solution : Solution
        Weights of all columns, with objective and lower bound.
    risk : LinearRisk
        The risk of these columns.
    """

    graph: SplitGraph
    edge: float
    solution: Solution
    risk: LinearRisk


@dataclass(frozen=True, eq=False)
class Generation:
    """Rows to learn from, and all that a run of column generation needs.

    Attributes
    ----------
    X : matrix
        All rows; ``binned`` are the same in bins.
    kept : int array
        The numbers of the rows to learn from; ``labelled`` are the facts of these.
    """

    X: Any
    binned: BinnedRows
    kept: IntVector
    labelled: Labelled
    surrogate: Surrogate
    C: float
    trees: TreeSettings
    tol: float
    edge_tol: float
    max_iter: int
    max_rounds: int

    def rounds(self) -> Iterator[Round]:
        """Yield the rounds, until the edge is at most ``edge_tol`` or no tree has a split.

        Cost of a round: one small tree on the rows with a weight, O(n_features) counts each, and a solve that is
        warm-started with weights and cuts: a few passes over the columns.
        """
        X = self.X[self.kept]
        columns = np.empty((self.kept.size, self.max_rounds), order="F")
        row_weights, cuts = self._first_weights(), _Cuts()
        weights: Vector = np.zeros(0)
        for n in range(self.max_rounds):
            graph = self._grown(row_weights)
            if graph is None:
                return
            columns[:, n] = signs(graph, X)[:, 0]
            edge = -float(row_weights @ columns[:, n])
            if edge <= self.edge_tol:
                return
            risk = _RecordedRisk(DenseRows(columns[:, : n + 1]), self.surrogate, self.labelled.positive)
            solution = hybrid(
                risk,
                n_features=n + 1,
                C=self.C,
                tol=self.tol,
                max_iter=self.max_iter,
                start=np.append(weights, 0.0),
                bundle=cuts.bundle(risk.rows),
            )
            solution.raise_if_stopped()  # the solver has kept the interrupt to itself
            yield Round(graph, edge, solution, risk)
            weights = solution.weights
            cuts, row_weights = cuts.joined(risk.points).combined(risk.rows, self.C)

    def _first_weights(self) -> Vector:
        """Return the derivatives at scores of 0, averaged over all orders of the tied rows: the same within a class."""
        positive, weights = self.labelled.positive, self.labelled.weights
        weights = np.ones(positive.size) if weights is None else weights
        return np.asarray(np.where(positive, -weights / weights[positive].sum(), weights / weights[~positive].sum()))

    def _grown(self, row_weights: Vector) -> SplitGraph | None:
        """Grow a tree that separates rows to be raised from rows to be lowered, by their weights; None if it cannot."""
        of_all = np.zeros(self.binned.codes.shape[1])
        of_all[self.kept] = np.abs(row_weights)
        rows = replace(self.binned, weights=of_all)
        raised, lowered = (np.sort(self.kept[side]) for side in (row_weights < 0, row_weights > 0))
        if not raised.size or not lowered.size:
            return None
        cells = split_region(
            rows,
            Part(raised, lowered),
            max_cells=self.trees.max_cells,
            min_samples_leaf=self.trees.min_samples_leaf,
            max_features=rows.sizes.size,
            rng=None,
        )
        if cells is None:
            return None
        return SplitGraph(
            feature=np.array([test.feature for test in cells.tests], dtype=np.intp),
            threshold=np.array([rows.threshold(test.feature, test.code) for test in cells.tests]),
            missing_low=np.array([test.missing_low for test in cells.tests], dtype=bool),
            low=np.array(cells.low, dtype=np.intp),
            high=np.array(cells.high, dtype=np.intp),
            roots=np.zeros(1, dtype=np.intp),
            n_leaves=2,
        )


def signs(graph: SplitGraph, X: Any) -> Vector:
    """Return 1 or -1 for each row and weak learner, of shape (n_rows, n_trees): 1 in the better part."""
    return np.where(graph.leaves(X) % 2 == 0, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class _RecordedRisk(LinearRisk):
    """A risk that remembers the points whose cuts the solver has taken."""

    points: list[ScoredPoint] = field(default_factory=list)

    def subgradients(self, points: Sequence[ScoredPoint]) -> Vector:
        """A subgradient at each of the points, which are remembered."""
        self.points.extend(points)
        return super().subgradients(points)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Cuts as derivatives in each row's score, which hold for any columns."""

    coefs: tuple[Vector, ...] = ()
    offsets: tuple[float, ...] = ()

    def joined(self, points: Sequence[ScoredPoint]) -> _Cuts:
        """These cuts and those at some points."""
        coefs, offsets = (point.coef for point in points), (point.offset for point in points)
        return _Cuts((*self.coefs, *coefs), (*self.offsets, *offsets))

    def bundle(self, rows: Rows) -> Bundle:
        """The cuts as functions of the weights of these columns."""
        bundle = Bundle()
        if self.coefs:
            for normal, offset in zip(rows.combine(np.array(self.coefs)), self.offsets, strict=True):
                bundle.add(normal, offset)
        return bundle

    def combined(self, rows: Rows, C: float) -> tuple[_Cuts, Vector]:
        """Return the cuts that support the minimum, and their combination: the subgradient there, in each row.

        Its product with the columns is -weights / C: the multipliers are the solution of the dual.
        """
        normals = rows.combine(np.array(self.coefs))
        multipliers = solve_dual(normals @ normals.T, np.array(self.offsets), C)
        heaviest = np.argsort(-multipliers, kind="stable")[:_MOST_CUTS]
        active = heaviest[multipliers[heaviest] > _ACTIVE * multipliers.max()]
        row_weights: Vector = np.zeros(self.coefs[0].size)
        for i in active:
            row_weights += multipliers[i] / C * self.coefs[i]
        return _Cuts(tuple(self.coefs[i] for i in active), tuple(self.offsets[i] for i in active)), row_weights
