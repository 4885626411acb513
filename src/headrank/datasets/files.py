"""Readers: svmlight and LETOR files, CSV and Parquet tables, with errors that name the file and the way out."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from io import BufferedIOBase, BytesIO
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_labels

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_SUFFIXES = (*_SEPARATORS, ".parquet")
_LINES_PER_BLOCK = 1000


@dataclass(frozen=True, eq=False)
class RankingData:
    """The rows of an svmlight or LETOR file, from `read_svmlight`.

    Attributes
    ----------
    X : CSR matrix of shape (n_rows, n_features)
        Features, float64.
    y : bool array of shape (n_rows,)
        Which rows are positive: those with a grade of at least ``relevant``.
    qid : int array of shape (n_rows,) or None
        Query of each row; None if the file has none.
    grades : array of shape (n_rows,)
        The labels as they stand in the file.
    """

    X: Any
    y: BoolVector
    qid: npt.NDArray[np.int64] | None
    grades: Vector


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a table, from `read_table`.

    Attributes
    ----------
    features : polars.DataFrame
        All columns but the target, the query ids and the dropped ones, as they are: numbers, strings, dates, gaps.
    y : bool array of shape (n_rows,)
        Which rows are positive.
    qid : array of shape (n_rows,) or None
        Query of each row, if asked for.
    """

    features: pl.DataFrame
    y: BoolVector
    qid: npt.NDArray[Any] | None


def read_svmlight(
    path: str | PathLike[str], *, relevant: float = 1.0, n_features: int | None = None, zero_based: bool = False
) -> RankingData:
    r"""Read an svmlight or LETOR file: ``label [qid:number] feature:value ... # comment`` on each line.

    Parameters
    ----------
    path : path
        Plain, or compressed and then ending in ``.gz`` or ``.bz2``.
    relevant : float, default=1.0
        Rows with a label of at least this are positive. The default fits -1/+1, 0/1 and graded relevance 0, 1, 2,
        ...; a file labelled 1 and 2 needs 2.
    n_features : int, optional
        Columns of X; by default the highest feature in the file. A test file must be read with the number of the
        training file, as its own last features may never occur.
    zero_based : bool, default=False
        Whether the file calls its first feature 0. It is not guessed: a file in which feature 0 never occurs would
        be shifted by one column against its sister. A file with a feature 0 is refused until this is set.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "letor.txt"
    ...     _ = path.write_text("2 qid:10 1:0.5 3:1 #docid = GX1\n0 qid:10 2:0.25 #docid = GX2\n")
    ...     data = read_svmlight(path)
    >>> data.X.shape, data.y, data.qid, data.grades
    ((2, 3), array([ True, False]), array([10, 10]), array([2., 0.]))
    """
    if not np.isfinite(relevant):
        raise ValueError(f"relevant must be a finite number, the lowest label of a positive row, got {relevant!r}")
    file = _existing(path)
    try:
        X, grades, qid = _load(file, n_features=n_features, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        raise ValueError(_why_unreadable(file, error, n_features, zero_based)) from error
    except (OSError, EOFError, zlib.error) as error:
        if getattr(error, "errno", None) is not None:  # the disk's complaint, not the decompressor's
            raise
        raise ValueError(
            f"{file} is not a complete {file.suffix} file ({error}); fetch or compress it again"
        ) from error
    if not grades.size:
        raise ValueError(
            f"{file} holds no rows: needed lines like '1 qid:7 1:0.5 3:2'; check that it is the right file"
        )
    if np.isnan(grades).any():
        raise ValueError(f"{file} has {np.isnan(grades).sum()} rows labelled nan; label or remove them")
    if qid.size not in (0, grades.size):
        raise ValueError(
            f"{file} gives a qid on {qid.size} of its {grades.size} rows; needed one on every row or on none: add "
            "the missing ones, or remove them all"
        )
    return RankingData(X, grades >= relevant, qid if qid.size else None, grades)


def read_table(
    path: str | PathLike[str],
    *,
    target: str,
    qid: str | None = None,
    drop: Iterable[str] = (),
    pos_label: Any = None,
    missing: Sequence[str] = ("NA", "NaN", "nan", "null"),
) -> Table:
    r"""Read a CSV, TSV or Parquet table and split off its labels.

    Parameters
    ----------
    path : path
        Ending in ``.csv``, ``.tsv``, either with ``.gz``, or in ``.parquet``. Text is UTF-8, with a line of names.
    target : str
        Column of the labels: 0/1, -1/+1, true/false, or any two values with ``pos_label``.
    qid : str, optional
        Column of the query ids.
    drop : names
        Columns that are no features.
    pos_label : optional
        The value of the target that means positive, of the column's own type: ``"yes"``, or 2 and not ``"2"``.
    missing : strings
        What stands for a gap in a text file, besides the empty field.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("id,age,sex,ill\n1,71,f,yes\n2,,m,no\n")
    ...     table = read_table(path, target="ill", drop=["id"], pos_label="yes")
    >>> table.features.columns, table.y
    (['age', 'sex'], array([ True, False]))
    """
    if isinstance(drop, str):
        raise TypeError(f"drop must be a list of names, got the string {drop!r}; write drop=[{drop!r}]")
    file = _existing(path)
    frame = _read_frame(file, missing)
    unused = list(drop)
    special = [target, *([] if qid is None else [qid]), *unused]
    for name in special:
        _require_column(file, frame.columns, name)
    if len(set(special)) < len(special):
        raise ValueError(
            f"target, qid and drop must name different columns of {file}, got {', '.join(map(repr, special))}"
        )
    if not frame.height:
        raise ValueError(f"{file} holds names but no rows; check that it is the right file")
    if len(special) == frame.width:
        raise ValueError(f"{file} has no feature left besides {', '.join(map(repr, special))}; drop fewer columns")
    labels = _column_without_gaps(file, frame, target)
    try:
        y = check_labels(labels, pos_label=pos_label)
    except InvalidSampleError as error:
        raise InvalidSampleError(f"column {target!r} of {file} cannot be the target: {error}") from None
    queries = None if qid is None else _column_without_gaps(file, frame, qid)
    return Table(frame.drop(special), y, queries)


def _existing(path: str | PathLike[str]) -> Path:
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; needed a file")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}; check the path (looked from {Path.cwd()})")
    return file


# -- svmlight ------------------------------------------------------------------------------------------------------


def _load(source: Any, *, n_features: int | None, zero_based: bool) -> tuple[Any, Vector, npt.NDArray[np.int64]]:
    from sklearn.datasets import load_svmlight_file

    X, grades, qid = load_svmlight_file(
        source if isinstance(source, BytesIO) else str(source),
        query_id=True,
        n_features=n_features,
        zero_based=zero_based,
    )
    return X, grades, qid


def _why_unreadable(file: Path, error: Exception, n_features: int | None, zero_based: bool) -> str:
    if "n_features" in str(error):
        return f"{file} has a feature above n_features={n_features}: {error}; raise n_features, or leave it out"
    if "Invalid index 0" in str(error):
        return f"{file} has a feature 0, so it counts its features from 0; read it with zero_based=True"
    where = _first_bad_line(file, zero_based)
    return (
        f"{file} is not an svmlight file{where}: {error}; needed a label, then 'qid:number' or nothing, then "
        "'feature:value' with whole feature numbers in rising order"
    )


def _opened(file: Path) -> BufferedIOBase:
    if file.suffix == ".gz":
        return gzip.open(file)
    return bz2.open(file) if file.suffix == ".bz2" else file.open("rb")


def _first_bad_line(file: Path, zero_based: bool) -> str:
    """Say where the file goes wrong, as scikit-learn does not. By blocks first: a call per line is slow."""

    def parses(lines: list[bytes]) -> bool:
        try:
            _load(BytesIO(b"".join(lines)), n_features=None, zero_based=zero_based)
        except (ValueError, OverflowError):
            return False
        return True

    n_before = 0
    with _opened(file) as stream:
        while block := list(islice(stream, _LINES_PER_BLOCK)):
            if not parses(block):
                bad = next((i for i, line in enumerate(block) if not parses([line])), None)
                if bad is not None:
                    text = block[bad].decode("utf-8", "backslashreplace").strip()
                    return f" in line {n_before + bad + 1}, {text[:60]!r}"
            n_before += len(block)
    return ""


# -- tables --------------------------------------------------------------------------------------------------------


def _read_frame(file: Path, missing: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    suffix = next((known for known in _SUFFIXES if file.name.lower().endswith(known)), None)
    if suffix is None:
        raise ValueError(
            f"{file} ends in {file.suffix or 'nothing'!r}, but tables are read from {', '.join(_SUFFIXES)}; "
            "convert it, or read svmlight and LETOR files with read_svmlight"
        )
    try:
        if suffix == ".parquet":
            return pl.read_parquet(file, glob=False)
        # Unpacked here: older polars take a cut-off archive for a strange text file.
        text = gzip.decompress(file.read_bytes()) if suffix.endswith(".gz") else file
        # All rows are looked at for the type of a column: a string in row 1,000,000 makes it a column of strings.
        frame = pl.read_csv(
            text, separator=_SEPARATORS[suffix], null_values=list(missing), infer_schema_length=None, glob=False
        )
    except pl.exceptions.NoDataError:
        raise ValueError(f"{file} is empty; needed a line of column names and then rows") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error) as error:
        if getattr(error, "errno", None) is not None:
            raise
        first_line = str(error).strip().splitlines()[0]
        raise ValueError(
            f"{file} cannot be read as {suffix}: {first_line}; needed "
            + ("a Parquet file" if suffix == ".parquet" else "UTF-8 text with as many fields in each row as names")
        ) from error
    _refuse_repeated_names(file, frame.columns)
    return frame


def _refuse_repeated_names(file: Path, columns: list[str]) -> None:
    # polars renames the second of two equal names; a second target column would pass for a feature.
    for name in columns:
        renamed = re.fullmatch(r"(.*)_duplicated_\d+", name)
        if renamed and renamed[1] in columns:
            raise ValueError(f"{file} has two columns named {renamed[1]!r}; rename or remove one")


def _require_column(file: Path, columns: list[str], name: str) -> None:
    if name not in columns:
        close = get_close_matches(name, columns, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        if len(columns) == 1 and (other := re.search(r"[;|\t]", columns[0])):
            hint = f"its fields seem to be separated by {other[0]!r}, but {file.suffix} needs another sign; "
        shown = ", ".join(map(repr, columns[:30])) + (", ..." if len(columns) > 30 else "")
        raise ValueError(f"{file} has no column {name!r}; {hint}it has {shown}")


def _column_without_gaps(file: Path, frame: pl.DataFrame, name: str) -> npt.NDArray[Any]:
    n_missing = frame[name].null_count()
    if n_missing:
        raise InvalidSampleError(
            f"column {name!r} of {file} has {n_missing} missing values in {frame.height} rows; drop or fill them"
        )
    return frame[name].to_numpy()
