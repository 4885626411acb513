"""Files that are written whole or not at all: under another name first, and renamed when nothing can fail any more."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp, mkstemp


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to, in the same folder; it becomes ``path`` if the block ends well, and else is removed.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "answer.txt") as unfinished:
    ...         _ = unfinished.write_text("42")
    ...     (Path(folder) / "answer.txt").read_text(), len(list(Path(folder).iterdir()))
    ('42', 1)
    """
    final = Path(path)
    if final.is_dir():
        raise IsADirectoryError(f"{final} is a folder; needed a name for a file")
    if not final.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {final.parent} to write {final.name} to; make it first")
    handle, name = mkstemp(prefix=f".{final.name}.", dir=final.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        _to_disk(unfinished)
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(final)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to write files to; it becomes ``path`` if the block ends well, and else is removed.

    A folder that is there already and not empty is refused, unless ``overwrite``: then the new files replace those of
    the same names, and others stay.
    """
    final = Path(path)
    if final.exists() and not final.is_dir():
        raise FileExistsError(f"{final} is a file; needed a name for a folder")
    if not overwrite and final.is_dir() and any(final.iterdir()):
        raise FileExistsError(f"the folder {final} is there and not empty; name another one, or --overwrite it")
    final.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(prefix=f".{final.name}.", dir=final.parent))
    try:
        yield unfinished
        for file in unfinished.iterdir():
            _to_disk(file)
        unfinished.chmod(0o777 & ~_umask())
        if final.is_dir() and any(final.iterdir()):
            for file in unfinished.iterdir():
                file.replace(final / file.name)
        else:
            unfinished.replace(final)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _to_disk(file: Path) -> None:
    """Wait until the disk has it: a name must not outlive a power cut that its content did not."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    """What the user takes from the permissions of new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
