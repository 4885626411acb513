"""
How sure is it? Bands and intervals
===================================

A test set of 899 digits gives a curve. How far may the curve of all such digits be from it?
"""

# %%
# One scorer, and rows it has not seen
# ------------------------------------
# Every promise is about a scorer that was fixed before the rows were looked at. So one half trains, the other half
# measures.
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
# A number with its promise
# -------------------------
# Printing an interval gives the sentence to quote. It names its method, and says whether that holds for any
# distribution and sample size or only for large samples.
print(hr.interval(y, scores, measure="pauc@0.1"))

# %%
# The same number by other methods
# --------------------------------
# ``fixed_range`` is about one range, chosen beforehand. ``tail`` and ``dkw`` come from bands that hold for all ranges
# at once. ``delong`` and ``bootstrap`` are asymptotic, drawn hollow and dashed.
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
# A *simultaneous* band holds the whole true curve with 95 % confidence: whatever you read off it, and however you chose
# what to read, the promise stands. A *pointwise* one holds each point by itself, so it is narrower; it is for a rate
# that was chosen beforehand.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
display = hr.RocDisplay({"logistic regression": hr.RocCurve.from_scores(y, scores)})
for ax, kind in zip(axes, ("simultaneous", "pointwise"), strict=True):
    display.plot(ax, band=kind, max_fpr=0.3, chance=False)
    ax.set_title(kind)
plt.show()

# %%
# What 87 positives can prove
# ---------------------------
# The lower end is often all that matters, and then the whole risk may be spent on it.
at_least = hr.interval(y, scores, measure="tpr@fpr=0.05", side="lower")
print(at_least)

# %%
# What holds for every distribution is two to five times as wide as what the asymptotic methods say. That is the price
# of a promise without conditions; :doc:`/certify` shows where the cheaper ones break theirs. Most of the width is due
# to the few positives: the last example plans how many to collect.
