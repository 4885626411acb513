"""Which versions are here, and whether they are those that wrote a file."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skrub", "skops", "polars")
_PACKAGES = {"sklearn": "scikit-learn", "skrub": "skrub", "polars": "polars"}
"""Libraries whose classes stand in files, with what they keep in them; NumPy's arrays look the same in all versions."""


def libraries() -> dict[str, str]:
    """Versions of Python and of what a model file may be made of, as they are here."""
    here = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            here[name] = version(name)
        except PackageNotFoundError:
            here[name] = "none"
    return here


def differing(wrote: Mapping[str, str]) -> str:
    """Name the libraries of which other versions wrote a file; empty if there are none.

    >>> differing(libraries())
    ''
    >>> differing(libraries() | {"numpy": "1.0"})  # doctest: +ELLIPSIS
    'numpy 1.0 (here ...)'
    """
    here = libraries()
    return ", ".join(f"{each} {wrote[each]} (here {here.get(each, 'none')})" for each in _others(wrote, here))


def differing_classes(wrote: Mapping[str, str], packages: frozenset[str]) -> str:
    """Name those among them whose classes stand in the file, and of which the first two numbers differ."""
    mine = {_PACKAGES[each] for each in packages if each in _PACKAGES}
    return differing({each: wrote[each] for each in wrote if each in mine and _series(wrote[each]) != _here(each)})


def _others(wrote: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    return [each for each in wrote if wrote[each] != here.get(each)]


def _here(name: str) -> list[str]:
    return _series(libraries()[name])


def _series(number: str) -> list[str]:
    """A library's classes change with the first two numbers of its version, not with repairs."""
    return number.split(".")[:2]
