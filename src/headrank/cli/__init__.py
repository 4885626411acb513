"""The command line: one file per command."""

import typer

from headrank.cli import demo

app = typer.Typer(
    help="Learn, measure and certify the head of a ranked list.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.run)


@app.callback()
def _headrank() -> None:
    """Learn, measure and certify the head of a ranked list."""
