"""
Which 50 compounds?
===================

A library of 4,000 compounds has been scored, and 50 of them can be bought and tested. How many of these 50 will be
active? This example certifies the very list that will be ordered, before any of it is tested.
"""

# %%
# Compounds that were assayed, and a library that was not
# -------------------------------------------------------
# Actives differ from inactives in some of their descriptors. The assayed compounds were preselected, so a third of them
# is active, but only a twentieth of the library. A logistic regression is trained on some assayed compounds. Others,
# which it has not seen, are the labelled rows of the certificate.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import headrank as hr
from headrank.exceptions import ShiftedScoresWarning

rng = np.random.default_rng(1)
shift = np.repeat([1.05, 0.0], [10, 10])


def compounds(n_active, n_inactive):
    """Draw descriptors and activity."""
    active = np.repeat([True, False], [n_active, n_inactive])
    return rng.normal(size=(active.size, shift.size)) + active[:, None] * shift, active


model = LogisticRegression().fit(*compounds(500, 1000))
assayed, active = compounds(2000, 4000)
library, truth = compounds(200, 3800)
scores, new_scores = (model.decision_function(each) for each in (assayed, library))

# %%
# The promise
# -----------
# :func:`headrank.certify_list` compares the library with the assayed inactives. The promise holds for all lengths of
# the list simultaneously, so the length may be chosen afterwards.
certificate = hr.certify_list(active, scores, new_scores)
print(certificate.explain(precision=0.8))
for k in (20, 50, 100):
    found = int(truth[certificate.order[:k]].sum())
    print(
        f"first {k:>3}: promised {certificate.at_least(k):>3}, likely {certificate.likely[k - 1]:.0f}, really {found}"
    )

# %%
display = hr.ListDisplay(certificate, precision=0.8).plot()
k = np.arange(1, certificate.n_new + 1)
limit = int(display.ax_.get_xlim()[1])
display.ax_.plot(
    k[:limit], np.cumsum(truth[certificate.order])[:limit], color="0.2", linewidth=1, label="really active"
)
display.ax_.legend(loc="upper left", fontsize=8.5)
plt.show()

# %%
# Why not assume that all rows are alike?
# ---------------------------------------
# With ``assume="same rows"`` the promise is larger, because a third of the assayed compounds is active. The library has
# fewer actives. Over 200 libraries, count how often each promise was broken for some length of the list. Both are made
# with 95 % confidence.
assumptions = ("same negatives", "same rows")
promised = {each: [] for each in assumptions}
broken = dict.fromkeys(assumptions, 0)
n_libraries = 200
for _ in range(n_libraries):
    assayed, active = compounds(2000, 4000)
    library, truth = compounds(200, 3800)
    scores, new_scores = (model.decision_function(each) for each in (assayed, library))
    for each in assumptions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ShiftedScoresWarning)  # the scores show that "same rows" is wrong
            one = hr.certify_list(active, scores, new_scores, assume=each)
        promised[each].append(one.at_least(50))
        broken[each] += bool(np.any(np.cumsum(truth[one.order]) < one.promised))
for each in assumptions:
    print(f"{each:>14}: {np.mean(promised[each]):.1f} of 50 promised, broken in {broken[each] / n_libraries:.1%}")

# %%
# How many assays would it take?
# ------------------------------
# :func:`headrank.plan_list` says how many assayed inactives are needed to promise 45 of 50, at least.
plan = hr.plan_list(50, 0.9, n_new=4000, auc=0.99, positive_rate=0.05)
print(plan)

# %%
# The default promise is kept in at least 95 % of the libraries, whatever their share of actives. The larger promise
# rests on an assumption that is wrong here, and is broken more often than stated.
