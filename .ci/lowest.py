"""The lowest version of every dependency that pyproject.toml allows, for ``make test-lowest``.

Prints them as constraints for pip; with ``--strict-versions``, fails unless exactly these are installed.
"""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

REQUIREMENT = re.compile(
    r"^(?P<name>[\w-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<low>[\d.]+)(,<[\d.]+)?)?"
    r"(; sys_platform != '(?P<absent>\w+)')?$"
)


def lowest(project: dict, requirements: list[str]) -> dict[str, str]:
    """Return the lowest version by name; extras of the project itself are followed."""
    found = {}
    for requirement in requirements:
        parts = REQUIREMENT.match(requirement)
        if parts is None:
            raise ValueError(f"expected 'name>=version' or 'name>=version,<version', got {requirement!r}")
        if parts["absent"] == sys.platform:
            continue
        if parts["name"] == project["name"]:
            for extra in parts["extras"].split(","):
                found |= lowest(project, project["optional-dependencies"][extra])
        elif parts["low"] is None:
            raise ValueError(f"{requirement!r} has no lowest version; give one as 'name>=version'")
        else:
            found[parts["name"]] = parts["low"]
    return found


def numbers(text: str) -> list[int]:
    """Return the numbers of a version without zeros at the end: 2.2 and 2.2.0 are the same."""
    parts = [int(part) for part in re.findall(r"\d+", text)]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


def main() -> int:
    """Print the lowest versions, or check them."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    pins = lowest(project, [*project["dependencies"], f"{project['name']}[test]"])
    if "--strict-versions" not in sys.argv[1:]:
        print("\n".join(f"{name}=={low}" for name, low in pins.items()))
        return 0
    others = [
        f"{name}: {version(name)} is installed, {low} is the lowest"
        for name, low in pins.items()
        if numbers(version(name)) != numbers(low)
    ]
    print("\n".join(others) or f"{len(pins)} dependencies at their lowest versions")
    return bool(others)


if __name__ == "__main__":
    sys.exit(main())
