"""Separators, decimal commas, workbooks and several files: asked for, never guessed."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank.readers import read_columns, read_table
from headrank.readers.blocks import table_blocks
from headrank.readers.opening import Layout, tables_of

FRAME = pl.DataFrame(
    {
        "id": ["007", "008", "009"],
        "amount": [1.5, None, -2000.25],
        "count": [1, 2, 3],
        "city": ["Lyon, FR", "none", "a;b"],
        "when": ["2024-01-31", "2024-02-01", None],
        "y": [1, 0, 1],
    }
)


def german(frame, separator=";"):
    """Write a table as German spreadsheets do: another separator, and decimal commas."""
    floats = [pl.col(name).cast(pl.String).str.replace(".", ",", literal=True) for name in frame.columns]
    is_float = [frame[name].dtype.is_float() for name in frame.columns]
    changed = frame.with_columns([each for each, wanted in zip(floats, is_float, strict=True) if wanted])
    return changed.write_csv(separator=separator)


@pytest.mark.parametrize(
    ("separator", "given"), [(";", ";"), ("|", "|"), ("\t", "tab"), ("\t", "\\t"), ("\t", "\t"), (",", ",")]
)
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t"])
def test_separator_and_decimal_comma_give_the_plain_table(write, separator, given, name):
    path = write(name, german(FRAME, separator))
    options = {"separator": given, "decimal": ","}
    assert read_columns(path, FRAME.columns, **options).equals(
        read_columns(write("p.csv", FRAME.write_csv()), FRAME.columns)
    )
    table = read_table(path, target="y", id="id", **options)
    assert table.ids.tolist() == ["007", "008", "009"]
    assert table.features["amount"].to_list() == [1.5, None, -2000.25]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=20))
def test_decimal_commas_lose_no_digit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("decimals") / "t.csv"
    path.write_text("a;b\n" + "".join(f"{repr(x).replace('.', ',')};x\n" for x in numbers))
    tables = tables_of(path, Layout(";", ","))
    (block,) = table_blocks(tables, {"a": "number"})
    assert block["a"].to_list() == numbers
    assert read_columns(tables, ["a"])["a"].to_list() == numbers


def test_blocks_with_decimal_commas_refuse_points(write):
    path = write("t.csv", "a;b\n1,5;x\n1.500;y\n")
    with pytest.raises(ValueError, match=r"column 'a' of .*t\.csv has '1\.500' in row 2; expected a number"):
        list(table_blocks(tables_of(path, Layout(";", ",")), {"a": "number"}))


@pytest.mark.parametrize("value", ["0,5", "-1,25e3", ",5", " 3,0 "])
def test_decimal_commas_are_not_read_as_text_unasked(write, value):
    path = write("t.csv", f"a;y\n1;1\n{value};0\n;1\n")
    with pytest.raises(ValueError, match=r"column 'a' .* in row 2; read decimal commas .*--decimal ,"):
        read_columns(path, ["a"], separator=";")
    assert read_columns(path, ["a"], separator=";", decimal=".")["a"].to_list() == ["1", value, None]
    with pytest.raises(ValueError, match="--decimal ,"):
        list(table_blocks(tables_of(path, Layout(";")), {"a": "number"}))


@pytest.mark.parametrize("values", [["1,2,3", "2,3"], ["1,5", "x"], ["a,b", "c,d"], ["1", "2"]])
def test_text_with_commas_stays_text(write, values):
    path = write("t.csv", "a;y\n" + "".join(f"{value};1\n" for value in values))
    assert read_columns(path, ["a"], separator=";").height == len(values)


@pytest.mark.parametrize("value", ["1.5", "1.234,5", "1.234.567"])
def test_points_where_commas_were_announced_are_refused(write, value):
    with pytest.raises(ValueError, match=r"column 'a' .*expected decimal commas: remove the points"):
        read_columns(write("t.csv", f"a;y\n1;1\n{value};0\n"), ["a"], separator=";", decimal=",")


def test_dates_with_points_are_no_numbers(write):
    path = write("t.csv", "a;y\n31.01.2024;1\n01.02.2024;0\n")
    assert read_columns(path, ["a"], separator=";", decimal=",")["a"][0] == "31.01.2024"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a;y\n1;2\n", {}, "only one column, 'a;y'; .* separated by ';', not by ','.* --separator ';'"),
        ("a\ty\n1\t2\n", {}, "--separator 'tab'"),
        ("id;age, years;y\n1;2;1\n", {}, "no column 'y'; its fields seem to be separated by ';'"),
        ("a,y\n1,2\n", {"separator": ";"}, "no column 'y'; its fields seem to be separated by ','"),
    ],
)
def test_another_separator_is_named(write, text, options, message):
    with pytest.raises(ValueError, match=message):
        read_columns(write("t.csv", text), ["y"], **options)


def test_one_column_with_a_semicolon_can_be_read(write):
    path = write("t.csv", "a;b\n1\n2\n")
    assert read_columns(path, ["a;b"], separator=",")["a;b"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ";;"}, "one character"),
        ({"separator": '"'}, "one character"),
        ({"separator": ""}, "one character"),
        ({"decimal": "'"}, "must be '.' or ','"),
        ({"sheet": "a"}, "no workbook"),
    ],
)
def test_impossible_layouts_are_refused(write, options, message):
    with pytest.raises(ValueError, match=message):
        read_columns(write("t.csv", "a,y\n1,2\n"), ["y"], **options)


@pytest.mark.parametrize("option", [{"separator": ";"}, {"decimal": ","}])
def test_parquet_has_no_separator(tmp_path, option):
    FRAME.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="is no text file"):
        read_columns(tmp_path / "t.parquet", ["y"], **option)


def test_blocks_of_a_long_file_with_semicolons_are_those_of_the_plain_one(write):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=5000), "b": rng.choice(["x", "y;z", "u\nv"], 5000)})
    kinds = {"a": "number", "b": "text"}
    plain = pl.concat(table_blocks(write("p.csv", frame.write_csv()), kinds, n_rows=300))
    found = list(table_blocks(tables_of(write("t.csv", german(frame)), Layout(";", ",")), kinds, n_rows=300))
    assert max(block.height for block in found) <= 300
    assert pl.concat(found).equals(plain)
    assert plain.equals(frame)


# Workbooks.


def test_a_workbook_gives_what_its_csv_gives(tmp_path, write):
    frame = FRAME.with_columns(
        day=pl.Series([date(2024, 1, 31), date(2024, 2, 1), None]),
        at=pl.Series([datetime(2024, 1, 31, 12, 30), datetime(2024, 2, 1), None]),
        flag=pl.Series([True, False, None]),
        tiny=pl.Series([1e-7, 0.1 + 0.2, 1e20]),
        mixed=pl.Series(["1", "NA", "2.5"]),
    )
    frame.write_excel(tmp_path / "t.xlsx")
    text = frame.with_columns(pl.col("at").dt.to_string("%Y-%m-%d %H:%M:%S"))
    csv = write("t.csv", text.write_csv())
    found, expected = (read_columns(path, frame.columns) for path in (tmp_path / "t.xlsx", csv))
    assert found.schema == expected.schema
    # Excel keeps 15 significant digits of a number that a program wrote with 16.
    for name in frame.columns:
        same = (
            found[name].is_close(expected[name], rel_tol=1e-14)
            if found[name].dtype.is_float()
            else found[name] == expected[name]
        )
        assert same.drop_nulls().all()
        assert found[name].is_null().equals(expected[name].is_null())
    (block,) = table_blocks(tmp_path / "t.xlsx", {"amount": "number", "city": "text"}, keep=["id"])
    assert block.rows() == FRAME.select("amount", "city", "id").rows()


def test_empty_rows_of_a_workbook_are_skipped(tmp_path):
    pl.DataFrame({"a": [1, None, 3], "y": [1, None, 0]}).write_excel(tmp_path / "t.xlsx")
    assert read_columns(tmp_path / "t.xlsx", ["a", "y"]).rows() == [(1, 1), (3, 0)]


def test_the_sheet_must_be_named_if_there_are_several(tmp_path):
    import xlsxwriter

    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        FRAME.write_excel(book, worksheet="first")
        FRAME.with_columns(y=1 - pl.col("y")).write_excel(book, worksheet="second")
    with pytest.raises(ValueError, match=r"2 sheets: 'first', 'second'; .*--sheet NAME"):
        read_columns(path, ["y"])
    assert read_columns(path, ["y"], sheet="second")["y"].to_list() == [0, 1, 0]
    with pytest.raises(ValueError, match="no sheet 'third'; it has 'first', 'second'"):
        read_columns(path, ["y"], sheet="third")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04nonsense"])
def test_a_damaged_workbook_is_named(write, content):
    with pytest.raises(ValueError, match=r"t\.xlsx cannot be read as \.xlsx: .*save it again"):
        read_columns(write("t.xlsx", content), ["y"])


def test_a_changed_workbook_is_read_again(tmp_path):
    path = tmp_path / "t.xlsx"
    for value in (1, 22):
        pl.DataFrame({"y": [value] * value, "a": [0] * value}).write_excel(path)
        assert read_columns(path, ["y"])["y"].to_list() == [value] * value


def test_two_equal_names_in_a_workbook_are_refused(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([("y", "y"), (1, 2)]):
            sheet.write_row(row, 0, cells)
    with pytest.raises(ValueError, match="two columns named 'y'"):
        read_columns(tmp_path / "t.xlsx", ["y"])


# Several files.


@pytest.mark.parametrize("cut", [1, 2])
@pytest.mark.parametrize("suffixes", [(".csv", ".csv"), (".csv", ".parquet"), (".parquet", ".csv"), (".xlsx", ".csv")])
def test_several_files_are_one_table(tmp_path, write, cut, suffixes):
    paths = []
    for part, suffix in zip((FRAME[:cut], FRAME[cut:].select(FRAME.columns[::-1])), suffixes, strict=True):
        paths.append(tmp_path / f"part{len(paths)}{suffix}")
        {".csv": part.write_csv, ".parquet": part.write_parquet, ".xlsx": part.write_excel}[suffix](paths[-1])
    table = read_table(paths, target="y", id="id")
    assert table.y.tolist() == [True, False, True]
    assert table.ids.tolist() == ["007", "008", "009"]
    assert table.features.rows() == FRAME.drop("y", "id").rows()
    blocks = list(table_blocks(paths, {"amount": "number"}, keep=["city"], n_rows=1))
    assert pl.concat(blocks).rows() == FRAME.select("amount", "city").rows()


@given(
    st.lists(
        st.lists(st.sampled_from(["1", "2.50", "x", "true", "", "007"]), min_size=1, max_size=3), min_size=2, max_size=3
    )
)
def test_types_are_those_of_one_long_file(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "whole.csv").write_text("a,b\n" + "".join(f"{each},1\n" for part in parts for each in part))
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text("a,b\n" + "".join(f"{each},1\n" for each in part))
    expected, found = read_columns(folder / "whole.csv", ["a"])["a"], read_columns(paths, ["a"])["a"]
    assert found.to_list() == expected.to_list()


def test_files_with_other_columns_are_refused(write):
    one, other = write("a.csv", "a,b,y\n1,2,1\n"), write("b.csv", "a,c,y\n1,2,0\n")
    with pytest.raises(ValueError, match=r"b\.csv has no column 'b', but .*a\.csv has"):
        read_table([one, other], target="y")
    with pytest.raises(ValueError, match=r"b\.csv has a column 'c', but .*d\.csv has none"):
        read_table([write("d.csv", "a,y\n1,1\n"), other], target="y")
    assert read_columns([one, other], ["y"])["y"].to_list() == [1, 0]
    with pytest.raises(ValueError, match=r"b\.csv has no column 'b'"):
        read_columns([one, other], ["b"])


def test_parquet_of_another_type_is_refused(tmp_path):
    pl.DataFrame({"a": [1], "y": [1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"a": ["x"], "y": [0]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="column 'a' has different types in these files: Int64, String"):
        read_columns([tmp_path / "a.parquet", tmp_path / "b.parquet"], ["a"])


def test_the_share_read_grows_over_all_files(write):
    paths = [write(f"{i}.csv", "a,b\n" + "1,2\n" * 1000) for i in range(3)]
    shares = []
    list(table_blocks(paths, {"a": "number"}, n_rows=100, advance=shares.append))
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_no_file_is_refused():
    with pytest.raises(ValueError, match="at least one path"):
        read_columns([], ["a"])


def test_the_category_none_is_a_value(write):
    path = write("t.csv", "a,y\nnone,1\nNone,0\nNONE,1\nnull,0\n")
    assert read_table(path, target="y").features["a"].to_list() == ["none", "None", "NONE", None]


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [("Fraud", "'IsFraud_P'"), ("isfraud p", "'IsFraud_P'"), ("amoun", "'amount'"), ("amounts_eur", "'amount'")],
)
def test_near_and_containing_names_are_suggested(write, typed, suggested):
    path = write("t.csv", "id,IsFraud_P,amount\n1,0,3\n")
    with pytest.raises(ValueError, match=f"no column '{typed}'; did you mean {suggested}\\? it has 'id'"):
        read_columns(path, [typed])
