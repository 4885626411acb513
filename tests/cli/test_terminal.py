"""What is printed fits the terminal: no cut names, no lines that are broken twice."""

import re
import sys
from itertools import pairwise

import polars as pl
import pytest

from cli.running import run
from headrank.cli._program import app

LONG = "a_scorer_with_quite_a_long_name"
COMMANDS = ["fit", "score", "choose", "monitor", "export", "evaluate", "compare", "threshold", "plan", "demo"]


@pytest.fixture(params=[80, 120, 200])
def width(request, monkeypatch):
    """The width of a terminal that stdout is."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("TERM", "dumb")
    return request.param


def in_a_terminal(monkeypatch, capsys, *arguments):
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    done = run(capsys, *arguments)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def long_names(tmp_path, scored):
    frame = scored[:500].rename({"good": LONG, "weak": f"{LONG}_too"})
    frame = frame.with_columns(place=pl.col("half") + " is a place with a name that is as long as this one")
    frame.write_csv(tmp_path / "scores.csv")
    return tmp_path / "scores.csv"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_leaves_room_for_words(capsys, monkeypatch, name):
    """Nearly half of 80 columns at least, and no line is broken by the docstring."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    done = run(capsys, name, "--help")
    assert max(map(len, done.out.splitlines())) <= 80
    panels = [line for line in done.out.splitlines() if line.startswith("│")]
    starts = [
        match.end() for line in panels if (match := re.match(r"│ .{1,45}?(?:COL|NAME|P|FILE|DIR|CHAR) {2,}", line))
    ]
    assert max(starts, default=0) <= 43
    prose = done.out.split("╭")[0].split("\n \n")
    for paragraph in prose:
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        for line, following in pairwise(lines):
            assert not line or not following or len(line) + 1 + len(following.split()[0]) > 76, (line, following)


def test_every_command_is_checked():
    assert [command.name for command in app.registered_commands] == COMMANDS


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate"],
        ["evaluate", "--group", "place"],
        ["compare"],
        ["compare", "--top", "0.1"],
        ["compare", "--score", "alike"],
        ["compare", "--score", "alike", "--qid", "query"],
    ],
)
def test_tables_fit_and_no_name_is_cut(capsys, monkeypatch, long_names, width, command):
    name, *options = command
    common = [long_names, "--target", "y", "--score", LONG, "--score", f"{LONG}_too"]
    out = in_a_terminal(monkeypatch, capsys, name, *common, *options)
    lines = out.splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    assert "…" not in out
    assert f"{LONG}_too" in out
    assert "p = 1" not in out
    if "place" in options:
        assert sum("a is a place with a name that is as long as this one (" in line for line in lines) == 1


def test_the_answers_of_a_threshold_fit(capsys, monkeypatch, long_names, width):
    out = in_a_terminal(
        monkeypatch, capsys, "threshold", long_names, "--target", "y", "--score", LONG, "--max-fpr", "0.1"
    )
    assert max(map(len, out.splitlines())) <= min(width, 100)


def test_lines_in_a_file_are_not_broken(capsys, long_names):
    done = run(capsys, "threshold", long_names, "--target", "y", "--score", LONG, "--max-fpr", "0.1")
    assert len(done.out.splitlines()) == 2
