"""All commands as one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from headrank.cli import choose, compare, demo, evaluate, export, fit, monitor, plan, score, threshold
from headrank.cli._failures import EXIT_CODES, run
from headrank.cli._inputs import temporary_files

_CODES = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())


def paragraphs(text: str | None) -> str:
    r"""Join the lines of each paragraph of a docstring: typer would break the lines where the docstring does.

    >>> paragraphs("One\n    line.\n\n    Two.")
    'One line.\n\nTwo.'
    """
    return "\n\n".join(" ".join(each.split()) for each in (text or "").split("\n\n"))


app = typer.Typer(
    help="Learn, measure and certify the head of a ranked list.",
    epilog=f"Exit codes: {_CODES}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _name, _command in {
    "fit": fit,
    "score": score,
    "choose": choose,
    "monitor": monitor,
    "export": export,
    "evaluate": evaluate,
    "compare": compare,
    "threshold": threshold,
    "plan": plan,
    "demo": demo,
}.items():
    app.command(_name, help=paragraphs(_command.run.__doc__))(_command.run)


def start(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; failures are one line on stderr."""

    def command() -> Any:
        group = typer.main.get_command(app)
        with temporary_files(), group.make_context("headrank", list(arguments)) as context:
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
