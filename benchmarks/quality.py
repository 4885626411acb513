"""Quality of the rankers on held-out rows, compared with logistic regression and linear SVMs.

Sixteen shared sets, four measures, five splits; every model tuned on the measure itself. Test values to
``OUT/results.csv``, one row per set, measure, split and model, written whole after each cell: stop it at any time, and
the same command resumes the run. The summary goes to the screen, ``OUT/summary.txt`` and ``OUT/summary.csv``,
the figure to ``OUT/quality.png``. See quality_cells.py for what is compared.

    python benchmarks/quality.py --jobs 2              # an hour or two
    python benchmarks/quality.py --quick               # minutes: 4 small sets, 2 splits, 2 measures, 2,000 rows
    python benchmarks/quality.py --report              # the summary of the present results
    python benchmarks/quality.py --jobs 2 --again      # rerun the rankers, keep the classifiers
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import polars as pl
from joblib import Parallel, delayed, parallel_config
from quality_cells import CLASSIFIERS, MEASURES, SETS, Cell, Result, learn, read, with_tasks
from quality_summary import cases_of, plot, report, to_frame
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path("bench") / "quality"
QUICK_SETS = ("annthyroid", "letter", "mammography", "oil_spill")
QUICK_MEASURES = ("pauc@0.02", "locauc@0.05")
_KEY = ["data", "measure", "split", "model"]


def cells_of(sets: Sequence[str], measures: Sequence[str], n_splits: int) -> list[Cell]:
    """Return all cells, split by split, so that an unfinished run covers every set."""
    return [Cell(data, split, measure) for split in range(n_splits) for data in sets for measure in (None, *measures)]


def missing(cells: Iterable[Cell], measures: Sequence[str], done: pl.DataFrame) -> list[Cell]:
    """Return the cells with missing results."""
    known = set(done.select(_KEY).iter_rows())
    return [
        cell
        for cell in cells
        if any(
            (cell.data, name, cell.split, model) not in known
            for name in (measures if cell.measure is None else [cell.measure])
            for model in cell.models
        )
    ]


def read_results(file: Path, rows: int | None) -> pl.DataFrame:
    """Read the present results; raise if they have another cap on rows."""
    types = {"str": pl.String, "int": pl.Int64, "float": pl.Float64}
    schema = {field.name: types[str(field.type)] for field in fields(Result)}
    if not file.exists():
        return pl.DataFrame(schema=schema)
    results = pl.read_csv(file, schema=schema)
    others = set(results["rows"]) - {rows}
    if rows is not None and others:
        raise SystemExit(f"{file} holds results for --rows {min(others)}, not {rows}; name another folder with --out")
    return results


def write_results(results: pl.DataFrame, file: Path) -> None:
    """Write atomically: an interrupted write leaves the old file."""
    part = file.with_suffix(".part")
    results.write_csv(part)
    os.replace(part, file)


def joined(results: pl.DataFrame, new: Sequence[Result]) -> pl.DataFrame:
    """Add results, replacing older ones of the same name."""
    added = pl.DataFrame([asdict(each) for each in new], schema=results.schema)
    return pl.concat([results.join(added, on=_KEY, how="anti"), added])


def weight(cell: Cell, folder: Path, cap: int) -> float:
    """Estimate the time of a cell for the progress bar: a pass over the rows, and sorting them."""
    rows = read(folder, cell.data)
    n_train = min(0.6 * rows.y.size, cap)
    return (0.3 if cell.measure is None else 1.0) * n_train * (rows.n_stored / rows.y.size + 100)


def run(cells: Sequence[Cell], results: pl.DataFrame, file: Path, options: Any) -> None:
    """Run all cells, and write the results after each."""
    weights = {cell: weight(cell, options.data, options.rows) for cell in cells}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(15),
        TextColumn("{task.percentage:>3.0f} %, {task.fields[finished]}/{task.fields[cells]} cells"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    jobs = (delayed(_learned)(cell, options.data, measures=options.measures, cap=options.rows) for cell in cells)
    # The remaining time is estimated from the whole run: cells take from a second to a minute.
    bar = Progress(*columns, console=Console(stderr=True), speed_estimate_period=36_000)
    with bar, parallel_config(backend="loky", inner_max_num_threads=1):
        task = bar.add_task("quality", total=sum(weights.values()), finished=0, cells=len(cells))
        found = Parallel(n_jobs=options.jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")(
            jobs
        )
        for finished, (cell, new) in enumerate(found, start=1):
            results = joined(results, new)
            write_results(results, file)
            bar.update(task, advance=weights[cell], finished=finished, description=f"{cell.data:<15}")
            if not bar.console.is_terminal:
                print(f"{finished} of {len(cells)}: {cell}", file=sys.stderr, flush=True)


def _learned(cell: Cell, folder: Path, **options: Any) -> tuple[Cell, list[Result]]:
    return cell, learn(cell, folder, **options)


def tell(results: pl.DataFrame, folder: Path) -> None:
    """Print and write the summary, and plot the figure."""
    text, cases = report(results), cases_of(results)
    print(text)
    (folder / "summary.txt").write_text(text + "\n", encoding="utf-8")
    if cases:
        to_frame(cases).write_csv(folder / "summary.csv")
        plot(cases).savefig(folder / "quality.png", dpi=150)


def parsed(arguments: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description="Test values of the rankers and their rivals on the shared sets")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with load.py")
    parser.add_argument("--out", type=Path, help=f"folder of the results (default {OUT}, with --quick {OUT}-quick)")
    parser.add_argument("--sets", nargs="+", help="sets, or set:task")
    parser.add_argument("--measures", nargs="+", help=f"short names (default {' '.join(MEASURES)})")
    parser.add_argument("--splits", type=int, help="number of splits (default 5)")
    parser.add_argument(
        "--rows", type=int, help="maximum number of training rows (default 12,000); all test rows are used"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--quick", action="store_true", help="a few small sets: minutes")
    parser.add_argument(
        "--again", action="store_true", help="discard the rankers' results of these sets and splits first"
    )
    parser.add_argument("--report", action="store_true", help="only summarise the present results")
    options = parser.parse_args(arguments)
    quick = options.quick
    options.sets = options.sets or (QUICK_SETS if quick else SETS)
    options.measures = options.measures or (QUICK_MEASURES if quick else MEASURES)
    options.splits = options.splits or (2 if quick else 5)
    options.rows = options.rows or (2_000 if quick else 12_000)
    options.out = options.out or (OUT.with_name(f"{OUT.name}-quick") if quick else OUT)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing cells, then summarise."""
    options = parsed(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "results.csv"
    results = read_results(file, None if options.report else options.rows)
    if not options.report:
        cells = cells_of(with_tasks(options.data, options.sets), options.measures, options.splits)
        if options.again:
            mine = pl.DataFrame(
                [(cell.data, cell.measure, cell.split) for cell in cells], schema=_KEY[:3], orient="row"
            )
            kept = results.filter(pl.col("model").is_in(CLASSIFIERS))
            results = pl.concat([kept, results.join(kept, on=_KEY, how="anti").join(mine, on=_KEY[:3], how="anti")])
        todo = missing(cells, options.measures, results)
        try:
            run(todo, results, file, options)
        except KeyboardInterrupt:
            print("\nstopped; the same command goes on from here, --report sums up what is there", file=sys.stderr)
            raise SystemExit(130) from None
        results = read_results(file, options.rows)
    tell(results, options.out)


if __name__ == "__main__":
    main()
