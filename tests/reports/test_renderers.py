"""HTML, text and JSON: the same numbers, the same bytes every time, and nothing in them that the table could inject."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from math import ceil, floor
from pathlib import Path

import pytest

from headrank.reports import render_brief, render_html, render_json, render_text
from headrank.reports.contents import SCHEMA
from reports.made_up import FAMILIES, RESULTS, html_of, result_of, summarized, summary_of

EVERY = pytest.mark.parametrize("name", RESULTS)
VOID = {"meta", "input", "path", "rect"}
"""Elements without an end; path and rect end themselves."""


class Strict(HTMLParser):
    """Refuses elements that are not closed in order, ids given twice and links into nowhere."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.words, self.seen = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key][1:] for key in ("href",) if key in given]
        self.links += [given["aria-labelledby"]] if "aria-labelledby" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def parsed(html):
    page = Strict()
    page.feed(html)
    page.close()
    assert not page.open
    return page


def flat(text):
    """Words with single spaces, so that lines may break anywhere."""
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


@EVERY
def test_the_page_is_well_formed(name):
    assert html_of(name).startswith("<!DOCTYPE html>")
    page = parsed(html_of(name))
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= set(page.ids)
    headings = [tag for tag, _ in page.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    labelled = [attributes for tag, attributes in page.seen if attributes.get("role") in ("img", "slider", "region")]
    assert all(attributes["aria-label"] for attributes in labelled)


@EVERY
def test_all_three_say_the_same_answer(name):
    answer = " ".join(summary_of(name).answer.sentences)
    assert flat(answer) in flat(render_text(summary_of(name)))
    assert " ".join(json.loads(render_json(summary_of(name)))["answer"]["sentences"]) == answer
    words = parsed(html_of(name)).words
    assert flat(summary_of(name).answer.headline) in map(flat, words)
    assert flat(summary_of(name).answer.guarantee) in map(flat, words)
    for each in summary_of(name).answer.sentences[1:]:
        assert flat(each) in flat(" ".join(words))


@EVERY
def test_all_three_show_every_model_with_its_limits(name):
    words, text = flat(" ".join(parsed(html_of(name)).words)), flat(render_text(summary_of(name)))
    found = json.loads(render_json(summary_of(name)))["entrants"]
    for each, in_json in zip(summary_of(name).entrants, found, strict=True):
        assert (in_json["low"], in_json["estimate"], in_json["high"]) == (each.low, each.estimate, each.high)
        low, high = floor(1000 * each.low + 1e-9) / 1000, ceil(1000 * each.high - 1e-9) / 1000  # never inwards
        if each.low >= 0.01:
            assert f"{low:.3f} – {high:.3f}" in words
            assert f"{low:.3f} to {high:.3f}" in text


@EVERY
def test_all_three_show_every_family_with_its_weight(name):
    words, text = flat(" ".join(parsed(html_of(name)).words)), flat(render_text(summary_of(name)))
    found = json.loads(render_json(summary_of(name)))["ranker"]["families"]
    expected = next((each.families for each in result_of(name).models if each.families), ())
    assert found == [vars(each) for each in expected]
    for page in (words, text):
        assert ("What the ranker is made of" in page) == bool(expected)
        for row in ("0.849 0.011 50 %", "linear 0.811 0.012 not used", "combination 0.860 0.0089")[: len(expected)]:
            assert row in page


def test_one_family_is_no_choice():
    result = result_of("top")
    ranker = replace(result.models[0], families=FAMILIES[1:2] + FAMILIES[-1:])
    assert summarized(replace(result, models=(ranker, *result.models[1:]))).ranker.families == ()


@pytest.mark.parametrize("width", [80, 100])
@EVERY
def test_a_brief_fits_a_terminal_and_says_the_same_at_any_width(name, width):
    text = render_brief(summary_of(name), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert sorted(text.split()) == sorted(render_brief(summary_of(name)).split())


@EVERY
def test_the_page_asks_for_nothing_from_elsewhere(name):
    html = html_of(name)
    markup = re.sub(r"<script type=\"application/json\".*?</script>", "", html, flags=re.S)
    assert not re.findall(r"https?://|@import|\bsrc=[\"']|//[a-z]+\.", markup.replace("// ", "")) or name == "hostile"
    assert set(re.findall(r"url\(([^)]*)\)", markup)) <= {"#range"}
    assert "default-src 'none'" in html


def test_names_from_the_table_are_text_and_nothing_else():
    html = html_of("hostile")
    page = parsed(html)
    assert not [tag for tag, _ in page.seen if tag in ("img",)]
    assert [tag for tag, _ in page.seen].count("script") == 3
    assert not [key for _, attributes in page.seen for key in attributes if key.startswith("on")]
    words = "\n".join(page.words)
    for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "{{ 7 * 7 }} {% raw %}"):
        assert name in words
    data = next(word for word in page.words if word.startswith('{"curves"'))
    assert not set("<>&") & set(data)
    assert json.loads(data)


def test_names_from_the_table_do_not_move_the_cursor():
    summary = summary_of("hostile")
    object.__setattr__(copied := summarized(result_of("hostile")), "warnings", ("red \x1b[31m\x07 alert",))
    assert copied.warnings != summary.warnings
    assert "\x1b" not in render_text(copied)
    assert "\x07" not in render_text(copied)


@EVERY
def test_lines_fit_a_terminal(name):
    lines = render_text(summary_of(name)).splitlines()
    assert all(len(line) <= 100 or line.startswith("  headrank fit") for line in lines)
    assert all(line == line.rstrip() for line in lines)


@EVERY
def test_the_result_has_a_number_keys_in_order_and_no_bulk(name):
    text = render_json(summary_of(name))
    result = json.loads(text)
    assert list(result) == [
        *("schema", "picked", "confidence", "goal", "answer", "entrants", "ranker", "threshold"),
        *("drivers", "first_rows", "data", "warnings"),
        *("promises", "reproduce"),
        *("assumption", "split", "all_rows", "periods", "example_lists"),
        *("positives", "others", "points", "confusion", "columns", "measures"),
    ]
    assert result["schema"] == SCHEMA == 1
    assert result["reproduce"]["versions"] == dict(result_of(name).provenance.versions)
    assert len(text) < 40_000
    assert text.endswith("}\n")


def digests():
    """A digest of all that is rendered of each of three results."""
    found = {}
    for name in ("top", "queries", "hostile"):
        summary = summary_of(name)
        text = render_html(summary) + render_text(summary) + render_json(summary)
        found[name] = hashlib.sha256(text.encode()).hexdigest()
    return found


def test_the_same_result_gives_the_same_bytes_in_another_process():
    code = "import json; from reports.test_renderers import digests; print(json.dumps(digests()))"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == digests()


def test_rendering_twice_gives_the_same_bytes():
    summary = summary_of("ties")
    assert render_html(summary) == render_html(summary)
    assert render_html(summarized(result_of("ties"))) == html_of("ties")


def test_pages_stay_small():
    assert len(html_of("top").encode()) < 150_000  # 1,500 rows, none tied
    assert len(html_of("large_head").encode()) < 500_000  # all the scores a page carries


def test_a_warning_is_pointed_to_at_the_top():
    assert "2 warnings" in html_of("tiny")
    assert "One warning" in html_of("top")
