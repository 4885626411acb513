"""The outputs of a training: the model to save, and the holdout in rank order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from headrank._types import BoolVector
from headrank.curve import shares
from headrank.training.assumption import assumption_of
from headrank.training.calibration import calibrated
from headrank.training.holdout_scores import holdout_scores_of
from headrank.training.holdout_time import printed_time
from headrank.training.result import TrainingResult
from headrank.training.table_info import ColumnRoles
from headrank.training.table_model import TableModel

if TYPE_CHECKING:
    import polars as pl

_OWN = ("rank", "score", "in_budget", "flagged", "why")


def table_model(result: TrainingResult, *, keep_scores: bool = True) -> TableModel:
    """Return the winner as a model for saving: exactly the model that was certified.

    ``keep_scores``: whether to keep scores and labels of holdout rows with it.
    """
    table, threshold = result.table, result.threshold
    winner = result.winner
    sample = winner.holdout.sample
    return TableModel(
        name=winner.name,
        estimator=winner.estimator,
        columns=table.columns,
        n_features=len(table.columns) or winner.estimator[0].n_features_in_ - table.first_feature,
        **{field.name: getattr(table, field.name) for field in fields(ColumnRoles)},
        goal=result.goal,
        threshold=None if threshold is None else threshold.value,
        promise=result.no_threshold if threshold is None else f"{threshold}. It holds {assumption_of(table)}.",
        calibration=None if sample.queries is not None else calibrated(sample.positive, sample.scores),
        holdout_scores=holdout_scores_of(result) if keep_scores else None,
        profile=result.profile,
    )


def ranked(result: TrainingResult) -> pl.DataFrame:
    """Return the holdout as ranked by the winner, best first; with queries, one query after the other.

    Columns:

    - ``rank``: equal scores have equal ranks;
    - the id column, or ``row``, and the columns of queries, groups and times if there are any; of each group, the one
      row that is measured;
    - ``score``, and the target as 1 or 0;
    - ``in_budget``: whether the row is before the end of the part of the list that matters, in each query separately.
      For a best fraction these are the first rows, for a range those at which the false positive rate is at most its
      end;
    - ``flagged``: whether the score reaches the certified threshold; null if there is none.

    Rows with equal scores are in the order of the file.
    """
    import polars as pl

    info, scores = result.table, result.winner.scores
    flagged = [None] * scores.size if result.threshold is None else result.threshold.flags(scores)
    query = np.zeros(scores.size, dtype=np.int64)
    if result.qid is not None:
        _, first, numbers = np.unique(result.qid, return_index=True, return_inverse=True)
        query = np.argsort(np.argsort(first))[numbers]  # in the order of the file
    table = pl.DataFrame({"query": query, "score": scores, "neg": ~result.y}).with_columns(
        position=pl.col("score").rank("ordinal", descending=True).over("query").cast(pl.Int64),
        rank=pl.col("score").rank("min", descending=True).over("query").cast(pl.Int64),
    )
    named = {"rank": table["rank"], _free(info.id_column or "row", ()): result.ids}
    if result.qid is not None:
        named[_free(info.qid_column or "qid", named)] = result.qid
    if result.groups is not None:
        named[_free(info.group_column or "group", named)] = result.groups[result.measured]
    if result.times is not None:
        named[_free(info.time_column or "time", named)] = [printed_time(each) for each in result.times]
    named |= {"score": scores, _free(info.target, named): result.y.astype(np.int8)}
    named |= {"in_budget": _in_budget(result, table), "flagged": pl.Series(flagged, dtype=pl.Boolean)}
    if result.reasons is not None:
        why = np.full(scores.size, None, dtype=object)
        why[result.reasons.rows] = result.reasons.texts
        named["why"] = pl.Series(why.tolist(), dtype=pl.String)
    order = np.lexsort((table["position"].to_numpy(), query))
    return pl.DataFrame(named)[order]


def _in_budget(result: TrainingResult, table: pl.DataFrame) -> BoolVector:
    """Return which rows are before the end of the part that matters."""
    import polars as pl

    goal = result.goal
    totals = table.select(rows=pl.len().over("query"), neg=pl.col("neg").sum().over("query"))
    if goal.top is not None:
        return _at_most(table["position"], goal.top, totals["rows"])
    assert goal.max_fpr is not None
    # A threshold at a row's score includes all rows with this score.
    taken = (
        table.sort("query", "score", descending=[False, True])
        .with_columns(taken=pl.col("neg").cum_sum().over("query"))
        .group_by("query", "score")
        .agg(pl.col("taken").max())
    )
    above = table.join(taken, on=["query", "score"], how="left", maintain_order="left")["taken"]
    return _at_most(above, goal.max_fpr, totals["neg"])


def _at_most(counts: pl.Series, rate: float, totals: pl.Series) -> BoolVector:
    result: BoolVector = counts.to_numpy() <= shares(rate, totals.to_numpy().astype(np.float64))
    return result


def _free(name: str, used: Iterable[str]) -> str:
    """Return the name, with a trailing underscore if another column has it."""
    taken = {*_OWN, *used}
    while name in taken:
        name += "_"
    return name
