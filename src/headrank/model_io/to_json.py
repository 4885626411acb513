"""export_json: write a linear model as JSON, which any language can read."""

from __future__ import annotations

import json
import os
from typing import Any

from headrank._version import __version__
from headrank._whole_files import write_file
from headrank.model_io.linear_form import LinearForm, linear_form

FORMAT = "headrank linear model"
VERSION = 1


def export_json(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a linear model as JSON: names of the features, coefficients and intercept.

    A score is the intercept plus the sum of coefficient times feature. The numbers in the file are exactly those of the
    model. If there are steps before the linear model, as in the models of ``headrank fit``, the features are the output
    of these steps. "preparation" then lists the steps, but does not contain them: the file shows what drives the score,
    but cannot score a table.

    Parameters
    ----------
    model : LinearRanker, LinearRankerCV, LogisticRegression, a pipeline that ends in one, or a TableModel of these
        A fitted model.
    path : str or path
        The file. An existing file is replaced.

    Raises
    ------
    ModelFileError
        If the model is not linear or not fitted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import headrank as hr
    >>> ranker = hr.LinearRanker("auc").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     export_json(ranker, Path(folder) / "ranker.json")
    ...     text = json.loads((Path(folder) / "ranker.json").read_text(encoding="utf-8"))
    >>> text["coefficients"] == ranker.coef_.tolist(), text["classes"], text["measure"]
    (True, [0, 1], 'auc')
    """
    text = json.dumps(_as_dict(linear_form(model)), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(path, lambda unfinished: unfinished.write_text(text + "\n", encoding="utf-8"))


def _as_dict(form: LinearForm) -> dict[str, Any]:
    measure = getattr(form.model, "measure", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "headrank": __version__,
        "model": type(form.model).__name__,
        "measure": None if measure is None else str(measure),
        "classes": form.classes.tolist(),
        "positive": form.classes.tolist()[1],
        "preparation": [type(step).__name__ for _, step in form.before],
        "features": None if form.names is None else list(form.names),
        "coefficients": form.coefficients.tolist(),
        "intercept": form.intercept,
    }
