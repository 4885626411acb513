"""
Intervals and confidence bands
==============================

A test set of 899 digits gives a ROC curve. How far can the true curve of the population be from it?
"""

# %%
# A fixed scorer and fresh rows
# -----------------------------
# Every guarantee is about a scorer that was fixed before the test rows were seen. So we train on one half and measure
# on the other.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import headrank as hr

digits = load_digits()
X_train, X_test, y_train, y = train_test_split(
    digits.data, digits.target == 8, test_size=0.5, stratify=digits.target == 8, random_state=0
)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
scores = model.decision_function(X_test)

# %%
# An estimate with a guarantee
# ----------------------------
# Printing an interval gives a sentence to quote. It names the method and says whether it holds for any distribution and
# sample size or only for large samples.
print(hr.interval(y, scores, measure="pauc@0.1"))

# %%
# The same number by other methods
# --------------------------------
# ``fixed_range`` is for a single range chosen in advance. ``tail`` and ``dkw`` come from bands that hold for all ranges
# simultaneously. ``delong`` and ``bootstrap`` are asymptotic and drawn hollow and dashed.
intervals = {
    method: hr.interval(y, scores, measure="pauc@0.1", method=method, random_state=0)
    for method in ("fixed_range", "tail", "dkw", "delong", "bootstrap")
}
for method, interval in intervals.items():
    print(f"{method:>11}: {interval.low:.3f} to {interval.high:.3f}, width {interval.high - interval.low:.3f}")
hr.ForestDisplay(intervals).plot()
plt.show()

# %%
# The whole curve
# ---------------
# A *simultaneous* band contains the whole true curve with 95 % confidence, so you may read off any point, chosen in any
# way. A *pointwise* band covers each point separately. It is narrower, and meant for a rate chosen in advance.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
display = hr.RocDisplay({"logistic regression": hr.RocCurve.from_scores(y, scores)})
for ax, kind in zip(axes, ("simultaneous", "pointwise"), strict=True):
    display.plot(ax, band=kind, max_fpr=0.3, chance=False)
    ax.set_title(kind)
plt.show()

# %%
# A one-sided bound
# -----------------
# Often only the lower limit matters; a one-sided interval spends the whole error probability on it.
at_least = hr.interval(y, scores, measure="tpr@fpr=0.05", side="lower")
print(at_least)

# %%
# The distribution-free intervals are two to five times as wide as the asymptotic ones. That is the price of a guarantee
# without conditions; :doc:`/certify` shows where the asymptotic methods fail. Most of the width comes from the small
# number of positives. The last example plans how many to collect.
