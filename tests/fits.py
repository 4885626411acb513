"""Comparing two runs of one fit, which are alike but not equal bit for bit."""

import numpy as np


def alike(one, other):
    """Whether weights or scores of two runs agree up to rounding, which a solver magnifies up to its tolerance.

    The last digits of a product depend on the processor, the number of threads and where the numbers lie in memory.
    """
    return np.linalg.norm(np.subtract(one, other)) <= 1e-3 * np.linalg.norm(one)


def same_scores(one, other):
    """Whether one model gave the same rows these scores: equal but for rounding, also of products in single precision.

    BLAS multiplies seven rows in another order than sixty, and in yet another with one thread.
    """
    return np.shape(one) == np.shape(other) and np.allclose(
        one, other, rtol=0, atol=1e-6 * np.nanmax(np.abs(other)), equal_nan=True
    )
