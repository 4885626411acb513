"""Which class a name in a model file stands for, so that moving a class to another module breaks no saved model.

Files name headrank's own classes by logical names such as ``headrank/LinearRanker@1``: the class, and the number of its
layout. The number grows when a class comes to keep other attributes than before; the old name then stays here, for
whatever can still read it. Files of headrank 0.1 name the modules in which the classes lay then: a fixed list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrank.measures.names import MEASURES

_HOMES = {
    "Average@1": "headrank.estimators.cv.candidates.Average",
    "Budget@1": "headrank.bounds.threshold.Budget",
    "Candidate@1": "headrank.estimators.cv.candidates.Candidate",
    "Column@1": "headrank.training.columns.Column",
    "FPRBudgetClassifier@1": "headrank.deciders.fpr_budget.FPRBudgetClassifier",
    "Goal@1": "headrank.training.goal.Goal",
    "KernelRanker@1": "headrank.estimators.kernel.KernelRanker",
    "LinearRanker@1": "headrank.estimators.linear.LinearRanker",
    "LinearRankerCV@1": "headrank.estimators.cv.cross_validation.LinearRankerCV",
    "Matrix@1": "headrank.training.features.Matrix",
    "OccurringFeatures@1": "headrank.training.features.OccurringFeatures",
    "SoftScaler@1": "headrank.training.scaling.SoftScaler",
    "Step@1": "headrank.solvers.trace.Step",
    "TableEncoder@1": "headrank.training.encoding.TableEncoder",
    "TableModel@1": "headrank.training.table_model.TableModel",
    "Threshold@1": "headrank.bounds.threshold.Threshold",
    "TopFractionClassifier@1": "headrank.deciders.top_fraction.TopFractionClassifier",
    "Trial@1": "headrank.estimators.cv.candidates.Trial",
}
"""Where the classes are that are not measures; as text, so that loading a ranker does not import the training.

The last name of a class is the one that is written."""

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
"""What files of 0.1 call headrank's classes. Never changed: no later version writes such names."""

_LOSS_BEFORE_1_9 = {"_loss.CyHalfBinomialLoss": ("sklearn._loss._loss", "CyHalfBinomialLoss")}
"""scikit-learn before 1.9 calls the module of its losses ``_loss``, a name that cannot be imported."""

_LOGICAL = "headrank/"
LOGICAL_NAMES_OF_0_1 = {path: f"{_LOGICAL}{path.rpartition('.')[2]}@1" for path in _PATHS_IN_0_1}


def known_classes() -> dict[str, str]:
    """Return the present path of the class behind each logical name.

    Measures are read from their own list, in layout 1, except those that are not `Measure.readable`.

    >>> known_classes()["headrank/PartialAUC@1"]
    'headrank.measures.area.PartialAUC'
    """
    measures = {f"{kind.__name__}@1": _path(kind) for kind in MEASURES if kind.readable}
    return {f"{_LOGICAL}{name}": path for name, path in (_HOMES | measures).items()}


def logical_name(path: str) -> str:
    """Return the name under which a class is written, given its path; a path that is not registered stays as it is."""
    return {path: name for name, path in known_classes().items()}.get(path, path)


def name_of(node: Mapping[str, Any]) -> str:
    """Return what a node of a schema says it is: a logical name, or a path."""
    module, name = node.get("__module__"), node.get("__class__")
    return f"{_LOGICAL}{name}" if module == "headrank" else f"{module}.{name}"


def with_logical_names(node: Any) -> Any:
    """Return a schema, as skops dumped it, in which headrank's classes have their logical names.

    The loss of gradient boosting gets the same path with every version of scikit-learn.
    """
    names = {path: name for name, path in known_classes().items()}
    new = {path: ("headrank", name.removeprefix(_LOGICAL)) for path, name in names.items()}
    return _renamed(node, new | _LOSS_BEFORE_1_9)


def with_present_paths(node: Any) -> Any:
    """Return a schema, as a file holds it, in which headrank's classes have the paths where skops will find them."""
    paths = known_classes()
    known = paths | {old: paths[name] for old, name in LOGICAL_NAMES_OF_0_1.items()}
    return _renamed(node, {name: (path.rpartition(".")[0], path.rpartition(".")[2]) for name, path in known.items()})


def is_unknown(name: str) -> bool:
    """Whether this is a logical name without a class here."""
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
