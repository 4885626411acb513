"""Read svmlight and LETOR files. Errors name the file and the line, and say how to fix them."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.exceptions import InvalidSampleError
from headrank.readers.opening import UNPACKING_ERRORS, disk_failed, existing, opened

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
        The labels in the file.
    """

    X: Any
    y: BoolVector
    qid: npt.NDArray[np.int64] | None
    grades: Vector


def read_svmlight(
    path: str | PathLike[str], *, relevant: float = 1.0, n_features: int | None = None, zero_based: bool = False
) -> RankingData:
    r"""Read an svmlight or LETOR file: ``label [qid:number] feature:value # comment`` on each line.

    Parameters
    ----------
    path : path
        Plain, or compressed with the suffix ``.gz`` or ``.bz2``.
    relevant : float, default=1.0
        Rows with a label of at least this are positive. The default fits -1/+1, 0/1 and graded relevance 0, 1, 2,
        ...; a file labelled 1 and 2 needs 2.
    n_features : int, optional
        Columns of X; by default the highest feature in the file. Read a test file with the number of the training file:
        the last features may not occur in it.
    zero_based : bool, default=False
        Whether features are counted from 0. This is not guessed, because a file in which feature 0 does not occur would
        be shifted by one column. If False, a file with a feature 0 raises.

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
    file = existing(path)
    try:
        X, grades, qid = _load(file)
    except (ValueError, OverflowError) as error:
        raise ValueError(_why_unreadable(file, error)) from error
    except UNPACKING_ERRORS as error:
        if disk_failed(error):
            raise
        raise ValueError(
            f"{file} is not a complete {file.suffix} file ({error}); fetch or compress it again"
        ) from error
    if not grades.size:
        raise ValueError(
            f"{file} contains no rows; expected lines like '1 qid:7 1:0.5 3:2'; check that it is the right file"
        )
    X = _numbered(file, X, n_features, zero_based)
    _require_finite(file, X, 1)
    if np.isnan(grades).any():
        raise ValueError(f"{file} has {np.isnan(grades).sum()} rows labelled nan; label or remove them")
    if qid.size not in (0, grades.size):
        raise ValueError(
            f"{file} has a qid on {qid.size} of its {grades.size} rows; expected one on every row or on none: add "
            "the missing ones, or remove all"
        )
    return RankingData(X, grades >= relevant, qid if qid.size else None, grades)


@dataclass(frozen=True, eq=False)
class SvmlightBlock:
    """Some rows of an svmlight or LETOR file.

    Attributes
    ----------
    X : CSR matrix
        Features; column j is feature j.
    grades : array of shape (n_rows,)
        The labels in the file.
    qid : int array of shape (n_rows,) or None
        Query of each row; None if the file has none.
    comments : tuple of str
        What follows the # on each line, without surrounding spaces.
    """

    X: Any
    grades: Vector
    qid: npt.NDArray[np.int64] | None
    comments: tuple[str, ...]


def load_lines(file: Path, lines: list[bytes], *, first_row: int = 1) -> SvmlightBlock:
    """Return the rows in these lines of a file."""
    try:
        X, grades, qid = _load(BytesIO(b"".join(lines)))
    except (ValueError, OverflowError) as error:
        raise ValueError(_why_unreadable(file, error)) from error
    _require_finite(file, X, first_row)
    if qid.size not in (0, grades.size):
        raise ValueError(some_queries(file))
    parts = (line.partition(b"#") for line in lines)
    comments = tuple(comment.decode("utf-8", "replace").strip() for row, _, comment in parts if row.strip())
    return SvmlightBlock(X, grades, qid if qid.size else None, comments)


def has_queries(path: str | PathLike[str]) -> bool:
    """Whether the first row of an svmlight or LETOR file has a query; False if it cannot be unpacked."""
    first: list[bytes] = []
    with opened(existing(path)) as stream:
        rows = (line.partition(b"#")[0].split() for line in stream)
        try:
            first = next((row for row in rows if row), [])
        except UNPACKING_ERRORS as error:  # reading the rows says so too, and where
            if disk_failed(error):
                raise
    return len(first) > 1 and first[1].startswith(b"qid:")


def some_queries(file: Path) -> str:
    """Say that a file has queries on some rows only."""
    wanted = "expected one on every row or on none: add the missing ones, or remove all"
    return f"{file} has a qid on some of its rows; {wanted}"


def _numbered(file: Path, X: Any, n_features: int | None, zero_based: bool) -> Any:
    """Return the matrix with feature 0 or 1 as its first column and the requested number of columns."""
    indices = X.indices if zero_based else X.indices - 1
    if indices.size and indices.min() < 0:
        raise ValueError(f"{file} has a feature 0, so it counts its features from 0; read it with zero_based=True")
    width = int(indices.max()) + 1 if indices.size else 0
    if n_features is not None and width > n_features:
        raise ValueError(
            f"{file} has a feature above n_features={n_features}: its last is number {width - zero_based}; raise "
            "n_features, or leave it out"
        )
    return type(X)((X.data, indices, X.indptr), shape=(X.shape[0], width if n_features is None else n_features))


def _require_finite(file: Path, X: Any, first_row: int) -> None:
    """Raise on nan and inf, which scikit-learn accepts. Features without a value must be omitted from the row."""
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        raise InvalidSampleError(
            f"{file} has a feature of {X.data[bad[0]]:g} in row {first_row + row:,}; expected finite numbers: correct "
            "it, or leave the feature out of the row, which then counts as 0"
        )


def _load(source: Any) -> tuple[Any, Vector, npt.NDArray[np.int64]]:
    """Return features, labels and queries; column j is feature j."""
    from sklearn.datasets import load_svmlight_file

    X, grades, qid = load_svmlight_file(
        source if isinstance(source, BytesIO) else str(source), query_id=True, zero_based=True
    )
    return X, grades, qid


def _why_unreadable(file: Path, error: Exception) -> str:
    where = _first_bad_line(file)
    return (
        f"{file} is not an svmlight file{where}: {error}; expected a label, then optionally 'qid:number', then "
        "'feature:value' with integer feature numbers in increasing order"
    )


def _first_bad_line(file: Path) -> str:
    """Describe the first invalid line, which scikit-learn does not. By blocks first, as a call per line is slow."""

    def parses(lines: list[bytes]) -> bool:
        try:
            _load(BytesIO(b"".join(lines)))
        except (ValueError, OverflowError):
            return False
        return True

    n_before = 0
    with opened(file) as stream:
        while block := list(islice(stream, _LINES_PER_BLOCK)):
            if not parses(block):
                bad = next((i for i, line in enumerate(block) if not parses([line])), None)
                if bad is not None:
                    text = block[bad].decode("utf-8", "backslashreplace").strip()
                    return f" in line {n_before + bad + 1}, {text[:60]!r}"
            n_before += len(block)
    return ""
