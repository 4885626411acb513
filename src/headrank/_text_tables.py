"""Tables as plain text: aligned columns that never cut a name, however narrow the screen is."""

from collections.abc import Sequence

_GAP = "  "
_INDENT = "    "


def aligned(rows: Sequence[Sequence[str]], width: int | None = None, *, left: int = 1) -> list[str]:
    r"""Return the lines of a table; its first ``left`` columns are flush left, the others flush right.

    If a line would be longer than ``width``, the first column is on lines of its own, and the rest is indented below;
    in the header it is left out.

    >>> rows = [("score", "value", "at least"), ("logistic_regression", "0.9374", "0.8793")]
    >>> print(*aligned(rows), sep="\n")
    score                 value  at least
    logistic_regression  0.9374    0.8793
    >>> print(*aligned(rows, 30), sep="\n")
         value  at least
    logistic_regression
        0.9374    0.8793
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if width is None or sum(widths) + len(_GAP) * (len(widths) - 1) <= width or len(widths) == 1:
        return [_line(row, widths, left) for row in rows]
    lines, before = [_INDENT + _line(rows[0][1:], widths[1:], left - 1)], None
    for row in rows[1:]:
        if row[0] != before:
            lines.append(row[0])
        lines.append(_INDENT + _line(row[1:], widths[1:], left - 1))
        before = row[0]
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    parts = [
        cell.ljust(size) if number < left else cell.rjust(size)
        for number, (cell, size) in enumerate(zip(cells, widths, strict=True))
    ]
    return _GAP.join(parts).rstrip()
