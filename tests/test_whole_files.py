"""Files are written whole or not at all, and nothing the user has is lost."""

import os
import stat
import sys

import pytest

from headrank import _whole_files
from headrank._whole_files import write_file, write_folder
from platforms import named_pipes, symbolic_links
from writes import contents, failing, names, never, writing

exchange_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot exchange folders")


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
