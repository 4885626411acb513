"""The value of a column, read back from the features that were made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from headrank._types import IntVector, Vector
from headrank.training.encoding import TableEncoder
from headrank.training.features import OccurringFeatures


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Which features belong to each column, and what they say of a row.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns, in the order of their features.
    of_feature : int array of shape (n_features,)
        The column of each feature.
    feature_names : tuple of str
        What a reader would call each feature; empty for numbers that describe the spelling of text.
    texts : tuple of callable
        For each column, a function from its features of a row to words: "size = 9", "colour = red", "size is missing".
    """

    columns: tuple[str, ...]
    of_feature: IntVector
    feature_names: tuple[str, ...]
    texts: tuple[Callable[[Vector], str], ...]

    @classmethod
    def of(cls, encoder: TableEncoder | OccurringFeatures) -> Self:
        """Return the columns of a fitted encoder."""
        if isinstance(encoder, TableEncoder):
            return cls._of_table(encoder)
        return cls.of_numbers(encoder.get_feature_names_out())

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Self:
        """Return columns of numbers, each of which is a feature."""
        columns = tuple(map(str, names))
        return cls(columns, np.arange(len(columns)), columns, tuple(partial(_number, name) for name in columns))

    @classmethod
    def _of_table(cls, encoder: TableEncoder) -> Self:
        names = [str(name) for name in encoder.feature_names_in_]
        texts: dict[str, Callable[[Vector], str]] = {}
        feature_names = [""] * encoder.places_.size
        places = iter(encoder.places_.tolist())  # numbers first, then categories, then the others
        for j, center in zip(encoder.numbers_, encoder.centers_, strict=True):
            texts[names[j]] = partial(_number, names[j], center=float(center))
            feature_names[next(places)] = names[j]
        if encoder.one_hot_ is not None:
            for j, values in zip(encoder.categories_, encoder.one_hot_.categories_, strict=True):
                said = [_category(names[j], value) for value in values]
                texts[names[j]] = partial(_one_of, names[j], said)
                for each in said:
                    feature_names[next(places)] = each
        for j, each in zip(encoder.others_, encoder.encoders_, strict=True):
            parts = [name.removeprefix(f"{names[j]}_") for name in each.all_outputs_]
            is_date = parts[-1] == "total_seconds"
            texts[names[j]] = partial(_date, names[j], parts) if is_date else partial(_text, names[j])
            for part in parts:
                called = names[j] if part == "total_seconds" else f"the {part} of {names[j]}"
                feature_names[next(places)] = called if is_date else ""
        columns = tuple(dict.fromkeys(map(str, encoder.origins_)))
        place = {name: i for i, name in enumerate(columns)}
        of_feature = np.array([place[str(origin)] for origin in encoder.origins_], dtype=np.intp)
        return cls(columns, of_feature, tuple(feature_names), tuple(texts[name] for name in columns))

    def text(self, column: int, features: Vector) -> str:
        """Say what a column is worth in a row, given all features of the row."""
        return self.texts[column](features[self.of_feature == column])


def _number(name: str, features: Vector, *, center: float = 0.0) -> str:
    (value,) = features
    if np.isnan(value):
        return f"{name} is missing"
    # Features are in single precision: seven digits, and more of a number from which its median was subtracted.
    return f"{name} = {float(value) + center:.{7 if center == 0 else 12}g}"


def _category(name: str, value: str | None) -> str:
    return f"{name} is missing" if value is None else f"{name} = {value}"


def _one_of(name: str, said: Sequence[str], features: Vector) -> str:
    return said[int(np.argmax(features))] if np.any(features > 0) else f"{name} = a value not seen in training"


def _date(name: str, parts: Sequence[str], features: Vector) -> str:
    value = dict(zip(parts, features, strict=True))
    if np.isnan(value["total_seconds"]):
        return f"{name} is missing"
    year, month, day = (int(value[part]) for part in ("year", "month", "day"))
    hour = f" at {int(value['hour'])} h" if "hour" in value else ""
    return f"{name} = {year:04d}-{month:02d}-{day:02d}{hour}"


def _text(name: str, features: Vector) -> str:
    return f"the text of {name}" if np.any(np.isfinite(features) & (features != 0)) else f"{name} is missing"
