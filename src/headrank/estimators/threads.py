"""The number of threads that the linear algebra of a fit may use."""

from threadpoolctl import threadpool_limits

_SHORT_PASS = 50_000_000
"""Values in X. A pass over fewer takes at most about ten milliseconds."""


def limit_blas_threads(n_numbers: int) -> threadpool_limits:
    """Limit BLAS to one thread within a ``with`` block if a pass over the rows is short.

    A fit is a long sequence of short products, and after each one all threads wait for the slowest. On a busy machine
    this made fits up to 20 times slower. To use the other cores, run folds in parallel with ``n_jobs``.
    """
    return threadpool_limits(limits=1 if n_numbers <= _SHORT_PASS else None, user_api="blas")
