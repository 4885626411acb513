"""What a positive row is called: the user's word for it, or one made of the target column and its positive value."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = re.compile(r"[^\W\d_]{3,}( [^\W\d_]{2,})?")
_TRUE = frozenset({"1", "+1", "true", "t", "yes", "y", "positive", "pos"})
"""Positive values that say nothing by themselves: the column then has the word."""
_EMPTY = frozenset({"no", "not", "none", "false", "negative", "neg", "other", "unknown"})
"""Positive values without a word for the rows that have them."""
_GENERIC = frozenset(
    {
        *("class", "classes", "event", "flag", "goal", "group", "label", "labels", "outcome", "output", "response"),
        *("result", "status", "target", "truth", "type", "value"),
    }
)
"""Column names that say nothing either."""
_BEFORE = re.compile(r"^(is|has|was|had|are|did|target|label|flag|y)[ _.-]+", re.IGNORECASE)
_AFTER = re.compile(r"[ _.-]+(p|y|flag|label|target|ind|indicator|yn|bool|found)$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Nouns:
    """A noun: of one, and of several."""

    one: str
    many: str

    def counted(self, number: int) -> str:
        """Print a count with the noun.

        >>> Nouns("fraud", "frauds").counted(1), Nouns("fraud", "frauds").counted(1360)
        ('1 fraud', '1,360 frauds')
        """
        return f"{number:,} {self.one if number == 1 else self.many}"


def nouns_of(name: str) -> Nouns:
    """Return a name as the user gave it, with its plural: regular, or given after a slash.

    >>> nouns_of("fraud"), nouns_of("diagnosis/diagnoses")
    (Nouns(one='fraud', many='frauds'), Nouns(one='diagnosis', many='diagnoses'))

    Raises
    ------
    ValueError
        If the singular or the plural is empty, or there are more than two parts.
    """
    parts = [part.strip() for part in name.split("/")]
    if len(parts) > 2 or not all(parts):
        raise ValueError(
            "expected a noun for one positive row, like fraud, or with its plural, like diagnosis/diagnoses; got "
            f"{name!r}"
        )
    return Nouns(parts[0], parts[-1] if len(parts) == 2 else plural(parts[0]))


def positive_nouns(name: str, target: str, positive: str, *, by_query: bool = False) -> Nouns:
    """Return what positive rows are called: by the given name, or by the column and its positive value.

    If the value is 1, true, yes or the like, the column has the word, otherwise the value has it. Whether that is a
    noun or an adjective is not known, so "case" follows it: "fraud cases", "ill cases". If it is not a word, the rows
    are "positives". Rows of a query are called results.

    >>> positive_nouns("", "is_fraud", "1").many, positive_nouns("", "diagnosis", "malignant").many
    ('fraud cases', 'malignant cases')
    >>> positive_nouns("", "y", "1").many, positive_nouns("", "label", "1 or more", by_query=True).many
    ('positives', 'relevant results')
    """
    if name:
        return nouns_of(name)
    noun = "result" if by_query else "case"
    is_true = positive.strip().lower() in _TRUE
    word = _word(target, _GENERIC) if is_true else _word(positive, _EMPTY)
    if word:
        return Nouns(f"{word} {noun}", f"{word} {noun}s")
    return Nouns("relevant result", "relevant results") if by_query else Nouns("positive", "positives")


def other_nouns(nouns: Nouns) -> Nouns:
    """Return what the other rows are called.

    >>> other_nouns(Nouns("fraud", "frauds")).many, other_nouns(Nouns("positive", "positives")).many
    ('other cases', 'negatives')
    """
    if nouns.one == "positive":
        return Nouns("negative", "negatives")
    noun = "result" if nouns.one.endswith(" result") else "case"
    return Nouns(f"other {noun}", f"other {noun}s")


def plural(noun: str) -> str:
    """Return the regular plural of an English noun.

    >>> plural("patient"), plural("company"), plural("fix"), plural("boy"), plural("loss")
    ('patients', 'companies', 'fixes', 'boys', 'losses')
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def _word(text: str, empty: frozenset[str]) -> str:
    """Return the text as words in lower case; empty if it is not made of words, or of words that say nothing."""
    stripped = _AFTER.sub("", _BEFORE.sub("", _CAMEL.sub(" ", text.strip())))
    words = re.sub(r"[ _.-]+", " ", stripped).strip().lower()
    if not _WORDS.fullmatch(words) or len(words) > 30:
        return ""
    return "" if words in empty else words
