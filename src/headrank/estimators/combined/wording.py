"""What a combination is made of, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headrank._types import Vector
from headrank.estimators.cv.candidates import Trial, corrected_error, trails
from headrank.estimators.cv.rule import mean_over_folds
from headrank.measures import Measure

_SAME = 1e-4
"""Share of the mean: smaller differences do not show in its four digits."""


def why(
    shares: Mapping[str, float],
    alone: Sequence[Trial],
    together: Trial,
    without: Mapping[str, Vector],
    measure: Measure,
    left_out: Mapping[str, str],
) -> str:
    """Say what the ranker is made of, what the parts add, and what was left out.

    ``without`` are the values on the folds without each part.
    """
    sign = 1 if measure.greater_is_better else -1
    best = max(alone, key=lambda trial: trial.mean)
    value = mean_over_folds(together, measure)
    if len(shares) == 1:
        text = f"Selected {next(iter(shares))} alone for {measure}: {value}."
    else:
        *others, last = (
            f"{family} ({share:.0%})" for family, share in sorted(shares.items(), key=lambda pair: -pair[1])
        )
        text = f"Combined {', '.join(others)} and {last} for {measure}: {value}. {gain(together, best)}"
        text += f" It would be {', '.join(_added(together, without))}."
    if unused := [trial for trial in alone if trial.candidate not in shares]:
        rest = ", ".join(f"{trial.candidate} {sign * trial.mean:.4g}" for trial in unused)
        text += f" Not used: {rest}."
    if left_out:
        text += f" Left out: {'; '.join(f'{family} ({reason})' for family, reason in left_out.items())}."
    return text


def _added(together: Trial, without: Mapping[str, Vector]) -> Iterator[str]:
    """Say how much worse it would be without each part."""
    leads = {family: together.mean - float(values.mean()) for family, values in without.items()}
    same = [family for family, lead in leads.items() if abs(lead) <= _SAME * abs(together.mean)]
    for family, lead in leads.items():
        if family not in same:
            yield f"{abs(lead):.2g} {'worse' if lead > 0 else 'better'} without {family}"
    if same:
        yield f"the same without {'any one of them' if len(same) == len(leads) > 1 else ' or '.join(same)}"


def gain(together: Trial, best: Trial) -> str:
    """Say what the combination adds to the best family; one that is tied with it may trail by less than the noise."""
    lead = together.values - best.values
    if abs(lead.mean()) <= _SAME * abs(together.mean):
        return f"The combination is worth as much as {best.candidate} alone."
    by, alone = f"{abs(lead.mean()):.2g}", f"{best.candidate} alone"
    noise = f", standard error {corrected_error(lead):.2g}" if lead.size > 1 else ""
    if lead.mean() < 0:
        verdict = "" if trails(together.values, best.values) else ": within the noise"
        return f"The combination trails {alone} by {by}{noise}{verdict}."
    return f"The combination gains {by} on {alone}{noise}."
