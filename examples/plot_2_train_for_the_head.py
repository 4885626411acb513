"""
Train for the head of the list
==============================

If only the top of the list counts, you can train a model for it. The best way to train depends on the data, so
:class:`headrank.LinearRankerCV` tries several candidates and explains its selection.
"""

# %%
# The task
# --------
# Which of these digits, at 4 x 4 pixels, are eights? This is hard for a linear scorer, since an eight and a nine look
# much the same. We care about false positive rates up to 0.05 and hold out 40 % of the rows.
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
# Six surrogates
# --------------
# The candidates are logistic regression, a support vector classifier, the SVM for the AUC, two SVMs for the partial
# AUC, and a smooth version of the partial AUC itself. All are evaluated with the measure on held-out folds. Candidates
# within one paired standard error of the best are treated as tied and averaged with it.
ranker = hr.LinearRankerCV("pauc@0.05", cv=4).fit(X_train, y_train)
print(ranker.choice_)

# %%
# The plot shows all candidates. The ring marks the selected one. Crosses are collapsed fits, where the convex surrogate
# is minimised by no ranking at all: over such a narrow range, the highest negatives outscore the average positive in
# every direction.
hr.CrossValidationDisplay(ranker).plot()
plt.show()

# %%
# On the holdout
# --------------
# The cross-validation score is the best of many and therefore optimistic. The holdout gives an honest estimate.
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
# The ranker wins in the range it was trained for and loses over the full curve: it has traded the bottom of the list
# for the top. With only 70 positives in the holdout, however, the difference in the head is not certain for every
# distribution, and :func:`headrank.compare` says so:
print(hr.compare(y_test, *scores.values(), measure="pauc@0.05", names=tuple(scores)))

# %%
# On other data, logistic regression may be selected. :doc:`/learning` shows when to expect which result.
