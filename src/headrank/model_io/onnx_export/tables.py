"""The encoding of a table as ONNX operators: one input per column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headrank.exceptions import ModelFileError
from headrank.model_io.onnx_export.graph import ML, Graph
from headrank.training.columns import LARGEST, listed
from headrank.training.encoding import TableEncoder

_BLANK = r"[\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]*"
"""Text of white space only, which is missing."""
_DAY, _HOUR, _MILLISECOND = 86_400_000_000, 3_600_000_000, 1000
"""In microseconds."""
_MISSING_DATE = -(2**63)
"""NumPy's "not a time" as a whole number."""
_ERA, _SINCE_MARCH_0 = 146_097, 719_468
"""Days in 400 years, and from 1 March of the year 0 to 1970."""
_DATE_FEATURES = ("year", "month", "day", "hour", "total_seconds")


def encoded(encoder: TableEncoder, graph: Graph) -> str:
    """Add one input per column that the encoder uses, and return the name of the features, in float32.

    Numbers and booleans are float64 inputs, with NaN for missing values; text is a string input, in which blank text is
    missing; dates are int64 inputs, in microseconds since 1970, with the smallest integer for missing values: a column
    of type ``datetime64[us]`` as integers.
    """
    _refuse_embedded_text(encoder)
    names = encoder.feature_names_in_.tolist()
    parts = []
    if encoder.numbers_.size:
        parts.append(_numbers(encoder, graph, names))
    if encoder.one_hot_ is not None:
        for j, values in zip(encoder.categories_, encoder.one_hot_.categories_, strict=True):
            parts.append(_indicators(graph, names[j], values.tolist()))
    for j, dates in zip(encoder.others_, encoder.encoders_, strict=True):
        parts.append(_date(graph, names[j], dates.extracted_features_))
    together = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    return graph.columns(together, np.argsort(encoder.places_))


def _refuse_embedded_text(encoder: TableEncoder) -> None:
    from skrub import DatetimeEncoder

    others = [
        (str(encoder.feature_names_in_[j]), each) for j, each in zip(encoder.others_, encoder.encoders_, strict=True)
    ]
    embedded = [repr(name) for name, each in others if not isinstance(each, DatetimeEncoder)]
    if embedded:
        one = len(embedded) == 1
        raise ModelFileError(
            f"the column{'' if one else 's'} {listed(embedded)} {'has' if one else 'have'} text with many values, "
            "which the model embeds by its letters; ONNX has no operator for that: fit again with --onnx-only, which "
            f"leaves {'it' if one else 'them'} out, or score with headrank"
        )
    for name, dates in others:
        strange = [feature for feature in dates.extracted_features_ if feature not in _DATE_FEATURES]
        if strange or dates._periodic_encoders:
            raise ModelFileError(
                f"of the date {name!r}, {', '.join(strange) or 'periodic features'} cannot be exported to ONNX; "
                f"supported: {', '.join(_DATE_FEATURES)}"
            )


def _numbers(encoder: TableEncoder, graph: Graph, names: Sequence[str]) -> str:
    columns = [graph.input(names[j], np.float64, 1) for j in encoder.numbers_]
    x = columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)
    usable = graph.add("LessOrEqual", graph.add("Abs", x), graph.constant(LARGEST, np.float64))
    x = graph.add("Where", usable, x, graph.constant(np.nan, np.float64))
    if encoder.centers_.any():
        x = graph.add("Sub", x, graph.constant(encoder.centers_, np.float64))
    x = graph.cast(x, np.float32)
    return graph.add("Where", graph.add("IsInf", x), graph.constant(np.nan, np.float32), x)


def _indicators(graph: Graph, name: str, values: Sequence[str | None]) -> str:
    """One feature per category; text that is none of them gives zeros."""
    x = graph.input(name, np.str_, 1)
    if None in values:
        blank = graph.add("RegexFullMatch", x, pattern=_BLANK)
        x = graph.add("Where", blank, graph.constant("", np.object_), x)
    known = ["" if value is None else value for value in values]
    numbers = graph.add(
        "LabelEncoder",
        x,
        domain=ML,
        keys_strings=[value.encode() for value in known],
        values_int64s=list(range(len(known))),
        default_int64=-1,
    )
    return graph.cast(graph.add("Equal", numbers, graph.constant([range(len(known))], np.int64)), np.float32)


# -- dates ---------------------------------------------------------------------------------------------------------


def _date(graph: Graph, name: str, features: Sequence[str]) -> str:
    x = graph.input(name, np.int64, 1)
    missing = graph.add("Equal", x, _whole(graph, _MISSING_DATE))
    x = graph.add("Where", missing, _whole(graph, 0), x)
    made = _calendar(graph, _divided(graph, x, _DAY))
    made["hour"] = graph.add("Div", graph.add("Mod", x, _whole(graph, _DAY)), _whole(graph, _HOUR))
    milliseconds = graph.cast(_divided(graph, x, _MILLISECOND), np.float64)
    made["total_seconds"] = graph.add("Div", milliseconds, graph.constant(1000.0, np.float64))
    parts = [graph.cast(made[feature], np.float32) for feature in features]
    together = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    return graph.add("Where", missing, graph.constant(np.nan, np.float32), together)


def _calendar(graph: Graph, days: str) -> dict[str, str]:
    """Year, month and day of days since 1970, by whole numbers, in the calendar extended to all years.

    Years begin in March here, so that the day added in leap years comes last: 400 years always have 146,097 days, and
    the months from March on have 153 days for every five.
    """

    def minus(a: str, b: str) -> str:
        return graph.add("Sub", a, b)

    def plus(a: str, b: str) -> str:
        return graph.add("Add", a, b)

    def times(a: str, k: int) -> str:
        return graph.add("Mul", a, _whole(graph, k))

    def over(a: str, k: int) -> str:  # of numbers that are not negative
        return graph.add("Div", a, _whole(graph, k))

    days = plus(days, _whole(graph, _SINCE_MARCH_0))
    of_era = graph.add("Mod", days, _whole(graph, _ERA))
    leaps = minus(plus(over(of_era, 1460), over(of_era, 146_096)), over(of_era, 36_524))
    year = over(minus(of_era, leaps), 365)
    of_year = minus(of_era, minus(plus(times(year, 365), over(year, 4)), over(year, 100)))
    month = over(plus(times(of_year, 5), _whole(graph, 2)), 153)
    before = over(plus(times(month, 153), _whole(graph, 2)), 5)
    day = plus(minus(of_year, before), _whole(graph, 1))
    next_year = graph.add("GreaterOrEqual", month, _whole(graph, 10))
    month = plus(month, graph.add("Where", next_year, _whole(graph, -9), _whole(graph, 3)))
    year = plus(plus(year, times(_divided(graph, days, _ERA), 400)), graph.cast(next_year, np.int64))
    return {"year": year, "month": month, "day": day}


def _divided(graph: Graph, x: str, by: int) -> str:
    """Divide whole numbers, rounding down. ONNX's Div rounds towards 0, its Mod has the sign of the divisor."""
    rest = graph.add("Mod", x, _whole(graph, by))
    return graph.add("Div", graph.add("Sub", x, rest), _whole(graph, by))


def _whole(graph: Graph, value: int) -> str:
    return graph.constant(value, np.int64)
