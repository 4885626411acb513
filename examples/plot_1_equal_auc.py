"""
Two models with equal AUC and different heads
=============================================

The task is to put all the eights at the top of a pile of scanned digits. Two models both have an AUC of 0.98. Which one
should you use?
"""

# %%
# Two scorers of the same rows
# ----------------------------
# The data are scikit-learn's 1,797 digits, 174 of them eights. The models are a logistic regression and a support
# vector machine with a Gaussian kernel. All scores are out of fold.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import headrank as hr

digits = load_digits()
X, y = digits.data, digits.target == 8
folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {"logistic regression": LogisticRegression(), "kernel SVM": SVC(C=0.02)}
scores = {
    name: cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=folds, method="decision_function")
    for name, model in models.items()
}

# %%
# Equal areas, different shapes
# -----------------------------
# Every measure has a short name. ``pauc@0.02`` is the mean true positive rate over false positive rates up to 0.02,
# which here covers the 32 highest-scored digits that are not eights.
curves = {name: hr.RocCurve.from_scores(y, s) for name, s in scores.items()}
for short_name in ("auc", "pauc@0.02", "pauc@0.2:1", "r@150"):
    measure = hr.measure(short_name)
    values = "   ".join(f"{name} {measure.value(curve):.3f}" for name, curve in curves.items())
    print(f"{short_name:>10}   {values}")

# %%
# The kernel SVM is far ahead at the top of the list and pays for it at the bottom, where nobody looks. The number of
# eights among the first 150 digits:
found = {name: hr.RecallAt(150).value(curve) * int(y.sum()) for name, curve in curves.items()}
print({name: round(number) for name, number in found.items()})

# %%
# Is the difference more than noise?
# ----------------------------------
# Both models are evaluated on the same rows, so the comparison is paired. DeLong's method is asymptotic, and the output
# says so. (Strictly speaking, an interval is about one scorer fixed in advance; out-of-fold scores come from five.)
names = ("kernel SVM", "logistic regression")
a, b = (scores[name] for name in names)
by_auc = hr.compare(y, a, b, measure="auc", method="delong", names=names)
by_head = hr.compare(y, a, b, measure="pauc@0.02", method="delong", names=names)
print(by_auc, by_head, sep="\n\n")

# %%
# The curves
# ----------
# The full curves cross; their heads are far apart.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
whole = {f"{name}, AUC {hr.AUC().value(curve):.3f}": curve for name, curve in curves.items()}
hr.RocDisplay(whole).plot(axes[0], chance=False)
axes[0].set_title("Full curve: no difference in area")
hr.RocDisplay(curves).plot(axes[1], measure="pauc@0.02", max_fpr=0.05, chance=False)
axes[1].set_title("Head of the curve: a large difference")
plt.show()

# %%
# "Which model has the better AUC?" has no answer here. "Which model puts more eights at the top?" has a clear one.
# :doc:`/which_measure` helps you find the measure that matches your question.
