"""The default comparison gives a finite-sample answer and an asymptotic one, by name, and never a bare p = 1."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from headrank._format import rounded_down, rounded_up, shown_p
from strategies import small_rankings

FINITE = ("auto", "betting", "paired", "separate")


def scorers(n_pos=60, n_neg=240, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    a = rng.normal(size=y.size) + 1.5 * y
    return y, a, a + noise * rng.normal(size=y.size)


@pytest.mark.parametrize(("measure", "side"), [("auc", "two-sided"), ("auc", "lower"), ("pauc@0.1", "two-sided")])
def test_areas_have_delongs_answer_beside(measure, side):
    y, a, b = scorers()
    found = hr.compare(y, a, b, measure=measure, side=side, confidence=0.9)
    assert found.finite_sample
    assert found.asymptotic == hr.compare(y, a, b, measure=measure, side=side, confidence=0.9, method="delong")
    many = hr.compare_many({"a": a, "b": b, "c": -a}, y, measure=measure, side=side)
    assert many.asymptotic == hr.compare_many({"a": a, "b": b, "c": -a}, y, measure=measure, side=side, method="delong")
    assert [one.asymptotic for one in many] == list(many.asymptotic)


def test_means_over_queries_have_the_bootstraps_answer_beside_the_same_in_every_run():
    y, a, b = scorers()
    qid = np.arange(y.size) % 30
    found = [hr.compare(y, a, b, qid=qid) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].asymptotic.method == "bootstrap"
    by = {"qid": qid, "method": "bootstrap", "n_replicates": 10_000, "random_state": 0}
    assert found[0].asymptotic == hr.compare(y, a, b, **by)
    many = hr.compare_many({"a": a, "b": b, "c": -a}, y, qid=qid)
    assert many.asymptotic == hr.compare_many({"a": a, "b": b, "c": -a}, y, **by)


def test_other_answers_stand_alone():
    y, a, b = scorers()
    for method in ("betting", "separate", "delong"):
        assert hr.compare(y, a, b, method=method).asymptotic is None
    assert hr.compare(y, a, b, measure="p@20").asymptotic is None  # the bootstrap would take long
    # All rankings equal: DeLong sees no variance.
    assert hr.compare(y, a, a).asymptotic is None
    # 10,000 replicates do not reach so far.
    assert hr.compare(y, a, b, qid=np.arange(y.size) % 30, confidence=1 - 1e-6).asymptotic is None


@pytest.mark.parametrize("measure", ["auc", "pauc@0.05", "p@20", "tpr@fpr=0.1"])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0, 4.0])
def test_no_finite_sample_sentence_has_a_bare_p_of_1(measure, noise):
    y, a, b = scorers(noise=noise)
    found = hr.compare(y, a, b, measure=measure)
    words = str(replace(found, asymptotic=None))
    assert ("no p-value below 1, as this method is conservative" in words) == (found.p_value >= 1)
    assert "p = 1)" not in words
    many = hr.compare_many({"a": a, "b": b, "c": a + 0.01}, y, measure=measure)
    table = str(replace(many, asymptotic=None))
    assert ("- no p-value below 1" in table) == (max(many.adjusted_p_values) >= 1)
    last = [line.split()[-1] for line in table.splitlines()[2:]]
    for p, cell in zip(many.adjusted_p_values, last, strict=True):
        assert (cell == "-") == (p >= 1)


@given(small_rankings(max_rows=10), st.data())
def test_every_small_sample_has_an_answer(ranking, data):
    y, a, _ = ranking
    b = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=len(y), max_size=len(y))), dtype=float)
    found = hr.compare(y, a, b)
    assert "p = 1)" not in str(replace(found, asymptotic=None))
    other = found.asymptotic
    assert (str(other).count("asymptotic") > 0) if other is not None else len(found.statements) == 2


def test_both_answers_are_in_sentence_frame_and_plain_values():
    y, a, b = scorers()
    found = hr.compare(y, a, b, names=("old", "new"))
    seen, holds, asymptotic = found.statements
    assert str(found) == "; ".join([seen, holds, asymptotic])
    assert seen.startswith("old is better than new by ")
    other = found.asymptotic
    limits = f"between {rounded_down(other.low)} and {rounded_up(other.high)}"
    assert asymptotic == (
        f"asymptotically (delong, for large samples) it lies {limits}, so they can be told apart "
        f"({shown_p(other.p_value)})"
    )
    plain = json.loads(json.dumps(found.as_dict()))
    names = ("method", "low", "high", "p_value")
    assert [plain[f"asymptotic_{name}"] for name in names] == [getattr(other, name) for name in names]
    assert found.to_frame().columns == list(plain)
    alone = replace(found, asymptotic=None).as_dict()
    assert alone.keys() == plain.keys()
    assert alone["asymptotic_p_value"] is None


@given(st.floats(1e-11, 1))
def test_p_values_are_rounded_upwards_so_that_no_level_is_passed(p):
    printed = float(shown_p(p).removeprefix("p = "))
    assert p <= printed * (1 + 1e-12)
    assert printed <= p * 1.1
    for level in (0.05, 0.01, 0.001):
        assert (printed <= level) == (p <= level)
