"""Files are written whole or not at all, and nothing the user has is lost."""

import os
import stat

import pytest

from headrank._whole_files import whole_file, whole_folder


def fails(error, unfinished):
    unfinished.write_text("half")
    raise error


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_with_its_content_and_nothing_else(tmp_path):
    with whole_file(tmp_path / "a.txt") as unfinished:
        unfinished.write_text("new")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_what_fails_leaves_the_old_file_and_no_trace(tmp_path, error):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(error), whole_file(tmp_path / "a.txt") as unfinished:
        fails(error, unfinished)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    with whole_file(tmp_path / "a.txt") as unfinished:
        unfinished.write_text("")
    assert stat.S_IMODE(os.stat(tmp_path / "a.txt").st_mode) == stat.S_IMODE(os.stat(tmp_path / "plain").st_mode)


def test_a_file_needs_a_folder_and_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"), whole_file(tmp_path / "no" / "a.txt"):
        pass
    with pytest.raises(IsADirectoryError, match="needed a name for a file"), whole_file(tmp_path):
        pass


def test_a_folder_appears_with_all_its_files(tmp_path):
    with whole_folder(tmp_path / "deep" / "out") as unfinished:
        (unfinished / "a").write_text("1")
        (unfinished / "b").write_text("2")
        assert not (tmp_path / "deep" / "out").exists()
    assert names(tmp_path / "deep" / "out") == ["a", "b"]
    assert names(tmp_path / "deep") == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_that_fails_is_not_there(tmp_path, error):
    with pytest.raises(error), whole_folder(tmp_path / "out") as unfinished:
        fails(error, unfinished / "a")
    assert names(tmp_path) == []


def test_a_full_folder_is_refused_and_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("precious")
    with pytest.raises(FileExistsError, match="not empty"), whole_folder(tmp_path / "out"):
        pass
    assert names(tmp_path / "out") == ["mine"]
    with pytest.raises(FileExistsError, match="is a file"), whole_folder(tmp_path / "out" / "mine"):
        pass


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    with whole_folder(tmp_path / "out") as unfinished:
        (unfinished / "a").write_text("1")
    assert names(tmp_path / "out") == ["a"]


def test_overwriting_replaces_its_own_files_only(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("precious")
    (out / "a").write_text("old")
    with whole_folder(out, overwrite=True) as unfinished:
        (unfinished / "a").write_text("new")
        assert (out / "a").read_text() == "old"
    assert {path.name: path.read_text() for path in out.iterdir()} == {"mine": "precious", "a": "new"}
    assert names(tmp_path) == ["out"]


def test_overwriting_that_fails_changes_nothing(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    with pytest.raises(RuntimeError), whole_folder(out, overwrite=True) as unfinished:
        fails(RuntimeError, unfinished / "a")
    assert (out / "a").read_text() == "old"
    assert names(tmp_path) == ["out"]
