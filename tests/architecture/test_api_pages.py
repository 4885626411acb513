"""Every public name has its place in the API reference."""

import importlib.util
import re
from pathlib import Path

import pytest

import headrank as hr
import headrank.datasets
import headrank.measures
import headrank.readers
import headrank.rivals

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def api_pages():
    spec = importlib.util.spec_from_file_location("api_pages", ROOT / "docs" / "_extensions" / "api_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_on_exactly_one_page(api_pages):
    entries = []
    for page in (text for name, text in api_pages.pages().items() if name != "index.rst"):
        [module] = re.findall(r"^.. currentmodule:: (\S+)$", page, re.MULTILINE)
        entries += [f"{module}.{name}" for name in re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)]
    expected = {f"headrank.{name}" for name in hr.__all__}
    expected |= {f"headrank.datasets.{name}" for name in headrank.datasets.__all__}
    expected |= {f"headrank.readers.{name}" for name in headrank.readers.__all__}
    expected |= {f"headrank.rivals.{name}" for name in headrank.rivals.__all__}
    expected |= {"headrank.integrations.lightgbm.metric", "headrank.integrations.catboost.Metric"}
    assert expected <= set(entries)
    assert len(entries) == len(set(entries))


def test_all_measures_are_public_by_their_short_path():
    assert set(headrank.measures.__all__) <= set(hr.__all__)


def test_every_page_is_in_the_table_of_contents(api_pages):
    pages = api_pages.pages()
    listed = set(re.findall(r"^   (\w+)$", pages["index.rst"], re.MULTILINE))
    assert {f"{name}.rst" for name in listed} == set(pages) - {"index.rst"}


def test_a_folder_without_a_heading_is_an_error(api_pages, monkeypatch):
    monkeypatch.delitem(api_pages.HEADINGS, "plots")
    with pytest.raises(KeyError, match="plots"):
        api_pages.pages()


def test_no_two_pages_differ_by_a_capital_alone(api_pages):
    every = [name for names in api_pages.public_names().values() for name in names]
    files = [api_pages.distinct_file_names().get(name, name).lower() for name in every]
    assert len(files) == len(set(files))
    assert "headrank.band" in api_pages.distinct_file_names()
