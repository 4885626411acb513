"""What CI and releases rest on: versions that agree, documented targets, and runs on other processors."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

import headrank as hr

ROOT = Path(__file__).parents[2]


def script(name):
    """Import a script of ``.ci``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_citation_names_the_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == hr.__version__


def test_every_make_target_is_documented():
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    documented = re.findall(r"^make ([\w-]+) ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(documented) == sorted(targets)


def test_every_dependency_has_a_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lowest = script("lowest").lowest
    pins = lowest(project, [*project["dependencies"], "headrank[test]"])
    extras = project["optional-dependencies"]
    assert len(pins) >= len(project["dependencies"]) + len(extras["test"]) - 1 + len(extras["onnx"])
    assert pins["skops"] == "0.16"
    for wrong in ("numpy", "numpy<3", "numpy~=2.2"):
        with pytest.raises(ValueError, match="numpy"):
            lowest(project, [wrong])


@pytest.mark.parametrize(
    ("one", "other", "same"), [("2.2", "2.2.0", True), ("2.2", "2.2.1", False), ("1", "10", False)]
)
def test_versions_are_compared_as_numbers(one, other, same):
    numbers = script("lowest").numbers
    assert (numbers(one) == numbers(other)) is same


def test_the_second_run_is_on_another_processor():
    processors = script("processors")
    here = processors.facts()
    if kernels := processors.other_kernels():
        assert not set(processors.facts(**kernels)["blas"]) & set(here["blas"])
    if fewer := processors.fewer_features():
        assert set(fewer["NPY_DISABLE_CPU_FEATURES"].split()) == set(here["dispatched"])
    if (kernels, fewer) == (None, None):
        pytest.skip(f"no other kernels or features can be chosen on this {sys.platform} machine")
