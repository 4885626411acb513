"""
Train for the head, and see what was chosen
===========================================

If only the start of the list counts, a model can be trained for it. Which way of training is best depends on the data,
so :class:`headrank.LinearRankerCV` tries several and says what it chose, and why.
"""

# %%
# The task
# --------
# Digits at 4 x 4 pixels: which are eights? Hard for a linear scorer, as an eight and a nine look much the same. We care
# about false positive rates up to 0.05. Two fifths of the rows are kept aside.
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import headrank as hr
from headrank.datasets import coarse_eights

X, y = coarse_eights()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# Six surrogates, from the simplest to the most daring
# ----------------------------------------------------
# Logistic regression, a support vector classifier, the SVM for the AUC, two SVMs for the partial AUC, and a smooth form
# of the partial AUC itself. All are judged on the measure, on folds they were not trained on; those that the folds
# cannot tell from the best, as they are behind by no more than one standard error of the difference, are averaged with
# it.
ranker = hr.LinearRankerCV("pauc@0.05", cv=4).fit(X_train, y_train)
print(ranker.choice_)

# %%
# The picture shows all candidates. The ring is the choice; crosses are fits that have collapsed, which means that the
# convex surrogate preferred no ranking at all: over so narrow a range the highest negatives outscore the average
# positive in every direction.
hr.CrossValidationDisplay(ranker).plot()
plt.show()

# %%
# On rows that nobody has seen
# ----------------------------
# A score on the folds is the best of many and so somewhat too good. The rows kept aside tell what the choice is worth.
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
scores = {"ranker": ranker.decision_function(X_test), "logistic regression": logistic.decision_function(X_test)}
for short_name in ("pauc@0.05", "auc"):
    measure = hr.measure(short_name)
    values = "   ".join(f"{name} {measure(y_test, s):.3f}" for name, s in scores.items())
    print(f"{short_name:>10}   {values}   chance {measure.chance:.3f}")

# %%
hr.RocDisplay.from_predictions(y_test, scores, measure="pauc@0.05", max_fpr=0.3)
plt.show()

# %%
# The ranker is ahead where it was asked to be and behind over the whole curve: it has traded the end of the list for
# its start. With 70 positives kept aside, though, the difference of the heads is not certain for every distribution,
# and :func:`headrank.compare` says so:
print(hr.compare(y_test, *scores.values(), measure="pauc@0.05", names=tuple(scores)))

# %%
# On other data logistic regression may be the choice, and then it is what you get. :doc:`/learning` says when to expect
# what.
