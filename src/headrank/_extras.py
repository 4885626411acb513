"""Optional packages, imported on first use: the command line, reports, plots, data frames and model files need them."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Name the extra of headrank to install if an import in the ``with`` block fails.

    >>> with needs_extra("cli"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: no_such_package is not installed; install it with: pip install "headrank[cli]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'{error.name} is not installed; install it with: pip install "headrank[{extra}]"', name=error.name
        ) from error
