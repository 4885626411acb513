"""What the numbers of a holdout are about: new rows, new groups, or the next period."""

from __future__ import annotations

import re

from headrank.training.naming import plural
from headrank.training.table_info import TableInfo

_SUFFIX = re.compile(r"[ _-]?(id|no|nr|num|number|key|code)$", re.IGNORECASE)


def assumption_of(table: TableInfo) -> str:
    """Return, in half a sentence, for which new rows the guarantees hold."""
    info = table.holdout
    words = [] if table.group_column is None else [f"for new {group_nouns(table.group_column)[1]}"]
    if info.kind == "latest":
        words.append("if the next period is like the last")
    elif info.kind == "file":
        words.append(f"if new rows are drawn like those of {info.test_source}")
    elif table.n_queries is not None:
        words.append("if new queries are drawn like these")
    elif not words:
        words.append("if new rows are drawn like these")
    return ", ".join(words)


def group_nouns(column: str) -> tuple[str, str]:
    """Return the singular and the plural of what a column of groups names.

    >>> group_nouns("patient_id"), group_nouns("Company"), group_nouns("murcko.smiles")
    (('patient', 'patients'), ('company', 'companies'), ("value of 'murcko.smiles'", "values of 'murcko.smiles'"))
    """
    noun = _SUFFIX.sub("", column).replace("_", " ").lower()
    if not re.fullmatch(r"[a-z]{3,}( [a-z]{3,})*", noun) or noun.endswith("s"):
        return f"value of {column!r}", f"values of {column!r}"
    return noun, plural(noun)


def holdout_in_words(table: TableInfo, *, by_class: bool) -> str:
    """Say how the holdout was chosen, what was left out of it, and by which folds the ranker was chosen."""
    info, words = table.holdout, []
    if table.is_given:
        return "Labels and scores were given, and nothing was trained."
    if info.kind == "file":
        words.append(f"The holdout is {info.test_source}; the models were trained on all rows of {table.source}.")
    if info.first is not None:
        which = "The holdout has the latest rows" if info.kind == "latest" else "Its rows are"
        words.append(f"{which}, {info.first} to {info.last}; the training rows end with {info.train_last}.")
    if table.group_column is not None:
        one, many = group_nouns(table.group_column)
        if info.kind == "random":
            words.append(
                f"{info.n_holdout_groups:,} of {info.n_groups:,} {many} were held out, each with all its rows."
            )
        else:
            words.append(f"The holdout has {info.n_holdout_groups:,} {many} that do not occur in training.")
        if info.n_known_rows:
            words.append(f"{info.n_known_rows:,} rows were left out of it because their {one} occurs in training.")
        draw = (
            f"first its class, if a {one} has rows of both, then one of these rows"
            if by_class
            else "all equally likely"
        )
        words.append(
            f"Of its {info.n_group_rows:,} rows, the numbers come from one per {one}, drawn at random ({draw}) before "
            "the split."
        )
    if not words:
        unit = "rows" if table.n_queries is None else "queries"
        each = ", the same share of each class" if by_class and table.n_queries is None else ""
        words.append(f"The holdout was drawn at random from the {unit} of the table{each}.")
    if info.folds:
        words.append(f"The ranker was chosen by {info.folds}.")
    return " ".join(words)
