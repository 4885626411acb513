"""The page that maps the papers to the code leaves nothing out, and every name on it is really there."""

import ast
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "theorem_map.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
NUMBERED = {
    "A": (
        ["Definition 1", "Definition 2", "Lemma 1", "Equation 1", "Equation 3", "Figure 1", "Figure 2"]
        + [f"Theorem {i}" for i in range(1, 6)]
        + [f"Corollary {i}" for i in range(1, 5)]
    ),
    "N": (
        ["Theorem 1", "Theorem 2", "Algorithm 1", "Algorithm 2"]
        + [
            "OP1",
            "OP2",
            "OP3 and OP4",
            "OP5",
            "OP6 and Equation 7",
            "Equation 1",
            "Equations 2 and 3",
            "Equations 4 to 6",
        ]
        + [f"Figure {i}" for i in range(1, 5)]
        + [f"Table {i}" for i in range(1, 6)]
    ),
    "C": (
        [f"Proposition {i}" for i in (1, 9, 14, 15, 16, 27)]
        + [f"Remark {i}" for i in (2, 3, 4, 6, 7, 8, 11, 12, 21, 25, 26, 28, 29)]
        + [f"Theorem {i}" for i in (5, 10, 20, 24)]
        + [f"Definition {i}" for i in (13, 17, 19, 22, 23)]
        + ["Lemma 18", "Figure 1", "Figure 2"]
    ),
    "L": [
        *("Lemma 1", "Lemma 2", "Theorem 3", "Corollary 4"),
        *("Theorem 5", "Theorem 6", "Lemma 7", "Proposition 8", "Theorem 9"),
    ],
}
"""All that has a number in each paper, and in our own section [L].

In [C] statements of every kind are counted together, from 1 to 29.
"""


def rows_of(paper: str) -> dict[str, str]:
    section = re.search(rf"^## \[{paper}\].*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, paper
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section[0].splitlines() if line.startswith("| ")]
    assert all(len(row) == 3 for row in cells)
    return {item.strip(): where.strip() for item, _, where in cells[2:]}


def named(prefix: str) -> list[str]:
    return sorted({name for name in CODE.findall(PAGE) if name.startswith(prefix)})


@pytest.mark.parametrize("paper", NUMBERED)
def test_nothing_that_has_a_number_is_left_out(paper):
    assert set(NUMBERED[paper]) <= set(rows_of(paper))


def test_the_statements_of_the_third_paper_are_counted_through():
    kinds = ("Proposition", "Remark", "Theorem", "Definition", "Lemma")
    assert sorted(int(item.split()[1]) for item in NUMBERED["C"] if item.startswith(kinds)) == list(range(1, 30))


@pytest.mark.parametrize("paper", [*NUMBERED, "P", "T"])
def test_every_item_is_somewhere_or_says_why_not(paper):
    for item, where in rows_of(paper).items():
        found = [
            code
            for code in CODE.findall(where)
            if code.startswith(("headrank.", "experiments.", "tests/", "benchmarks/"))
        ]
        assert found or "not implemented, because" in where, item


@pytest.mark.parametrize("name", [*named("headrank."), *named("experiments.")])
def test_every_name_can_be_imported(name):
    resolve_name(name)


@pytest.mark.parametrize("name", named("tests/"))
def test_every_test_exists(name):
    file, function = name.split("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_other_file_exists():
    for name in named("benchmarks/"):
        assert (ROOT / name).is_file(), name
