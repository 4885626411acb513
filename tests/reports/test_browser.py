"""The page in a real browser: what is dragged, typed and shown there equals what the library computes."""

import os
import shutil
from math import ceil

import numpy as np
import pytest

import headrank as hr
from headrank.curve import share
from reports.made_up import RESULTS, html_of, result_of, summary_of

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
)
TO_COMPARE = (
    *("top", "fpr", "inner_range", "ties", "ties_fpr", "tiny", "separated", "queries", "queries_top", "large_head"),
)


def missing(reason):
    """Skip where there is no browser, or fail where one was asked for."""
    if os.environ.get("HEADRANK_BROWSER") == "required":
        pytest.fail(f"HEADRANK_BROWSER=required, but {reason}")
    pytest.skip(f"{reason}; set HEADRANK_BROWSER=required to make this a failure")


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing("there is no Chromium on the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


class Watched:
    """A page, and all that it said, asked or requested."""

    def __init__(self, browser, **options):
        self.said, self.requests = [], []
        self.page = browser.new_page(**options)
        self.page.on("console", lambda message: self.said.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture(scope="module")
def usual(browser):
    """A page that one report after the other is loaded into, as a new page takes far longer."""
    watched = Watched(browser)
    yield watched
    watched.page.close()


@pytest.fixture
def opened(browser, usual, tmp_path):
    """Open the report of a result; afterwards nothing may have gone wrong, and no one may have been called."""
    opened_here = []

    def open_page(name, width=1280, **options):
        file = tmp_path / f"{name}.html"
        file.write_text(html_of(name), encoding="utf-8")
        size = {"width": width, "height": 900}
        watched = Watched(browser, viewport=size, **options) if options else usual
        watched.said.clear()
        watched.requests.clear()
        opened_here.append((watched, file.as_uri()))
        watched.page.set_viewport_size(size)
        watched.page.goto(file.as_uri())
        return watched.page

    yield open_page
    for watched, address in opened_here:
        watched.page.wait_for_timeout(0)  # what is on its way arrives
        if watched is not usual:
            watched.page.close()
        assert watched.said == []
        assert watched.requests == [address]


def shown(page):
    """The goal and the numbers that the page shows, with all their digits."""
    return page.evaluate(
        """() => {
            const root = document.getElementById("control");
            const number = (text) => (text === "" ? null : Number(text));
            const cells = [...root.querySelectorAll("[data-key]")];
            const numbers = cells.map((cell) => [cell.dataset.key, number(cell.dataset.value)]);
            const goal = Object.fromEntries(["min", "max", "top"].map((key) => [key, Number(root.dataset[key])]));
            return { ...goal, lead: root.dataset.lead, ...Object.fromEntries(numbers) };
        }"""
    )


def by_library(name, goal):
    """The same numbers, computed by the library at the goal that the page shows."""
    made = result_of(name)
    goal = goal | {"top": float(goal["top"])}  # all rows are 1.0 of them; 1 would be a count
    y, scores, qid = made.y, made.winner.scores, made.qid
    groups = [np.arange(y.size)] if qid is None else [np.flatnonzero(qid == each) for each in np.unique(qid)]
    groups = [rows for rows in groups if 0 < y[rows].sum() < rows.size]
    top, cases = hr.PrecisionAt(goal["top"]), [share(goal["top"], rows.size) for rows in groups]
    hits = [top(y[rows], scores[rows]) * n for rows, n in zip(groups, cases, strict=True)]
    n_pos, n_neg = [int(y[rows].sum()) for rows in groups], [int((~y[rows]).sum()) for rows in groups]
    found = [hr.TPRAtFPR(goal["max"])(y[rows], scores[rows]) for rows in groups]
    numbers = {
        "tpr": hr.TPRAtFPR(goal["max"])(y, scores, qid=qid),
        "found": np.dot(found, n_pos),
        "false_alarms": sum(share(goal["max"], n) for n in n_neg),
        "expected": sum(hits),
        "cases": sum(cases),
        "precision": top(y, scores, qid=qid),
        "recall": hr.RecallAt(goal["top"])(y, scores, qid=qid),
        "fpr": np.mean([(n - hit) / neg for n, hit, neg in zip(cases, hits, n_neg, strict=True)]),
        "local_auc": hr.LocalAUC(goal["top"])(y, scores, qid=qid),
        "partial_auc": None,
    }
    if goal["min"] < goal["max"]:
        numbers["partial_auc"] = hr.PartialAUC(min_fpr=goal["min"], max_fpr=goal["max"])(y, scores, qid=qid)
    if qid is None:
        numbers["threshold"] = np.sort(scores)[::-1][ceil(cases[0]) - 1]
    return numbers


def require_equal(name, page):
    """Compare all numbers of the page with the library's; return the goal they belong to."""
    seen = shown(page)
    for key, number in by_library(name, seen).items():
        expected = number if number is None else pytest.approx(float(number), rel=1e-9, abs=1e-9)
        assert seen[key] == expected, (key, seen)
    return seen


def drag(page, handle, to, by=0):
    """Drag a handle to a part of the chart's width."""
    page.locator("#stage").scroll_into_view_if_needed()
    grip, stage = page.locator(f"#{handle} i").bounding_box(), page.locator("#stage").bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(stage["x"] + to * stage["width"] / 2 + x / 2, y + 5, steps=3)
    page.mouse.move(stage["x"] + to * stage["width"], y + by, steps=3)
    page.mouse.up()


@pytest.mark.parametrize("name", TO_COMPARE)
def test_it_opens_at_the_goal_of_the_report(opened, name):
    made, page = result_of(name), opened(name)
    seen = require_equal(name, page)
    if made.goal.top is None:
        assert (seen["min"], seen["max"], seen["lead"]) == (made.goal.min_fpr, made.goal.max_fpr, "fpr")
        measured = seen["partial_auc"]
    else:
        assert (seen["top"], seen["lead"]) == (made.goal.top, "top")
        measured = seen["local_auc"]
    assert measured == pytest.approx(summary_of(name).entrants[0].estimate, abs=1e-9)


@pytest.mark.parametrize("name", TO_COMPARE)
def test_dragging_the_handles(opened, name):
    page = opened(name)
    right, goals = summary_of(name).control.right, []
    for handle, to in (
        ("handle-max", 0.9),
        ("handle-min", 0.31),
        ("handle-max", 0.473),
        ("handle-min", 0.2),
        ("handle-max", 0.61),
    ):
        drag(page, handle, to)
        seen = require_equal(name, page)
        moved = seen["max" if handle == "handle-max" else "min"]
        assert moved == pytest.approx(to * right, abs=0.005 * right)
        assert seen["min"] < seen["max"]
        goals.append((seen["min"], seen["max"]))
    assert len(set(goals)) == 5
    assert page.locator("#handle-max").get_attribute("aria-valuenow") == str(seen["max"])


@pytest.mark.parametrize("name", ["ties", "queries"])
def test_dragging_past_the_other_handle_or_off_the_chart(opened, name):
    page = opened(name)
    right = summary_of(name).control.right
    drag(page, "handle-max", 0.4)
    drag(page, "handle-min", 0.8)
    seen = require_equal(name, page)
    assert seen["min"] < seen["max"] == pytest.approx(0.4 * right, abs=0.005 * right)
    drag(page, "handle-max", -0.2, by=400)
    seen = require_equal(name, page)
    assert seen["min"] < seen["max"]
    drag(page, "handle-max", 1.2)
    assert require_equal(name, page)["max"] == pytest.approx(right)
    drag(page, "handle-min", -1)
    assert require_equal(name, page)["min"] == 0


@pytest.mark.parametrize("name", ["fpr", "ties", "tiny", "queries_top", "large_head"])
def test_the_keyboard_moves_the_handles(opened, name):
    page = opened(name)
    right = summary_of(name).control.right
    page.locator("#handle-max").focus()
    before = shown(page)["max"]
    page.keyboard.press("End")
    assert require_equal(name, page)["max"] == pytest.approx(right)
    page.keyboard.press("ArrowLeft")
    once = require_equal(name, page)["max"]
    assert once < right
    page.keyboard.press("Shift+ArrowLeft")
    assert right - require_equal(name, page)["max"] > 2 * (right - once) or once < 0.2 * right
    page.keyboard.press("Home")
    assert require_equal(name, page)["max"] < before or before == pytest.approx(right / 500)
    page.keyboard.press("PageUp")
    page.locator("#handle-min").focus()
    page.keyboard.press("ArrowUp")
    require_equal(name, page)


@pytest.mark.parametrize("name", TO_COMPARE)
def test_typing_and_the_slider(opened, name):
    page = opened(name)
    reach = summary_of(name).control
    for top in (0.013, 0.1, 1 / 3, 0.29, 0.5):
        page.locator("#top").fill(repr(min(top, reach.max_top)))
        seen = require_equal(name, page)
        assert (seen["top"], seen["lead"]) == (min(top, reach.max_top), "top")
    for cases in (1, 2, 7):
        page.locator("#cases").fill(str(cases))
        n = sum(curve.n_pos + curve.n_neg for curve in reach.curves)
        assert require_equal(name, page)["top"] == cases / n
    page.locator("#slide").focus()
    before = shown(page)["cases"]
    page.keyboard.press("ArrowRight")
    assert require_equal(name, page)["cases"] == pytest.approx(before + 1)
    for low, high in ((0.0, 0.29), (0.07, 0.2), (0.07, 0.07000001)):
        page.locator("#min").fill("0")
        page.locator("#max").fill(repr(min(high, reach.max_fpr)))
        page.locator("#min").fill(repr(low))
        seen = require_equal(name, page)
        assert (seen["min"], seen["max"], seen["lead"]) == (low, min(high, reach.max_fpr), "fpr")


@pytest.mark.parametrize(
    ("field", "wrong"), [("max", "1.5"), ("max", "-1"), ("cases", "0"), ("cases", "1e9"), ("top", "")]
)
def test_what_does_not_fit_is_refused_with_what_is_needed(opened, field, wrong):
    page = opened("fpr")
    before = shown(page)
    page.locator(f"#{field}").fill(wrong)
    assert shown(page) == before
    assert page.locator(f"#{field}").get_attribute("aria-invalid") == "true"
    assert page.locator("#message").inner_text().startswith("Expected a number ")
    page.locator("#handle-max").focus()
    assert page.locator("#message").inner_text() == ""
    assert float(page.locator("#max").input_value()) == pytest.approx(before["max"])


def test_enter_does_not_leave_the_page(opened):
    page = opened("fpr")
    page.locator("#cases").fill("30")
    page.keyboard.press("Enter")
    assert require_equal("fpr", page)["cases"] == 30


def test_the_whole_curve_can_be_shown_and_reached(opened):
    page = opened("fpr")
    page.locator("#all").check()
    drag(page, "handle-max", 0.8)
    assert require_equal("fpr", page)["max"] == pytest.approx(0.8, abs=0.005)
    page.locator("#handle-max").press("End")
    seen = require_equal("fpr", page)
    assert (seen["max"], seen["tpr"], seen["top"]) == (1, 1, 1)


def test_a_head_ends_where_it_says(opened):
    page, control = opened("large_head"), summary_of("large_head").control
    page.locator("#all").check()
    page.locator("#handle-max").press("End")
    assert require_equal("large_head", page)["max"] == control.max_fpr < 1
    page.locator("#max").fill("0.9")
    assert page.locator("#max").get_attribute("aria-invalid") == "true"
    page.locator("#top").fill(repr(control.max_top))
    require_equal("large_head", page)


def test_a_finger_drags_as_well(opened):
    page = opened("ties", width=390, has_touch=True, is_mobile=True)
    page.locator("#stage").scroll_into_view_if_needed()
    grip, stage = page.locator("#handle-max i").bounding_box(), page.locator("#stage").bounding_box()
    assert page.locator("#handle-max").bounding_box()["width"] >= 44
    touch = page.context.new_cdp_session(page)
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    for kind, at in (("touchStart", x), ("touchMove", x + 30), ("touchMove", stage["x"] + 0.8 * stage["width"])):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    right = summary_of("ties").control.right
    assert require_equal("ties", page)["max"] == pytest.approx(0.8 * right, abs=0.01 * right)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", RESULTS)
def test_nothing_sticks_out_at_any_width(opened, name, width):
    page = opened(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first = page.locator("h1").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert first == summary_of(name).answer.headline


def contrast(page, selector):
    """Contrast of an element's words with the page, as WCAG 2 defines it."""
    return page.evaluate(
        """(selector) => {
            const light = (colour) => {
                const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
                const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
                return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
            };
            const words = light(getComputedStyle(document.querySelector(selector)).color);
            const paper = light(getComputedStyle(document.body).backgroundColor);
            return (Math.max(words, paper) + 0.05) / (Math.min(words, paper) + 0.05);
        }""",
        selector,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_dark(opened, scheme):
    page = opened("top", color_scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == (scheme == "dark")
    assert page.screenshot(full_page=True).startswith(b"\x89PNG")
    for selector in (
        "h1",
        ".lede",
        ".kicker",
        ".tick",
        ".legend li",
        "figcaption p",
        "th",
        ".inside.top",
        ".inside.bottom",
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_paper_is_white_even_from_a_dark_screen(opened):
    page = opened("top", color_scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("form.inputs").is_visible()
    assert page.locator("[data-key=expected]").is_visible()


def test_all_but_the_control_is_there_without_javascript(opened):
    page = opened("top", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert not page.locator("#control").is_visible()
    assert "needs JavaScript" in page.locator(".try").inner_text()
    assert page.locator(".lines path.band").first.bounding_box()["height"] > 100
    table = page.locator("details", has_text="Table of operating points").first
    assert not table.locator("table").is_visible()
    table.locator("summary").click()
    assert table.locator("table").is_visible()


def test_operating_points_can_be_sorted(opened):
    page = opened("top")
    page.locator("details", has_text="Table of operating points").first.locator("summary").click()
    heading = page.locator("table.points th", has_text="likelihood ratio, flagged")
    column = page.locator("table.points thead th").all_inner_texts().index(heading.inner_text())

    def cells():
        rows = page.locator("table.points tbody tr").all()
        texts = [row.locator("th, td").nth(column).inner_text().replace(",", "") for row in rows]
        return [np.inf if text == "–" else float(text) for text in texts]

    before = cells()
    heading.locator("button").click()
    assert (cells(), heading.get_attribute("aria-sort")) == (sorted(before), "ascending")
    heading.locator("button").click()
    assert (cells(), heading.get_attribute("aria-sort")) == (sorted(before, reverse=True), "descending")


def test_hostile_names_run_nothing(opened):
    page = opened("hostile")
    require_equal("hostile", page)
    assert page.locator("img").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator(".drivers").inner_text()
