"""svmlight and LETOR files: what is in the file comes out, and what cannot be read is refused by name and line."""

import bz2
import gzip
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from headrank.exceptions import InvalidSampleError
from headrank.readers import read_svmlight

LETOR = """\
2 qid:10 1:0.03 3:0.5 #docid = GX029-35-5894638 inc = 0.02 prob = 0.139
0 qid:10 1:0.1 2:-3e-2 #docid = GX030
# a line of its own

1 qid:18219 2:2
"""


@pytest.mark.parametrize(
    ("name", "pack"), [("a.txt", bytes), ("a", bytes), ("a.txt.gz", gzip.compress), ("a.txt.bz2", bz2.compress)]
)
def test_letor_plain_and_packed(write, name, pack):
    data = read_svmlight(write(name, pack(LETOR.encode())))
    assert data.X.format == "csr"
    assert data.X.dtype == np.float64
    assert data.X.toarray().tolist() == [[0.03, 0, 0.5], [0.1, -0.03, 0], [0, 2, 0]]
    assert data.y.dtype == np.bool_
    assert data.y.tolist() == [True, False, True]
    assert data.qid.tolist() == [10, 10, 18219]
    assert data.grades.tolist() == [2, 0, 1]


def test_relevant_sets_the_bar(write):
    path = write("a.txt", LETOR)
    assert read_svmlight(path, relevant=2).y.tolist() == [True, False, False]
    assert read_svmlight(path, relevant=0).y.all()
    assert read_svmlight(str(path)).y.tolist() == [True, False, True]


@pytest.mark.parametrize(("labels", "expected"), [("+1 -1", [True, False]), ("1 0", [True, False])])
def test_two_classes_without_queries(write, labels, expected):
    first, second = labels.split()
    data = read_svmlight(write("a.svm", f"{first} 1:0.5 3:2\n{second} 2:1\n"))
    assert data.y.tolist() == expected
    assert data.qid is None


def test_query_zero_is_a_query(write):
    assert read_svmlight(write("a.txt", "1 qid:0 1:2\n0 qid:0 1:3\n")).qid.tolist() == [0, 0]


def test_a_test_file_can_be_as_wide_as_its_training_file(write):
    path = write("test.txt", "1 1:1\n0 2:1\n")
    assert read_svmlight(path).X.shape == (2, 2)
    assert read_svmlight(path, n_features=5).X.shape == (2, 5)
    with pytest.raises(ValueError, match=r"test\.txt has a feature above n_features=1.*raise n_features"):
        read_svmlight(path, n_features=1)


def test_columns_do_not_depend_on_which_features_occur(write):
    path = write("with0.txt", "1 0:7 1:3\n0 1:1\n")
    with pytest.raises(ValueError, match=r"with0\.txt has a feature 0.*zero_based=True"):
        read_svmlight(path)
    assert read_svmlight(path, zero_based=True).X.toarray().tolist() == [[7, 3], [0, 1]]
    without = write("without0.txt", "1 1:3\n0 1:1\n")
    assert read_svmlight(without, zero_based=True).X.toarray().tolist() == [[0, 3], [0, 1]]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_scikit_learn_writes_is_read_back(tmp_path, data):
    n_rows, n_features = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))
    X = np.array(data.draw(st.lists(numbers, min_size=n_rows * n_features, max_size=n_rows * n_features)))
    X = X.reshape(n_rows, n_features)
    grades = data.draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))
    qid = data.draw(st.none() | st.lists(st.integers(0, 2**40), min_size=n_rows, max_size=n_rows))
    path = tmp_path / "round.txt"
    dump_svmlight_file(X, grades, str(path), query_id=qid, zero_based=False)
    back = read_svmlight(path, n_features=n_features)
    assert np.array_equal(back.X.toarray(), X)
    assert back.grades.tolist() == grades
    assert back.y.tolist() == [grade >= 1 for grade in grades]
    assert (None if back.qid is None else back.qid.tolist()) == qid


GOOD = "1 1:0.5\n" * 1500


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:0.5\nhello world\n", r"line 2, 'hello world'.*hello.*expected a label"),
        (GOOD + "1 1:abc\n" + GOOD, r"line 1501, '1 1:abc'"),
        ("1 0.5 0.7\n", "line 1, '1 0.5 0.7'"),
        ("1 1:1\n1 2:0.5 1:3\n", "line 2.*sorted and unique"),
        ("1 1:1 1:2\n", "line 1.*sorted and unique"),
        ("1 -1:2\n", "line 1.*Invalid index -1"),
        ("1,2 1:1\n", "line 1, '1,2 1:1'"),
        ("1 qid:abc 1:2\n", "line 1, '1 qid:abc 1:2'"),
        ("1 qid:99999999999999999999 1:2\n", "line 1.*too large"),
        ("a,b,c\n1,2,3\n", "line 1, 'a,b,c'"),
        (b"\xff\xfe\x00\n", "line 1"),
        ("", "contains no rows"),
        ("# only a comment\n\n", "contains no rows"),
        ("nan 1:0.5\n0 1:1\n", "1 rows labelled nan"),
        # scikit-learn reads these two without a word, and gives a qid array that is too short
        ("1 qid:1 1:0.5\n0 1:0.7\n", "qid on 1 of its 2 rows"),
        ("1 1:0.5\n0 qid:1 1:0.7\n", "qid on 1 of its 2 rows"),
    ],
)
@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_malformed_svmlight_is_refused_by_name_and_line(write, content, message, suffix):
    content = content if isinstance(content, bytes) else content.encode()
    path = write(f"rows.{suffix}", gzip.compress(content) if suffix.endswith("gz") else content)
    with pytest.raises(ValueError, match=rf"(?s)rows\.{re.escape(suffix)}.*{message}"):
        read_svmlight(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.gz", LETOR.encode()),
        ("half.gz", gzip.compress(LETOR.encode() * 50)[:60]),
        ("damaged.gz", gzip.compress(LETOR.encode() * 50)[:30] + bytes(60)),
        ("plain.bz2", LETOR.encode()),
    ],
)
def test_damaged_archives_are_refused(write, name, content):
    with pytest.raises(ValueError, match=rf"{re.escape(name)} is not a complete \.(gz|bz2) file"):
        read_svmlight(write(name, content))


@pytest.mark.parametrize("relevant", [float("nan"), float("inf")])
def test_relevant_must_be_finite(write, relevant):
    with pytest.raises(ValueError, match="relevant must be a finite number"):
        read_svmlight(write("a.txt", LETOR), relevant=relevant)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_features_that_are_not_finite_are_refused_by_row(write, value):
    path = write("t.txt", f"1 1:2\n0\n1 1:1 2:{value}\n0 1:{value}\n")
    with pytest.raises(InvalidSampleError, match=f"t.txt has a feature of {value} in row 3; expected finite numbers"):
        read_svmlight(path)
