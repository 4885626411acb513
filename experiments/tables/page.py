"""The page of the tables, written from the results file and the declarations, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, sqrt

from experiments.tables.protocol import Outcome, Table
from experiments.tables.summary import Line, lines_of

_HEAD = """\
# The papers' tables

The experiments that the papers printed, run again with headrank: the same protocol as far as it is known, all methods
of each table that exist here, and data of the same kind where the paper's own are not available. `make tables` runs
what is missing in the results file, `experiments/tables/results.csv`, and writes this page. `make tables QUICK=1` runs
a few tasks and 3 splits in a folder of its own: a run took 7 minutes on two cores that were busy with other work, too,
and 10 minutes of processor time. Every number in the tables below is computed from the results file; a number in the
text comes with the command that prints it, or says that it is from a separate run.

Values are means over random splits, ± one standard error; splits share rows, so it is somewhat too small. *p* is that
of Wilcoxon's signed-rank test against the first method, paired over the splits (and targets); a star marks those below
0.05, the paper's level. Methods in italics are not in the paper's table. *Collapsed* counts final fits with weights of
(nearly) 0 and a certificate that no other weights are much better; *not converged* counts final fits that reached their
limit of evaluations before their certified gap was small. *Seconds* are processor seconds of choosing the setting and
of the final fit.
"""


def page(tables: Sequence[Table], found: Sequence[Outcome]) -> str:
    """Return the page in Markdown."""
    return "\n".join([_HEAD, *(section(table, found) for table in tables)])


def section(table: Table, found: Sequence[Outcome]) -> str:
    """Return one table: protocol, values, order, and what was found."""
    mine = [each for each in found if each.table == table.name]
    parts = [f"## {table.title}", "", f"**The paper states.** {table.paper_says}", ""]
    parts += [f"**Decided here.** {table.decided}", ""]
    for title, outcomes in _blocks(table, mine):
        parts += [*_block(table, title, outcomes), ""]
    if not mine:
        parts += ["No results yet.", ""]
    parts += [f"**Order in the paper:** {_ending(table.published.order)}", ""]
    if table.found:
        parts += [f"**Found.** {table.found}", ""]
    return "\n".join(parts)


def _blocks(table: Table, found: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """One block per family of tasks: those with one set and several targets are pooled, as the paper does."""
    families = list(dict.fromkeys(name.partition(":")[0] for name in table.task_names))
    blocks = []
    for family in families:
        outcomes = [each for each in found if each.task.partition(":")[0] == family]
        if outcomes:
            blocks.append((family, outcomes))
    return blocks


def _block(table: Table, title: str, found: Sequence[Outcome]) -> list[str]:
    tasks = {each.task for each in found}
    names = [method.name for method in table.methods if all(method in table.methods_of(task) for task in tasks)]
    measures = list(dict.fromkeys(each.measure for each in found))
    by_measure = {measure: lines_of(found, measure=measure, methods=names) for measure in measures}
    by_measure = {measure: lines for measure, lines in by_measure.items() if lines}
    if not by_measure:
        return [f"`{title}`: no split is finished by all methods."]
    first = next(iter(by_measure.values()))
    n_tasks = len(tasks)
    targets = f"{n_tasks} targets, " if n_tasks > 1 else ""
    text = [f"### {title}: {targets}{first[0].n // n_tasks} splits", ""]
    heads = [f"`{measure}` | rank | p" for measure in by_measure]
    published = {method: (mean, sd) for task, method, mean, sd in table.published.values if _same(task, title)}
    heads += ["published ± s.e. | difference"] * bool(published) + ["collapsed", "not converged", "seconds"]
    text += ["| method | " + " | ".join(heads) + " |"]
    text += ["| --- |" + " --- |" * (text[-1].count("|") - 2)]
    in_paper = {method.name: method.in_paper for method in table.methods}
    for i, line in enumerate(first):
        cells = [line.method if in_paper[line.method] else f"*{line.method}*"]
        for lines in by_measure.values():
            each = lines[i]
            cells += [f"{each.mean:.3f} ± {each.standard_error:.3f}", str(each.rank), _p(each)]
        if published:
            cells += _published(line, published.get(line.method), table.published.n_splits)
        counts = [str(count or "") for count in (line.n_collapsed, line.n_unfinished)]
        text.append("| " + " | ".join([*cells, *counts, f"{line.seconds:.1f}"]) + " |")
    order = sorted(first, key=lambda line: line.rank)
    text += ["", f"Order here: {', '.join(line.method for line in order)}. {_verdict(first)}"]
    return text


def _same(task: str, title: str) -> bool:
    return title == task or title.startswith(f"{task}, ")


def _published(line: Line, known: tuple[float, float] | None, n_splits: int) -> list[str]:
    """Return the published value with its standard error, and the difference in units of it."""
    if known is None:
        return ["", ""]
    mean, deviation = known
    if isnan(deviation):
        return [f"{mean:.3f}", f"{line.mean - mean:+.3f}"]
    error = deviation / sqrt(n_splits)
    return [f"{mean:.3f} ± {error:.3f}", f"{line.mean - mean:+.3f} ({(line.mean - mean) / error:+.1f} s.e.)"]


def _p(line: Line) -> str:
    return "" if isnan(line.p_value) else f"{line.p_value:.3f}" + "*" * line.significant


def _verdict(lines: Sequence[Line]) -> str:
    """Say which methods differ significantly from the first."""
    first, *others = lines
    better = [line.method for line in others if line.significant and line.ahead]
    worse = [line.method for line in others if line.significant and not line.ahead]
    parts = [
        f"significantly {word} than {first.method}: {', '.join(names)}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    text = "; ".join(parts) or f"no method differs significantly from {first.method}"
    if first.n < 6:
        text += f" ({first.n} pairs cannot be significant at 95 %)"
    return _ending(text[0].upper() + text[1:])


def _ending(text: str) -> str:
    return text if text.endswith(".") else text + "."
