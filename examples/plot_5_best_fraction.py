"""
The best fraction: control line, LocalAUC and a classifier
==========================================================

A fraud desk can review 5 % of all cases. This limits the number of *alerts* rather than the false positive rate, and
calls for different measures (Clémençon & Vayatis, 2007).
"""

# %%
# Two scorers and the control line
# --------------------------------
# All classifiers that flag the same share u of the cases lie on one line in ROC space, since u = p TPR + (1 - p) FPR
# with p the share of positives. The desk operates where the ROC curve crosses that line.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import headrank as hr
from headrank.datasets import LinearEta, coarse_eights

X, y = coarse_eights()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
}
scores = {name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()}
hr.RocDisplay.from_predictions(y_test, scores, measure="locauc@0.05", top=0.05, max_fpr=0.2)
plt.show()

# %%
# Finding *and* ranking
# ---------------------
# ``beta`` and ``alpha`` are the TPR and FPR at the crossing: the share of positives found, and the share of negatives
# reviewed in vain. ``locauc`` also takes the order of the flagged cases into account.
for short_name in ("beta@0.05", "alpha@0.05", "locauc@0.05"):
    measure = hr.measure(short_name)
    values = "   ".join(f"{name} {measure(y_test, s):.3f}" for name, s in scores.items())
    print(f"{short_name:>12}   {values}")

# %%
# Why not truncate the area at the line?
# --------------------------------------
# Because a better scorer crosses the line further to the left, and so has less area there. In this population the best
# possible scorer is known: the probability eta itself. The spoiler equals eta except for the last fifth of its top,
# where it puts the *worst* cases.
population = LinearEta(low=0.0, high=0.8)
rows, labels = population.sample(200_000, random_state=0)
eta = population.eta(rows)
top = 0.2
border = population.quantile(top)
spoiler = np.where(eta >= border, eta, eta - 1)
last_fifth = (eta >= border) & (eta < population.quantile(0.8 * top))
worst = eta < population.quantile(1 - 0.2 * top)
spoiler[last_fifth] = eta[last_fifth] - 1
spoiler[worst] = border + 1e-3 * eta[worst] / eta[worst].max()
for measure in (hr.TruncatedAUC(top), hr.LocalAUC(top), hr.TopTPR(top)):
    print(f"{measure!s:>12}   eta {measure(labels, eta):.4f}   spoiler {measure(labels, spoiler):.4f}")

both = {"eta": eta, "spoiler": spoiler}
hr.RocDisplay.from_predictions(labels, both, measure="locauc@0.2", top=top, max_fpr=0.3)
plt.show()

# %%
# The spoiler crosses the line further down and to the right. The truncated area prefers it, although it finds fewer
# positives and ranks them worse. LocalAUC does not: no scorer beats eta under LocalAUC (Theorem 20 of the paper).
#
# A classifier that flags 5 % of the cases
# ----------------------------------------
# :class:`headrank.TopFractionClassifier` sets the threshold so that the requested share of cases lies above it. A
# random forest is overconfident on its training rows, so by default the threshold is computed from out-of-fold scores.
shares = {}
for name, cv in (("out of fold", 5), ("on its own training rows", None)):
    classifier = hr.TopFractionClassifier(models["random forest"], top=0.05, cv=cv).fit(X_train, y_train)
    shares[name] = float(classifier.predict(X_test).mean())
    print(f"threshold from scores {name}: {shares[name]:.1%} of the new cases flagged, 5 % requested")

# %%
# In short: for a limit on alerts, use ``beta``, or ``locauc`` if the desk works from the top down, and never the
# truncated area. Compute the threshold from scores of rows that the model was not trained on.
