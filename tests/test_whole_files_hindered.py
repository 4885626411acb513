"""Whole files where something is in the way: links, pipes, folders that cannot be written, another writer."""

import os
import stat
import threading

import pytest

from headrank._whole_files import write_file, write_folder
from platforms import named_pipes, symbolic_links
from writes import contents, failing, names, never, writing

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
