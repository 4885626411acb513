"""What is public is listed, documented and reachable; what is heavy is imported only when it is needed."""

import re
import subprocess
import sys
from inspect import isabstract
from pathlib import Path

import pytest

import headrank as hr
from headrank.measures.names import MEASURES

ROOT = Path(__file__).parents[2]


def test_every_public_name_exists_and_is_documented():
    for name in hr.__all__:
        assert getattr(hr, name).__doc__, name


def test_every_measure_is_public_and_on_the_page_about_ties():
    ties = (ROOT / "docs" / "ties.md").read_text()
    for kind in MEASURES:
        assert kind.__name__ in hr.__all__
        assert f"`{kind.__name__}`" in ties, kind


def test_every_class_of_measure_is_registered():
    def concrete(kind):
        for child in kind.__subclasses__():
            yield from concrete(child)
            if not isabstract(child) and not child.__name__.startswith("_"):
                yield child

    ours = {kind for kind in concrete(hr.Measure) if kind.__module__.startswith("headrank.")}
    assert ours == set(MEASURES)


@pytest.mark.parametrize("package", ["matplotlib", "sklearn", "polars", "pandas", "scipy", "typer", "rich"])
def test_importing_headrank_is_light(package):
    code = f"import headrank, sys; sys.exit({package!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_changelog_names_the_version():
    assert re.search(rf"^## {re.escape(hr.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
