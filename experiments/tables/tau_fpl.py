"""The comparison of tau-FPL (Zhang et al., AAAI 2018) on a9a: the true positive rate at a small false positive rate."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.tables import methods
from experiments.tables.data import loader
from experiments.tables.protocol import Published, Rows, Table, Task, stratified, unscaled
from headrank import TPRAtFPR

_RATES = (0.01, 0.05, 0.1)
_METHODS = ("asymmetric SVM", "SVM", "logistic regression", "TopPush", "tau-FPL")
_VALUES = {
    0.01: ((0.100, 0.021), (0.245, 0.014), (0.242, 0.013), (0.172, 0.017), (0.172, float("nan"))),
    0.05: ((0.333, 0.008), (0.513, 0.011), (0.517, 0.010), (0.402, 0.016), (0.403, 0.020)),
    0.1: ((0.452, 0.069), (0.674, 0.009), (0.678, 0.008), (0.546, 0.023), (0.621, 0.019)),
}
_COST_SENSITIVE = {0.01: 0.245, 0.05: 0.515, 0.1: 0.674}


def _task(rate: float) -> str:
    return f"a9a, FPR {rate:g}"


def _read(folder: Path) -> Rows:
    """Read the rows of the training file of a9a."""
    X, y, extra = loader(folder).load("a9a")
    kept = extra["part"] == 0
    return Rows(X.tocsr()[kept], np.asarray(y, dtype=np.int64)[kept])


TABLE = Table(
    name="tau_fpl",
    title="True positive rate at a small false positive rate (after AAAI 2018)",
    tasks=tuple(Task(_task(rate), _read, (TPRAtFPR(rate),)) for rate in _RATES),
    split=stratified(2 / 3, 1 / 3),
    scale=unscaled,
    methods=(
        methods.TAU_FPL,
        methods.TOP_PUSH,
        methods.LOGISTIC,
        methods.SVM,
        methods.COST_SENSITIVE,
        methods.ASYMMETRIC,
        methods.TIGHT_TO_RATE,
        methods.STOPPED_TAU_FPL,
        methods.STOPPED_TOP_PUSH,
    ),
    n_splits=10,
    quick_tasks=(_task(0.1),),
    published=Published(
        order="logistic regression, SVM and cost-sensitive SVM, then tau-FPL, TopPush, and last the asymmetric SVM",
        values=tuple(
            (_task(rate), method, mean, deviation)
            for rate in _RATES
            for method, (mean, deviation) in (
                *zip(_METHODS, _VALUES[rate], strict=True),
                ("cost-sensitive SVM", (_COST_SENSITIVE[rate], float("nan"))),
            )
        ),
        n_splits=10,
    ),
    paper_says=(
        "The values are those of result files in a public repository of the authors' experiments, not of a printed "
        "table: a8a with its test file, 32,561 rows; 10 random splits, two thirds training; parameters by 5-fold "
        "cross-validation on the true positive rate at the tolerated false positive rate, from grids with steps of "
        "10; features as in the files."
    ),
    decided=(
        "The same rows are the training file of a9a (one row is missing from our copy). SVM-pAUC is trained for [0, "
        "t] here; the authors' script trains it for a range one negative wide, and has no value for this set."
    ),
    found=(
        "On these overlapping classes the minimum of tau-FPL, of TopPush and of the tight hinge is w = 0: the final "
        "fits of all three splits collapse, and the value is that of chance, far below the published ones. The cause "
        "is that the authors stop early. Stopped in the same way, with C by cross-validation, neither collapses: "
        "tau-FPL has .219, .476 and .633 beside the published .172, .403 and .621, TopPush .219, .476 and .627 "
        "beside .172, .402 and .546. Of these, tau-FPL at a rate of 0.1 is within two published standard errors, the "
        "others are above. What is left depends on C: with fixed C on the first split (a separate run, not in the "
        "results file) TopPush stopped early has .613 / .550 / .208 at a rate of 0.1 for C = .01 / .1 / 1, after 26 "
        "/ 31 / 40 steps, around the published .546; here cross-validation chose .01. At the two small rates tau-FPL "
        "stopped with that C equals TopPush: no weight of a negative has reached its limit yet. Logistic regression "
        "and the SVM are within two published standard errors of theirs. The asymmetric SVM is better here. A likely "
        "cause, not tested: its result depends on the origin, which is the mean of the training rows here and the "
        "origin of the file there."
    ),
)
