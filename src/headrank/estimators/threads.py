"""How many threads the linear algebra of a fit may use."""

from threadpoolctl import threadpool_limits

_SHORT_PASS = 50_000_000
"""Entries of X; a pass over fewer takes about ten milliseconds at most."""


def limit_blas_threads(n_numbers: int) -> threadpool_limits:
    """Limit BLAS to one thread within a ``with`` block if a pass over the rows is short.

    A fit is a long chain of short products, and after each of them all threads wait for the slowest. On a busy machine
    that made fits up to 20 times slower. Folds can use the other cores instead: ``n_jobs``.
    """
    return threadpool_limits(limits=1 if n_numbers <= _SHORT_PASS else None, user_api="blas")
