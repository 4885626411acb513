"""save: write a fitted model to a file."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from headrank._version import __version__
from headrank._whole_files import write_file
from headrank.exceptions import ModelFileError
from headrank.model_io.container import LARGEST, Manifest, pack
from headrank.model_io.dumping import dumped
from headrank.model_io.libraries import libraries
from headrank.model_io.loading import rebuilt
from headrank.model_io.payload import Foreign, canonical, inspect, size_unpacked
from headrank.model_io.registry import logical_name
from headrank.training.table_model import TableModel

_REMEDIES = {  # by name, or by the loader that would rebuild it
    "headrank.measures.ranks.RankStatistic": "its function cannot be saved: use PNormPush or WRanking",
    "FunctionNode": "functions cannot be saved: use a named measure, kernel or option instead",
    "MethodNode": "methods cannot be saved",
    "PartialNode": "functions cannot be saved",
    "RandomStateNode": "pass random_state as an int and fit again",
    "SetNode": "pass a list or a tuple instead of a set",
    "SparseMatrixNode": "fit it to dense rows",
}
_SAVED = (
    "headrank's rankers and classifiers, LogisticRegression and HistGradientBoostingClassifier, alone or in a Pipeline "
    "after TableVectorizer, SimpleImputer and scalers"
)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that `load` reads, without pickle.

    Models that `load` could not read raise here, before anything is written. The file is written completely or not at
    all. The same model gives the same bytes.

    Parameters
    ----------
    model : estimator or TableModel
        A fitted model: any ranker or classifier of headrank, scikit-learn's ``LogisticRegression`` or
        ``HistGradientBoostingClassifier``, or a pipeline that ends in one of these, with steps from skrub's
        ``TableVectorizer`` and ``SquashingScaler`` and scikit-learn's ``SimpleImputer`` and scalers.
    path : str or path
        The file. An existing file is replaced.

    Raises
    ------
    ModelFileError
        If the model is not fitted, or contains something that is not listed in `headrank.model_io.trusted`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import headrank as hr
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = hr.LinearRanker("pauc@0.3", surrogate="logistic").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(ranker, Path(folder) / "eights.headrank")
    ...     same = hr.load(Path(folder) / "eights.headrank")
    >>> bool((same.decision_function(X) == ranker.decision_function(X)).all())
    True
    """
    data = packed(model)
    write_file(path, lambda unfinished: unfinished.write_bytes(data))


def packed(model: Any) -> bytes:
    """Return the bytes of the file."""
    _require_fitted(model)
    name = f"the {type(model).__name__}"
    payload = canonical(_archive(model, name))
    unpacked = size_unpacked(payload)
    if unpacked > LARGEST:
        raise ModelFileError(f"{name} takes {unpacked:,} bytes; the limit for a model file is {LARGEST:,}")
    inspected = inspect(payload, name, unpacked=unpacked)
    if inspected.foreign:
        raise ModelFileError(f"{name} cannot be saved: it contains {'; '.join(map(_with_remedy, inspected.foreign))}")
    rebuilt(payload, name)
    manifest = Manifest(
        headrank=__version__,
        libraries=libraries(),
        model=logical_name(f"{type(model).__module__}.{type(model).__qualname__}"),
        sha256=sha256(payload).hexdigest(),
        size=len(payload),
        unpacked=unpacked,
    )
    return pack(manifest, payload)


def _require_fitted(model: Any) -> None:
    inner = model.estimator if isinstance(model, TableModel) else model
    if not hasattr(inner, "fit"):
        raise ModelFileError(f"expected a fitted model, got {type(model).__name__}; these can be saved: {_SAVED}")
    try:
        check_is_fitted(inner)
    except NotFittedError as error:
        name = type(inner).__name__
        raise ModelFileError(f"this {name} is not fitted; call fit before saving it") from error
    if not hasattr(inner, "decision_function"):
        name = type(inner).__name__
        raise ModelFileError(f"{name} cannot score rows: it has no decision_function; these can be saved: {_SAVED}")


def _archive(model: Any, name: str) -> bytes:
    try:
        return dumped(model)
    except Exception as error:  # skops raises errors of several types that name what it cannot dump
        raise ModelFileError(f"{name} cannot be saved: {error}") from error


def _with_remedy(foreign: Foreign) -> str:
    remedy = _REMEDIES.get(foreign.name) or _REMEDIES.get(foreign.loader) or f"these can be saved: {_SAVED}"
    return f"{foreign.name} ({remedy})"
