"""What headrank choose promises, shown with the holdout split in two: labelled rows, and rows that play new ones."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from headrank._format import counted, percent
from headrank.exceptions import ShiftedScoresWarning
from headrank.reports.example_contents import ExampleList, ExampleLists
from headrank.reports.wording import sentence
from headrank.training.holdout_scores import holdout_scores_of
from headrank.training.result import TrainingResult

_LENGTHS = tuple(digit * 10**zeros for zeros in range(1, 7) for digit in (1, 2, 5))
_MOST_LISTS = 4
_FEWEST_ROWS = 20
"""Rows of each half."""
_CAVEAT = (
    "This is an example, not a test of the assumption: both halves come from this table, and your new rows may be "
    "different."
)


def example_lists_of(result: TrainingResult) -> ExampleLists | None:
    """Certify one half of the holdout from the other, and compare with its labels; None with queries or too few rows.

    Only rows are used that certify lists of new rows (`headrank.training.holdout_scores`), with the share of the risk
    that the winner has, so that the promise accounts for the selection of the model like that of the saved model. The
    halves are drawn at random with the seed of the split.
    """
    rows = holdout_scores_of(result)
    if rows is None or rows.scores.size < 2 * _FEWEST_ROWS:
        return None
    order = np.random.default_rng([result.provenance.random_state, 3]).permutation(rows.scores.size)
    old, new = np.sort(order[: order.size // 2]), order[order.size // 2 :]
    labelled = replace(rows, scores=rows.scores[old], positive=rows.positive[old])
    n_pos = int(labelled.positive.sum())
    if n_pos == labelled.positive.size:
        return None
    with warnings.catch_warnings():  # the halves are alike by construction
        warnings.simplefilter("ignore", ShiftedScoresWarning)
        certificate = labelled.certify_list(rows.scores[new], confidence=result.confidence)
    found = np.cumsum(rows.positive[new][certificate.order])
    fitting = [k for k in _LENGTHS if k <= new.size // 2 and k <= max(4 * n_pos, _LENGTHS[0])]
    lists = tuple(
        ExampleList(k, certificate.at_least(k), float(certificate.likely[k - 1]), int(found[k - 1]))
        for k in fitting[-_MOST_LISTS:]
    )
    broken = np.flatnonzero(found < certificate.promised)
    return ExampleLists(
        words=_in_words(result, certificate.n_neg, new.size),
        outcome=_outcome(certificate.explain(0.5), int(certificate.promised[-1]), broken.size, result.confidence),
        lists=lists,
        kept=not broken.size,
        n_neg=certificate.n_neg,
        n_new=new.size,
    )


def _in_words(result: TrainingResult, n_neg: int, n_new: int) -> str:
    n_models = len(result.models)
    selected = f", the selection among {n_models} models accounted for" if n_models > 1 else ""
    rows = "The rows" if result.table.is_given else "Rows of the holdout"
    return (
        f"{rows} were split in two at random. One half played the labelled rows ({counted(n_neg, 'negative')}), the "
        f"other a list of {counted(n_new, 'new row')}, its labels hidden. headrank choose would have promised this, "
        f"with {percent(result.confidence)} confidence for all lengths of the list at once{selected}:"
    )


def _outcome(explained: str, promised: int, n_broken: int, confidence: float) -> str:
    if not promised:
        return f"{sentence(explained)}. {_CAVEAT}"
    if n_broken:
        kept = (
            f"In this split the promise was broken for {counted(n_broken, 'length')} of the list, which may happen in "
            f"up to {percent(1 - confidence)} of all lists."
        )
    else:
        kept = "The labels show that the promise was kept for every length of the list."
    return f"{kept} {_CAVEAT} With both halves as labelled rows, more can be promised."
