"""What the report says, before it is drawn: the numbers are the library's, and every promise is paid for."""

import re
from dataclasses import fields, is_dataclass, replace
from math import isfinite

import numpy as np
import pytest

import headrank as hr
from headrank.reports import summarize
from headrank.reports.charts import MOST_LEVELS, tick_step
from headrank.training.goal import Goal
from headrank.training.result import Coefficient
from reports.made_up import RESULTS, result_of, summarized, summary_of, training_result

EVERY = pytest.mark.parametrize("name", RESULTS)
WITHOUT_QUERIES = pytest.mark.parametrize("name", [name for name in RESULTS if not name.startswith("queries")])


def curve_of(made, name=None):
    scores = made.model(name or made.selection.picked).scores
    return hr.RocCurve.from_scores(made.y, scores)


def plain_values(value):
    """Every value within, down to the leaves."""
    if is_dataclass(value):
        for field in fields(value):
            yield from plain_values(getattr(value, field.name))
    elif type(value) is tuple:
        for each in value:
            yield from plain_values(each)
    else:
        yield value


@EVERY
def test_a_summary_is_plain_data(name):
    leaves = list(plain_values(summary_of(name)))
    assert {type(leaf) for leaf in leaves} <= {str, int, float, bool, type(None)}
    assert all(isfinite(leaf) for leaf in leaves if type(leaf) is float)


@EVERY
def test_texts_hold_no_markup_of_ours(name):
    texts = [leaf for leaf in plain_values(summary_of(name)) if isinstance(leaf, str)]
    if name != "hostile":
        assert not [text for text in texts if re.search(r"</?\w+>|&\w+;|\x1b", text)]


@WITHOUT_QUERIES
def test_the_answer_is_the_headline_of_the_winner_on_the_holdout(name):
    made, answer = result_of(name), summary_of(name).answer
    measure, curve = made.goal.headline, curve_of(made)
    assert answer.estimate == measure.value(curve)
    paid = 1 - (1 - made.confidence) / len(made.models)
    bound = hr.interval(made.y, made.winner.scores, measure=measure, confidence=paid, side="lower")
    assert answer.bound.low == bound.low
    if answer.total is None:
        assert made.goal.top * made.y.size < 1
        return
    total = made.y.sum() if made.goal.top is None else int(made.goal.top * made.y.size + 1e-9)
    assert answer.total == total
    assert answer.expected == round(answer.estimate * total)
    assert answer.at_least <= bound.low * total < answer.at_least + 1
    numbers = re.findall(r"[\d,]*\d", answer.sentences[0])
    assert f"{answer.expected:,}" in numbers
    if answer.at_least:
        where = "on average" if made.goal.top is None else f"of {total} in a large population"
        assert f"at least {answer.at_least:,} {where}, with 95 % confidence, " in answer.sentences[0]
    else:
        assert "none can be guaranteed with 95 % confidence" in answer.sentences[0]


@pytest.mark.parametrize("name", ["queries", "queries_top"])
def test_with_queries_the_answer_is_a_mean_over_them(name):
    made, answer = result_of(name), summary_of(name).answer
    measure = made.goal.headline
    mean = measure(made.y, made.winner.scores, qid=made.qid)
    assert answer.estimate == pytest.approx(float(mean), abs=1e-12)
    paid = 1 - (1 - made.confidence) / len(made.models)
    bound = hr.interval(made.y, made.winner.scores, measure=measure, confidence=paid, side="lower", qid=made.qid)
    assert answer.bound.low == bound.low
    assert f"on average over {mean.n_queries} queries: " in answer.sentences[0]
    shown = float(re.search(r"at least (\S+) %, with", answer.sentences[0])[1])
    assert 100 * bound.low - 0.1 < shown <= 100 * bound.low  # a promise is rounded down
    constant = measure(made.y, np.zeros(made.y.size), qid=made.qid)
    assert answer.random == pytest.approx(float(constant))
    assert answer.times == pytest.approx(float(mean) / float(constant))


def test_the_first_sentence_for_a_best_fraction():
    made, answer = result_of("top"), summary_of("top").answer
    n_pos = int(made.y.sum())
    times = answer.expected / (75 * n_pos / 1500)
    assert answer.sentences[0] == (
        f"The ranker finds {answer.expected} of {n_pos} default cases in the first 75 of 1,500 cases, {times:.1f} "
        f"times what a random pick finds (at least {answer.at_least} of 75 in a large population, with 95 % "
        "confidence, if new rows are drawn like these)."
    )
    assert answer.sentences[0] == f"{answer.headline[:-1]} ({answer.guarantee[0].lower()}{answer.guarantee[1:-1]})."
    assert (answer.n_cases, answer.n_pos) == (75, n_pos)
    assert 0 < answer.at_least < answer.expected < 75
    assert answer.sentences[1].startswith("Logistic regression finds ")


def test_the_first_sentence_for_a_false_positive_rate():
    made, answer = result_of("separated"), summary_of("separated").answer
    assert made.y.sum() == 40
    # 40 found and 18 false alarms are 58 of 400 cases, in which a random pick finds 5.8.
    assert answer.sentences[0] == (
        "With 18 false alarms among 360 other cases (5 %), the ranker finds 40 of 40 default cases, 6.9 times what a "
        f"random pick of as many cases finds (at least {answer.at_least} on average, with 95 % confidence, if new rows "
        "are drawn like these)."
    )
    assert (answer.n_cases, answer.random) == (58, pytest.approx(5.8))
    assert "at most 68 false alarms among 1,361 other cases" in summary_of("fpr").answer.sentences[0]


def test_the_answer_is_in_the_words_of_the_user():
    made = result_of("top")
    named = replace(made, table=replace(made.table, positive_name="fraud"))
    assert f"of {made.y.sum()} frauds in the first" in summarized(named).answer.sentences[0]
    plain = replace(made, table=replace(made.table, target="y"))
    assert f"of {made.y.sum()} positives in the first" in summarized(plain).answer.sentences[0]


def test_a_scorer_that_finds_no_more_than_chance_is_not_praised():
    y = np.arange(400) % 4 == 0
    for scores, words in (
        (np.zeros(400), "as many as a random pick finds"),
        (-1.0 * y, "fewer than a random pick finds"),
    ):
        sentence = summarize(training_result(Goal(top=0.1), y, {"ranker": scores})).answer.sentences[0]
        assert words in sentence


@pytest.mark.parametrize(
    ("name", "picked", "said"),
    [
        ("top", "ranker", "Logistic regression finds {logistic regression} and gradient boosting {trees}."),
        ("logistic_wins", "logistic regression", "The ranker finds {ranker} and gradient boosting {trees}."),
        ("trees_win", "gradient boosting", "Logistic regression finds {logistic regression} and the ranker {ranker}."),
        ("collapsed", "logistic regression", "The ranker finds {ranker}."),
    ],
)
def test_the_rivals_are_named_with_their_own_counts(name, picked, said):
    made, summary = result_of(name), summary_of(name)
    assert summary.picked == picked
    counts = {
        each.name: round(made.goal.headline.value(curve_of(made, each.name)) * summary.answer.total)
        for each in made.models
    }
    counts["trees"] = counts.get("gradient boosting")
    for key, count in counts.items():
        said = said.replace("{" + key + "}", str(count))
    assert summary.answer.sentences[1] == said


def test_one_model_has_no_rivals_and_pays_for_no_one():
    answer = summary_of("one_model").answer
    made = result_of("one_model")
    assert len(answer.sentences) == (1 if made.goal.max_fpr is None else 2)
    bound = hr.interval(made.y, made.winner.scores, measure=made.goal.headline, side="lower")
    assert answer.bound.low == bound.low


def test_a_rival_ahead_at_the_headline_is_owned_up_to():
    # Up to FPR 0.4 the ranker finds 6 of 10 from the start; the other finds none until FPR 0.3, and then all.
    def scores(pattern):
        return np.array([-float(i) for side in "PN" for i, letter in enumerate(pattern) if letter == side])

    y = np.repeat([True, False], 10)
    entrants = {"ranker": scores("PPPPPPNNNNNPPPPNNNNN"), "logistic regression": scores("NNNPPPPPPPPPPNNNNNNN")}
    sentences = summarize(training_result(Goal(max_fpr=0.4), y, entrants)).answer.sentences
    assert "the ranker finds 6 of 10 default cases" in sentences[0]
    assert sentences[1] == "Logistic regression finds 10."
    assert sentences[2].startswith("The ranker was selected by pauc@0.4, which covers the whole part of the list")
    assert not any("was selected by" in each for each in summary_of("fpr").answer.sentences)


@EVERY
def test_models_that_cannot_be_told_apart_are_said_to_be_so_in_the_answer(name):
    made, summary = result_of(name), summary_of(name)
    said = " ".join(summary.answer.sentences).lower()
    for each in summary.entrants[1:]:
        assert each.told_apart == (each.name not in made.selection.not_told_apart)
        assert f"{each.name}" in said
    unproved = [each for each in summary.entrants[1:] if not each.told_apart]
    assert ("is not significant" in said) == any(not each.test for each in unproved)
    assert ("would need more rows" in said) == any(each.test for each in unproved)


def test_a_test_for_large_samples_has_its_say_where_nothing_is_proved():
    rng = np.random.default_rng(0)
    y = rng.random(1500) < 0.2
    good = 2.5 * y + rng.normal(size=y.size)
    entrants = {"ranker": good, "logistic regression": good + rng.normal(size=y.size), "gradient boosting": good + 1e-9}
    for goal, name, words in (
        (Goal(max_fpr=0.1), "DeLong", "DeLong's (asymptotic) test"),
        (Goal(top=0.1), "bootstrap", "the paired (asymptotic) bootstrap"),
    ):
        method = {"method": name.lower()} | ({} if name == "DeLong" else {"n_replicates": 2000, "random_state": 0})
        found = hr.compare(y, good, entrants["logistic regression"], measure=goal.measure, **method)
        summary = summarize(training_result(goal, y, entrants))
        assert summary.picked == "ranker"
        by_name = {each.name: each for each in summary.entrants}
        rival, twin = by_name["logistic regression"], by_name["gradient boosting"]
        assert rival.p_value == pytest.approx(3 * found.p_value)  # three pairs of models
        assert (rival.told_apart, rival.verdict) == (False, f"worse ({name})")
        assert (twin.p_value, twin.verdict) == (1.0, "not significant")
        said = " ".join(summary.answer.sentences)
        assert f"over logistic regression in {goal.measure} is significant by {words};" in said
        assert f"over gradient boosting in {goal.measure} is not significant" in said  # the twin


def test_few_rows_are_no_large_sample():
    rng = np.random.default_rng(0)
    y = np.arange(400) < 29
    made = training_result(
        Goal(max_fpr=0.2), y, {"ranker": 3 * y + rng.normal(size=400), "logistic regression": rng.normal(size=400)}
    )
    assert [(each.p_value, each.test) for each in summarize(made).entrants] == [(None, "")] * 2


def test_models_that_can_be_told_apart():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    made = training_result(
        Goal(max_fpr=0.2), y, {"ranker": y + rng.normal(size=4000) / 3, "logistic regression": -1.0 * y}
    )
    summary = summarize(made)
    assert summary.entrants[1].told_apart
    assert summary.answer.sentences[-1] == (
        "The ranker has a better pauc@0.2 than logistic regression, with 95 % confidence."
    )
    assert summary.entrants[1].lead.low > 0


@EVERY
def test_models_come_with_their_intervals_the_winner_first(name):
    made, summary = result_of(name), summary_of(name)
    assert [each.picked for each in summary.entrants] == [True] + [False] * (len(made.models) - 1)
    assert {each.name for each in summary.entrants} == {each.name for each in made.models}
    for each in summary.entrants:
        interval = made.selection.intervals[each.name]
        assert (each.low, each.estimate, each.high) == (interval.low, interval.estimate, interval.high)
        assert each.auc == pytest.approx(float(hr.AUC()(made.y, made.model(each.name).scores, qid=made.qid)))
        if each.lead is not None:
            ahead = summary.entrants[0].estimate - each.estimate
            assert each.lead.estimate == pytest.approx(ahead, abs=1e-12)
            assert each.lead.low <= each.lead.estimate <= each.lead.high


def test_the_drivers_are_the_twenty_largest_coefficients_in_whatever_order_they_come():
    made = result_of("top")
    drivers = summary_of("top").drivers
    largest = sorted(made.winner.coefficients, key=lambda each: -abs(each.value))[:20]
    assert [(each.feature, each.value) for each in drivers.coefficients] == [(c.feature, c.value) for c in largest]
    assert drivers.n_all == 25
    turned = tuple(replace(e, coefficients=e.coefficients and e.coefficients[::-1]) for e in made.models)
    assert summarized(replace(made, models=turned)).drivers == drivers


def test_trees_have_no_drivers_and_the_best_linear_model_lends_its_own():
    made = result_of("trees_win")
    estimates = {each.name: made.selection.intervals[each.name].estimate for each in made.models if each.coefficients}
    best = max(estimates, key=estimates.get)
    drivers = summary_of("trees_win").drivers
    assert drivers.words.startswith("Gradient boosting has no coefficients")
    assert f"coefficients of {'the ranker' if best == 'ranker' else best}" in drivers.words
    of_best = {each.feature: each.value for each in made.model(best).coefficients}
    assert drivers.coefficients
    assert all(of_best[each.feature] == each.value for each in drivers.coefficients)
    bare = replace(made, models=tuple(replace(each, coefficients=None) for each in made.models))
    assert summarized(bare).drivers.coefficients == ()


def test_coefficients_that_are_all_zero():
    made = result_of("one_model")
    zero = replace(made.models[0], coefficients=(Coefficient("a", 0.0), Coefficient("b", 0.0)))
    assert summarized(replace(made, models=(zero,))).drivers.words.startswith("All coefficients are 0")


@EVERY
def test_a_missing_threshold_is_a_warning_with_its_reason(name):
    made, summary = result_of(name), summary_of(name)
    assert (made.no_threshold in summary.warnings) == (made.threshold is None)
    assert summary.threshold.value == (None if made.threshold is None else made.threshold.value)
    assert set(made.warnings) <= set(summary.warnings)


@EVERY
def test_promises_name_theorem_confidence_and_assumption(name):
    promises = {each.about: each.words for each in summary_of(name).promises}
    assert summary_of(name).answer.bound.theorem in promises["The headline"]
    assert result_of(name).selection.interval.theorem in promises["All models"]
    assert ("The band" in promises) == (result_of(name).qid is None)
    assert "independent draws" in promises["Assumptions"]


@pytest.mark.parametrize("length", [1.0, 0.37, 2e-5, 12345.0])
def test_ticks_are_round_and_about_five(length):
    step = tick_step(length)
    assert 2 <= length / step <= 5 + 1e-6
    assert f"{step:.0e}"[0] in "125"


def test_only_the_head_of_a_long_curve_is_put_into_the_page():
    made, control = result_of("large_head"), summary_of("large_head").control
    levels = control.curves[0]
    assert len(levels.scores) == MOST_LEVELS < np.unique(made.winner.scores).size
    assert not levels.complete
    assert "first 20,000 of" in control.note
    assert f"{control.max_fpr:.4g}" in control.note
    assert made.goal.max_fpr < control.max_fpr < 1
