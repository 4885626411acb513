"""Atomic writing of files and folders: complete or not at all, even if the process is killed.

New content is prepared in a work folder, ``.NAME.headrank`` beside its destination, and put in place by one rename. An
existing folder is exchanged with the new one atomically if the system supports it. Otherwise its files are moved one by
one, first the old ones out and then the new ones in, so that files of two runs are never mixed. What a killed process
leaves in its work folder is finished, undone or removed by the next run with the same destination.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from headrank._interrupts import HeldInterrupts

T = TypeVar("T")
_INSIDE = ".headrank"
"""The work folder inside a destination whose parent is on another disk or not writable."""
_PROBE = ".headrank.probe"
_NEW, _OLD, _REPLACED, _LOCK = "new", "old", "replaced", "lock"


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the path given by a caller, or raise."""
    try:
        return Path(path)
    except TypeError:
        raise TypeError(f"path must be a str or a pathlib.Path, got a {type(path).__name__}") from None


def write_file(path: str | os.PathLike[str], write: Callable[[Path], T]) -> T:
    """Call ``write`` with a temporary path; the file is moved to ``path`` on success and removed on failure.

    If ``path`` is a symbolic link, its target is written. The permissions of a replaced file are kept. Returns the
    result of ``write``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_file(Path(folder) / "answer.txt", lambda unfinished: unfinished.write_text("42"))
    ...     (Path(folder) / "answer.txt").read_text(), len(list(Path(folder).iterdir()))
    ('42', 1)
    """
    given = as_path(path)
    _require_name_for_file(given)
    final = _behind_links(given)
    if not final.parent.is_dir():
        raise FileNotFoundError(f"cannot write {given.name}: the folder {given.parent} does not exist; create it first")
    with _reporting_completion(given) as complete, HeldInterrupts() as interrupts, _locked(_beside(final)) as work:
        new = work / _NEW  # one left by a killed run is overwritten
        try:
            with interrupts.lifted():
                result = write(new)
            _to_disk(new)
            if final.exists():
                shutil.copymode(final, new)
                with suppress(PermissionError):
                    _pass_on_owner(final, new)
            new.replace(final)
            complete()
            _folder_to_disk(final.parent)
        finally:
            new.unlink(missing_ok=True)
    return result


def write_folder(path: str | os.PathLike[str], fill: Callable[[Path], T], *, overwrite: bool = False) -> T:
    """Call ``fill`` with an empty folder; it is moved to ``path`` on success and removed on failure.

    Raises if the folder exists and is not empty, unless ``overwrite``: then the new files replace those of the same
    names, all or none of them, and other files are kept. That the files can be moved into place is checked before
    ``fill`` is called. Returns the result of ``fill``.
    """
    given = as_path(path)
    if given.exists() and not given.is_dir():
        raise FileExistsError(f"{given} is a file; expected the name of a folder")
    final = _behind_links(given)
    with (
        _reporting_completion(given) as complete,
        HeldInterrupts() as interrupts,
        _parents_of(final),
        _locked(_work_folder(final)) as work,
    ):
        _tidy(work, final)  # left by an earlier run
        try:
            if not overwrite:
                _require_empty(final, given)
            new = _new_folder(work)
            with interrupts.lifted():
                result = fill(new)
            for file in new.iterdir():
                _require_name_for_file(final / file.name)
                _to_disk(file)
            if not overwrite:
                _require_empty(final, given)
            if final.is_dir():
                _replace(final, new, work)
            else:
                _folder_to_disk(new)
                new.rename(final)
            complete()
            _folder_to_disk(final.parent)
        finally:
            _tidy(work, final)
    return result


# -- the work folder ------------------------------------------------------------------------------------------------


def _beside(final: Path) -> Path:
    return final.with_name(f".{final.name}.headrank")


def _work_folder(final: Path) -> Path:
    """Return a work folder from which files can be moved to ``final``: beside it, or else inside it."""
    if not final.is_dir():
        return _beside(final)
    inside = final / _INSIDE
    if not inside.exists():
        try:
            return _probed(_beside(final), final)
        except BlockingIOError:
            raise
        except OSError:  # the parent is not writable, or final is a mount point
            pass
    return _probed(inside, final)


def _probed(place: Path, final: Path) -> Path:
    with _locked(place) as work:
        (work / _PROBE).touch()
        try:
            (work / _PROBE).replace(final / _PROBE)
        finally:
            (work / _PROBE).unlink(missing_ok=True)
            (final / _PROBE).unlink(missing_ok=True)
    return place


@contextmanager
def _locked(place: Path) -> Iterator[Path]:
    """Lock a work folder, new or left by a killed process; it is removed at the end if it is empty.

    Raises
    ------
    BlockingIOError
        If another process has locked it.
    """
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        # In a folder that others can write to, it could be an attack.
        raise BlockingIOError(f"{place} is not a folder of this user; remove it, or choose another name")
    lock = place / _LOCK
    try:
        with lock.open("ab") as stream:
            if not _lock(stream.fileno()) or not _has_name(stream.fileno(), lock):
                raise BlockingIOError("another process is writing to it; wait until it ends, or choose another name")
            try:
                yield place
            finally:
                with suppress(PermissionError):  # Windows cannot remove an open file
                    lock.unlink(missing_ok=True)
        if sys.platform == "win32":
            with suppress(OSError):
                lock.unlink(missing_ok=True)
    finally:
        with suppress(OSError):
            place.rmdir()


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed or the process ends; False if another process has the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _has_name(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name: the previous owner of the lock may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _new_folder(work: Path) -> Path:
    """Make the folder for the new files. Its name contains its inode, which shows whether it was exchanged."""
    new = work / _NEW
    new.mkdir()
    return new.rename(work / f"{_NEW}-{new.stat().st_ino}")


def _tidy(work: Path, final: Path) -> None:
    """Finish or undo an interrupted replacement and empty the work folder, except the lock. Can be repeated."""
    old, replaced = work / _OLD, work / _REPLACED
    for new in work.glob(f"{_NEW}*"):
        if final.is_dir() and replaced.is_dir():
            for file in new.iterdir():
                file.replace(final / file.name)
        elif final.is_dir() and new.name not in (_NEW, f"{_NEW}-{new.stat().st_ino}"):
            # This is the replaced folder. A file without a counterpart was added just before the exchange.
            _move_missing(new, final)
        shutil.rmtree(new)
    if final.is_dir():
        (final / _PROBE).unlink(missing_ok=True)
        if old.is_dir():
            _move_missing(old, final)
    for folder in (old, replaced):
        if folder.is_dir():
            shutil.rmtree(folder)
    (work / _PROBE).unlink(missing_ok=True)


def _move_missing(source: Path, target: Path) -> None:
    for file in source.iterdir():
        if not os.path.lexists(target / file.name):
            file.replace(target / file.name)


@contextmanager
def _parents_of(folder: Path) -> Iterator[None]:
    """Create the parents of a folder; remove those created if the block fails."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:  # innermost first; one used by another process meanwhile is not empty, and is kept
            with suppress(OSError):
                parent.rmdir()
        raise


# -- putting new files in place -------------------------------------------------------------------------------------


def _replace(final: Path, new: Path, work: Path) -> None:
    """Replace the files of a folder, by exchanging the folder if possible, else one by one."""
    names = sorted(os.listdir(new))
    linked: list[Path] = []
    try:
        _require_exchangeable(final)
        for other in final.iterdir():
            if other.name not in names:
                linked.append(new / other.name)
                os.link(other, linked[-1], follow_symlinks=False)  # fails for folders
        _pass_on_owner(final, new)
        shutil.copystat(final, new)  # permissions and access lists
        os.utime(new)
        _folder_to_disk(new)
        _exchange(new, final)
    except (OSError, NotImplementedError):
        for link in linked:
            link.unlink(missing_ok=True)
        _move(names, new, final, work)


def _require_exchangeable(final: Path) -> None:
    """Raise `OSError` for the current directory, since a shell would stay in the old folder."""
    here = Path.cwd()
    if final == here or final in here.parents:
        raise OSError(errno.EBUSY, "it is the current directory")


def _move(names: list[str], new: Path, final: Path, work: Path) -> None:
    """Move old files out and new files in. If interrupted, `_tidy` undoes the former or finishes the latter."""
    old = work / _OLD
    old.mkdir()
    for name in names:
        if os.path.lexists(final / name):
            (final / name).replace(old / name)
    old.rename(work / _REPLACED)
    for name in names:
        (new / name).replace(final / name)


def _exchange(one: Path, other: Path) -> None:
    """Exchange two folders atomically, or raise `OSError` if the system or the disk cannot."""
    import ctypes

    swap = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
    here = -100  # AT_FDCWD
    a, b = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(a, b, ctypes.c_uint(swap))
        else:
            failed = library.renameat2(here, a, here, b, ctypes.c_uint(swap))
    except (AttributeError, TypeError) as error:  # no such function; on Windows CDLL does not take None
        raise OSError(errno.ENOSYS, "this system cannot exchange folders") from error
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _pass_on_owner(old: Path, new: Path) -> None:
    was, now = old.stat(), new.stat()
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.chown(new, was.st_uid, was.st_gid)


# -- names, links, disks --------------------------------------------------------------------------------------------


@contextmanager
def _reporting_completion(path: Path) -> Iterator[Callable[[], None]]:
    """Yield a function to call when all is written; a later interrupt then says that the write is complete."""
    done: list[bool] = []
    try:
        yield lambda: done.append(True)
    except KeyboardInterrupt as interrupt:
        if done:
            raise KeyboardInterrupt(f"{path} was already written") from interrupt
        raise


def _require_empty(final: Path, given: Path) -> None:
    held = min((file.name for file in final.iterdir() if file.name != _INSIDE), default="") if final.is_dir() else ""
    if held:
        raise FileExistsError(
            f"the folder {given} exists and is not empty (it contains {held}); choose another one, or use --overwrite"
        )


def _require_name_for_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected the name of a file")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is a device or a pipe, which cannot be replaced; expected the name of a file")


def _behind_links(path: Path) -> Path:
    """Resolve links and relative parts: a file can be renamed only within its real parent."""
    end = Path(os.path.realpath(path))
    if end.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link that points to itself", str(path))
    return end


def _to_disk(file: Path) -> None:
    """Flush a file to disk, so that after a power failure its name does not exist without its content."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Flush the names in a folder to disk, if the system supports it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
