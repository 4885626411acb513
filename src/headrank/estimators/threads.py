"""Threads: how many of them the linear algebra of a fit may use."""

from threadpoolctl import threadpool_limits

_SHORT_PASS = 50_000_000
"""Numbers; a pass over fewer takes some ten milliseconds at most."""


def threads_that_pay(n_numbers: int) -> threadpool_limits:
    """Keep BLAS to one thread, within a ``with`` block, while a pass over the rows is short.

    A fit is a long chain of short products, and after each of them every thread waits for the slowest. On a machine
    that has anything else to do, that made fits up to 20 times slower. Folds can share the processors instead: n_jobs.
    """
    return threadpool_limits(limits=1 if n_numbers <= _SHORT_PASS else None, user_api="blas")
