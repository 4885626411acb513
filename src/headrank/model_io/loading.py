"""load: read a model from a file after checking it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from headrank._extras import needs_extra
from headrank._version import __version__
from headrank._whole_files import as_path
from headrank.exceptions import ModelFileError
from headrank.model_io.container import LARGEST, unpack
from headrank.model_io.contents import faults
from headrank.model_io.libraries import differing, differing_classes
from headrank.model_io.payload import for_skops, inspect
from headrank.model_io.registry import is_unknown
from headrank.model_io.trusted import names


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. No code from the file is executed, and nothing is built before all checks.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator or TableModel
        The model. With the same versions of the libraries, its scores are identical to the last bit.

    Raises
    ------
    ModelFileError
        If the file does not exist, is not a headrank model, has a later format, is damaged or modified, or contains
        unsupported types.

    Warns
    -----
    UserWarning
        If the model contains classes of scikit-learn or skrub and was written by another version of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "notes.txt").write_text("no model")
    ...     load(Path(folder) / "notes.txt")
    Traceback (most recent call last):
    headrank.exceptions.ModelFileError: notes.txt is not a headrank model: it is not a zip archive
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
                f"{name} contains {foreign}, unknown to headrank {__version__}; {wrote}: update headrank"
            )
        raise ModelFileError(
            f"{name} contains types that are not allowed in a headrank model, so it was not loaded: {foreign}"
        )
    try:
        model = rebuilt(payload, name)
    except ModelFileError as error:
        with_others = f" with versions that differ from those installed: {others}; install these" if others else ""
        raise ModelFileError(f"{error}; {wrote}{with_others}") from error
    outdated = differing_classes(manifest.libraries, inspected.libraries)
    if outdated:
        warnings.warn(
            f"{name} was written with {outdated}: its scores may differ; compare some with known ones, or install "
            "that version",
            UserWarning,
            stacklevel=2,
        )
    return model


def rebuilt(payload: bytes, name: str) -> Any:
    """Build the model from an inspected payload; raise if it cannot be used."""
    with needs_extra("cli"):
        import skops.io  # takes a second: it imports all of scikit-learn
        from sklearn.exceptions import InconsistentVersionWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = skops.io.loads(for_skops(payload), trusted=names())
    except Exception as error:  # attributes of another version may fail in any way
        raise ModelFileError(f"{name} cannot be rebuilt ({type(error).__name__}: {error})") from error
    found = faults(model)
    if found:
        raise ModelFileError(f"{name} contains a model that cannot be used: {'; '.join(found)}")
    if not hasattr(model, "decision_function"):
        raise ModelFileError(f"{name} contains a {type(model).__name__}, which cannot score rows")
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
