"""
How many positives do I need?
=============================

You are planning a study. How many cases must you collect to know the AUC to within 0.05? The answer is a number of
*positives* rather than of rows.
"""

# %%
# The question and its answer
# ---------------------------
# To within 0.05, with 95 % confidence, for any distribution of scores, when 2 % of the rows are positive:
import matplotlib.pyplot as plt
import numpy as np

import headrank as hr
from headrank.datasets import Binormal

print(hr.plan(epsilon=0.05, positive_rate=0.02, method="kl"))

# %%
# The rarer class determines the sample size
# ------------------------------------------
# The share of positives changes the number of rows by orders of magnitude, but not the number of positives.
for positive_rate in (0.5, 0.1, 0.02, 0.001):
    plan = hr.plan(epsilon=0.05, positive_rate=positive_rate, method="kl")
    print(f"{positive_rate:>6.1%} positives: {plan.n:>9,} rows, of which {plan.n_pos:,} positive")

# %%
# A guess of the AUC reduces the sample size
# ------------------------------------------
# The worst case is an AUC near 1/2. If you expect 0.95, far fewer positives suffice. The validity of the interval does
# not depend on the guess; only its width does.
epsilons = np.geomspace(0.01, 0.2, 60)
figure, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
for auc, colour in ((None, "#0072b2"), (0.8, "#009e73"), (0.9, "#e69f00"), (0.95, "#d55e00")):
    needed = [hr.plan(epsilon=e, positive_rate=0.02, method="kl", auc=auc).n_pos for e in epsilons]
    ax.loglog(epsilons, needed, color=colour, label="any AUC" if auc is None else f"AUC near {auc:g}")
ax.set(
    xlabel="largest distance between estimate and truth",
    ylabel="positives needed",
    xticks=[0.01, 0.02, 0.05, 0.1, 0.2],
    xticklabels=["0.01", "0.02", "0.05", "0.1", "0.2"],
    yticks=[10, 100, 1000, 10_000],
    yticklabels=["10", "100", "1,000", "10,000"],
)
ax.minorticks_off()
ax.grid(color="0.9", linewidth=0.6)
ax.legend(title="95 % confidence", frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Does the plan hold?
# -------------------
# Draw a sample of the planned size from a population with AUC 0.95. The interval is as narrow as planned.
plan = hr.plan(epsilon=0.05, positive_rate=0.02, method="kl", auc=0.95)
population = Binormal(separation=2.326)
y, scores = population.sample_classes(plan.n_pos, plan.n_neg, random_state=0)
interval = hr.interval(y, scores, measure="auc", method="kl")
print(f"planned for {plan.n_pos} positives and {plan.n_neg:,} negatives; the true AUC is {population.auc():.3f}")
print(interval)

# %%
# The paper's figures
# -------------------
# Figures 1 and 2 of Agarwal, Graepel, Herbrich & Roth (2004): the sample size by their Corollary 2 against the
# precision, and the ratio of the sample sizes needed for the AUC and for an error rate.
hr.SampleSizeDisplay(positive_rates=(0.5, 0.1, 0.02), confidences=(0.95,)).plot()
plt.show()

# %%
# So collect positives; extra negatives hardly help. Halving the distance takes four times as many positives in the
# worst case, whatever the number of rows.
