"""Settings for the whole suite: the same examples on every run, no window for a plot."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

SHARE_RESULTS = ("tests/model_io/", "tests/reports/", "tests/training/")
"""Folders whose modules share models and results that take long to make."""

settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", max_examples=2000, deadline=None)  # HYPOTHESIS_PROFILE=thorough
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_make_parametrize_id(val, argname):
    """Bytes give no name to a test: an archive holds the second it was packed in, and each process packs its own."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items):
    """Simulations have more time than other tests."""
    for item in items:
        if item.get_closest_marker("slow") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(3600))


def pytest_collection_finish(session):
    """Leave out the thousands of tests and modules from now on when garbage is searched for."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``--dist loadfile``, modules stay whole in one process, and so do folders whose modules share results.

    Marks with ``--dist loadgroup`` would do the same, but pytest-xdist 3.8 ignores them with pytest 9.2.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class WholeModules(LoadFileScheduling):
        def _split_scope(self, nodeid):
            module = super()._split_scope(nodeid)
            return next((folder for folder in SHARE_RESULTS if module.startswith(folder)), module)

    return WholeModules(config, log)
