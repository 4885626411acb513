"""
Two models with equal AUC and different heads
=============================================

Somebody sorts scanned digits and wants all eights on top of the pile. Two models are on offer, and both have an AUC of
0.98. Which one should it be?
"""

# %%
# Two scorers of the same rows
# ----------------------------
# The 1,797 digits of scikit-learn, 174 of which are eights; a logistic regression and a support vector machine with a
# Gaussian kernel. Each row is scored by models that have not seen it.
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
# The same area, differently spent
# --------------------------------
# Every measure has a short name. ``pauc@0.02`` is the mean true positive rate over false positive rates up to 0.02:
# here that means over the 32 highest-scored digits that are no eights.
curves = {name: hr.RocCurve.from_scores(y, s) for name, s in scores.items()}
for short_name in ("auc", "pauc@0.02", "pauc@0.2:1", "r@150"):
    measure = hr.measure(short_name)
    values = "   ".join(f"{name} {measure.value(curve):.3f}" for name, curve in curves.items())
    print(f"{short_name:>10}   {values}")

# %%
# The kernel SVM is far ahead at the start of the list and pays for it at the end, where nobody looks. On a pile of 150,
# that is this many eights more:
found = {name: hr.RecallAt(150).value(curve) * int(y.sum()) for name, curve in curves.items()}
print({name: round(number) for name, number in found.items()})

# %%
# Is the difference more than noise?
# ----------------------------------
# Both models were measured on the same rows, so the difference is a paired one. DeLong's method is asymptotic, and says
# so. (Strictly, an interval is about one scorer fixed beforehand; out-of-fold scores come from five.)
names = ("kernel SVM", "logistic regression")
a, b = (scores[name] for name in names)
by_auc = hr.compare(y, a, b, measure="auc", method="delong", names=names)
by_head = hr.compare(y, a, b, measure="pauc@0.02", method="delong", names=names)
print(by_auc, by_head, sep="\n\n")

# %%
# What it looks like
# ------------------
# The whole curves cross; their heads do not come near each other.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
whole = {f"{name}, AUC {hr.AUC().value(curve):.3f}": curve for name, curve in curves.items()}
hr.RocDisplay(whole).plot(axes[0], chance=False)
axes[0].set_title("The whole curve: no difference in area")
hr.RocDisplay(curves).plot(axes[1], measure="pauc@0.02", max_fpr=0.05, chance=False)
axes[1].set_title("Its head: a large one")
plt.show()

# %%
# So the question "which model has the better AUC?" has no answer here, and the question that was meant, "which one puts
# more eights on top?", has a clear one. :doc:`/which_measure` helps to find the measure that asks your question.
