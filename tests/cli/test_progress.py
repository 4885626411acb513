"""Progress of ``headrank fit``: what is said of a step, the estimate of the time left, and lines in a log file."""

import io
import re
from contextlib import nullcontext
from itertools import pairwise

import pytest

from cli.running import run
from cli.tables import clean
from headrank.cli import _printing, _progress
from headrank.cli._progress import Step, bars, lines, shown_share
from headrank.training.progress import NO_NOTE, Note


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self):
        return self.now


class Pause:
    """Waits on the clock above: each wait takes as long as it says and calls what is due; the last finds all over."""

    def __init__(self, clock, events):
        self.clock, self.events, self.waited, self.is_set = clock, list(events), [], False

    def wait(self, timeout):
        self.waited.append(timeout)
        if not self.events:
            return True
        self.clock.now += timeout
        self.events.pop(0)()
        return False

    def set(self):
        self.is_set = True


def test_there_is_no_estimate_before_the_first_part_is_done_and_after_the_last():
    clock = Clock()
    step = Step("training", clock)
    step.update(0, 4, NO_NOTE)
    clock.now = 10.0
    assert (step.seconds_left, step.time_left) == (None, "")
    step.update(4, 4, NO_NOTE)
    assert step.seconds_left is None


def test_what_is_left_takes_as_long_as_what_is_done():
    clock = Clock()
    step = Step("training", clock)
    clock.now = 20.0
    step.update(2, 5, NO_NOTE)
    assert step.seconds_left == 30.0
    clock.now = 25.0
    assert step.seconds_left == 25.0
    clock.now = 90.0  # the third takes longer than the mean: the others are still to come
    assert step.seconds_left == 20.0
    step.update(2, 6, NO_NOTE)  # one more is expected; nothing was finished
    assert step.seconds_left == 30.0
    step.update(3, 6, NO_NOTE)
    assert step.seconds_left == 90.0


def test_the_estimate_never_rises_while_nothing_happens():
    clock = Clock()
    step = Step("training", clock)
    clock.now = 7.0
    step.update(1, 4, NO_NOTE)
    found = []
    for second in range(7, 30):
        clock.now = float(second)
        found.append(step.seconds_left)
    assert all(later <= earlier for earlier, later in pairwise(found))


def test_a_limit_runs_down_and_bounds_the_estimate():
    clock = Clock()
    step = Step("training", clock)
    clock.now = 60.0
    step.update(1, 5, Note(seconds_left=100.0))
    assert (step.limit_left, step.seconds_left) == (100.0, 100.0)
    clock.now = 130.0
    assert step.context == ["Time limit in 0:30"]
    clock.now = 200.0
    assert (step.limit_left, step.seconds_left) == (0.0, 0.0)
    assert step.context == ["Time limit reached"]


@pytest.mark.parametrize(
    ("done", "total", "note", "expected"),
    [
        (0, 1, NO_NOTE, "Training the ranker: linear"),
        (0, 5, Note(n_to_follow=3), "Training the ranker: linear, 0 of 5 done. 3 families to follow"),
        (
            *(2, 4, Note("pauc@0.1 0.7512 out of fold", 1, 200.0)),
            "Training the ranker: linear, 2 of 4 done, about 1:00 left. Best so far: pauc@0.1 0.7512 out of fold. "
            "1 family to follow. Time limit in 3:20",
        ),
    ],
)
def test_a_line_says_all_of_it(done, total, note, expected):
    clock = Clock()
    step = Step("training the ranker: linear", clock)
    clock.now = 60.0
    step.update(done, total, note)
    assert step.line == expected


class Inline:
    """A thread that works when it is waited for."""

    def __init__(self, target, **_options):
        self.join = target

    def start(self):
        pass


@pytest.fixture
def inline(monkeypatch):
    monkeypatch.setattr(_progress, "Thread", Inline)


def logged(events, stream):
    """Write what is due while these calls happen, one after each half minute."""
    clock, shown = Clock(), []
    pause = Pause(clock, [lambda each=each: shown[0](*each) for each in events])
    with lines(stream, pause, clock) as show:
        shown.append(show)
    assert set(pause.waited) == {30.0}
    assert pause.is_set


@pytest.mark.usefixtures("inline")
def test_a_line_is_written_every_half_minute():
    stream = io.StringIO()
    events = [("reading", 0, 1), ("training", 0, 2), ("training", 1, 2), ("training", 1, 2), ("writing", 0, 1)]
    logged(events, stream)
    assert stream.getvalue().splitlines() == [
        "[0:30] Reading",
        "[1:00] Training, 0 of 2 done",
        "[1:30] Training, 1 of 2 done, about 0:30 left",
        "[2:00] Training, 1 of 2 done, about 0:00 left",
        "[2:30] Writing",
    ]


class Closed(io.StringIO):
    def write(self, _text):
        raise BrokenPipeError


@pytest.mark.usefixtures("inline")
def test_a_log_that_nobody_reads_any_more_ends_quietly():
    logged([("reading", 0, 1), ("training", 0, 2)], Closed())


def test_the_thread_ends_with_the_work():
    stream = io.StringIO()
    with lines(stream) as show:
        show("reading", 0, 1)
    assert not stream.getvalue()


@pytest.mark.usefixtures("inline")
def test_a_fit_writes_to_stderr_what_it_is_at(tmp_path, capsys, monkeypatch):
    clean().write_csv(tmp_path / "parts.csv")
    monkeypatch.setattr(_progress, "Event", lambda: Pause(Clock(), [lambda: None]))
    options = ["--target", "broken", "--models", "linear", "--out", tmp_path / "out"]
    done = run(capsys, "fit", tmp_path / "parts.csv", *options)
    assert done.code == 0, done.err
    assert re.fullmatch(r"\[[0-9:]+\] Writing the report\n", done.err)


@pytest.mark.parametrize("width", [80, 100])
def test_bars_fit_the_terminal(width, monkeypatch, capsys):
    clock, console = Clock(), _printing.console

    def wide(**options):
        screen = console(**options)
        screen.width, screen.height, screen._force_terminal = width, 24, True
        return screen

    monkeypatch.setattr(_printing, "console", wide)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with bars(clock) as show:
        show("training the ranker: random forest", 0, 5)
        clock.now = 3600.0
        note = Note("locauc@0.05 0.1726 out of fold", 3, 12_345.0)
        show("training the ranker: random forest", 1, 5, note)
        capsys.readouterr()
    text = capsys.readouterr().err
    assert "about 3:25:45 left" in text
    for words in ("Best so far: locauc@0.05 0.1726 out of fold", "3 families to follow", "Time limit in 3:25:45"):
        assert words in text
    assert "…" not in text


def test_a_family_that_was_left_out_is_over(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    clock, console = Clock(), _printing.console

    def wide(**options):
        screen = console(**options)
        screen.width, screen.height, screen._force_terminal = 100, 24, True
        return screen

    monkeypatch.setattr(_printing, "console", wide)
    with bars(clock) as show:
        show("training the ranker: linear", 1, 5)
        show("training the ranker: linear", 5, 5)
        show("training the ranker: kernel", 4, 5)
        capsys.readouterr()
        clock.now = 60.0
        show("writing the report", 0, 1)
    text = capsys.readouterr().err
    assert "Training the ranker: kernel (left out)" in text
    assert "linear (left out)" not in text
    assert "left out) 0:" not in text  # its time stands still, and none is left


def test_a_file_is_done_in_percent():
    clock = Clock()
    step = Step("scoring New.csv", clock)
    clock.now = 60.0
    step.update(250, 1000, NO_NOTE)
    assert step.line == "Scoring New.csv, 25 % done, about 3:00 left"


def test_the_share_of_a_file_is_shown(monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(_progress, "lines", lambda stream: nullcontext(lambda *call: seen.append(call)))
    with shown_share("scoring t.csv") as advance:
        advance(0.2504)
        advance(1.0)
    assert seen == [("scoring t.csv", done, 1000) for done in (0, 250, 1000)]


def test_the_answer_of_a_fit_is_short_unless_more_is_asked_for(tmp_path, capsys):
    clean(300).write_csv(tmp_path / "t.csv")
    out = tmp_path / "out"
    common = ["fit", tmp_path / "t.csv", "--target", "broken", "--models", "linear", "--fpr", "0.2", "--out", out]
    short = run(capsys, *common).out
    assert 3 <= len(short.splitlines()) <= 6
    assert re.match(r"With .*14 false alarms among 70 other cases \(20 %\), .* finds \d+ of 20 broken cases", short)
    assert f"Look at {out / 'report.html'}, or give --verbose for more here." in short
    assert re.search(r"Finished in \d+ s\.", short)
    long = run(capsys, *common, "--overwrite", "--verbose").out
    assert "All models" in long
    assert "Threshold" in long
    assert len(long.splitlines()) > 3 * len(short.splitlines())
