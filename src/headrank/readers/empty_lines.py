"""Empty lines of a text table. They are skipped, except in tables of one column, where they are missing values."""

from __future__ import annotations

import re

from headrank.readers.opening import TableFile

_EMPTY = re.compile(rb"(\n)(?:\r?\n)+")
_BLOCK = 1 << 20


def without_empty_lines(text: bytes) -> bytes:
    r"""Remove empty lines, except within quotation marks. The text must not begin within a row.

    >>> without_empty_lines(b'\na,b\n1,2\n\n"x\n\ny",3\n\r\n')
    b'a,b\n1,2\n"x\n\ny",3\n'
    """
    text = text.lstrip(b"\r\n")
    if not _EMPTY.search(text):
        return text
    parts = text.split(b'"')
    parts[::2] = [_EMPTY.sub(rb"\1", outside) for outside in parts[::2]]
    return b'"'.join(parts)


def has_empty_lines(file: TableFile) -> bool:
    """Whether a text has empty lines, possibly within quotation marks. It is read in blocks."""
    end = b"\n"
    with file.open() as stream:
        while block := stream.read(_BLOCK):
            if _EMPTY.search(end + block):
                return True
            end = block[-2:]
    return False
