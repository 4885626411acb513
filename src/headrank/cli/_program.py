"""All commands as one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from headrank.cli import choose, compare, demo, evaluate, export, fit, monitor, plan, score, threshold
from headrank.cli._failures import EXIT_CODES, run

_CODES = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    help="Learn, measure and certify the head of a ranked list.",
    epilog=f"Exit codes: {_CODES}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("fit")(fit.run)
app.command("score")(score.run)
app.command("choose")(choose.run)
app.command("monitor")(monitor.run)
app.command("export")(export.run)
app.command("evaluate")(evaluate.run)
app.command("compare")(compare.run)
app.command("threshold")(threshold.run)
app.command("plan")(plan.run)
app.command("demo")(demo.run)


def start(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; failures are one line on stderr."""

    def command() -> Any:
        group = typer.main.get_command(app)
        with group.make_context("headrank", list(arguments)) as context:
            return group.invoke(context)

    return run(command)


def _version(wanted: bool) -> None:
    if wanted:
        from headrank import __version__

        typer.echo(f"headrank {__version__}")
        raise typer.Exit


@app.callback()
def _headrank(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn, measure and certify the head of a ranked list."""
