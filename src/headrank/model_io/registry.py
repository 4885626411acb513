"""Names of classes in model files, so that moving a class to another module does not break saved models.

Files name headrank's own classes by logical names such as ``headrank/LinearRanker@1``: the class and the version of its
layout. The version is incremented when the attributes of a class change; the old name remains here for whatever can
still read it. Files of headrank 0.1 contain the module paths of that time, which are a fixed list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrank.measures.names import MEASURES

_HOMES = {
    "Average@1": "headrank.estimators.cv.candidates.Average",
    "BoostedAverage@1": "headrank.estimators.trees.boosted_members.BoostedAverage",
    "BoostedCandidate@1": "headrank.estimators.trees.boosted_members.BoostedCandidate",
    "BoostedRanker@1": "headrank.estimators.trees.boosted.BoostedRanker",
    "BoostedRankerCV@1": "headrank.estimators.trees.boosted_cv.BoostedRankerCV",
    "Budget@1": "headrank.bounds.threshold.Budget",
    "Calibration@1": "headrank.training.calibration.Calibration",
    "Candidate@1": "headrank.estimators.cv.candidates.Candidate",
    "Column@1": "headrank.training.columns.Column",
    "ColumnGeneration@1": "headrank.rivals.column_generation.ColumnGeneration",
    "CombinedPart@1": "headrank.estimators.combined.ranker_cv.CombinedPart",
    "FPRBudgetClassifier@1": "headrank.deciders.fpr_budget.FPRBudgetClassifier",
    "FoldForests@1": "headrank.estimators.trees.forests.FoldForests",
    "ForestRanker@1": "headrank.estimators.ranking_trees.forest_ranker.ForestRanker",
    "FrameCategories@1": "headrank.estimators.frame_categories.FrameCategories",
    "GaussianKernel@1": "headrank.estimators.combined.gaussian_ridge.GaussianKernel",
    "GaussianSum@1": "headrank.estimators.combined.gaussian_ridge.GaussianSum",
    "Goal@1": "headrank.training.goal.Goal",
    "GreedyCombination@1": "headrank.rivals.greedy_combination.GreedyCombination",
    "HistogramTrees@1": "headrank.estimators.trees.histogram_trees.HistogramTrees",
    "HoldoutScores@1": "headrank.training.holdout_scores.HoldoutScores",
    "KernelRanker@1": "headrank.estimators.kernel.KernelRanker",
    "LightGBMTrees@1": "headrank.estimators.trees.lightgbm_trees.LightGBMTrees",
    "LinearRanker@1": "headrank.estimators.linear.LinearRanker",
    "LinearRankerCV@1": "headrank.estimators.cv.cross_validation.LinearRankerCV",
    "Matrix@1": "headrank.training.features.Matrix",
    "Member@1": "headrank.estimators.trees.boosted_members.Member",
    "Member@2": "headrank.estimators.trees.boosted_members.Member",
    "OccurringFeatures@1": "headrank.training.features.OccurringFeatures",
    "PartialAUCBoost@1": "headrank.rivals.partial_auc_boost.PartialAUCBoost",
    "Profile@1": "headrank.training.profile.Profile",
    "Pruning@1": "headrank.estimators.ranking_trees.pruning.Pruning",
    "RankerCV@1": "headrank.estimators.combined.ranker_cv.RankerCV",
    "RankingTree@1": "headrank.estimators.ranking_trees.region_tree.RankingTree",
    "ScaledKernel@1": "headrank.estimators.combined.kernel_part.ScaledKernel",
    "ScaledLinear@1": "headrank.estimators.combined.linear_part.ScaledLinear",
    "ScoreProfile@1": "headrank.training.profile.ScoreProfile",
    "Settings@1": "headrank.estimators.trees.settings.Settings",
    "Shapes@1": "headrank.rivals.shapes.Shapes",
    "SoftScaler@1": "headrank.estimators.scaling.SoftScaler",
    "SplitGraph@1": "headrank.estimators.ranking_trees.split_graph.SplitGraph",
    "Step@1": "headrank.solvers.trace.Step",
    "TableEncoder@1": "headrank.training.encoding.TableEncoder",
    "TableModel@1": "headrank.training.table_model.TableModel",
    "TableModel@2": "headrank.training.table_model.TableModel",
    "Threshold@1": "headrank.bounds.threshold.Threshold",
    "TopFractionClassifier@1": "headrank.deciders.top_fraction.TopFractionClassifier",
    "TreeRanker@1": "headrank.estimators.ranking_trees.tree_ranker.TreeRanker",
    "Trial@1": "headrank.estimators.cv.candidates.Trial",
}
"""Paths of the classes that are not measures, as strings, so that loading a ranker does not import the training.

If a class has several names, the last one is written."""

_PATHS_IN_0_1 = (
    "headrank.bounds.threshold.Budget",
    "headrank.bounds.threshold.Threshold",
    "headrank.deciders.fpr_budget.FPRBudgetClassifier",
    "headrank.deciders.top_fraction.TopFractionClassifier",
    "headrank.estimators._candidates.Average",
    "headrank.estimators._candidates.Candidate",
    "headrank.estimators._candidates.Trial",
    "headrank.estimators.cross_validation.LinearRankerCV",
    "headrank.estimators.kernel.KernelRanker",
    "headrank.estimators.linear.LinearRanker",
    "headrank.measures.area.AUC",
    "headrank.measures.area.FROCArea",
    "headrank.measures.area.PartialAUC",
    "headrank.measures.area.StandardizedPartialAUC",
    "headrank.measures.area.TwoWayPartialAUC",
    "headrank.measures.early.BEDROC",
    "headrank.measures.early.EnrichmentFactor",
    "headrank.measures.early.FPRAtTPR",
    "headrank.measures.early.KS",
    "headrank.measures.early.Lift",
    "headrank.measures.early.PrecisionAt",
    "headrank.measures.early.RecallAt",
    "headrank.measures.early.TPRAtFPR",
    "headrank.measures.local.LocalAUC",
    "headrank.measures.local.LocalRankingError",
    "headrank.measures.local.LocalRankingRisk",
    "headrank.measures.local.MassConstrainedError",
    "headrank.measures.local.TopFPR",
    "headrank.measures.local.TopTPR",
    "headrank.measures.local.TruncatedAUC",
    "headrank.measures.ranks.PNormPush",
    "headrank.measures.ranks.WRanking",
    "headrank.solvers.trace.Step",
    "headrank.training.columns.Column",
    "headrank.training.features.Matrix",
    "headrank.training.goal.Goal",
    "headrank.training.table_model.TableModel",
)
"""Names of headrank's classes in files of 0.1. Fixed: later versions do not write such names."""

_LOSS_BEFORE_1_9 = {"_loss.CyHalfBinomialLoss": ("sklearn._loss._loss", "CyHalfBinomialLoss")}
"""scikit-learn before 1.9 calls the module of its losses ``_loss``, a name that cannot be imported."""

_LOGICAL = "headrank/"
LOGICAL_NAMES_OF_0_1 = {path: f"{_LOGICAL}{path.rpartition('.')[2]}@1" for path in _PATHS_IN_0_1}


def known_classes() -> dict[str, str]:
    """Return the current path of the class of each logical name.

    Measures are read from their own list, in layout 1, except those that are not `Measure.readable`.

    >>> known_classes()["headrank/PartialAUC@1"]
    'headrank.measures.area.PartialAUC'
    """
    measures = {f"{kind.__name__}@1": _path(kind) for kind in MEASURES if kind.readable}
    return {f"{_LOGICAL}{name}": path for name, path in (_HOMES | measures).items()}


def logical_name(path: str) -> str:
    """Return the name under which a class is written; a path that is not registered is returned unchanged."""
    return {path: name for name, path in known_classes().items()}.get(path, path)


def name_of(node: Mapping[str, Any]) -> str:
    """Return the class of a node of a schema: a logical name or a path."""
    module, name = node.get("__module__"), node.get("__class__")
    return f"{_LOGICAL}{name}" if module == "headrank" else f"{module}.{name}"


def with_logical_names(node: Any) -> Any:
    """Replace the paths of headrank's classes in a schema by their logical names.

    The loss of gradient boosting gets the same path with every version of scikit-learn.
    """
    names = {path: name for name, path in known_classes().items()}
    new = {path: ("headrank", name.removeprefix(_LOGICAL)) for path, name in names.items()}
    return _renamed(node, new | _LOSS_BEFORE_1_9)


def with_present_paths(node: Any) -> Any:
    """Replace the logical names of headrank's classes in a schema by their current paths."""
    paths = known_classes()
    known = paths | {old: paths[name] for old, name in LOGICAL_NAMES_OF_0_1.items()}
    return _renamed(node, {name: (path.rpartition(".")[0], path.rpartition(".")[2]) for name, path in known.items()})


def is_unknown(name: str) -> bool:
    """Whether this is a logical name without a class in this version."""
    return name.startswith(_LOGICAL) and name not in known_classes()


def _renamed(node: Any, new: Mapping[str, tuple[str, str]]) -> Any:
    if isinstance(node, list):
        return [_renamed(part, new) for part in node]
    if not isinstance(node, dict):
        return node
    fresh = {key: _renamed(part, new) for key, part in node.items()}
    if node.get("__loader__") in ("ObjectNode", "LossNode") and name_of(node) in new:
        fresh["__module__"], fresh["__class__"] = new[name_of(node)]
    return fresh


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
