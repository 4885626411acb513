"""load: a file becomes a model again, if every check agrees."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import headrank
from headrank._extras import needs_extra
from headrank._whole_files import as_path
from headrank.exceptions import ModelFileError
from headrank.model_io.container import LARGEST, unpack
from headrank.model_io.contents import faults
from headrank.model_io.libraries import differing, differing_classes
from headrank.model_io.payload import for_skops, inspect
from headrank.model_io.registry import is_unknown
from headrank.model_io.trusted import names


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. Nothing in the file is run, and nothing is built before all of it is checked.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or TableModel
        With the same scores, to the last bit, where the same versions of the libraries are installed. Where
        scikit-learn or skrub have another version, and the model is made of their classes, a warning says so.

    Raises
    ------
    ModelFileError
        No such file, no headrank model, of a later format, damaged, changed, or holding foreign types.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "notes.txt").write_text("no model")
    ...     load(Path(folder) / "notes.txt")
    Traceback (most recent call last):
    headrank.exceptions.ModelFileError: notes.txt is no headrank model: it is no zip archive
    """
    file = as_path(path)
    name = file.name
    manifest, payload = unpack(_read(file), name)
    wrote = f"it was written by headrank {manifest.headrank}"
    others = differing(manifest.libraries)
    inspected = inspect(payload, name, unpacked=manifest.unpacked)
    if inspected.foreign:
        foreign = ", ".join(each.name for each in inspected.foreign)
        if all(is_unknown(each.name) for each in inspected.foreign):
            raise ModelFileError(
                f"{name} holds {foreign}, which headrank {headrank.__version__} does not know; {wrote}: update headrank"
            )
        raise ModelFileError(
            f"{name} holds types that a headrank model has no use for, so nothing of it was loaded: {foreign}"
        )
    try:
        model = rebuilt(payload, name)
    except ModelFileError as error:
        with_others = f" with other versions than those here: {others}; install these" if others else ""
        raise ModelFileError(f"{error}; {wrote}{with_others}") from error
    outdated = differing_classes(manifest.libraries, inspected.libraries)
    if outdated:
        warnings.warn(
            f"{name} was written with {outdated}: its scores may differ; check some that you know, or install that "
            "version",
            UserWarning,
            stacklevel=2,
        )
    return model


def rebuilt(payload: bytes, name: str) -> Any:
    """Build the model from a payload that has been inspected, and see whether it can be used."""
    with needs_extra("cli"):
        import skops.io  # takes a second, as it imports all of scikit-learn
        from sklearn.exceptions import InconsistentVersionWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = skops.io.loads(for_skops(payload), trusted=names())
    except Exception as error:  # anything can go wrong with the attributes of another version
        raise ModelFileError(f"{name} cannot be rebuilt ({type(error).__name__}: {error})") from error
    found = faults(model)
    if found:
        raise ModelFileError(f"{name} holds a model that cannot be used: {'; '.join(found)}")
    if not hasattr(model, "decision_function"):
        raise ModelFileError(f"{name} holds a {type(model).__name__}, which scores no rows")
    return model


def _read(file: Path) -> bytes:
    if file.is_dir():
        raise ModelFileError(f"{file.name} is a folder; expected a model file")
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {file}; check the name") from error
    except OSError as error:
        raise ModelFileError(f"{file.name} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise ModelFileError(f"{file.name} is larger than the {LARGEST:,} bytes a model file may have")
    return data
