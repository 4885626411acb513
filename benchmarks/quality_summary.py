"""Summary of the results: means, standard errors, the two goals of the benchmark, and a figure.

A case is one set with one measure. Standard errors are those of the paired differences over splits, as if splits were
independent; they share rows, so they are somewhat too small.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from quality_cells import CHOICE, CLASSIFIER_CS, MEASURES, MODELS, RIVALS

from headrank.plots.drawing import COLOURS
from headrank.surrogates import KINDS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Key: TypeAlias = tuple[str, str]
"""Set and measure."""
Cases: TypeAlias = dict[Key, dict[str, Any]]
"""Test values per case and model, one per split; the splits are the same for all models."""

REGRETTED = 1.0
"""First goal: standard errors by which the choice may trail the best single rival."""
CLEAR = 2.0
"""Second goal: standard errors by which it should lead tuned logistic regression, on this share of the cases."""
SHARE = 1 / 3
BASELINE = "logistic"
PROTOTYPE = {
    ("mammography", "pauc@0.02"): (0.544, 0.613),
    ("mammography", "pauc@0.02:0.05"): (0.719, 0.791),
    ("annthyroid", "pauc@0.02"): (0.610, 0.727),
    ("letter", "pauc@0.02:0.05"): (0.912, 0.951),
}
"""Logistic regression and a rough smooth prototype, on four splits: the figures to beat of issue 4."""


@dataclass(frozen=True)
class Difference:
    """Difference of two models, paired over splits."""

    case: Key
    rival: str
    mean: float
    standard_error: float

    def ahead(self, times: float) -> bool:
        """Whether it leads by more than this many standard errors; False with a single split."""
        return not isnan(self.standard_error) and self.mean > times * self.standard_error

    def behind(self, times: float) -> bool:
        """Whether it trails by more than this many standard errors."""
        return not isnan(self.standard_error) and -self.mean > times * self.standard_error

    def __str__(self) -> str:
        ratio = self.mean / self.standard_error if self.standard_error > 0 else inf
        data, measure = self.case
        return f"{data:<18}{measure:<16}{self.mean:+.4f} ± {self.standard_error:.4f} ({ratio:+.1f}) {self.rival}"


def standard_error(values: Any) -> float:
    """Return the standard error of a mean; NaN for one value."""
    return float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else nan


def cases_of(results: pl.DataFrame) -> Cases:
    """Sort the results by case and model; splits not finished by all models are excluded."""
    values: dict[Key, dict[int, dict[str, float]]] = {}
    for row in results.iter_rows(named=True):
        by_split = values.setdefault((row["data"], row["measure"]), {})
        by_split.setdefault(row["split"], {})[row["model"]] = row["value"]
    cases: Cases = {}
    for key in sorted(values, key=lambda key: (key[0], _place(key[1]))):
        whole = [by_model for _, by_model in sorted(values[key].items()) if set(by_model) >= set(MODELS)]
        if whole:
            cases[key] = {model: np.array([by_model[model] for by_model in whole]) for model in MODELS}
    return cases


def difference(case: Key, by_model: Mapping[str, Any], rival: str, model: str = CHOICE) -> Difference:
    """Return the lead of a model over a rival."""
    lead = by_model[model] - by_model[rival]
    return Difference(case, rival, float(lead.mean()), standard_error(lead))


def best_rival(by_model: Mapping[str, Any], model: str = CHOICE) -> str:
    """Return the other single rival with the best mean on the test rows, which is known only in hindsight."""
    return max((rival for rival in RIVALS if rival != model), key=lambda rival: by_model[rival].mean())


def against_best(cases: Cases, model: str = CHOICE) -> list[Difference]:
    """Compare a model with the best other single rival of each case."""
    return [difference(case, by_model, best_rival(by_model, model), model) for case, by_model in cases.items()]


def against(cases: Cases, rival: str) -> list[Difference]:
    """Compare the choice with one rival."""
    return [difference(case, by_model, rival) for case, by_model in cases.items()]


def to_frame(cases: Cases) -> pl.DataFrame:
    """One row per case and model."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "data": data,
                "measure": measure,
                "model": model,
                "mean": float(values.mean()),
                "standard_error": standard_error(values),
                "lead_of_choice": float((by_model[CHOICE] - values).mean()),
                "standard_error_of_lead": standard_error(by_model[CHOICE] - values),
                "n_splits": len(values),
            }
            for (data, measure), by_model in cases.items()
            for model, values in by_model.items()
        ]
    )


# --- In words ---------------------------------------------------------------------------------------------------


def report(results: pl.DataFrame) -> str:
    """Return the table, the two goals, the wins, the choices and the warnings as text."""
    cases = cases_of(results)
    if not cases:
        return "no case is finished yet"
    parts = [table(cases), goals(cases), wins(cases), figures_to_beat(cases), choices(results), costs(results)]
    return "\n\n".join(part for part in parts if part)


def table(cases: Cases) -> str:
    """Return mean and standard error of every model, with the best marked."""
    width = max(len(data) for data, _ in cases) + 2
    lines = [f"{'test value ± s.e.':<{width}}{'':<16}{'splits':<6}" + "".join(f"{model:>16}" for model in MODELS)]
    for (data, measure), by_model in cases.items():
        best = max(values.mean() for values in by_model.values())
        line = f"{data:<{width}}{measure:<16}{len(by_model[CHOICE]):<6}"
        for values in by_model.values():
            mark = "*" if values.mean() == best else " "
            line += f"{f'{values.mean():.3f} ± {standard_error(values):.3f}':>15}{mark}"
        lines.append(line.rstrip())
    return "\n".join([*lines, "* highest mean over splits"])


def goals(cases: Cases) -> str:
    """Say whether both goals are met, and where not."""
    best, baseline = against_best(cases), against(cases, BASELINE)
    regretted = sorted((each for each in best if each.behind(REGRETTED)), key=lambda each: each.mean)
    ahead = sorted((each for each in baseline if each.ahead(CLEAR)), key=lambda each: -each.mean)
    behind = sorted((each for each in baseline if each.behind(CLEAR)), key=lambda each: each.mean)
    n, short = len(cases), sum(isnan(each.standard_error) for each in best)
    lines = [f"{short} of {n} cases have one split so far and decide nothing"] if short else []
    lines += [
        f"Goal 1, {CHOICE} nowhere behind the best single rival by more than {REGRETTED:g} s.e. of the paired "
        f"difference: {_met(not regretted)}, behind in {len(regretted)} of {n} cases",
        *(f"  {each}" for each in regretted),
        f"  mean over all cases: {np.mean([each.mean for each in best]):+.4f} against the best rival of each case "
        "(the best of six in hindsight, so somewhat below 0 even for a perfect choice)",
        f"Goal 2, ahead of tuned {BASELINE} regression by more than {CLEAR:g} s.e. in a third of the cases: "
        f"{_met(len(ahead) >= SHARE * n)}, ahead in {len(ahead)} of {n} ({len(ahead) / n:.0%}), behind by as much in "
        f"{len(behind)}; mean difference {np.mean([each.mean for each in baseline]):+.4f}",
        *(f"  ahead   {each}" for each in ahead),
        *(f"  behind  {each}" for each in behind),
    ]
    return "\n".join(lines)


def wins(cases: Cases) -> str:
    """Count how often each model has the highest mean, and compare each rival with the choice."""
    counts: Counter[str] = Counter()
    for by_model in cases.values():
        best = max(values.mean() for values in by_model.values())
        counts.update(model for model, values in by_model.items() if values.mean() == best)
    lines = ["Highest mean (ties count for each): " + ", ".join(f"{model} {counts[model]}" for model in MODELS)]
    regrets = {model: [each.behind(REGRETTED) for each in against_best(cases, model)] for model in MODELS}
    lines.append(
        f"Behind the best other rival by more than {REGRETTED:g} s.e. "
        "(best in hindsight, so some always are): " + ", ".join(f"{model} {sum(regrets[model])}" for model in MODELS)
    )
    for rival in RIVALS:
        leads = against(cases, rival)
        ahead, behind = (sum(getattr(each, side)(CLEAR) for each in leads) for side in ("ahead", "behind"))
        mean = np.mean([each.mean for each in leads])
        lines.append(f"  {CHOICE} against {rival:<12} {mean:+.4f} on average; by 2 s.e. ahead {ahead}, behind {behind}")
    return "\n".join(lines)


def figures_to_beat(cases: Cases) -> str:
    """Compare with the figures of the prototype."""
    lines = []
    for (data, measure), (logistic, smooth) in PROTOTYPE.items():
        if (data, measure) in cases:
            mine = {model: values.mean() for model, values in cases[data, measure].items()}
            lines.append(
                f"  {data:<14}{measure:<16}prototype {logistic:.3f} -> {smooth:.3f}; here {BASELINE} "
                f"{mine[BASELINE]:.3f}, smooth {mine['smooth']:.3f}, {CHOICE} {mine[CHOICE]:.3f}"
            )
    return "\n".join(["Figures to beat (other splits):", *lines]) if lines else ""


def choices(results: pl.DataFrame) -> str:
    """What `LinearRankerCV` chose, and warnings by model."""
    chosen = [_members(text) for text in results.filter(model=CHOICE)["chosen"]]
    among = Counter(name for members in chosen for name in {member.split()[0] for member in members})
    lines = [f"{CHOICE} chose an average in {sum(len(members) > 1 for members in chosen)} of {len(chosen)} fits"]
    lines.append("  among what it chose: " + ", ".join(f"{name} {n}" for name, n in among.most_common()))
    edge = Counter(
        row["model"]
        for row in results.iter_rows(named=True)
        if row["model"] != CHOICE and f"C={_end_of_grid(row['chosen']):g}" in row["chosen"].split()
    )
    lines.append("  chose the largest C of its grid: " + ", ".join(f"{model} {edge[model]}" for model in RIVALS))
    remarks = Counter(
        (row["model"], remark) for row in results.iter_rows(named=True) for remark in (row["remarks"] or "").split()
    )
    lines += [f"  {model}: {remark} in {n} fits" for (model, remark), n in sorted(remarks.items())]
    return "\n".join(lines)


def costs(results: pl.DataFrame) -> str:
    """Processor seconds by set: the classifiers for all measures, LinearRankerCV for one, on average."""
    import polars as pl

    lines = [f"{'processor seconds of tuning and fit':<38}{'rows':>7}{'features':>9}{'logistic':>10}{'LinearSVC':>10}"]
    lines[0] += f"{CHOICE:>16}{'slowest':>9}"
    for part in results.sort("data").partition_by("data", maintain_order=True):
        mean = dict(part.group_by("model").agg(pl.col("cpu_seconds").mean()).iter_rows())
        slowest = part.filter(model=CHOICE)["cpu_seconds"].max() or nan
        lines.append(
            f"{part['data'][0]:<38}{part['n_train'][0]:>7}{part['n_features'][0]:>9}{mean.get(BASELINE, nan):>10.1f}"
            f"{mean.get('LinearSVC', nan):>10.1f}{mean.get(CHOICE, nan):>16.1f}{slowest:>9.1f}"
        )
    total = results.filter(pl.col("model") == CHOICE)["seconds"].sum()
    return "\n".join([*lines, f"{CHOICE}: {total / 60:.0f} minutes in all by the clock"])


def _members(chosen: str) -> list[str]:
    """Return the members of an average, without the starting points of its smooth members."""
    return re.sub(r" from \([^)]*\)", "", chosen).split(" + ")


def _end_of_grid(chosen: str) -> float:
    """The largest C of the grid that a choice was made from."""
    name = chosen.split()[0].replace("auc", "tight")  # the hinge of the whole curve
    return max(KINDS[name].Cs if name in KINDS else CLASSIFIER_CS)


def _met(met: bool) -> str:
    return "met" if met else "NOT met"


def _place(measure: str) -> tuple[int, str]:
    return (MEASURES.index(measure) if measure in MEASURES else len(MEASURES), measure)


# --- Figure -----------------------------------------------------------------------------------------------------


def plot(cases: Cases, *, rival: str = BASELINE) -> Figure:
    """Plot the lead of the choice over a rival in each case, with bars of two standard errors."""
    from matplotlib.figure import Figure

    sets = sorted({data for data, _ in cases}, reverse=True)
    measures = sorted({measure for _, measure in cases}, key=_place)
    figure = Figure(figsize=(3.1 * len(measures) + 1.5, 0.27 * len(sets) + 1.9), layout="constrained")
    panels: Sequence[Any] = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    looks = {"ahead": (COLOURS[0], "o"), "behind": (COLOURS[1], "s"), "unclear": ("0.55", "D")}
    labels = {
        "ahead": f"{CHOICE} ahead by more than 2 s.e.",
        "behind": "behind by more than 2 s.e.",
        "unclear": "neither",
    }
    for ax, measure in zip(panels, measures, strict=True):
        ax.axvline(0, color="0.3", linewidth=0.8)
        for each in against({case: by_model for case, by_model in cases.items() if case[1] == measure}, rival):
            side = "ahead" if each.ahead(CLEAR) else "behind" if each.behind(CLEAR) else "unclear"
            colour, marker = looks[side]
            bar = 0.0 if isnan(each.standard_error) else CLEAR * each.standard_error
            ax.errorbar(
                each.mean,
                sets.index(each.case[0]),
                xerr=bar,
                color=colour,
                marker=marker,
                markersize=4.5,
                linewidth=1.3,
            )
        ax.set_title(measure, fontsize=10)
        ax.grid(axis="x", alpha=0.25)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_yticks(range(len(sets)), sets)
    handles = [
        panels[0].plot([], [], color=looks[side][0], marker=looks[side][1], linestyle="", label=labels[side])[0]
        for side in looks
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(
        f"Test measure of {CHOICE} minus that of tuned {rival} regression; bars: two standard errors over splits",
        fontsize=11,
    )
    return figure
