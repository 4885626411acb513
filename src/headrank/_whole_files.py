"""Files that are written whole or not at all: under another name first, and renamed when nothing can fail any more."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp, mkstemp


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to, in the same folder; it becomes ``path`` if the block ends well, and else is removed.

    A symbolic link stays, and what it points to is written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "answer.txt") as unfinished:
    ...         _ = unfinished.write_text("42")
    ...     (Path(folder) / "answer.txt").read_text(), len(list(Path(folder).iterdir()))
    ('42', 1)
    """
    _require_name_for_file(Path(path))
    final = _behind_links(path)
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
    the same names, all or none of them, and others stay. That the files can be put in their place is tried before the
    block is run.
    """
    given = Path(path)
    if given.exists() and not given.is_dir():
        raise FileExistsError(f"{given} is a file; needed a name for a folder")
    if not overwrite and given.is_dir() and (held := min((file.name for file in given.iterdir()), default="")):
        raise FileExistsError(
            f"the folder {given} is there and not empty, as it holds {held}; name another one, or --overwrite it"
        )
    final = _behind_links(given)
    with _filled(final) if final.is_dir() else _made(final) as unfinished:
        yield unfinished


@contextmanager
def _filled(folder: Path) -> Iterator[Path]:
    """Yield a folder inside one that exists: beside it there may be another disk, or no permission to write."""
    unfinished = Path(mkdtemp(prefix=".unfinished.", dir=folder))
    try:
        _try_to_move(unfinished, folder)
        yield unfinished
        for file in unfinished.iterdir():
            _require_name_for_file(folder / file.name)
            _to_disk(file)
        _move(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """Yield a folder beside one that does not exist, which it becomes; folders around it are made as well."""
    with _parents_of(folder):
        unfinished = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            _try_to_rename(unfinished, folder)
            yield unfinished
            for file in unfinished.iterdir():
                _to_disk(file)
            unfinished.chmod(0o777 & ~_umask())
            unfinished.replace(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _parents_of(folder: Path) -> Iterator[None]:
    """Make the folders that a folder is to stand in; remove those that were made if the block fails."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:  # the innermost first; one that somebody else has used meanwhile is not empty, and stays
            with suppress(OSError):
                parent.rmdir()
        raise


def _try_to_move(unfinished: Path, folder: Path) -> None:
    probe, moved = unfinished / "probe", folder / f"{unfinished.name}.probe"
    try:
        probe.touch()
        probe.replace(moved)
    finally:
        moved.unlink(missing_ok=True)


def _try_to_rename(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.replace(folder)
        folder.replace(unfinished)
    except BaseException:
        with suppress(OSError):
            folder.rmdir()  # it was not there before
        raise


def _move(unfinished: Path, folder: Path) -> None:
    """Move all files to a folder; if one fails, or somebody stops it, the folder is as it was before."""
    files = sorted(unfinished.iterdir())
    old = Path(mkdtemp(dir=unfinished))
    with ExitStack() as undo:
        for file in files:
            final, aside = folder / file.name, old / file.name
            undo.callback(_put_back, file, final, aside)
            if os.path.lexists(final):
                final.replace(aside)
            file.replace(final)
        undo.pop_all()


def _put_back(file: Path, final: Path, aside: Path) -> None:
    """Undo the move of one file, however far it has come."""
    if os.path.lexists(aside):
        aside.replace(final)
    elif not file.exists():
        final.unlink(missing_ok=True)


def _require_name_for_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; needed a name for a file")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is a device or a pipe, which cannot be replaced; needed a name for a file")


def _behind_links(path: str | os.PathLike[str]) -> Path:
    """Return the path, or where it leads if it is a symbolic link; folders on the way may be links as they are."""
    if not os.path.islink(path):
        return Path(path)
    end = Path(os.path.realpath(path))
    if end.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link that leads back to itself", str(path))
    return end


def _to_disk(file: Path) -> None:
    """Wait until the disk has it: a name must not outlive a power cut that its content did not."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    """What the user takes from the permissions of new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
