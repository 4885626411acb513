"""Things to write into files and folders, and what is there afterwards."""

import pytest


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
