"""The rule by which cross-validation chooses, made against noise, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Sequence

from headrank.estimators._candidates import Average, Candidate, Trial, as_one, standard_error
from headrank.measures import Measure


def equals(trials: Sequence[Trial]) -> list[Trial]:
    """The best candidate of each surrogate, as far as the folds cannot tell it from the best of all; that one first.

    They cannot if it is behind by no more than the standard error of the difference, paired over the folds. Candidates
    that have collapsed are left out; if all have, so is everyone.
    """
    by_surrogate: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: -trial.mean):
        if not trial.has_collapsed:
            by_surrogate.setdefault(trial.candidate.surrogate, trial)
    bests = list(by_surrogate.values())
    return bests[:1] + [trial for trial in bests[1:] if not _clearly_behind(trial, bests[0])]


def in_order_of_choice(trials: Sequence[Trial]) -> list[Trial]:
    """The chosen one first, then all others by their means; those that have collapsed come last.

    Chosen is the average of the convex ones, or the best of them if that stands alone, unless a smooth one, which stays
    near it as far as its C asks, leads by more than the standard error of the difference.
    """
    by_mean = sorted(trials, key=lambda trial: (trial.has_collapsed, -trial.mean))
    averages = [trial for trial in by_mean if isinstance(trial.candidate, Average)]
    convex = [trial for trial in by_mean if trial.candidate.surrogate != "smooth"]
    smooth = [trial for trial in by_mean if trial.candidate.surrogate == "smooth"]
    chosen, *challengers = [*(averages or convex)[:1], *smooth[:1]]
    for challenger in challengers:
        if chosen.has_collapsed or (not challenger.has_collapsed and _clearly_behind(chosen, challenger)):
            chosen = challenger
    return [chosen, *(trial for trial in by_mean if trial is not chosen)]


def why(chosen: Trial, trials: Sequence[Trial], measure: Measure) -> str:
    """Say in a sentence or two what was chosen, and how it compares with the best of what it does not consist of."""
    sign, candidate = 1 if measure.greater_is_better else -1, chosen.candidate
    start = f", starting from {as_one(candidate.start)}" if isinstance(candidate, Candidate) and candidate.start else ""
    text = (
        f"Chose {candidate} for {measure}{start}: {sign * chosen.mean:.4g} on average over {chosen.values.size} folds, "
        f"standard error {chosen.standard_error:.2g}."
    )
    own = {member.surrogate for member in members_of(candidate)} | {candidate.surrogate}
    if isinstance(candidate, Average):
        text += " The folds cannot tell these apart."
    others = [trial for trial in trials if trial.candidate.surrogate not in own and not trial.has_collapsed]
    if not others:
        return text
    other = max(others, key=lambda trial: trial.mean)
    lead = chosen.values - other.values
    by = f"{abs(lead.mean()):.2g}, standard error of the difference {standard_error(lead):.2g}"
    if lead.mean() >= 0:
        return f"{text} The best of the others, {other.candidate}, is behind by {by}."
    noise = "" if _clearly_behind(chosen, other) else ": too little, against that noise, to prefer it"
    return f"{text} {other.candidate} is ahead by {by}{noise}."


def members_of(candidate: Candidate | Average) -> tuple[Candidate, ...]:
    """The candidates that are averaged; of a single one, itself."""
    return candidate.members if isinstance(candidate, Average) else (candidate,)


def _clearly_behind(trial: Trial, best: Trial) -> bool:
    """Whether it is behind by more than the standard error of the difference, paired over the folds."""
    lead = best.values - trial.values
    return bool(lead.mean() > standard_error(lead))
