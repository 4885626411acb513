"""
Trees for the head of the list
==============================

Is a linear scorer enough, or do trees and kernels find more at the top of the list? :class:`headrank.RankerCV` tunes
linear scorers, kernels, boosted trees and forests for the measure, and combines those that help.
"""

# %%
# The task
# --------
# Which of these digits, at 4 x 4 pixels, are eights? We care about false positive rates up to 0.05 and hold out 40 % of
# the rows. In :doc:`plot_2_train_for_the_head`, linear scorers trained for this range find few of the eights: whether a
# pixel speaks for an eight depends on the other pixels.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import headrank as hr
from headrank.datasets import coarse_eights

X, y = coarse_eights()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# Five families
# -------------
# All families are tuned on the same folds, with the measure itself.
ranker = hr.RankerCV("pauc@0.05", cv=4).fit(X_train, y_train)
print(ranker.choice_)

# %%
# The plot shows each family alone and the combination, on rows that were not trained on, with one standard error.
# Kernels and all three kinds of trees are far ahead of the linear scorers, which are not used. The combination is ahead
# of each of them.
hr.CrossValidationDisplay(ranker).plot()
plt.show()

# %%
# How many trees?
# ---------------
# :class:`headrank.BoostedRankerCV` is the family of boosted trees on its own. It measures the head after every ten
# trees, for settings from stiff to loose. Settings that cannot be told apart on the folds are averaged.
boosted = hr.BoostedRankerCV("pauc@0.05", cv=4).fit(X_train, y_train)
hr.CrossValidationDisplay(boosted).plot()
plt.show()

# %%
# On the holdout
# --------------
# The values on the folds are the best of several. The holdout gives an honest estimate, here against a linear ranker
# that was tuned for the same measure.
linear = hr.LinearRankerCV("pauc@0.05", cv=4).fit(X_train, y_train)
scores = {"RankerCV": ranker.decision_function(X_test), "LinearRankerCV": linear.decision_function(X_test)}
head, rate = hr.measure("pauc@0.05"), hr.TPRAtFPR(0.05)
n_pos = int(y_test.sum())
for name, each in scores.items():
    found = round(n_pos * rate(y_test, each))
    print(f"{name:>14}   pauc@0.05 {head(y_test, each):.2f}   finds {found} of {n_pos} eights at 5 % false positives")

# %%
hr.RocDisplay.from_predictions(y_test, scores, measure="pauc@0.05", max_fpr=0.3)
plt.show()

# %%
# Is it chance? There are only 70 eights in the holdout, but the difference is large, and DeLong's (asymptotic) test
# finds it significant.
difference = hr.compare(y_test, *scores.values(), measure="pauc@0.05", names=tuple(scores), method="delong")
print(difference)

# %%
# Here kernels and trees together find more than twice as many eights as the best linear scorer at the same false
# positive rate. On other data the families are closer, or linear scorers alone are best: :doc:`/trees` describes how
# that is decided.
