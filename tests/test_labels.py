"""The door: everything it lets in comes out the same, and everything it refuses is told why."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrank as hr
from headrank.exceptions import InvalidSampleError, MissingLabelsWarning, OneClassError
from headrank.labels import check_binary, check_labels, check_queries, check_scores, check_weights

POSITIVE = [True, False, True, False]
SCORES = [4.0, 3.0, 2.0, 1.0]
WORDS = ["bad", "good", "bad", "good"]

LABELS = {
    "ints": [1, 0, 1, 0],
    "tuple": (1, 0, 1, 0),
    "floats": [1.0, 0.0, 1.0, 0.0],
    "bools": POSITIVE,
    "signs": [1, -1, 1, -1],
    "float signs": [1.0, -1.0, 1.0, -1.0],
    "column": [[1], [0], [1], [0]],
    "int8": np.array([1, 0, 1, 0], dtype=np.int8),
    "uint8": np.array([1, 0, 1, 0], dtype=np.uint8),
    "float32": np.array([1, 0, 1, 0], dtype=np.float32),
    "objects": np.array([1, 0, 1, 0], dtype=object),
    "object bools": np.array(POSITIVE, dtype=object),
    "pandas": pd.Series([1, 0, 1, 0], index=[7, 7, 3, 1]),
    "pandas bool": pd.Series(POSITIVE),
    "pandas Int64": pd.Series([1, 0, 1, 0], dtype="Int64"),
    "pandas Float64": pd.Series([1, 0, 1, 0], dtype="Float64"),
    "pandas boolean": pd.Series(POSITIVE, dtype="boolean"),
    "pandas category": pd.Series([1, 0, 1, 0], dtype="category"),
    "pandas arrow": pd.Series([1, 0, 1, 0], dtype="int64[pyarrow]"),
    "pandas frame": pd.DataFrame({"y": [1, 0, 1, 0]}),
    "polars": pl.Series([1, 0, 1, 0]),
    "polars bool": pl.Series(POSITIVE),
    "polars frame": pl.DataFrame({"y": [1, 0, 1, 0]}),
    "arrow": pa.array([1, 0, 1, 0]),
    "arrow bool": pa.array(POSITIVE),
    "arrow chunks": pa.chunked_array([[1, 0], [1], [0]]),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_labels_let_in(y):
    assert check_labels(y).tolist() == POSITIVE
    assert hr.AUC()(y, SCORES) == 0.75
    assert hr.RocCurve.from_scores(y, SCORES).n_pos == 2


NAMED = {
    "list": WORDS,
    "numpy": np.array(WORDS),
    "objects": np.array(WORDS, dtype=object),
    "pandas": pd.Series(WORDS),
    "pandas object": pd.Series(WORDS, dtype=object),
    "pandas string": pd.Series(WORDS, dtype="string"),
    "pandas category": pd.Series(WORDS, dtype="category"),
    "polars": pl.Series(WORDS),
    "polars category": pl.Series(WORDS, dtype=pl.Categorical),
    "arrow": pa.array(WORDS),
    "arrow chunks": pa.chunked_array([WORDS[:1], WORDS[1:]]),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
}


@pytest.mark.parametrize("y", NAMED.values(), ids=NAMED)
def test_named_labels_need_to_say_which_is_positive(y):
    assert check_labels(y, pos_label="bad").tolist() == POSITIVE
    assert hr.AUC()(y, SCORES, pos_label="good") == 0.25
    with pytest.raises(InvalidSampleError, match=r"y must be 0/1.*'bad', 'good'.*pos_label"):
        hr.AUC()(y, SCORES)


@pytest.mark.parametrize(
    ("y", "pos_label"),
    [
        ([1, 2, 1, 2], 1),
        ([0, 1, 0, 1], 0),
        ([False, True] * 2, False),
        ([2.5, 0, 2.5, 0], 2.5),
        ([0, 1, 0, 1], False),
    ],
)
def test_any_two_values_with_pos_label(y, pos_label):
    assert check_labels(y, pos_label=pos_label).tolist() == POSITIVE


NUMBERS = {
    "list": SCORES,
    "tuple": tuple(SCORES),
    "ints": [4, 3, 2, 1],
    "bools": [True, True, False, False],
    "column": [[s] for s in SCORES],
    **{f"{kind.__name__}": np.array(SCORES, dtype=kind) for kind in (np.float16, np.float32, np.int8, np.uint64)},
    "longdouble": np.array(SCORES, dtype=np.longdouble),
    "other bytes": np.array(SCORES, dtype=">f8"),
    "objects": np.array(SCORES, dtype=object),
    "pandas": pd.Series(SCORES, index=list("zyxw")),
    "pandas Float64": pd.Series(SCORES, dtype="Float64"),
    "pandas Int64": pd.Series([4, 3, 2, 1], dtype="Int64"),
    "pandas arrow": pd.Series(SCORES, dtype="double[pyarrow]"),
    "polars": pl.Series(SCORES),
    "polars float32": pl.Series(SCORES, dtype=pl.Float32),
    "arrow": pa.array(SCORES),
    "arrow chunks": pa.chunked_array([SCORES[:3], SCORES[3:]]),
    "largest integers": [2**53, 2**53 - 1, 1, -(2**53)],
}


@pytest.mark.parametrize("scores", NUMBERS.values(), ids=NUMBERS)
def test_scores_let_in(scores):
    checked = check_scores(scores)
    assert checked.dtype in (np.float32, np.float64)
    assert checked.tolist() == [float(s) for s in np.asarray(scores).ravel()]
    hr.AUC()(POSITIVE, scores)


def test_floats_pass_without_a_copy():
    for kind in (np.float32, np.float64):
        scores = np.array(SCORES, dtype=kind)
        assert np.shares_memory(check_scores(scores), scores)


@pytest.mark.parametrize(
    "weights",
    [
        [1, 2, 0, 1],
        np.array([1, 2, 0, 1], dtype=np.float32),
        pd.Series([1, 2, 0, 1]),
        pl.Series([1, 2, 0, 1]),
        [[1], [2], [0], [1]],
    ],
)
def test_weights_let_in(weights):
    assert check_weights(weights).tolist() == [1.0, 2.0, 0.0, 1.0]
    sample = check_binary(POSITIVE, SCORES, weights)
    assert sample.scores.tolist() == [4.0, 3.0, 1.0]  # a row of weight 0 is an absent row
    assert (sample.n_pos, sample.n_neg) == (1, 3)


def test_bool_weights_select():
    assert check_binary(POSITIVE, SCORES, [True, True, False, True]).scores.tolist() == [4.0, 3.0, 1.0]


@pytest.mark.parametrize(
    "qid",
    [
        [5, 7, 5, 7],
        ["a", "b", "a", "b"],
        [0.5, 1.5, 0.5, 1.5],
        pd.Series(list("abab")),
        pl.Series(list("abab")),
        pa.array([5, 7, 5, 7]),
    ],
)
def test_queries_let_in(qid):
    assert check_queries(qid).tolist() == [0, 1, 0, 1]
    parts = check_binary(POSITIVE, SCORES, qid=qid).by_query()
    assert [part.scores.tolist() for part in parts] == [[4.0, 2.0], [3.0, 1.0]]


def test_a_block_may_have_one_class_but_a_sample_may_not():
    block = check_binary([0, 0], [2, 1])
    assert (block.n_pos, block.n_neg) == (0, 2)
    with pytest.raises(OneClassError, match=r"expected rows of both classes.*all 2 rows are negative.*use a larger"):
        block.require_both_classes()


def nothing(values, i=1):
    return [None if j == i else value for j, value in enumerate(values)]


# Input, and what the message must name: what was expected, what was received, and the fix where it is not obvious.
W = "sample_weight"
DIGITS = ["4", "3", "2", "1"]
REFUSED = {
    "lengths": (([1, 0, 1], SCORES), {}, r"scores must have one value per row: y has 3 rows, scores has 4"),
    "length of weights": ((POSITIVE, SCORES), {W: [1]}, r"sample_weight.*4 rows.*1"),
    "length of qid": ((POSITIVE, SCORES), {"qid": [1, 2]}, r"qid.*4 rows.*2"),
    "no rows": (([], []), {}, r"empty.*at least one row"),
    "nan score": ((POSITIVE, [1, np.nan, 2, 3]), {}, r"scores must be finite.*1 NaN.*drop"),
    "inf score": ((POSITIVE, [1, np.inf, 2, -np.inf]), {}, r"scores must be finite.*2 infinite values.*drop"),
    "float32 inf": ((POSITIVE, np.array([1, np.inf, 2, 3], dtype=np.float32)), {}, r"finite.*1 infinite"),
    "None score": ((POSITIVE, nothing(SCORES)), {}, r"scores.*1 (missing|NaN).*drop"),
    "pandas NA score": ((POSITIVE, pd.Series(nothing(SCORES), dtype="Float64")), {}, r"scores.*1 (missing|NaN)"),
    "polars null score": ((POSITIVE, pl.Series(nothing(SCORES))), {}, r"scores.*1 (missing|NaN).*drop"),
    "arrow null score": ((POSITIVE, pa.array(nothing(SCORES))), {}, r"scores.*1 (missing|NaN).*drop"),
    "masked score": ((POSITIVE, np.ma.masked_array(SCORES, mask=[0, 1, 0, 0])), {}, r"scores.*1 (missing|masked)"),
    "string scores": ((POSITIVE, DIGITS), {}, r"scores must be.*numbers.*'4'.*convert"),
    "object string scores": ((POSITIVE, np.array(DIGITS, dtype=object)), {}, r"scores must be.*numbers.*'4'"),
    "pandas string scores": ((POSITIVE, pd.Series(DIGITS)), {}, r"scores must be.*numbers.*'4'.*convert"),
    "words as scores": ((POSITIVE, pd.Series(WORDS)), {}, r"scores must be.*numbers.*'bad'.*convert"),
    "complex scores": ((POSITIVE, [1j, 2, 3, 4]), {}, r"scores must be real numbers.*1j"),
    "dates as scores": ((POSITIVE, np.array(["2020-01-01"] * 4, dtype="M8[D]")), {}, r"scores must be real numbers"),
    "int64 beyond 2**53": ((POSITIVE, [2**53 + 1, 0, 1, 2]), {}, r"2\*\*53.*9007199254740993.*ranks"),
    "negative int64": ((POSITIVE, [-(2**53) - 1, 0, 1, 2]), {}, r"2\*\*53.*-9007199254740993.*ranks"),
    "uint64": ((POSITIVE, np.array([2**64 - 1, 0, 1, 2], dtype=np.uint64)), {}, r"2\*\*53.*ranks"),
    "Python ints beyond int64": ((POSITIVE, [2**64 + 1, 2**64, 1, 2]), {}, r"2\*\*53.*ranks"),
    "predict_proba": ((POSITIVE, np.ones((4, 2))), {}, r"one column.*\(4, 2\).*predict_proba.*\[:, 1\]"),
    "three columns": ((POSITIVE, np.ones((4, 3))), {}, r"one column.*\(4, 3\)"),
    "one number": ((POSITIVE, 1.0), {}, r"one column"),
    "two columns of labels": ((np.ones((4, 2)), SCORES), {}, r"y must be one column.*\(4, 2\)"),
    "None": ((None, SCORES), {}, r"y must be one column"),
    "third class": (([0, 1, 2, 1], SCORES), {}, r"y must be 0/1.*0, 1, 2.*pos_label"),
    "third class with pos_label": (([0, 1, 2, 1], SCORES), {"pos_label": 1}, r"two classes.*0, 2.*one class against"),
    "one and two": (([1, 2, 1, 2], SCORES), {}, r"y must be 0/1.*1, 2.*pos_label"),
    "zero and minus one": (([0, -1, 0, -1], SCORES), {}, r"y must be 0/1.*pos_label"),
    "all three signs": (([0, -1, 1, -1], SCORES), {}, r"y must be 0/1.*pos_label"),
    "halves": (([0.5, 1, 0, 1], SCORES), {}, r"y must be 0/1.*0.5"),
    "strings of digits": ((["0", "1", "0", "1"], SCORES), {}, r"y must be 0/1.*'0', '1'.*pos_label"),
    "nan label": (([0, 1, np.nan, 1], SCORES), {}, r"y contains 1 NaN.*drop"),
    "None label": (([0, 1, None, 1], SCORES), {}, r"y.*1 missing.*drop"),
    "None among words": ((nothing(WORDS), SCORES), {"pos_label": "bad"}, r"y.*1 missing.*drop"),
    "pandas NA label": ((pd.Series(nothing(POSITIVE), dtype="boolean"), SCORES), {}, r"y.*1 missing.*drop"),
    "pandas NA string": ((pd.Series(nothing(WORDS)), SCORES), {"pos_label": "bad"}, r"y.*1 missing.*drop"),
    "polars null label": ((pl.Series(nothing(POSITIVE)), SCORES), {}, r"y.*1 missing.*drop"),
    "arrow null label": ((pa.array(nothing(POSITIVE)), SCORES), {}, r"y.*1 missing.*drop"),
    "masked label": ((np.ma.masked_array([1, 0, 1, 0], mask=[0, 1, 0, 0]), SCORES), {}, r"y.*1 (missing|masked)"),
    "pos_label absent": ((WORDS, SCORES), {"pos_label": "ugly"}, r"'ugly' does not occur in y.*'bad', 'good'"),
    "pos_label of another type": (([0, 1, 0, 1], SCORES), {"pos_label": "1"}, r"pos_label='1'.*0, 1"),
    "negative weight": ((POSITIVE, SCORES), {W: [1, -1, 1, 1]}, r"not be negative.*1 weights.*-1.*use 0"),
    "nan weight": ((POSITIVE, SCORES), {W: [1, np.nan, 1, 1]}, r"sample_weight must be finite.*1 NaN.*use"),
    "inf weight": ((POSITIVE, SCORES), {W: [1, np.inf, 1, 1]}, r"sample_weight must be finite.*1 infinite"),
    "None weight": ((POSITIVE, SCORES), {W: [1, None, 1, 1]}, r"sample_weight.*1 (missing|NaN)"),
    "no weight at all": ((POSITIVE, SCORES), {W: [0, 0, 0, 0]}, r"sample_weight is zero for every row"),
    "words as weights": ((POSITIVE, SCORES), {W: WORDS}, r"sample_weight must be.*numbers.*'bad'.*convert"),
    "strings as weights": ((POSITIVE, SCORES), {W: ["1", "2", "1", "1"]}, r"sample_weight must be.*numbers"),
    "complex weights": ((POSITIVE, SCORES), {W: [1j, 2, 1, 1]}, r"sample_weight must be.*numbers"),
    "None qid": ((POSITIVE, SCORES), {"qid": ["a", None, "a", "b"]}, r"qid.*1 missing"),
    "nan qid": ((POSITIVE, SCORES), {"qid": [1, np.nan, 1, 2]}, r"qid.*1 NaN"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_with_a_reason(sample, options, message):
    for door in (check_binary, hr.AUC().__call__):
        with pytest.raises(InvalidSampleError) as refusal:
            door(*sample, **options)
        assert re.search(message, str(refusal.value), flags=re.DOTALL), str(refusal.value)


ONE_CLASS = {
    "no positives": ([0, 0, 0, 0], {}, r"all 4 rows are negative.*none is positive"),
    "no negatives": ([1, 1, 1, 1], {}, r"all 4 rows are positive.*none is negative"),
    "only minus one": ([-1, -1, -1, -1], {}, r"none is positive"),
    "pos_label not there": (["a"] * 4, {"pos_label": "b"}, r"none is positive.*check pos_label"),
    "positives of weight 0": ([1, 0, 1, 0], {W: [0, 1, 0, 1]}, r"none is positive"),
}


@pytest.mark.parametrize(("y", "options", "message"), ONE_CLASS.values(), ids=ONE_CLASS)
def test_one_class_is_refused(y, options, message):
    with pytest.raises(OneClassError, match=message):
        hr.AUC()(y, SCORES, **options)
    with pytest.raises(OneClassError, match=message):
        hr.RocCurve.from_scores(y, SCORES, options.pop("sample_weight", None), **options)


def test_refusals_are_value_errors():
    assert issubclass(OneClassError, InvalidSampleError)
    assert issubclass(InvalidSampleError, ValueError)


# Missing labels


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, 0.0, np.nan, 1.0],
        [1, None, 0, None, 1],
        pd.Series([1, None, 0, None, 1], dtype="Int64"),
        pl.Series([1, None, 0, None, 1]),
        np.ma.masked_array([1, 7, 0, 7, 1], mask=[0, 1, 0, 1, 0]),
    ],
    ids=["NaN", "None", "pandas", "polars", "masked"],
)
def test_rows_without_a_label_are_dropped_on_demand(y):
    scores, weights = np.array([4.0, 9.0, 3.0, 9.0, 2.0]), np.array([1.0, 5.0, 2.0, 5.0, 3.0])
    kept = [0, 2, 4]
    right = hr.AUC()([1, 0, 1], scores[kept], sample_weight=weights[kept])
    for compute in (
        lambda **options: hr.AUC()(y, scores, sample_weight=weights, **options),
        lambda **options: hr.RocCurve.from_scores(y, scores, weights, **options).area(),
        lambda **options: (
            hr.interval(y, scores, sample_weight=weights, method="bootstrap", n_replicates=99, **options).estimate
        ),
    ):
        with pytest.raises(InvalidSampleError, match=r"NaN|missing|masked"):
            compute()
        with pytest.warns(MissingLabelsWarning, match="2 of 5 rows have no label and were dropped") as told:
            assert compute(missing="drop") == pytest.approx(right)
        assert told[0].filename == __file__


def test_nothing_is_said_where_nothing_is_missing():
    assert hr.AUC()([1, 0], [2, 1], missing="drop") == 1
    with pytest.raises(InvalidSampleError, match="all 2 are missing"):
        hr.AUC()([None, np.nan], [2, 1], missing="drop")
    with pytest.raises(InvalidSampleError, match="y has 3, one 2"):
        hr.AUC()([1, None, 0], [2, 1], missing="drop")
    with pytest.raises(ValueError, match="missing must be one of 'refuse', 'drop', got 'ignore'"):
        hr.AUC()([1, 0], [2, 1], missing="ignore")


def test_queries_and_clusters_are_dropped_with_their_rows():
    y, scores, qid = [1, None, 0, 1, 0, None], [3, 9, 2, 1, 2, 9], [1, 1, 1, 2, 2, 3]
    with pytest.warns(MissingLabelsWarning, match="2 of 6"):
        assert hr.AUC()(y, scores, qid=qid, missing="drop").n_queries == 2


@pytest.mark.parametrize(
    "compute",
    [
        lambda y, scores, **options: hr.compare(y, scores, -scores, **options).estimate,
        lambda y, scores, **options: hr.compare_many({"a": scores, "b": -scores}, y, **options)["a", "b"].estimate,
        lambda y, scores, **options: hr.compare_samples(y, scores, y, -scores, **options).estimate,
        lambda y, scores, **options: hr.threshold_at(y, scores, max_fpr=0.2, **options).value,
        lambda y, scores, **options: hr.best_cutoff(y, scores, n_replicates=0, **options).value,
        lambda y, scores, **options: hr.operating_points(y, scores, thresholds=[1.0], **options).tpr[0],
        lambda y, scores, **options: hr.certify_list(y, scores, np.linspace(0, 4, 99), **options).at_least(60),
        lambda y, scores, **options: (
            hr.choose(y, scores, np.linspace(0, 4, 99), max_false_share=0.5, **options).threshold
        ),
        lambda y, scores, **options: hr.report(y, scores, **options).summary.data.n_rows,
    ],
    ids=[
        *("compare", "compare_many", "compare_samples", "threshold_at", "best_cutoff", "operating_points"),
        *("certify_list", "choose", "report"),
    ],
)
def test_every_function_of_labels_can_drop_missing_ones(compute):
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.4
    scores, gone = y + rng.normal(size=120), np.arange(120) % 5 == 0
    some = np.where(gone, np.nan, y)
    with pytest.raises(InvalidSampleError, match="24 NaN"):
        compute(some, scores)
    with pytest.warns(MissingLabelsWarning, match="24 of 120 rows") as told:
        assert compute(some, scores, missing="drop") == compute(y[~gone], scores[~gone])
    assert told[0].filename == __file__
