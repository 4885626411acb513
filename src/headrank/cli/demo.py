"""``headrank demo``: ``headrank fit`` on real data that comes with the package."""

from pathlib import Path
from typing import Annotated

import typer

from headrank.cli import _options as options
from headrank.cli._fitting import FitOptions, fit_and_write
from headrank.cli._inputs import input_of
from headrank.cli._printing import console
from headrank.cli._sources import Source, TableColumns, table_source

TABLE = "digits.csv"


def run(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")] = Path("demo"),
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Run headrank fit on included data: which of 1,797 handwritten digits are eights?

    Example: headrank demo --out demo
    """
    from headrank.datasets import coarse_eights_table
    from headrank.training.goal import Goal

    goal = Goal(max_fpr=0.05)
    command = f"headrank fit {TABLE} --target eight --positive-name eight {goal.option} --out result"
    screen = console(as_json=json)
    screen.print(f"Which of 1,797 handwritten digits, at 4 x 4 pixels, are eights?\nSame as: {command}\n")

    def source(folder: Path) -> Source:
        (folder / TABLE).write_text(coarse_eights_table().write_csv(), encoding="utf-8")
        return table_source(input_of([folder / TABLE]), TableColumns("eight"))

    fit_and_write(
        source, FitOptions(goal, positive_name="eight", command=command), out=out, overwrite=overwrite, as_json=json
    )
