"""Compare the installed versions of libraries with those that wrote a file."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skrub", "skops", "polars")
_PACKAGES = {"sklearn": "scikit-learn", "skrub": "skrub", "polars": "polars"}
"""Libraries with classes in model files. NumPy is not listed: its arrays are the same in all versions."""


def libraries() -> dict[str, str]:
    """Return the installed versions of Python and of the libraries that a model file may depend on."""
    here = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            here[name] = version(name)
        except PackageNotFoundError:
            here[name] = "none"
    return here


def differing(wrote: Mapping[str, str]) -> str:
    """List the libraries that wrote a file in another version than the installed one; empty if there are none.

    >>> differing(libraries())
    ''
    >>> differing(libraries() | {"numpy": "1.0"})  # doctest: +ELLIPSIS
    'numpy 1.0 (here ...)'
    """
    here = libraries()
    return ", ".join(f"{each} {wrote[each]} (here {here.get(each, 'none')})" for each in _others(wrote, here))


def differing_classes(wrote: Mapping[str, str], packages: frozenset[str]) -> str:
    """List those with classes in the file and a different major or minor version."""
    mine = {_PACKAGES[each] for each in packages if each in _PACKAGES}
    return differing({each: wrote[each] for each in wrote if each in mine and _series(wrote[each]) != _here(each)})


def _others(wrote: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    return [each for each in wrote if wrote[each] != here.get(each)]


def _here(name: str) -> list[str]:
    return _series(libraries()[name])


def _series(number: str) -> list[str]:
    """Return the major and minor version. Patch releases do not change classes."""
    return number.split(".")[:2]
