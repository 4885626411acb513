"""Table 2 of Li, Jin & Zhou (NIPS 2014), TopPush: the share of positives above all negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.tables import methods
from experiments.tables.data import read
from experiments.tables.protocol import Published, Rows, Table, Task, stratified, unscaled
from headrank import TPRAtFPR


def _to(low: float, X: Any) -> Any:
    return low + (1 - low) * (X - X.min(axis=0)) / np.ptp(X, axis=0)


def _standardised(X: Any) -> Any:
    return (X - X.mean(axis=0)) / X.std(axis=0)


FEATURES: dict[str, Callable[[Any], Any]] = {
    "to [-1, 1]": partial(_to, -1.0),
    "to [0, 1]": partial(_to, 0.0),
    "standardised": _standardised,
    "unit rows": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
    "logarithms": lambda X: _standardised(np.log1p(X)),
    "words present": lambda X: (X > 0).astype(np.float64),
    "as is": lambda X: X,
}
"""Features of spambase, changed for all rows as a whole, as in the files of LIBSVM. The table has the first."""


def read_spambase(folder: Path, *, features: str) -> Rows:
    """Read spambase with one of the `FEATURES`."""
    rows = read(folder, name="spambase")
    return replace(rows, X=FEATURES[features](rows.X))


_SPAMBASE = "spambase, to [-1, 1]"


TABLE = Table(
    name="top_push",
    title="Positives above all negatives (NIPS 2014, table 2)",
    tasks=(
        Task(_SPAMBASE, partial(read_spambase, features="to [-1, 1]"), (TPRAtFPR(0.0),)),
        Task(
            "w8a", partial(read, name="w8a"), (TPRAtFPR(0.0),), ("infinite push", "SVM-MAP", "TopPush, stopped early")
        ),
    ),
    split=stratified(2 / 3, 1 / 3),
    scale=unscaled,
    methods=(
        methods.TOP_PUSH,
        methods.LOGISTIC,
        methods.COST_SENSITIVE,
        methods.SVM_RANK,
        methods.SVM_MAP,
        methods.SVM_PAUC_TOP,
        methods.INFINITE_PUSH,
        methods.STOPPED_TOP_PUSH,
    ),
    n_splits=30,
    quick_tasks=(_SPAMBASE,),
    published=Published(
        order=(
            "spambase: infinite push, TopPush, SVM-MAP, SVM-pAUC, logistic regression, then cost-sensitive SVM and "
            "SVM-rank; w8a: TopPush, SVM-pAUC, cost-sensitive SVM, logistic regression"
        ),
        values=(
            *(
                ("spambase", method, mean, deviation)
                for method, mean, deviation in (
                    ("TopPush", 0.129, 0.077),
                    ("logistic regression", 0.071, 0.053),
                    ("cost-sensitive SVM", 0.069, 0.059),
                    ("SVM-rank", 0.069, 0.076),
                    ("SVM-MAP", 0.097, 0.069),
                    ("SVM-pAUC [0, 1/n]", 0.073, 0.058),
                    ("infinite push", 0.132, 0.087),
                )
            ),
            ("w8a", "TopPush", 0.226, 0.053),
            ("w8a", "logistic regression", 0.107, 0.093),
            ("w8a", "cost-sensitive SVM", 0.118, 0.105),
            ("w8a", "SVM-pAUC [0, 1/n]", 0.207, 0.046),
        ),
        n_splits=30,
    ),
    paper_says=(
        "30 random splits, two thirds training and one third testing; parameters by 5-fold cross-validation on the "
        "share of positives above the highest negative. Means and standard deviations over the splits are printed."
    ),
    decided=(
        "How features were scaled is not printed: the table has those of spambase scaled to [-1, 1], and six other "
        "versions were run with fixed C. Of w8a we have the training file only (49,749 of 64,700 rows). The infinite "
        "push with a hinge is the tight form of SVM-pAUC for the highest negative; that paper has another penalty. "
        "The infinite push, SVM-rank and SVM-MAP have no published value for w8a; of these only SVM-rank is run "
        "there: the infinite push took 130 s on one split, and SVM-MAP needs a number for each of 41 million pairs. "
        "AATP has no value for these sets."
    ),
    found=(
        "spambase: TopPush at its minimum is not within two published standard errors, and a run shows the cause. "
        "With fixed C over 30 splits, features to [-1, 1] (`python -m experiments.top_push_stopping`), the minimum "
        "reaches .082 at best, outside two published standard errors of .129; stopped as the authors stop it, after "
        "32 steps at C = .1, it reaches .114, within them, although the minimum at that C is w = 0. Of the other "
        "versions of the features (`--features`; 6 splits each, 2 of standardised and of unscaled ones), the minimum "
        "comes within them with logarithms and with words present, but there logistic regression has .19 and .13 or "
        "more, far above its published .071. Features scaled to an interval with TopPush stopped early are the only "
        "version tried that agrees with both: see [how the learners work](learning.md#surrogates). Over 30 splits, "
        "SVM-MAP (.106, published .097), SVM-rank and the cost-sensitive SVM are within two published standard "
        "errors. The infinite push (-3.4) and logistic regression (-3.4), whose C is chosen by a value that is often "
        "near 0, are not. With C chosen so, TopPush stopped early has .090, also below the published value and the "
        ".114 of the best fixed C over 30 splits. w8a: TopPush (.215, published .226) and logistic regression are "
        "within two published standard errors. The cost-sensitive SVM has .243, far above the published .118 and "
        "level with TopPush; why was not tested. Cross-validation of TopPush chose C = 10 on 19 splits, 100 on 7 and "
        "1 on 4; fits with C = 10 and 100 reach the limit of 200 evaluations before they converge. On split 0 a "
        "separate run to a certified gap of .01 took 303 evaluations and had .199 in place of .209. The rows of the "
        "missing test file could not be tried. SVM-pAUC has no positive above the highest negative on either set: "
        "the best weights found are w = 0, which the fits on spambase and on 17 splits of w8a certify as the "
        "minimum, at C = 1. The other 13 on w8a reached their limit; a separate run on one of them, split 1, "
        "certified w = 0 after 297 evaluations. At this C the published .073 and .207 are not values of the minimum. "
        "That the authors' solver stops before it is likely, but not tested."
    ),
)
