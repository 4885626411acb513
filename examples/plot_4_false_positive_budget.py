"""
A threshold that keeps a false positive budget
==============================================

A screening programme may recall at most 5 % of healthy people. The obvious threshold, which recalls 5 % of the healthy
people *in the sample*, exceeds the budget about half of the time, as this simulation shows.
"""

# %%
# A population whose truth is known
# ---------------------------------
# Scores of healthy people are standard normal, and those of ill people are shifted by two, so the true false positive
# rate of any threshold is known exactly.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import headrank as hr
from headrank.datasets import Binormal

population = Binormal(separation=2.0)
budget = 0.05

# %%
# One sample
# ----------
# 1,000 healthy and 100 ill people. :func:`headrank.threshold_at` finds the lowest threshold that keeps the budget with
# 95 % confidence. It uses exact binomial order statistics and makes no assumption about the distribution of scores.
y, scores = population.sample_classes(100, 1000, random_state=0)
threshold = hr.threshold_at(y, scores, max_fpr=budget)
print(threshold)

# %%
# A thousand samples
# ------------------
# For each sample, compute the obvious and the certified threshold, then the true rates of both.
thresholds = {"obvious": [], "certified": []}
for seed in range(1000):
    y, scores = population.sample_classes(100, 1000, random_state=seed)
    thresholds["obvious"].append(np.quantile(scores[~y], 1 - budget))
    thresholds["certified"].append(hr.threshold_at(y, scores, max_fpr=budget).value)
true_fpr = {name: norm.sf(values) for name, values in thresholds.items()}
true_tpr = {name: norm.sf(np.array(values) - population.separation) for name, values in thresholds.items()}
broken = {name: float(np.mean(rates > budget)) for name, rates in true_fpr.items()}
for name, rates in true_fpr.items():
    print(
        f"{name:>9}: budget exceeded in {broken[name]:.1%} of the samples; "
        f"on average FPR {rates.mean():.4f}, TPR {true_tpr[name].mean():.3f}"
    )

# %%
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
bins = np.linspace(0.015, 0.08, 53)
for (name, rates), colour in zip(true_fpr.items(), ("#d55e00", "#0072b2"), strict=True):
    ax.hist(rates, bins, alpha=0.6, color=colour, label=f"{name}: exceeded in {broken[name]:.1%}")
ax.axvline(budget, color="0.2", linestyle="--", label=f"budget {budget:.0%}")
ax.set(xlabel="true false positive rate of the threshold", ylabel="samples of 1,000")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# When no threshold can be certified
# ----------------------------------
# A budget of one in a thousand needs more healthy people than this sample has. headrank raises an error that says how
# many are needed.
try:
    hr.threshold_at(y, scores, max_fpr=0.001)
except ValueError as refusal:
    print(refusal)

# %%
# The obvious threshold exceeds the budget about half of the time; the certified one about one time in twenty, as
# promised. The cost is a slightly higher threshold and thus a lower true positive rate: compare the two averages above.
# :class:`headrank.FPRBudgetClassifier` applies a certified threshold to any scikit-learn classifier.
