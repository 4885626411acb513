"""Settings for the whole suite: the same examples on every run, no window for a plot."""

import os

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

SHARE_RESULTS = tuple(f"tests/reports/test_{name}.py" for name in ("browser", "renderers", "summary"))
"""Modules that take long to make the same results."""

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
    """Modules stay whole in one process, those of reports together; simulations have more time than other tests."""
    for item in items:
        module = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group("reports" if module in SHARE_RESULTS else module))
        if item.get_closest_marker("slow") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(3600))
