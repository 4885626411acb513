"""Blocks: put together again they are the table, whatever the packing, the block size and the quotation marks."""

import gzip
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrank.exceptions import InvalidSampleError
from headrank.readers import blocks as module
from headrank.readers import read_svmlight
from headrank.readers.blocks import svmlight_blocks, table_blocks

TEXTS = st.text(alphabet='ab ,"\n\té', max_size=5)
FRAMES = st.lists(
    st.tuples(st.none() | st.floats(allow_nan=False, allow_infinity=False), st.none() | TEXTS.filter(len)), min_size=1
).map(lambda rows: pl.DataFrame(rows, schema={"number": pl.Float64, "text": pl.String}, orient="row"))


def stored(frame, path):
    if path.suffix == ".parquet":
        frame.write_parquet(path)
        return path
    text = frame.write_csv(separator="\t" if ".tsv" in path.name else ",").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def small_reads(monkeypatch):
    """Rows come in pieces of a few bytes, so that every kind of cut happens."""
    monkeypatch.setattr(module, "_FIRST_READ", 7)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=FRAMES, n_rows=st.integers(1, 4))
def test_blocks_make_the_table(tmp_path, small_reads, name, frame, n_rows):
    path = stored(frame, tmp_path / name)
    parts = list(table_blocks(path, {"number": "number"}, keep=["text"], n_rows=n_rows))
    assert all(1 <= part.height <= n_rows for part in parts)
    assert pl.concat(parts).equals(frame)


def test_types_do_not_change_from_block_to_block(write, small_reads):
    text = "a,b\n" + "1,1\n" * 50 + "2.5,x\n" + ",\n" + "NA, \n" + " 3 ,7\n" * 50
    parts = list(table_blocks(write("t.csv", text), {"a": "number", "b": "text"}, n_rows=3))
    assert {tuple(part.schema.items()) for part in parts} == {(("a", pl.Float64), ("b", pl.String))}
    whole = pl.concat(parts)
    assert whole["a"].to_list() == [1] * 50 + [2.5, None, None] + [3] * 50
    assert whole["b"].to_list()[49:53] == ["1", "x", None, " "]


def test_only_the_wanted_columns_come_in_the_wanted_order(write):
    path = write("t.csv", "a,b,c,d\n1,2,3,4\n")
    (block,) = table_blocks(path, {"c": "number", "a": "text"}, keep=["d", "a"])
    assert block.to_dict(as_series=False) == {"c": [3.0], "a": ["1"], "d": ["4"]}


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_the_last_row_needs_no_line_break(write, end):
    whole = pl.concat(table_blocks(write("t.csv", "a,b\n1,2\n3,4" + end), {"a": "number"}))
    assert whole["a"].drop_nulls().to_list() == [1, 3]


def test_progress_rises_to_one(tmp_path):
    frame = pl.DataFrame({"a": np.arange(1000.0)})
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        shares = []
        list(table_blocks(stored(frame, tmp_path / name), {"a": "number"}, n_rows=100, advance=shares.append))
        assert shares == sorted(shares)
        assert shares[-1] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n" + "1,1\n" * 70 + "x,1\n", "column 'a' of .*t.csv has 'x' in row 71; expected a number"),
        ("a,b\n" + "1,1\n" * 70 + "1,2,3\n", "line 72 has 3 fields, but the header has 2"),
        ("c,b\n1,2\n", "no column 'a'"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("", "is empty"),
        (b"a,b\n1,x\n" * 40 + b"1,\xe9\n", "not UTF-8 text: line 81 has the byte 0xe9; .*iconv"),
        (b"a,b\n1,\xe9", "not UTF-8 text: line 2 has the byte 0xe9"),
    ],
)
def test_bad_values_are_named_by_column_and_row(write, small_reads, text, message):
    if isinstance(text, bytes) and text.count(b"a,b") > 1:
        text = b"a,b\n" + text.replace(b"a,b\n", b"2,y\n")[4:]
    with pytest.raises(ValueError, match=message):
        list(table_blocks(write("t.csv", text), {"a": "number", "b": "text"}, n_rows=5))


def test_a_cut_off_archive_is_refused(write):
    packed = gzip.compress(b"a\n" + np.random.default_rng(0).bytes(3000).hex(sep="\n").encode())
    with pytest.raises(ValueError, match=r"t\.csv\.gz is not a complete \.gz file"):
        list(table_blocks(write("t.csv.gz", packed[: len(packed) // 2]), {"a": "text"}))


def test_a_quotation_mark_that_is_never_closed_does_not_fill_the_memory(write, small_reads, monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_READ", 1000)
    path = write("t.csv", "a,b\n1,2\n" + '1,"x\n' + "1,2\n" * 2000)
    with pytest.raises(ValueError, match=r"quotation mark after line \d+ that is not closed within 1,000 bytes"):
        list(table_blocks(path, {"a": "number"}))


def test_memory_does_not_hold_what_was_read(tmp_path):
    """A piece is about as long as the rows that were asked for, however long the file is."""
    frame = pl.DataFrame({"a": np.arange(200_000.0)})
    path = stored(frame, tmp_path / "t.csv")
    heights = [block.height for block in table_blocks(path, {"a": "number"}, n_rows=1000)]
    assert sum(heights) == 200_000
    assert max(heights) == 1000


# -- svmlight -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("n_rows", [1, 2, 100])
def test_svmlight_blocks_make_the_matrix(write, pack, n_rows):
    text = b"1 qid:1 1:0.5 3:1 # a\n0 qid:1 2:0.25\n# a comment\n\n1 qid:2 4:1e-3\n"
    path = write("t.txt.gz" if pack is gzip.compress else "t.txt", pack(text))
    parts = list(svmlight_blocks(path, n_rows=n_rows))
    whole = read_svmlight(path, n_features=5, zero_based=True)
    for part in parts:  # each is as wide as its last feature
        part.X.resize(part.X.shape[0], 5)
    assert np.array_equal(np.vstack([part.X.toarray() for part in parts]), whole.X.toarray())
    assert np.array_equal(np.concatenate([part.grades for part in parts]), whole.grades)
    assert np.array_equal(np.concatenate([part.qid for part in parts]), whole.qid)
    assert [comment for part in parts for comment in part.comments] == ["a", "", ""]


@pytest.mark.parametrize("n_rows", [1, 2, 3])
@pytest.mark.parametrize("text", ["1 qid:1 1:1\n0 2:1\n1 1:2\n", "1 1:1\n0 2:1\n1 qid:2 1:2\n"])
def test_queries_on_some_rows_only_are_refused_in_blocks(write, n_rows, text):
    with pytest.raises(ValueError, match="has a qid on some of its rows"):
        list(svmlight_blocks(write("t.txt", text), n_rows=n_rows))


def test_bad_svmlight_lines_are_named(write):
    with pytest.raises(ValueError, match=r"t\.txt is not an svmlight file in line 4, '1 1:x'"):
        list(svmlight_blocks(write("t.txt", "1 1:1\n" * 3 + "1 1:x\n"), n_rows=2))
    with pytest.raises(ValueError, match=r"not a complete \.gz file"):
        list(svmlight_blocks(write("t.gz", gzip.compress(b"1 1:1\n" * 1000)[:30])))


def test_parquet_columns_keep_their_types(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "b": [b"x", b"y"]}).with_columns(pl.col("a").cast(pl.Int8))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    (tmp_path / "t.parquet").write_bytes(buffer.getvalue())
    (block,) = table_blocks(tmp_path / "t.parquet", {"a": "number"})
    assert block.schema == {"a": pl.Int8}


@pytest.mark.parametrize("n_rows", [1, 2, 100])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_empty_lines_are_no_rows_in_blocks_either(write, n_rows, ending):
    text = '\na,b\n\n1,"x\n\ny"\n\n\n,\n2,z\n\n'.replace("\n", ending)
    path = write("t.csv", text)
    frames = list(table_blocks(path, {"a": "number", "b": "text"}, n_rows=n_rows))
    assert pl.concat(frames).rows() == [(1.0, f"x{ending * 2}y"), (None, None), (2.0, "z")]
    assert all(frame.height for frame in frames)


def test_many_empty_lines_between_blocks_are_no_rows(write):
    path = write("t.csv", "a,b\n1,2\n" + "\n" * (1 << 19) + "3,4\n")
    assert pl.concat(table_blocks(path, {"a": "number", "b": "number"})).rows() == [(1.0, 2.0), (3.0, 4.0)]


def test_an_empty_line_in_blocks_of_one_column_is_a_gap(write):
    (frame,) = table_blocks(write("t.csv", "a\n1\n\n3\n"), {"a": "number"})
    assert frame["a"].to_list() == [1, None, 3]


def test_what_is_kept_stands_as_in_the_file(write):
    path = write("t.csv", "id,a\n00400,NA\n1e5,2\nNA,3\n,4\n")
    (frame,) = table_blocks(path, {"a": "number"}, keep=["id"])
    assert frame.rows() == [(None, "00400"), (2.0, "1e5"), (3.0, "NA"), (4.0, None)]


def test_bytes_are_not_kept(tmp_path):
    pl.DataFrame({"id": [b"a"], "a": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidSampleError, match=r"column 'id' of .* is of type Binary"):
        list(table_blocks(tmp_path / "t.parquet", {"a": "number"}, keep=["id"]))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_svmlight_blocks_name_the_row_of_what_is_not_finite(write, value):
    path = write("t.txt", f"1 1:2\n0 2:1\n1 1:1 2:{value}\n")
    with pytest.raises(InvalidSampleError, match=r"t.txt has a feature of .* in row 3;"):
        list(svmlight_blocks(path, n_rows=2))
