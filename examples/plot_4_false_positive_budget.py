"""
A threshold that keeps a false positive budget
==============================================

A screening programme may alarm at most 5 % of the healthy. The obvious threshold, the one that alarms 5 % of the
healthy *in the sample*, breaks the budget every other time. This simulation counts how often.
"""

# %%
# A population whose truth is known
# ---------------------------------
# Scores of the healthy are standard normal and those of the ill are two higher, so that the true false positive rate of
# any threshold is known exactly.
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
# 1,000 healthy and 100 ill people. :func:`headrank.threshold_at` finds the lowest threshold of which the budget is
# certain to 95 %, by exact binomial order statistics: no assumption about the scores.
y, scores = population.sample_classes(100, 1000, random_state=0)
threshold = hr.threshold_at(y, scores, max_fpr=budget)
print(threshold)

# %%
# A thousand samples
# ------------------
# In each, the obvious threshold and the certified one; then the true rates of both.
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
        f"{name:>9}: budget broken in {broken[name]:.1%} of the samples; "
        f"on average FPR {rates.mean():.4f}, TPR {true_tpr[name].mean():.3f}"
    )

# %%
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
bins = np.linspace(0.015, 0.08, 53)
for (name, rates), colour in zip(true_fpr.items(), ("#d55e00", "#0072b2"), strict=True):
    ax.hist(rates, bins, alpha=0.6, color=colour, label=f"{name}: broken in {broken[name]:.1%}")
ax.axvline(budget, color="0.2", linestyle="--", label=f"budget {budget:.0%}")
ax.set(xlabel="true false positive rate of the threshold", ylabel="samples of 1,000")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Where nothing can be promised
# -----------------------------
# A budget of one in a thousand needs more healthy people than these, and no threshold at all is an honest answer. The
# message says how many it takes.
try:
    hr.threshold_at(y, scores, max_fpr=0.001)
except ValueError as refusal:
    print(refusal)

# %%
# The obvious threshold breaks the budget about every other time, the certified one about one time in twenty, as
# promised. The price is a slightly higher threshold: the difference between the two average true positive rates above.
# :class:`headrank.FPRBudgetClassifier` wraps any scikit-learn classifier so that it does this by itself.
