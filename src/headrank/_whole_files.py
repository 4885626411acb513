"""Files and folders that are written whole or not at all, wherever the process is stopped.

New content is prepared in a work folder, ``.NAME.headrank`` beside its destination, and put in place by one rename. A
folder that exists is exchanged for the new one in one step where the system can do that; elsewhere its files are moved
one by one, first the old ones out and then the new ones in, so that files of two runs never stand side by side. What a
killed process leaves in its work folder is finished, undone or removed by the next run with the same destination.
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
"""The work folder inside a destination whose parent is another disk or may not be written to."""
_PROBE = ".headrank.probe"
_NEW, _OLD, _REPLACED, _LOCK = "new", "old", "replaced", "lock"


def write_file(path: str | os.PathLike[str], write: Callable[[Path], T]) -> T:
    """Call ``write`` with a path to write to; the file becomes ``path`` if that succeeds, and is removed if it fails.

    A symbolic link stays, and what it points to is written. A file that is replaced passes on its permissions. Returns
    what ``write`` returns.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_file(Path(folder) / "answer.txt", lambda unfinished: unfinished.write_text("42"))
    ...     (Path(folder) / "answer.txt").read_text(), len(list(Path(folder).iterdir()))
    ('42', 1)
    """
    given = Path(path)
    _require_name_for_file(given)
    final = _behind_links(given)
    if not final.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {given.parent} to write {given.name} to; make it first")
    with _saying_when_complete(given) as complete, HeldInterrupts() as interrupts, _alone_in(_beside(final)) as work:
        new = work / _NEW  # a killed run may have left one, which is overwritten
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
    """Call ``fill`` with an empty folder; it becomes ``path`` if that succeeds, and is removed if it fails.

    A folder that exists and is not empty is refused, unless ``overwrite``: then the new files replace those of the same
    names, all or none of them, and other files stay. Before ``fill`` is called, it is checked that the files can be put
    in their place. Returns what ``fill`` returns.
    """
    given = Path(path)
    if given.exists() and not given.is_dir():
        raise FileExistsError(f"{given} is a file; needed a name for a folder")
    final = _behind_links(given)
    with (
        _saying_when_complete(given) as complete,
        HeldInterrupts() as interrupts,
        _parents_of(final),
        _alone_in(_place_to_work(final)) as work,
    ):
        _tidy(work, final)  # what an earlier run has left
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


# -- a place to work ------------------------------------------------------------------------------------------------


def _beside(final: Path) -> Path:
    return final.with_name(f".{final.name}.headrank")


def _place_to_work(final: Path) -> Path:
    """Return a work folder from which files can be moved to ``final``: beside it, or else inside."""
    if not final.is_dir():
        return _beside(final)
    inside = final / _INSIDE
    if not inside.exists():
        try:
            return _tried(_beside(final), final)
        except BlockingIOError:
            raise
        except OSError:  # the parent may not be written to, or final is a mount point
            pass
    return _tried(inside, final)


def _tried(place: Path, final: Path) -> Path:
    with _alone_in(place) as work:
        (work / _PROBE).touch()
        try:
            (work / _PROBE).replace(final / _PROBE)
        finally:
            (work / _PROBE).unlink(missing_ok=True)
            (final / _PROBE).unlink(missing_ok=True)
    return place


@contextmanager
def _alone_in(place: Path) -> Iterator[Path]:
    """Make a work folder, or take over one that a killed process has left; it is removed if it is empty at the end.

    Raises
    ------
    BlockingIOError
        If another process is working there.
    """
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        # In a folder that everybody may write to, it could be a trap.
        raise BlockingIOError(f"{place} was made by somebody else; remove it, or choose another name")
    lock = place / _LOCK
    try:
        with lock.open("ab") as stream:
            if not _lock(stream.fileno()) or not _is(stream.fileno(), lock):
                raise BlockingIOError("another process is writing to it; wait for its end, or choose another name")
            try:
                yield place
            finally:
                with suppress(PermissionError):  # Windows removes no open file
                    lock.unlink(missing_ok=True)
        if sys.platform == "win32":
            with suppress(OSError):
                lock.unlink(missing_ok=True)
    finally:
        with suppress(OSError):
            place.rmdir()


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed or the process ends; whether that succeeded, or this disk has no locks."""
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


def _is(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name: the process that had the lock before may just have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _new_folder(work: Path) -> Path:
    """Make the folder for the new files. Its name is its inode, which tells whether it has been exchanged."""
    new = work / _NEW
    new.mkdir()
    return new.rename(work / f"{_NEW}-{new.stat().st_ino}")


def _tidy(work: Path, final: Path) -> None:
    """Finish or undo what was begun, and empty the work folder but for the lock. Can itself be stopped and repeated."""
    old, replaced = work / _OLD, work / _REPLACED
    for new in work.glob(f"{_NEW}*"):
        if final.is_dir() and replaced.is_dir():
            for file in new.iterdir():
                file.replace(final / file.name)
        elif final.is_dir() and new.name not in (_NEW, f"{_NEW}-{new.stat().st_ino}"):
            # This is the folder that was replaced. A file that has no counterpart came just before the exchange.
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


# -- putting new files in place -------------------------------------------------------------------------------------


def _replace(final: Path, new: Path, work: Path) -> None:
    """Replace the files of a folder, by exchanging the folder if that loses nothing, else one by one."""
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
    """Raise `OSError` for the current directory: a shell would stay in the old folder."""
    here = Path.cwd()
    if final == here or final in here.parents:
        raise OSError(errno.EBUSY, "it is the current directory")


def _move(names: list[str], new: Path, final: Path, work: Path) -> None:
    """Move old files out and new files in. `_tidy` undoes the former, or finishes the latter."""
    old = work / _OLD
    old.mkdir()
    for name in names:
        if os.path.lexists(final / name):
            (final / name).replace(old / name)
    old.rename(work / _REPLACED)
    for name in names:
        (new / name).replace(final / name)


def _exchange(one: Path, other: Path) -> None:
    """Exchange two folders in one step, or raise `OSError` where the system or the disk cannot."""
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
    except (AttributeError, TypeError) as error:  # an old or another system; Windows takes no None
        raise OSError(errno.ENOSYS, "this system cannot exchange folders") from error
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _pass_on_owner(old: Path, new: Path) -> None:
    was, now = old.stat(), new.stat()
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.chown(new, was.st_uid, was.st_gid)


# -- names, links, disks --------------------------------------------------------------------------------------------


@contextmanager
def _saying_when_complete(path: Path) -> Iterator[Callable[[], None]]:
    """Yield a function to call when all is written: an interrupt that was held back until then says so."""
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
            f"the folder {given} is there and not empty, as it holds {held}; name another one, or --overwrite it"
        )


def _require_name_for_file(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; needed a name for a file")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is a device or a pipe, which cannot be replaced; needed a name for a file")


def _behind_links(path: Path) -> Path:
    """Return the path without links and relative parts: the true parent is where it can be renamed."""
    end = Path(os.path.realpath(path))
    if end.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link that leads back to itself", str(path))
    return end


def _to_disk(file: Path) -> None:
    """Wait until the disk has it: a name must not outlive a power cut that its content did not."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can wait for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
