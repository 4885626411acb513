"""Tables: what is in the file comes out, and what cannot be read is refused by name, with a remedy."""

import gzip
import io
import re

import numpy as np
import polars as pl
import pytest

from headrank.exceptions import InvalidSampleError
from headrank.readers import read_columns, read_table
from headrank.readers.tables import table_columns

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


def test_names_are_not_patterns(write, tmp_path):
    write("t1.csv", "a,y\n1,1\n2,0\n")
    table = read_table(write("t[1].csv", "b,y\n2,0\n1,1\n"), target="y")
    assert table.features.columns == ["b"]
    pl.DataFrame({"a": [1], "y": [1]}).write_parquet(tmp_path / "t1.parquet")
    pl.DataFrame({"b": [1, 2], "y": [1, 0]}).write_parquet(tmp_path / "t[1].parquet")
    assert read_table(tmp_path / "t[1].parquet", target="y").features.columns == ["b"]


LATIN = "a,ill\né,1\n".encode("latin-1")
_BUFFER = io.BytesIO()
pl.DataFrame({"a": list(range(500)), "ill": [0, 1] * 250}).write_parquet(_BUFFER)
PARQUET = _BUFFER.getvalue()
SMALL = "age,height,ill,visit\n1,2,0,1\n3,4,1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("t.csv", SMALL, {"target": "il"}, "no column 'il'; did you mean 'ill'.*'age', 'height', 'ill', 'visit'"),
        ("t.csv", SMALL, {"target": "zzz"}, "no column 'zzz'; it has 'age'"),
        ("t.csv", SMALL, {"target": "ill", "qid": "visits"}, "no column 'visits'; did you mean 'visit'"),
        ("t.csv", SMALL, {"target": "ill", "drop": ["heights"]}, "no column 'heights'; did you mean 'height'"),
        ("t.csv", SMALL, {"target": "ill", "qid": "ill"}, "got 'ill' more than once"),
        ("t.csv", SMALL, {"target": "ill", "drop": ["age", "height", "visit"]}, "no feature left"),
        ("t.csv", "", {"target": "ill"}, "is empty"),
        ("t.csv", "age,ill\n", {"target": "ill"}, "a header but no rows"),
        ("t.csv", "a,ill,ill\n1,0,0\n", {"target": "ill"}, "two columns named 'ill'"),
        ("t.csv", "a,ill\n1,0\n2,1,3\n", {"target": "ill"}, "line 3 has 3 fields, but the header has 2; .*quotation"),
        ("t.csv", 'a,ill\n1,0\n"2,1\n', {"target": "ill"}, "quotation mark closed"),
        (
            "t.csv",
            LATIN,
            {"target": "ill"},
            r"not UTF-8 text: line 2 .* 0xe9; .*'iconv -f WINDOWS-1252 -t UTF-8 t\.csv >",
        ),
        ("t.csv.gz", gzip.compress(LATIN), {"target": "ill"}, "not UTF-8 text: line 2 has the byte 0xe9"),
        ("t.csv", SMALL.encode("utf-16"), {"target": "ill"}, "not UTF-8 text: line 1 .*iconv -f UTF-16"),
        ("t.csv.gz", gzip.compress(SMALL.encode() * 90)[:30], {"target": "ill"}, "not a complete .gz file"),
        ("t.csv.gz", SMALL, {"target": "ill"}, "not a complete .gz file"),
        ("t.csv", SMALL.replace(",", ";"), {"target": "ill"}, "separated by ';', not by ',': .* --separator ';'"),
        ("t.csv", SMALL.replace(",", "\t"), {"target": "ill"}, r"separated by '\\t', .* --separator 'tab'"),
        ("t.tsv", SMALL, {"target": "ill"}, r"separated by ',', not by '\\t'"),
        ("t.csv", SMALL, {"target": "ill", "id": "name"}, "no column 'name'"),
        ("t.csv", SMALL, {"target": "ill", "id": "visit", "qid": "visit"}, "got 'visit' more than once"),
        ("t.parquet", PARQUET[:-9], {"target": "ill"}, "cut off; fetch or write it again"),
        ("t.parquet", PARQUET[:40] + bytes(60) + PARQUET[-40:], {"target": "ill"}, "damaged, fetch or write it again"),
        ("t.parquet", b"", {"target": "ill"}, "is not a Parquet file"),
        ("t.parquet", b"nonsense", {"target": "ill"}, "cannot be read as .parquet: .*not a Parquet file"),
        ("t.xls", b"", {"target": "ill"}, r"ends in '.xls', but tables are read from .csv, .*\.xlsx"),
        ("t", b"", {"target": "ill"}, "ends in 'nothing', but"),
    ],
)
def test_unreadable_tables_are_refused_by_name(write, name, content, options, message):
    with pytest.raises(ValueError, match=rf"(?s){re.escape(name)}.*{message}"):
        read_table(write(name, content), **options)


@pytest.mark.parametrize("target", ["il", "ill"])
def test_an_unusable_target_is_refused_by_column_and_file(write, target):
    with pytest.raises(ValueError, match=r"column 'ill?'.* of .*t\.csv|t\.csv has no column 'il'"):
        read_table(write("t.csv", "a,ill\n1,0\n2,1\n3,2\n"), target=target)


def test_missing_query_ids_are_refused(write):
    with pytest.raises(InvalidSampleError, match=r"column 'q' of .* has 1 missing values"):
        read_table(write("t.csv", "a,q,y\n1,1,0\n2,,1\n"), target="y", qid="q")


def test_drop_takes_a_list(write):
    with pytest.raises(TypeError, match=r"write drop=\['age'\]"):
        read_table(write("t.csv", SMALL), target="ill", drop="age")


# -- ids ------------------------------------------------------------------------------------------------------


def test_ids_are_no_features_and_keep_their_type(write):
    table = read_table(write("t.csv", "a,id,y\n1,7,0\n2,9,1\n"), target="y", id="id")
    assert table.features.columns == ["a"]
    assert table.ids.tolist() == [7, 9]
    assert table.ids.dtype.kind == "i"
    assert (table.n_rows, table.positive) == (2, "1")


def test_missing_ids_are_empty_and_the_others_do_not_become_fractions(write):
    table = read_table(write("t.csv", "a,id,y\n1,7,0\n2,,1\n"), target="y", id="id")
    assert table.ids.tolist() == ["7", ""]


# -- some columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_some_columns_are_the_columns_of_the_table(tmp_path, suffix):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.1, 1e-300], "d": [True, False]})
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        frame.write_parquet(path)
    else:
        text = frame.write_csv(separator="\t" if suffix == ".tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    assert table_columns(path) == frame.columns
    assert read_columns(path, ["c", "a", "c"]).equals(frame.select("c", "a"))
    with pytest.raises(ValueError, match="no column 'e'"):
        read_columns(path, ["a", "e"])


def test_names_may_hold_line_breaks_and_follow_empty_lines(write):
    path = write("t.csv", '\n\n"a\nb","c,d",y\n1,2,1\n3,4,0\n')
    assert table_columns(path) == ["a\nb", "c,d", "y"]
    assert read_columns(path, ["c,d"]).rows() == [(2,), (4,)]


@pytest.mark.parametrize(
    "ids",
    [["00400", "17"], ["1e5", "2e5"], ["NA", "null"], ["2020-01-02", "1"], ["+7", "8"], ["7", ""], ["7.0", "8.0"]],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_ids_are_printed_as_in_the_file(write, name, ids):
    text = "a,id,y\n" + "".join(f"{i},{each},{i}\n" for i, each in enumerate(ids))
    path = write(name, gzip.compress(text.encode()) if name.endswith("gz") else text)
    table = read_table(path, target="y", id="id")
    assert table.ids.tolist() == ids
    assert table.features.columns == ["a"]


def test_ids_that_are_whole_numbers_either_way_are_numbers(write):
    table = read_table(write("t.csv", "id,a,y\n-5,1,0\n40,2,1\n"), target="y", id="id")
    assert table.ids.dtype == np.int64
    assert table.ids.tolist() == [-5, 40]


@pytest.mark.parametrize(
    ("queries", "expected"), [(["007", "7"], ["007", "7"]), (["1e1", "10"], ["1e1", "10"]), (["2", "2"], [2, 2])]
)
def test_queries_are_printed_as_in_the_file(write, queries, expected):
    text = "q,a,y\n" + "".join(f"{q},{i},{i}\n" for i, q in enumerate(queries))
    assert read_table(write("t.csv", text), target="y", qid="q").qid.tolist() == expected


@pytest.mark.parametrize("gap", ["", "NA"])
def test_a_query_that_is_a_gap_is_refused(write, gap):
    with pytest.raises(InvalidSampleError, match=r"column 'q' of .* has 1 missing value"):
        read_table(write("t.csv", f"q,a,y\n{gap},1,0\n007,2,1\n"), target="y", qid="q")


@pytest.mark.parametrize("role", ["id", "qid"])
@pytest.mark.parametrize("values", [[b"a", b"b"], [[1], [2]]])
def test_names_that_cannot_be_printed_are_refused(tmp_path, role, values):
    pl.DataFrame({"n": values, "a": [1, 2], "y": [0, 1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidSampleError, match=r"column 'n' of .* identifies rows or queries, but is of type"):
        read_table(tmp_path / "t.parquet", target="y", **{role: "n"})


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_empty_lines_are_no_rows(write, name, ending):
    text = 'a,b,y\n\n1,"x\n\ny",1\n\n\n2,"z",0\n,,0\n\n'.replace("\n", ending)
    path = write(name, gzip.compress(text.encode()) if name.endswith("gz") else text)
    table = read_table(path, target="y")
    assert table.features["a"].to_list() == [1, 2, None]
    assert table.features["b"].to_list() == [f"x{ending * 2}y", "z", None]
    assert read_columns(path, ["a"])["a"].to_list() == [1, 2, None]


def test_an_empty_line_in_a_table_of_one_column_is_a_gap(write):
    assert read_columns(write("t.csv", "a\n1\n\n3\n"), ["a"])["a"].to_list() == [1, None, 3]


@pytest.mark.parametrize("first", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_empty_lines_are_found_wherever_blocks_end(write, first):
    row = b"a,y\n" + b"x" * (first - 6) + b",1"
    assert len(row) == first
    assert read_table(write("t.csv", row + b"\r\n\r\n2,0\n"), target="y").n_rows == 2


def test_a_table_with_ids_is_parsed_once(tmp_path, monkeypatch):
    parsed, read_csv = [], pl.read_csv

    def counted(source, **options):
        parsed.append(options.get("columns"))
        return read_csv(source, **options)

    monkeypatch.setattr(pl, "read_csv", counted)
    path = tmp_path / "table.csv"
    path.write_text("id,size,y\na,1,1\nb,2,0\n")
    assert read_table(path, target="y", id="id").ids.tolist() == ["a", "b"]
    assert [columns for columns in parsed if columns is not None] == [["id", "size", "y"]]  # the others: the header
    path.write_text("id,size,y\nNA,1,1\n,2,0\n")
    assert read_table(path, target="y", id="id").ids.tolist() == ["NA", ""]
