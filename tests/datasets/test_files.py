"""Readers: what is in the file comes out, and what cannot be read is refused by name."""

import bz2
import gzip
import re
import subprocess
import sys
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from headrank.datasets import read_svmlight, read_table
from headrank.exceptions import InvalidSampleError

LETOR = """\
2 qid:10 1:0.03 3:0.5 #docid = GX029-35-5894638 inc = 0.02 prob = 0.139
0 qid:10 1:0.1 2:-3e-2 #docid = GX030
# a line of its own

1 qid:18219 2:2
"""


@pytest.fixture
def write(tmp_path):
    def write_to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_to


# -- svmlight -----------------------------------------------------------------------------------------------


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
        ("1 1:0.5\nhello world\n", r"line 2, 'hello world'.*hello.*needed a label"),
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
        ("", "holds no rows"),
        ("# only a comment\n\n", "holds no rows"),
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


@pytest.mark.parametrize("read", [read_svmlight, partial(read_table, target="y")], ids=["svmlight", "table"])
def test_missing_files_and_folders(tmp_path, read):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*absent\.csv; check the path"):
        read(tmp_path / "absent.csv")
    with pytest.raises(IsADirectoryError, match="is a folder; needed a file"):
        read(tmp_path)


# -- tables -------------------------------------------------------------------------------------------------

PATIENTS = """\
id,age,sex,day,ill
1,71,f,2020-01-02,yes
2,,m,2020-01-03,no
3,30.5,,,no
4,NA,"f, maybe",2020-01-05,yes
"""
EXPECTED = {
    "age": [71, None, 30.5, None],
    "sex": ["f", "m", None, "f, maybe"],
    "day": ["2020-01-02", "2020-01-03", None, "2020-01-05"],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", PATIENTS),
        ("P.CSV", PATIENTS.replace("\n", "\r\n")),
        ("p.csv", "\ufeff" + PATIENTS),
        ("p.csv.gz", gzip.compress(PATIENTS.encode())),
        ("p.tsv", PATIENTS.replace('"f, maybe"', "f; maybe").replace(",", "\t").replace("f; maybe", "f, maybe")),
    ],
)
def test_text_with_strings_and_gaps(write, name, content):
    table = read_table(write(name, content), target="ill", qid="id", pos_label="yes")
    assert table.features.to_dict(as_series=False) == EXPECTED
    assert table.features.schema["age"] == pl.Float64
    assert table.y.dtype == np.bool_
    assert table.y.tolist() == [True, False, False, True]
    assert table.qid.tolist() == [1, 2, 3, 4]


def test_parquet_keeps_its_types(tmp_path):
    frame = pl.DataFrame(
        {
            "query": ["a", "a", "b"],
            "kind": pl.Series(["x", "y", None], dtype=pl.Categorical),
            "value": [1.5, None, 2.0],
            "target": [1, -1, 1],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", target="target", qid="query")
    assert table.features.equals(frame.select("kind", "value"))
    assert table.features.schema["kind"] == pl.Categorical
    assert table.y.tolist() == [True, False, True]
    assert table.qid.tolist() == ["a", "a", "b"]


def test_dropped_columns_are_gone_and_order_is_kept(write):
    table = read_table(write("t.csv", "c,y,b,a\n1,1,2,3\n4,0,5,6\n"), target="y", drop=["b"])
    assert table.features.columns == ["c", "a"]
    assert table.qid is None


@pytest.mark.parametrize("labels", ["true\nfalse", "1\n0", "1\n-1", "1.0\n0.0"])
def test_labels_that_speak_for_themselves(write, labels):
    first, second = labels.split()
    table = read_table(write("t.csv", f"a,y\n1,{first}\n2,{second}\n"), target="y")
    assert table.y.tolist() == [True, False]


def test_a_late_string_makes_a_column_of_strings(write):
    table = read_table(write("t.csv", "a,y\n" + "1,1\n2,0\n" * 5000 + "x,1\n"), target="y")
    assert table.features["a"].dtype == pl.String
    assert table.features["a"][-1] == "x"


def test_what_counts_as_a_gap_can_be_said(write):
    path = write("t.csv", "country,x,y\nNA,?,1\nDE,2,0\n")
    assert read_table(path, target="y").features.rows() == [(None, "?"), ("DE", "2")]
    assert read_table(path, target="y", missing=["?"]).features.rows() == [("NA", None), ("DE", 2)]


def test_names_are_not_patterns(write):
    write("t1.csv", "a,y\n1,1\n")
    table = read_table(write("t[1].csv", "b,y\n2,0\n"), target="y")
    assert table.features.columns == ["b"]


SMALL = "age,height,ill,visit\n1,2,0,1\n3,4,1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("t.csv", SMALL, {"target": "il"}, "no column 'il'; did you mean 'ill'.*'age', 'height', 'ill', 'visit'"),
        ("t.csv", SMALL, {"target": "zzz"}, "no column 'zzz'; it has 'age'"),
        ("t.csv", SMALL, {"target": "ill", "qid": "visits"}, "no column 'visits'; did you mean 'visit'"),
        ("t.csv", SMALL, {"target": "ill", "drop": ["heights"]}, "no column 'heights'; did you mean 'height'"),
        ("t.csv", SMALL, {"target": "ill", "qid": "ill"}, "got 'ill', 'ill'"),
        ("t.csv", SMALL, {"target": "ill", "drop": ["age", "height", "visit"]}, "no feature left"),
        ("t.csv", "", {"target": "ill"}, "is empty"),
        ("t.csv", "age,ill\n", {"target": "ill"}, "names but no rows"),
        ("t.csv", "a,ill,ill\n1,0,0\n", {"target": "ill"}, "two columns named 'ill'"),
        ("t.csv", "a,ill\n1,0\n2,1,3\n", {"target": "ill"}, "cannot be read as .csv: .*as many fields"),
        ("t.csv", "a,ill\né,1\n".encode("latin-1"), {"target": "ill"}, "cannot be read as .csv: .*UTF-8"),
        ("t.csv.gz", gzip.compress(SMALL.encode() * 90)[:30], {"target": "ill"}, "cannot be read as .csv.gz"),
        ("t.parquet", b"nonsense", {"target": "ill"}, "cannot be read as .parquet: .*needed a Parquet file"),
        ("t.xlsx", b"", {"target": "ill"}, r"ends in '.xlsx', but tables are read from .csv, .*\.parquet"),
        ("t", b"", {"target": "ill"}, "ends in 'nothing', but"),
    ],
)
def test_unreadable_tables_are_refused_by_name(write, name, content, options, message):
    with pytest.raises(ValueError, match=rf"(?s){re.escape(name)}.*{message}"):
        read_table(write(name, content), **options)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ("1,0\n2,\n3,1\n", {}, "column 'ill' of .* has 1 missing values in 3 rows"),
        ("1,yes\n2,\n3,no\n", {"pos_label": "yes"}, "column 'ill' of .* has 1 missing values"),
        ("1,true\n2,NA\n", {}, "column 'ill' of .* has 1 missing values"),
        ("1,yes\n2,no\n", {}, "column 'ill' of .* 'yes', 'no'.*pos_label"),
        ("1,0\n2,1\n3,2\n", {}, "column 'ill' of .* 0, 1, 2"),
        ("1,a\n2,b\n3,c\n", {"pos_label": "a"}, "column 'ill' of .* 'b', 'c'"),
        ("1,0\n2,1\n", {"pos_label": "1"}, "column 'ill' of .* pos_label='1' does not occur"),
    ],
)
def test_unusable_targets_are_refused_by_column(write, rows, options, message):
    with pytest.raises(InvalidSampleError, match=message):
        read_table(write("t.csv", "a,ill\n" + rows), target="ill", **options)


def test_missing_query_ids_are_refused(write):
    with pytest.raises(InvalidSampleError, match=r"column 'q' of .* has 1 missing values"):
        read_table(write("t.csv", "a,q,y\n1,1,0\n2,,1\n"), target="y", qid="q")


def test_importing_the_readers_loads_nothing_heavy():
    code = "import sys, headrank.datasets; print({'polars', 'scipy', 'sklearn'} & {name for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_drop_takes_a_list(write):
    with pytest.raises(TypeError, match=r"write drop=\['age'\]"):
        read_table(write("t.csv", SMALL), target="ill", drop="age")
