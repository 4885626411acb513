"""Files are written whole or not at all, and nothing the user has is lost."""

import os
import stat
from contextlib import suppress

import pytest

from headrank._whole_files import whole_file, whole_folder
from platforms import named_pipes, symbolic_links


def fails(error, unfinished):
    unfinished.write_text("half")
    raise error


def write(folder, *files):
    for name in files:
        (folder / name).write_text("new")


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


# -- links, other kinds of files, other disks ---------------------------------------------------------------------


@symbolic_links
def test_a_file_is_written_through_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("far/a.txt")
    (tmp_path / "dangling.txt").symlink_to("far/b.txt")
    for name, target in (("link.txt", "a.txt"), ("dangling.txt", "b.txt")):
        with whole_file(tmp_path / name) as unfinished:
            unfinished.write_text("new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "far" / target).read_text() == "new"
        assert not (tmp_path / "far" / target).is_symlink()
    assert names(tmp_path) == ["dangling.txt", "far", "link.txt"]
    assert names(tmp_path / "far") == ["a.txt", "b.txt"]


@symbolic_links
@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_is_written_through_a_link(tmp_path, exists):
    if exists:
        (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far", target_is_directory=True)
    with whole_folder(tmp_path / "link") as unfinished:
        (unfinished / "a").write_text("1")
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "far") == ["a"]
    assert names(tmp_path) == ["far", "link"]


@symbolic_links
@pytest.mark.parametrize("whole", [whole_file, whole_folder])
def test_a_link_to_itself_is_refused(tmp_path, whole):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="leads back to itself"), whole(tmp_path / "loop"):
        pass
    assert (tmp_path / "loop").is_symlink()


@named_pipes
@pytest.mark.parametrize("name", ["pipe", "link"])
def test_what_is_no_regular_file_is_refused_and_kept(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(FileExistsError, match="a device or a pipe"), whole_file(tmp_path / name):
        pass
    with pytest.raises(FileExistsError, match="needed a name for a folder"), whole_folder(tmp_path / name):
        pass
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert names(tmp_path) == ["link", "pipe"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_folder_that_exists_is_filled_from_inside(tmp_path, overwrite):
    out = tmp_path / "out"
    out.mkdir()
    before = out.stat().st_ino
    with whole_folder(out, overwrite=overwrite) as unfinished:
        assert unfinished.parent == out  # a mount point is another disk than the folder around it
        (unfinished / "a").write_text("1")
        assert names(tmp_path) == ["out"]
    assert out.stat().st_ino == before
    assert names(out) == ["a"]


@pytest.mark.parametrize("kind", ["folder", pytest.param("pipe", marks=named_pipes)])
def test_nothing_is_replaced_if_one_cannot_be(tmp_path, kind):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    if kind == "folder":
        (out / "b").mkdir()
    else:
        os.mkfifo(out / "b")
    with pytest.raises(OSError, match="needed a name for a file"), whole_folder(out, overwrite=True) as unfinished:
        write(unfinished, "a", "b")
    assert (out / "a").read_text() == "old"
    assert names(out) == ["a", "b"]


@pytest.mark.parametrize("stopped_before", range(1, 8))
@pytest.mark.parametrize("old", [(), ("a",), ("b",), ("a", "b", "mine")])
def test_a_move_that_is_stopped_anywhere_changes_nothing(tmp_path, monkeypatch, old, stopped_before):
    out, replace, moves = tmp_path / "out", type(tmp_path).replace, []
    out.mkdir()
    for name in old:
        (out / name).write_text("old")

    def stops(self, target):
        moves.append(target)
        if len(moves) == stopped_before:
            raise KeyboardInterrupt
        return replace(self, target)

    with suppress(KeyboardInterrupt), whole_folder(out, overwrite=True) as unfinished:
        write(unfinished, "a", "b")
        monkeypatch.setattr(type(tmp_path), "replace", stops)
    new = ["a", "b"] if len(moves) < stopped_before else []
    assert {path.name: path.read_text() for path in out.iterdir()} == dict.fromkeys(old, "old") | dict.fromkeys(
        new, "new"
    )


def test_folders_made_on_the_way_do_not_outlive_a_failure(tmp_path):
    (tmp_path / "n0").mkdir()
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "n0" / "n1" / "n2" / "n3") as unfinished:
        fails(KeyboardInterrupt, unfinished / "a")
    assert names(tmp_path) == ["n0"]  # it was there before
    assert names(tmp_path / "n0") == []


def test_a_folder_made_on_the_way_stays_if_somebody_has_used_it(tmp_path):
    with pytest.raises(RuntimeError), whole_folder(tmp_path / "n1" / "n2" / "n3"):
        fails(RuntimeError, tmp_path / "n1" / "mine")
    assert names(tmp_path / "n1") == ["mine"]


@pytest.mark.parametrize("exists", [True, False])
def test_that_a_rename_works_is_tried_first(tmp_path, monkeypatch, exists):
    out = tmp_path / "n1" / "out"
    if exists:
        out.mkdir(parents=True)

    def refuse(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(type(tmp_path), "replace", refuse)
    with pytest.raises(PermissionError), whole_folder(out):
        pytest.fail("hours of training")
    assert names(out) == [] if exists else names(tmp_path) == []
