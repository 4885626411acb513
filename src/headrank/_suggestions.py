"""Names that were probably meant: those that are near what was typed, contain it, or are contained in it."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 3
"""Names in one suggestion."""
_SHORTEST = 3
"""Letters of the shortest name that is looked for inside others."""


def similar_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three of the names, most similar first; upper case, spaces and punctuation do not count.

    >>> similar_names("Fraud", ["id", "IsFraud_P", "amount"]), similar_names("ages", ["age", "sex"])
    (['IsFraud_P'], ['age'])
    """
    plain = {each: _plain(each) for each in names}
    typed = _plain(name)
    equal = [each for each, letters in plain.items() if letters == typed]
    containing = [each for each, letters in plain.items() if len(typed) >= _SHORTEST and typed in letters]
    contained = [each for each, letters in plain.items() if len(letters) >= _SHORTEST and letters in typed]
    close = get_close_matches(typed, plain.values(), n=_MOST)
    near = [each for letters in close for each in plain if plain[each] == letters]
    by_length = sorted(containing, key=len) + sorted(contained, key=len, reverse=True)
    return list(dict.fromkeys([*equal, *near[:1], *by_length]))[:_MOST]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question with similar names, or nothing.

    >>> did_you_mean("Fraud", ["IsFraud_P", "FraudDate"]), did_you_mean("zzz", ["age"])
    ("did you mean 'IsFraud_P' or 'FraudDate'?", '')
    """
    found = similar_names(name, names)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
