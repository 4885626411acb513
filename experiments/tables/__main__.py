"""Run the papers' tables: what is missing in the results file, then the summary and the page.

python -m experiments.tables                       # all tables as printed: many hours; it can be stopped and resumed
python -m experiments.tables --quick --jobs 2      # a few tasks, 3 splits of each: 7 minutes on busy cores
python -m experiments.tables --only froc --splits 5
python -m experiments.tables --report              # the page from the present results, nothing is run: a second
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments._timing import timed
from experiments.tables import cheminformatics, froc, proteins, retrieval, tau_fpl, top_push
from experiments.tables.page import page
from experiments.tables.protocol import Cell, Outcome, Table, cells_of, outcomes
from experiments.tables.results import missing, read_results, write_results

TABLES: dict[str, Table] = {
    module.TABLE.name: module.TABLE for module in (cheminformatics, retrieval, proteins, froc, top_push, tau_fpl)
}
_ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results.csv"
PAGE = _ROOT / "docs" / "tables.md"
QUICK = Path("bench") / "tables-quick"


def run(cells: Sequence[Cell], found: list[Outcome], file: Path, *, folder: Path, jobs: int) -> list[Outcome]:
    """Run cells in parallel, and write the results after each."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(15),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # The remaining time is estimated from the whole run: cells take from less than a second to minutes.
    bar = Progress(*columns, console=Console(stderr=True), speed_estimate_period=36_000)
    with bar, parallel_config(backend="loky", inner_max_num_threads=1):
        task = bar.add_task("tables", total=len(cells))
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        for finished, (cell, new) in enumerate(parallel(delayed(_run)(cell, folder) for cell in cells), start=1):
            found = [*found, *new]
            write_results(found, file)
            bar.update(task, advance=1, description=f"{cell.table:<15}")
            if not bar.console.is_terminal:
                print(
                    f"{finished} of {len(cells)}: {cell}: {new[0].value:.4f}, {new[0].seconds:.1f} s", file=sys.stderr
                )
    return found


def _run(cell: Cell, folder: Path) -> tuple[Cell, list[Outcome]]:
    return cell, outcomes(TABLES[cell.table], cell, folder)


def wanted(options: Any) -> list[Cell]:
    """Return the cells of the chosen tables, tasks and splits."""
    cells: list[Cell] = []
    for name in options.only:
        table = TABLES[name]
        tasks = options.tasks or (table.quick_tasks if options.quick else table.task_names)
        n_splits = options.splits or (table.n_quick_splits if options.quick else table.n_splits)
        cells += cells_of(table, tasks=[name for name in table.task_names if name in tasks], n_splits=n_splits)
    return sorted(cells, key=lambda cell: cell.split)


def parsed(arguments: Sequence[str] | None) -> Any:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tables",
        description="Run the papers' tables with all their methods, and write docs/tables.md. As printed it takes "
        "hours; stop it at any time, and the same command resumes. With --quick, a run took "
        "7 minutes on two cores that were busy with other work, too, and 10 minutes of processor time.",
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), help="tables to run")
    parser.add_argument("--tasks", nargs="+", help="tasks to run; others of the table are left out")
    parser.add_argument("--splits", type=int, help="number of splits of each task (default: as in the paper, quick: 3)")
    parser.add_argument("--data", type=Path, default=_ROOT.parent / "shared" / "data", help="folder with load.py")
    parser.add_argument("--results", type=Path, help="the results file (default: that of the repository)")
    parser.add_argument("--page", type=Path, help="where to write the page (default: docs/tables.md)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument(
        "--quick", action="store_true", help="a few tasks, 3 splits; results and page in bench/tables-quick"
    )
    parser.add_argument("--report", action="store_true", help="only write the page from the present results")
    options = parser.parse_args(arguments)
    options.results = options.results or (QUICK / "results.csv" if options.quick else RESULTS)
    options.page = options.page or (QUICK / "tables.md" if options.quick else PAGE)
    return options


@timed
def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, write the page and print it."""
    options = parsed(arguments)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    found = read_results(options.results)
    if not options.report:
        try:
            found = run(missing(wanted(options), found), found, options.results, folder=options.data, jobs=options.jobs)
        except KeyboardInterrupt:
            print("\nstopped; the same command resumes, --report writes the page of what is there", file=sys.stderr)
            raise SystemExit(130) from None
    text = page(list(TABLES.values()), read_results(options.results))
    options.page.write_text(text, encoding="utf-8")
    print(text)
    print(f"page: {options.page}; results: {options.results}", file=sys.stderr)


if __name__ == "__main__":
    main()
