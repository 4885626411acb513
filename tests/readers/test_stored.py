"""Tables on disk: text becomes Parquet with the types of `read_table`, and parts are the rows of the whole."""

import gzip

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from headrank.exceptions import InvalidSampleError
from headrank.readers import read_table, stored
from headrank.readers.opening import Layout, tables_of
from headrank.readers.stored import as_parquet, bytes_in_memory, table_parts
from headrank.readers.tables import read_roles

TEXT = "id,size,town,when,ok,y\n01,1.5,a,2024-02-29,true,1\n02,,b,2024-03-01,false,0\n03,7,NA,2024-03-02,true,1\n"
NAMES = ["size", "town", "when", "ok"]


def parts_of(path, folder, layout=None):
    tables = tables_of(path, *([] if layout is None else [layout]))
    return table_parts(as_parquet(tables, folder, as_text=["id"]), NAMES)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("a.csv", lambda text: text),
        ("b.csv", lambda text: text.replace("\n", "\n\n")),
        ("c.csv.gz", lambda text: text),
        ("d.csv.gz", lambda text: text.replace("\n", "\r\n\r\n")),
        ("e.tsv", lambda text: text.replace(",", "\t")),
    ],
)
def test_text_has_the_types_of_a_table_in_memory(name, change, tmp_path):
    path = tmp_path / name
    text = change(TEXT).encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    folder = tmp_path / "temporary"
    folder.mkdir()
    whole = read_table(path, target="y", id="id")
    parts = parts_of(path, folder)
    assert parts.sizes == (3,)
    assert_frame_equal(parts.loaders[0]().frame, whole.features)
    assert parts.loaders[0]().name == str(path)
    assert [each.suffix for each in folder.iterdir()] == [".parquet"]  # no copy of the text is left
    roles = read_roles(as_parquet(tables_of(path), folder, as_text=["id"]), target="y", id="id")
    assert roles.y.tolist() == whole.y.tolist()
    assert roles.ids.tolist() == whole.ids.tolist() == ["01", "02", "03"]
    assert roles.features.width == 0


def test_decimal_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id;size;town;when;ok;y\n1;1,5;a;2024-02-29;true;1\n2;2,25;b;2024-03-01;false;0\n")
    parts = parts_of(path, tmp_path, Layout(separator=";", decimal=","))
    assert parts.loaders[0]().frame["size"].to_list() == [1.5, 2.25]
    with pytest.raises(InvalidSampleError, match="read decimal commas with decimal=','"):
        parts_of(path, tmp_path, Layout(separator=";"))


def test_parts_are_the_rows_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "_PART_BYTES", 4 * 2 * 3)
    frame = pl.DataFrame({"a": range(7), "b": range(7), "y": [0, 1] * 3 + [0]})
    for number, part in enumerate((frame[:5], frame[5:])):
        part.write_parquet(tmp_path / f"{number}.parquet")
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    parts = table_parts(tables_of(paths), ["b", "a"])
    assert parts.sizes == (2, 3, 2)
    loaded = [load() for load in parts.loaders]
    assert [part.first_row for part in loaded] == [1, 3, 1]
    assert_frame_equal(pl.concat([part.frame for part in loaded]), frame.select("b", "a"))
    assert bytes_in_memory(tables_of(paths)) == 20 * 7 * 3
    frame.write_parquet(paths[0])
    with pytest.raises(InvalidSampleError, match=r"0\.parquet was changed while it was read"):
        parts.loaders[0]()
