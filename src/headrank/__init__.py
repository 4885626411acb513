"""Learn, measure and certify the head of a ranked list."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headrank import measures
from headrank._version import __version__ as __version__
from headrank.curve import RocCurve
from headrank.measures import *  # noqa: F403

if TYPE_CHECKING:
    from headrank import integrations as integrations
    from headrank import rivals as rivals
    from headrank.bounds.band.band import Band, band
    from headrank.bounds.comparison.difference import Difference, compare
    from headrank.bounds.comparison.many import Differences, compare_many
    from headrank.bounds.comparison.selection import Selection, select
    from headrank.bounds.comparison.two_samples import compare_samples
    from headrank.bounds.cutoffs.best import Cutoff, best_cutoff
    from headrank.bounds.cutoffs.points import OperatingPoints, operating_points
    from headrank.bounds.interval import Interval
    from headrank.bounds.intervals import interval
    from headrank.bounds.lists.candidates import Candidates, choose
    from headrank.bounds.lists.certificate import ListCertificate, certify_list
    from headrank.bounds.planning.auc import Plan, plan, sample_size
    from headrank.bounds.planning.head import HeadPlan, plan_head
    from headrank.bounds.planning.lists import ListPlan, plan_list
    from headrank.bounds.planning.new_rows import NewRowsPlan, plan_new_rows
    from headrank.bounds.planning.planned_test import TestPlan
    from headrank.bounds.planning.power import power, sample_size_of_test
    from headrank.bounds.threshold import Threshold, threshold_at
    from headrank.deciders import FPRBudgetClassifier, TopFractionClassifier
    from headrank.estimators import (
        BoostedRanker,
        BoostedRankerCV,
        ForestRanker,
        KernelRanker,
        LinearRanker,
        LinearRankerCV,
        RankerCV,
        TreeRanker,
        path,
    )
    from headrank.estimators.block_curve import block_curve
    from headrank.model_io import export_json, export_onnx, load, save
    from headrank.plots import (
        CrossValidationDisplay,
        ForestDisplay,
        ListDisplay,
        PathDisplay,
        PowerDisplay,
        PrecisionRecallDisplay,
        RocDisplay,
        SampleSizeDisplay,
        TreeDisplay,
    )
    from headrank.rows.blocks import Blocks
    from headrank.workflow.fitting import FitResult, fit
    from headrank.workflow.reporting import Report, report

_HOMES = {
    "headrank.bounds.band.band": ("Band", "band"),
    "headrank.bounds.cutoffs.best": ("Cutoff", "best_cutoff"),
    "headrank.bounds.cutoffs.points": ("OperatingPoints", "operating_points"),
    "headrank.bounds.intervals": ("interval",),
    "headrank.bounds.comparison.difference": ("Difference", "compare"),
    "headrank.bounds.lists.candidates": ("Candidates", "choose"),
    "headrank.bounds.lists.certificate": ("ListCertificate", "certify_list"),
    "headrank.bounds.planning.head": ("HeadPlan", "plan_head"),
    "headrank.bounds.planning.lists": ("ListPlan", "plan_list"),
    "headrank.bounds.planning.new_rows": ("NewRowsPlan", "plan_new_rows"),
    "headrank.bounds.planning.planned_test": ("TestPlan",),
    "headrank.bounds.planning.power": ("power", "sample_size_of_test"),
    "headrank.bounds.interval": ("Interval",),
    "headrank.bounds.comparison.many": ("Differences", "compare_many"),
    "headrank.bounds.planning.auc": ("Plan", "plan", "sample_size"),
    "headrank.bounds.comparison.selection": ("Selection", "select"),
    "headrank.bounds.comparison.two_samples": ("compare_samples",),
    "headrank.bounds.threshold": ("Threshold", "threshold_at"),
    "headrank.deciders": ("FPRBudgetClassifier", "TopFractionClassifier"),
    "headrank.estimators": (
        "BoostedRanker",
        "BoostedRankerCV",
        "ForestRanker",
        "KernelRanker",
        "LinearRanker",
        "LinearRankerCV",
        "RankerCV",
        "TreeRanker",
        "path",
    ),
    "headrank.estimators.block_curve": ("block_curve",),
    "headrank.model_io": ("export_json", "export_onnx", "load", "save"),
    "headrank.plots": (
        "CrossValidationDisplay",
        "ForestDisplay",
        "ListDisplay",
        "PathDisplay",
        "PowerDisplay",
        "PrecisionRecallDisplay",
        "RocDisplay",
        "SampleSizeDisplay",
        "TreeDisplay",
    ),
    "headrank.rows.blocks": ("Blocks",),
    "headrank.workflow.fitting": ("FitResult", "fit"),
    "headrank.workflow.reporting": ("Report", "report"),
}
"""Names imported on first use, by module, since they need SciPy, scikit-learn or matplotlib."""

_PACKAGES = ("integrations", "rivals")
"""Packages that are public as a whole, imported on first use."""

__all__ = [
    "Band",
    "Blocks",
    "BoostedRanker",
    "BoostedRankerCV",
    "Candidates",
    "CrossValidationDisplay",
    "Cutoff",
    "Difference",
    "Differences",
    "FPRBudgetClassifier",
    "FitResult",
    "ForestDisplay",
    "ForestRanker",
    "HeadPlan",
    "Interval",
    "KernelRanker",
    "LinearRanker",
    "LinearRankerCV",
    "ListCertificate",
    "ListDisplay",
    "ListPlan",
    "NewRowsPlan",
    "OperatingPoints",
    "PathDisplay",
    "Plan",
    "PowerDisplay",
    "PrecisionRecallDisplay",
    "RankerCV",
    "Report",
    "RocCurve",
    "RocDisplay",
    "SampleSizeDisplay",
    "Selection",
    "TestPlan",
    "Threshold",
    "TopFractionClassifier",
    "TreeDisplay",
    "TreeRanker",
    "band",
    "best_cutoff",
    "block_curve",
    "certify_list",
    "choose",
    "compare",
    "compare_many",
    "compare_samples",
    "export_json",
    "export_onnx",
    "fit",
    "interval",
    "load",
    "operating_points",
    "path",
    "plan",
    "plan_head",
    "plan_list",
    "plan_new_rows",
    "power",
    "report",
    "sample_size",
    "sample_size_of_test",
    "save",
    "select",
    "threshold_at",
]
__all__ += measures.__all__


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"headrank.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'headrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
