"""Files are written whole or not at all, and nothing the user has is lost."""

import os
import stat
import sys
import threading

import pytest

from headrank import _whole_files
from headrank._whole_files import write_file, write_folder
from platforms import named_pipes, symbolic_links

exchange_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot exchange folders")


def failing(error, name=None):
    """Something that writes a half and fails."""

    def fill(unfinished):
        (unfinished if name is None else unfinished / name).write_text("half")
        raise error

    return fill


def writing(*files, text="new"):
    """Something that fills a folder with files."""

    def fill(folder):
        for name in files:
            (folder / name).write_text(text)

    return fill


def never(_unfinished):
    pytest.fail("hours of training")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(params=["exchange", "move"])
def way(request, monkeypatch):
    """Both ways to replace a folder: at once, or file by file where the system cannot."""
    if request.param == "move":

        def cannot(_one, _other):
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(_whole_files, "_exchange", cannot)
    return request.param


def test_a_file_appears_with_its_content_and_nothing_else(tmp_path):
    def write(unfinished):
        unfinished.write_text("new")
        assert not (tmp_path / "a.txt").exists()
        return 7

    assert write_file(tmp_path / "a.txt", write) == 7
    assert contents(tmp_path) == {"a.txt": "new"}
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_what_fails_leaves_the_old_file_and_no_trace(tmp_path, error):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(error):
        write_file(tmp_path / "a.txt", failing(error))
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_file(tmp_path / "a.txt", lambda unfinished: unfinished.write_text(""))
    assert stat.S_IMODE(os.stat(tmp_path / "a.txt").st_mode) == stat.S_IMODE(os.stat(tmp_path / "plain").st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_file_keeps_the_permissions_of_the_one_it_replaces(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o640)
    write_file(tmp_path / "a.txt", lambda unfinished: unfinished.write_text("new"))
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_file_needs_a_folder_and_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        write_file(tmp_path / "no" / "a.txt", never)
    with pytest.raises(IsADirectoryError, match="expected the name of a file"):
        write_file(tmp_path, never)


def test_a_folder_appears_with_all_its_files(tmp_path):
    def fill(unfinished):
        writing("a", "b")(unfinished)
        assert not (tmp_path / "deep" / "out").exists()
        return 7

    assert write_folder(tmp_path / "deep" / "out", fill) == 7
    assert names(tmp_path / "deep" / "out") == ["a", "b"]
    assert names(tmp_path / "deep") == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_that_fails_is_not_there(tmp_path, error):
    with pytest.raises(error):
        write_folder(tmp_path / "out", failing(error, "a"))
    assert names(tmp_path) == []


def test_a_full_folder_is_refused_and_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("precious")
    with pytest.raises(FileExistsError, match="not empty"):
        write_folder(tmp_path / "out", never)
    assert names(tmp_path / "out") == ["mine"]
    with pytest.raises(FileExistsError, match="is a file"):
        write_folder(tmp_path / "out" / "mine", never)
    assert names(tmp_path) == ["out"]


def test_a_folder_that_was_filled_meanwhile_is_refused_and_kept(tmp_path):
    def fill(unfinished):
        writing("a")(unfinished)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a").write_text("precious")

    with pytest.raises(FileExistsError, match="not empty"):
        write_folder(tmp_path / "out", fill)
    assert contents(tmp_path / "out") == {"a": "precious"}
    assert names(tmp_path) == ["out"]


def test_an_empty_folder_is_filled(tmp_path, way):
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", writing("a"))
    assert names(tmp_path / "out") == ["a"]
    assert names(tmp_path) == ["out"]


@named_pipes
@symbolic_links
@pytest.mark.parametrize("name", ["out", "of spring", "Frühling", "-n", "o" * 200])
def test_overwriting_replaces_its_own_files_only(tmp_path, monkeypatch, way, name):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / name
    out.mkdir(mode=0o750)
    (out / "mine").write_text("precious")
    (out / "a").write_text("old")
    (out / "link").symlink_to("mine")
    os.mkfifo(out / "pipe")

    def fill(unfinished):
        writing("a", "b")(unfinished)
        assert (out / "a").read_text() == "old"

    before = (out / "mine").stat().st_ino
    write_folder(name, fill, overwrite=True)
    assert contents(out) == {"mine": "precious", "link": "precious", "a": "new", "b": "new"}
    assert names(out) == ["a", "b", "link", "mine", "pipe"]
    assert (out / "link").is_symlink()
    assert (out / "mine").stat().st_ino == before
    assert (out / "mine").stat().st_nlink == 1
    assert stat.S_IMODE(out.stat().st_mode) == 0o750
    assert names(tmp_path) == [name]


def test_folders_of_the_user_stay_as_they_are(tmp_path, way):
    out = tmp_path / "out"
    (out / "notes" / "deep").mkdir(parents=True)
    (out / "notes" / "deep" / "mine").write_text("precious")
    (out / "a").write_text("old")
    before = (out / "notes").stat().st_ino
    write_folder(out, writing("a"), overwrite=True)
    assert (out / "a").read_text() == "new"
    assert (out / "notes" / "deep" / "mine").read_text() == "precious"
    assert (out / "notes").stat().st_ino == before
    assert names(tmp_path) == ["out"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the current directory open")
def test_the_current_directory_stays_the_current_directory(tmp_path, monkeypatch, way):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("old")
    monkeypatch.chdir(tmp_path / "out")
    write_folder(".", writing("a"), overwrite=True)
    assert os.listdir() == ["a"]
    (tmp_path / "out" / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "out" / "inner")
    write_folder("..", writing("b"), overwrite=True)
    assert sorted(os.listdir("..")) == ["a", "b", "inner"]
    assert names(tmp_path) == ["out"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(tmp_path, way):
    out = tmp_path / "out"
    out.mkdir()
    os.chown(out, 12345, 54321)
    write_folder(out, writing("a"), overwrite=True)
    assert (out.stat().st_uid, out.stat().st_gid) == (12345, 54321)


@exchange_only
def test_a_file_that_comes_at_the_last_moment_is_kept(tmp_path, monkeypatch):
    out, exchange = tmp_path / "out", _whole_files._exchange
    out.mkdir()
    (out / "a").write_text("old")

    def late(one, other):
        (out / "mine").write_text("precious")
        (out / "notes").mkdir()
        exchange(one, other)

    monkeypatch.setattr(_whole_files, "_exchange", late)
    write_folder(out, writing("a"), overwrite=True)
    assert contents(out) == {"a": "new", "mine": "precious"}
    assert names(out) == ["a", "mine", "notes"]
    assert names(tmp_path) == ["out"]


def test_overwriting_that_fails_changes_nothing(tmp_path, way):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    with pytest.raises(RuntimeError):
        write_folder(out, failing(RuntimeError, "a"), overwrite=True)
    assert contents(out) == {"a": "old"}
    assert names(tmp_path) == ["out"]


# -- links, other kinds of files, other disks ---------------------------------------------------------------------


@symbolic_links
def test_a_file_is_written_through_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("far/a.txt")
    (tmp_path / "dangling.txt").symlink_to("far/b.txt")
    for name, target in (("link.txt", "a.txt"), ("dangling.txt", "b.txt")):
        write_file(tmp_path / name, lambda unfinished: unfinished.write_text("new"))
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "far" / target).read_text() == "new"
        assert not (tmp_path / "far" / target).is_symlink()
    assert names(tmp_path) == ["dangling.txt", "far", "link.txt"]
    assert names(tmp_path / "far") == ["a.txt", "b.txt"]


@symbolic_links
@pytest.mark.parametrize("old", [None, (), ("a", "mine")])
def test_a_folder_is_written_through_a_link(tmp_path, way, old):
    if old is not None:
        (tmp_path / "far").mkdir()
        writing(*old, text="old")(tmp_path / "far")
    (tmp_path / "link").symlink_to("far", target_is_directory=True)
    write_folder(tmp_path / "link", writing("a"), overwrite=bool(old))
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "far") == dict.fromkeys(old or (), "old") | {"a": "new"}
    assert names(tmp_path) == ["far", "link"]


@symbolic_links
@pytest.mark.parametrize("write", [write_file, write_folder])
def test_a_link_to_itself_is_refused(tmp_path, write):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="points to itself"):
        write(tmp_path / "loop", never)
    assert (tmp_path / "loop").is_symlink()


@named_pipes
@pytest.mark.parametrize("name", ["pipe", "link"])
def test_what_is_no_regular_file_is_refused_and_kept(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(FileExistsError, match="a device or a pipe"):
        write_file(tmp_path / name, never)
    with pytest.raises(FileExistsError, match="expected the name of a folder"):
        write_folder(tmp_path / name, never)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert names(tmp_path) == ["link", "pipe"]


def beside_is_denied(monkeypatch, denied):
    """As if the folder around could not be written to, or were another disk."""
    mkdir = type(denied).mkdir

    def refuse(self, *args, **options):
        if self.parent == denied:
            raise PermissionError(13, "Permission denied")
        return mkdir(self, *args, **options)

    monkeypatch.setattr(type(denied), "mkdir", refuse)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_folder_in_a_place_that_cannot_be_written_is_filled_from_inside(tmp_path, monkeypatch, overwrite):
    out = tmp_path / "out"
    out.mkdir()
    if overwrite:
        writing("a", "mine", text="old")(out)
    before = out.stat().st_ino
    beside_is_denied(monkeypatch, tmp_path)
    write_folder(out, writing("a", "b"), overwrite=overwrite)
    assert out.stat().st_ino == before
    assert contents(out) == ({"mine": "old"} if overwrite else {}) | {"a": "new", "b": "new"}
    assert names(out) == sorted(contents(out))


@pytest.mark.parametrize("kind", ["folder", pytest.param("pipe", marks=named_pipes)])
def test_nothing_is_replaced_if_one_cannot_be(tmp_path, way, kind):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    if kind == "folder":
        (out / "b").mkdir()
    else:
        os.mkfifo(out / "b")
    with pytest.raises(OSError, match="expected the name of a file"):
        write_folder(out, writing("a", "b"), overwrite=True)
    assert contents(out) == {"a": "old"}
    assert names(out) == ["a", "b"]


def test_folders_made_on_the_way_do_not_outlive_a_failure(tmp_path):
    (tmp_path / "n0").mkdir()
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "n0" / "n1" / "n2" / "n3", failing(KeyboardInterrupt, "a"))
    assert names(tmp_path) == ["n0"]  # it was there before
    assert names(tmp_path / "n0") == []


def test_a_folder_made_on_the_way_stays_if_somebody_has_used_it(tmp_path):
    def fill(_unfinished):
        (tmp_path / "n1" / "mine").write_text("")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_folder(tmp_path / "n1" / "n2" / "n3", fill)
    assert names(tmp_path / "n1") == ["mine"]


@pytest.mark.parametrize("exists", [True, False])
def test_that_the_place_can_be_written_is_tried_first(tmp_path, monkeypatch, exists):
    out = tmp_path / "n1" / "out"
    if exists:
        out.mkdir(parents=True)

    def refuse(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(type(tmp_path), "replace", refuse)
    monkeypatch.setattr(type(tmp_path), "rename", refuse)
    with pytest.raises(PermissionError):
        write_folder(out, never)
    assert names(out) == [] if exists else names(tmp_path) == []


# -- two at once --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("write", "name"), [(write_file, "a.txt"), (write_folder, "out")])
def test_two_at_once_are_refused(tmp_path, write, name):
    def fill(unfinished):
        with pytest.raises(BlockingIOError, match="another process is writing to it"):
            write(tmp_path / name, never)
        if write is write_file:
            unfinished.write_text("first")
        else:
            writing("a", text="first")(unfinished)

    write(tmp_path / name, fill)
    assert names(tmp_path) == [name]
    written = tmp_path / name if write is write_file else tmp_path / name / "a"
    assert written.read_text() == "first"


def test_two_with_other_names_do_not_disturb_each_other(tmp_path):
    write_folder(tmp_path / "one", lambda _: write_folder(tmp_path / "two", writing("b")))
    assert names(tmp_path) == ["one", "two"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_work_folder_of_somebody_else_is_not_used(tmp_path):
    (tmp_path / ".out.headrank").mkdir()
    os.chown(tmp_path / ".out.headrank", 12345, 54321)
    with pytest.raises(BlockingIOError, match="not a folder of this user"):
        write_folder(tmp_path / "out", never)
    (tmp_path / ".out.headrank").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".out.headrank").symlink_to("elsewhere")
    with pytest.raises(BlockingIOError, match="not a folder of this user"):
        write_folder(tmp_path / "out", never)


def test_threads_other_than_the_main_one_write_too(tmp_path):
    thread = threading.Thread(target=write_folder, args=(tmp_path / "out", writing("a")))
    thread.start()
    thread.join()
    assert contents(tmp_path / "out") == {"a": "new"}
