"""``headrank plan``: how many rows does it take to know the AUC?"""

from __future__ import annotations

from typing import Annotated

import typer

from headrank.cli import options
from headrank.cli.failures import about_option
from headrank.cli.printing import console, print_json

METHODS = ("mcdiarmid", "hoeffding", "kl", "bernstein")


def run(
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="How far the estimate may be from either end of its interval: 0.05.")
    ],
    positive_rate: Annotated[float, typer.Option(metavar="P", help="Share of positives among the rows: 0.02.")],
    confidence: options.Confidence = 0.95,
    auc: Annotated[
        float | None, typer.Option(metavar="A", help="The AUC to expect; near 1 far fewer rows are needed.")
    ] = None,
    scorers: Annotated[int, typer.Option(metavar="N", help="Scorers for which it shall hold at once.")] = 1,
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"The interval that will be used: {', '.join(METHODS)}.")
    ] = "kl",
    json: options.Json = False,
) -> None:
    """Plan a sample that is large enough to know the AUC, for any distribution. No data are needed.

    Example: headrank plan --epsilon 0.05 --confidence 0.95 --positive-rate 0.02 --auc 0.9
    """
    from headrank.bounds.planning import plan

    if method not in METHODS:
        raise typer.BadParameter(f"needed one of {', '.join(METHODS)}, got {method!r}", param_hint="'--method'")
    with about_option():
        found = plan(
            epsilon=epsilon,
            confidence=confidence,
            positive_rate=positive_rate,
            method=method,  # type: ignore[arg-type]
            n_scorers=scorers,
            auc=auc,
        )
    if json:
        counts = ("n", "n_pos", "n_neg", "error_rate_n")
        print_json({"command": "plan", **vars(found), **{name: getattr(found, name) for name in counts}})
    console(as_json=json).print(f"{found}.")
