"""Kernel ridge regression and its contributions, slowly: one dense system, and small steps along a line."""

import numpy as np


def gaussian(X, Z, gamma):
    return np.array([[np.exp(-gamma * np.sum((x - z) ** 2)) for z in Z] for x in X])


def ridge_scores(X, target, X_new, gamma, penalty, penalty_of_weights):
    """Scores of new rows by least squares: each row, each direction of the norm and each weight is an equation."""
    K = gaussian(X, X, gamma)
    values, directions = np.linalg.eigh(K)
    root = directions * np.sqrt(np.maximum(values, 0)) @ directions.T
    n_rows = len(X)
    equations = [K / np.sqrt(n_rows), np.sqrt(penalty) * root, np.sqrt(penalty_of_weights) * np.eye(n_rows)]
    centred = target - target.mean()
    wanted = np.concatenate([centred / np.sqrt(n_rows), np.zeros(2 * n_rows)])
    weights = np.linalg.lstsq(np.concatenate(equations), wanted, rcond=None)[0]
    return gaussian(X_new, X, gamma) @ weights


def along_a_line(score, x, start, *, n_steps=4000):
    """What each feature adds on the way from one row to another: slopes at the middle of small steps, added up."""
    total, step = np.zeros(len(x)), (x - start) / n_steps
    for i in range(n_steps):
        at = start + (i + 0.5) * step
        slopes = [(score(at + h) - score(at - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))]
        total += slopes * step
    return total
