"""The results of a cross-validation as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrank._extras import needs_extra
from headrank.estimators.cv.candidates import Trial
from headrank.measures import Measure


def trial_frame(trials: Sequence[Trial], measure: Measure) -> Any:
    """One row per candidate and fold. Measures that are better when lower appear as they are.

    Candidates that are names, such as those of families, have no parameters.
    """
    with needs_extra("cli"):
        import polars as pl

    sign = 1 if measure.greater_is_better else -1
    return pl.DataFrame(
        [
            {
                "candidate": str(trial.candidate),
                "surrogate": getattr(trial.candidate, "surrogate", None),
                "C": getattr(trial.candidate, "C", None),
                "bandwidth": getattr(trial.candidate, "bandwidth", None),
                "fold": fold,
                str(measure): sign * float(trial.values[fold]),
                "collapsed": bool(trial.collapsed[fold]),
                "n_iter": int(trial.n_iter[fold]),
            }
            for trial in trials
            for fold in range(trial.values.size)
        ],
        schema_overrides={"surrogate": pl.String, "C": pl.Float64, "bandwidth": pl.Float64},
    )
