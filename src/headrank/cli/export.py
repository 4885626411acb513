"""``headrank export``: write a model for runtimes without headrank."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headrank.cli._failures import WRONG_USE, CommandError, about_input, about_output, after_writing
from headrank.cli._printing import console


class Precision(StrEnum):
    """Precision of the computation."""

    float64 = "float64"
    float32 = "float32"


def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by headrank fit or headrank.save.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file, ending in .onnx.")],
    precision: Annotated[Precision, typer.Option(help="Precision of the computation and the scores.")] = (
        Precision.float64
    ),
) -> None:
    """Write a model as ONNX, which scores rows without headrank and without Python.

    The file has one input per column that the model uses, with its name, and the output score.

    Example: headrank export result/model --out model.onnx
    """
    from headrank.exceptions import ModelFileError
    from headrank.model_io import export_onnx, load

    if out.suffix.lower() != ".onnx":
        raise typer.BadParameter(f"expected a name ending in .onnx, got {out.name!r}", param_hint="'--out'")
    with about_input(model):
        fitted = load(model)
    with about_output(out):
        try:
            export_onnx(fitted, out, precision=precision.value)
        except ModelFileError as error:
            raise CommandError(f"{model} cannot be exported: {error}") from error
        except ModuleNotFoundError as error:
            raise CommandError(str(error), WRONG_USE) from error
    with after_writing(out):
        console().print(f"Wrote the model to {out}, for onnxruntime 1.24.1 or later.")
