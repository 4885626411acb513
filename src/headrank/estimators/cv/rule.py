"""The selection rule of cross-validation, which allows for noise, and the sentence that explains a selection."""

from __future__ import annotations

from collections.abc import Sequence

from headrank.estimators.cv.candidates import (
    Average,
    Candidate,
    Trial,
    as_one,
    family_of,
    members_of,
    standard_error,
)
from headrank.measures import Measure

NOTHING = 1e-12
"""Differences up to this size are rounding."""


def tied_best(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best candidate of each surrogate that is tied with the best of all, the best one first.

    Candidates within one standard error of the difference, paired over the folds, are tied. A smooth surrogate of
    another bandwidth counts as another surrogate. Collapsed candidates are left out, so the list may be empty.
    """
    by_surrogate: dict[tuple[str, float | None], Trial] = {}
    for trial in sorted(trials, key=lambda trial: -trial.mean):
        if not trial.has_collapsed:
            by_surrogate.setdefault((trial.candidate.surrogate, trial.candidate.bandwidth), trial)
    bests = list(by_surrogate.values())
    return bests[:1] + [trial for trial in bests[1:] if not clearly_behind(trial, bests[0])]


def in_order_of_choice(trials: Sequence[Trial]) -> list[Trial]:
    """Return the selected trial first, then all others by their means; collapsed ones come last.

    The average of convex and smooth candidates is selected if it exists, that is, if these are tied. Otherwise the
    smooth candidates are selected if they lead by more than the standard error of the difference, and else the convex
    ones; in both cases as an average if there is one.
    """
    by_mean = sorted(trials, key=lambda trial: (trial.has_collapsed, -trial.mean))
    both, convex, smooth = (_first(by_mean, family) for family in ("both", "convex", "smooth"))
    chosen = next(trial for trial in (both, convex, smooth) if trial is not None)
    if chosen is convex and smooth is not None and not smooth.has_collapsed:
        chosen = smooth if convex.has_collapsed or clearly_behind(convex, smooth) else convex
    return [chosen, *(trial for trial in by_mean if trial is not chosen)]


def _first(trials: Sequence[Trial], family: str) -> Trial | None:
    """Return the average of a family, even if one of its members has a higher mean; without one, the first trial."""
    some = [trial for trial in trials if family_of(trial.candidate) == family]
    return next((trial for trial in some if isinstance(trial.candidate, Average)), some[0] if some else None)


def why(chosen: Trial, trials: Sequence[Trial], measure: Measure) -> str:
    """Describe what was selected, and how it compares with the best candidate that it does not contain."""
    candidate = chosen.candidate
    text = headline(chosen, measure, _start(candidate))
    if isinstance(candidate, Average):
        both = family_of(candidate) == "both"
        text += f" {'The convex and the smooth candidates' if both else 'These candidates'} are tied."
    own = _surrogates(candidate)
    others = [trial for trial in trials if not own & _surrogates(trial.candidate) and not trial.has_collapsed]
    if not others:
        return text
    other = max(others, key=lambda trial: trial.mean)
    lead = chosen.values - other.values
    if lead.mean() >= -NOTHING:
        return f"{text} {trailing(chosen, other)}"
    by = f"{abs(lead.mean()):.2g}, standard error of the difference {standard_error(lead):.2g}"
    if not clearly_behind(chosen, other):
        noise = ": within the noise, so it is not preferred"
    else:
        noise = ", but the average that contains it does not" if _is_part(other, trials) else ""
    return f"{text} {other.candidate} leads by {by}{noise}."


def headline(chosen: Trial, measure: Measure, note: str = "") -> str:
    """Say what was selected, and its mean over the folds."""
    return f"Selected {chosen.candidate} for {measure}{note}: {mean_over_folds(chosen, measure)}."


def mean_over_folds(trial: Trial, measure: Measure) -> str:
    """Print the mean of a trial and its standard error."""
    n_folds, mean = trial.values.size, trial.mean if measure.greater_is_better else -trial.mean
    if n_folds == 1:
        return f"mean {mean:.4g} over one fold, standard error unknown"
    return f"mean {mean:.4g} over {n_folds} folds, standard error {trial.standard_error:.2g}"


def trailing(chosen: Trial, other: Trial) -> str:
    """Say by how much the best candidate that was not selected trails."""
    lead = chosen.values - other.values
    by = f"{abs(lead.mean()):.2g}, standard error of the difference {standard_error(lead):.2g}"
    return f"The best other candidate, {other.candidate}, trails by {by}."


def _is_part(trial: Trial, trials: Sequence[Trial]) -> bool:
    return any(isinstance(each.candidate, Average) and trial.candidate in each.candidate.members for each in trials)


def _surrogates(candidate: Candidate | Average) -> set[str]:
    return {member.surrogate for member in members_of(candidate)}


def _start(candidate: Candidate | Average) -> str:
    """Describe where the smooth candidates start; empty if there are none."""
    members = members_of(candidate)
    starts = [member.start for member in members if member.start]
    if not starts:
        return ""
    if len(starts) < len(members):
        return ", the smooth ones starting from the others"
    return f", starting from {as_one(starts[0])}"


def clearly_behind(trial: Trial, best: Trial) -> bool:
    """Whether a trial trails by more than the standard error of the difference, paired over the folds."""
    lead = best.values - trial.values
    return bool(lead.mean() > standard_error(lead))
