"""The methods of the tables. The papers do not print all of their grids; those here are ours, for all tables."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from experiments.tables.protocol import Method, Rows
from experiments.tables.stopped_push import StoppedPush
from experiments.tables.svm_map import SVMMAP
from headrank import AUC, LinearRanker, Measure, PartialAUC, TPRAtFPR
from headrank.rivals import ColumnGeneration, GreedyCombination, PartialAUCBoost

CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3)
"""Values of C: steps of 10 around 1, as in the code of tau-FPL."""
CORES = (0.0, 0.3, 1.0, 3.0)
"""Weights of the core of the asymmetric SVM, tau / mu; mu is the end of the range."""
NEGATIVE_WEIGHTS = (1.0, 10.0)
"""Costs of a false positive relative to a missed positive, for the cost-sensitive SVM."""
MOST_ROUNDS = {"boost": 40, "trees": 20}
"""Rounds of boosting and of column generation; how many of them is chosen by 3-fold cross-validation."""
_GAP, _EVALUATIONS = 0.01, 200
"""The certified relative gap of a fit, and a limit on its evaluations; fits that reach the limit carry a remark."""


def _auc(_measure: Measure, _train: Rows) -> AUC:
    return AUC()


def _up_to_rate(measure: Measure, _train: Rows) -> PartialAUC:
    assert isinstance(measure, TPRAtFPR)
    return PartialAUC(max_fpr=measure.fpr)


def _one_negative(_measure: Measure, train: Rows) -> PartialAUC:
    """Return the range [0, 1 / n] of the TopPush paper: the highest of the n negatives."""
    return PartialAUC(max_fpr=1 / int(np.count_nonzero(train.y == 0)))


def _ranker(measure: Measure, C: float, *, surrogate: str) -> LinearRanker:
    return LinearRanker(measure, surrogate=surrogate, C=C, tol=_GAP, max_iter=_EVALUATIONS)


def _stopped(_measure: Measure, C: float) -> StoppedPush:
    return StoppedPush(C)


def _stopped_to_rate(measure: Measure, C: float) -> StoppedPush:
    assert isinstance(measure, TPRAtFPR)
    return StoppedPush(C, measure.fpr)


def _svm_map(_measure: Measure, C: float) -> SVMMAP:
    return SVMMAP(C, tol=_GAP, max_iter=_EVALUATIONS)


def _asymmetric(measure: Measure, core: float) -> LinearRanker:
    return LinearRanker(measure, surrogate=f"asymmetric@{core:g}", tol=_GAP, max_iter=_EVALUATIONS)


def _cost_sensitive(_measure: Measure, setting: tuple[float, float]) -> LinearSVC:
    C, weight = setting
    return LinearSVC(C=C, class_weight={0: weight, 1: 1.0}, dual=False, max_iter=300)  # squared hinge


def _svm(measure: Measure, C: float) -> LinearSVC:
    return _cost_sensitive(measure, (C, 1.0))


def _logistic(_measure: Measure, C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=300)


def _boost(measure: Measure, _setting: Any) -> PartialAUCBoost:
    return PartialAUCBoost(measure, penalties=(1e-5, 1e-3), max_rounds=MOST_ROUNDS["boost"], cv=3)


def _greedy(measure: Measure, _setting: Any) -> GreedyCombination:
    return GreedyCombination(measure)


def _trees(measure: Measure, _setting: Any) -> ColumnGeneration:
    return ColumnGeneration(measure, Cs=(1.0, 10.0), max_rounds=MOST_ROUNDS["trees"], cv=3)


SVM_PAUC = Method("SVM-pAUC", partial(_ranker, surrogate="structural"), CS, along_path=True)
TIGHT = Method("SVM-pAUC tight", partial(_ranker, surrogate="tight"), CS, along_path=True, in_paper=False)
SVM_AUC = Method("SVM-AUC", partial(_ranker, surrogate="tight"), CS, along_path=True, target=_auc)
SVM_RANK = replace(SVM_AUC, name="SVM-rank")
SVM_MAP = Method("SVM-MAP", _svm_map, CS)
ASYMMETRIC = Method("asymmetric SVM", _asymmetric, CORES)
BOOST = Method("pAUCBoost", _boost)
GREEDY = Method("greedy", _greedy)
TIGHT_TO_RATE = replace(TIGHT, target=_up_to_rate)
TREES = Method("pAUCEns", _trees, in_paper=False)
LOGISTIC = Method("logistic regression", _logistic, CS)
LOGISTIC_BESIDE = replace(LOGISTIC, in_paper=False)
TOP_PUSH = Method("TopPush", partial(_ranker, surrogate="toppush"), CS, along_path=True)
STOPPED_TOP_PUSH = Method("TopPush, stopped early", _stopped, CS[:-1], in_paper=False)
STOPPED_TAU_FPL = Method("tau-FPL, stopped early", _stopped_to_rate, CS[:-1], in_paper=False)
TAU_FPL = Method("tau-FPL", partial(_ranker, surrogate="tau-fpl"), CS, along_path=True)
SVM = Method("SVM", _svm, CS)
COST_SENSITIVE = Method("cost-sensitive SVM", _cost_sensitive, tuple((C, w) for C in CS for w in NEGATIVE_WEIGHTS))
SVM_PAUC_TOP = replace(SVM_PAUC, name="SVM-pAUC [0, 1/n]", settings=CS[2:], target=_one_negative)
INFINITE_PUSH = replace(TIGHT, name="infinite push", settings=CS[2:], target=_one_negative, in_paper=True)
RIVALS = (SVM_PAUC, SVM_AUC, ASYMMETRIC, BOOST, GREEDY, TIGHT, LOGISTIC_BESIDE, TREES)
"""SVM-pAUC, the methods that its paper compares it with, and three more."""
