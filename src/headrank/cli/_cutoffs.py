"""The cut-offs of ``headrank evaluate --cutoffs``: the best ones, and those at usual false positive rates."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from headrank._format import percent, rounded, rounded_down, rounded_up, separating
from headrank.cli._printing import print_table

if TYPE_CHECKING:
    from rich.console import Console

    from headrank.bounds.cutoffs.best import Criterion, Cutoff
    from headrank.bounds.cutoffs.points import OperatingPoints
    from headrank.cli._samples import ScoredSample
    from headrank.curve import RocCurve

_BUDGETS = (0.01, 0.05, 0.1, 0.2)
"""False positive rates whose cut-offs are shown."""
_HEADINGS = {"tpr": "TPR", "fpr": "FPR", "precision": "PPV", "npv": "NPV", "lr_positive": "LR+"}
_HEADINGS |= {"lr_negative": "LR-", "lift": "lift"}


@dataclass(frozen=True, eq=False)
class ScorerCutoffs:
    """The cut-offs of one column of scores, by what each is for, and what each does."""

    score: str
    best: tuple[Cutoff, ...]
    purposes: tuple[str, ...]
    points: OperatingPoints
    shown: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, with intervals of each cut-off, as if it had been fixed before the rows were seen."""
        ends = {name: self.points.interval(name) for name in _HEADINGS}
        rows = [
            {"purpose": purpose, **row}
            | {
                f"{name}_{end}": float(ends[name][i][number])
                for name in _HEADINGS
                for i, end in enumerate(("low", "high"))
            }
            for number, (purpose, row) in enumerate(zip(self.purposes, self.points.rows(), strict=True))
        ]
        return {"score": self.score, "best": [each.as_dict() for each in self.best], "points": rows}


def check_cutoffs(
    wanted: bool, miss_cost: float | None, prevalence: float | None, unfit: dict[str, bool]
) -> list[Criterion]:
    """Return the criteria of the best cut-offs, or raise; none if no cut-offs are wanted."""
    from headrank.bounds.cutoffs.best import Criterion

    if not wanted:
        for name, value in (("--miss-cost", miss_cost), ("--prevalence", prevalence)):
            if value is not None:
                raise typer.BadParameter("belongs to cut-offs; give --cutoffs", param_hint=f"'{name}'")
        return []
    for name, given in unfit.items():
        if given:
            raise typer.BadParameter(
                f"cut-offs are for independent rows of which high scores are flagged; omit {name}, or --cutoffs",
                param_hint="'--cutoffs'",
            )
    if miss_cost is not None and not (isfinite(miss_cost) and miss_cost > 0):
        raise typer.BadParameter(f"expected a number above 0, got {miss_cost:g}", param_hint="'--miss-cost'")
    if prevalence is not None and not 0 < prevalence < 1:
        raise typer.BadParameter(
            f"expected a fraction between 0 and 1, got {prevalence:g}", param_hint="'--prevalence'"
        )
    usual = [Criterion("youden"), Criterion("closest")]
    return usual if miss_cost is None else [*usual, Criterion("cost", false_negative=miss_cost)]


def cutoffs_of(
    sample: ScoredSample, criteria: list[Criterion], prevalence: float | None, confidence: float
) -> list[ScorerCutoffs]:
    """Find the cut-offs of each column of scores."""
    from headrank.curve import RocCurve

    return [
        _of_scorer(name, RocCurve.from_scores(sample.y, scores), criteria, prevalence, confidence)
        for name, scores in sample.scores.items()
    ]


def _of_scorer(
    name: str, curve: RocCurve, criteria: list[Criterion], prevalence: float | None, confidence: float
) -> ScorerCutoffs:
    from headrank.bounds.cutoffs.best import best_of_curve
    from headrank.bounds.cutoffs.points import points_of_curve

    best = tuple(
        best_of_curve(curve, each, prevalence=prevalence, confidence=confidence, n_replicates=1000, random_state=0)
        for each in criteria
    )
    levels = {
        f"FPR at most {budget:g}": int(np.searchsorted(curve.fpr, budget, side="right")) - 1 for budget in _BUDGETS
    }
    levels |= {f"best by {each.by}": int(np.searchsorted(curve.tp + curve.fp, each.n_flagged)) for each in best}
    kept = sorted((level, purpose) for purpose, level in levels.items() if level > 0)
    numbers = [level - 1 for level, _ in kept]
    below = [float(curve.scores[i + 1]) if i + 1 < curve.scores.size else -np.inf for i in numbers]
    shown = tuple(separating(low, float(curve.scores[i])) for low, i in zip(below, numbers, strict=True))
    points = points_of_curve(curve, curve.scores[numbers], prevalence=prevalence, confidence=confidence)
    return ScorerCutoffs(name, best, tuple(purpose for _, purpose in kept), points, shown)


def print_cutoffs(screen: Console, found: list[ScorerCutoffs], confidence: float, prevalence: float | None) -> None:
    """Print two tables per column of scores: what each cut-off does, and what is certified of the best ones."""
    for each in found:
        screen.print(f"\nCut-offs of {each.score}: rows that score at least this are flagged.")
        rows = [("cut-off", "score", "flagged", *_HEADINGS.values())]
        rows += [
            (_short(purpose), shown, f"{row['n_flagged']:,.0f}", *(_cell(row[name]) for name in _HEADINGS))
            for purpose, shown, row in zip(each.purposes, each.shown, each.points.rows(), strict=True)
        ]
        print_table(screen, rows)
        screen.print(
            f"\nThe best cut-offs of {each.score} on rows to come, although they were picked on these rows: TPR and "
            f"FPR hold together with {percent(confidence)} confidence, for any distribution; the interval of the best "
            "score is by the bootstrap (asymptotic)."
        )
        best = [("best by", "TPR", "FPR", "best score")]
        best += [
            (
                one.by,
                f"{rounded_down(one.tpr_low)} to {rounded_up(one.tpr_high)}",
                f"{rounded_down(one.fpr_low)} to {rounded_up(one.fpr_high)}",
                f"{_end(one.value_low)} to {_end(one.value_high)}",
            )
            for one in each.best
        ]
        print_table(screen, best)
    if found:
        screen.print(
            "\nPPV: precision; NPV: share of negatives among the rows not flagged; LR+ and LR-: likelihood ratios of "
            "rows flagged and not flagged; lift: precision over the share of positives."
            + ("" if prevalence is None else f" PPV, NPV and lift are for {percent(prevalence)} positives.")
        )


def _short(purpose: str) -> str:
    return purpose.replace("at most", "<=").removeprefix("best by ")


def _cell(value: float) -> str:
    return f"{value:.{3 if value >= 0.01 else 2}g}" if isfinite(value) else "-"


def _end(value: float | None) -> str:
    return "-" if value is None else rounded(value)
