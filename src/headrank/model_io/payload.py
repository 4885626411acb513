"""The payload: a skops archive, made canonical when it is written and checked piece by piece before it is loaded."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from headrank.exceptions import ModelFileError
from headrank.model_io.container import entry, plain_entries
from headrank.model_io.registry import name_of, with_logical_names, with_present_paths
from headrank.model_io.trusted import KEY_TYPES, TRUSTED

SCHEMA = "schema.json"
_PROTOCOL = 2
"""The lowest protocol of skops that any headrank wrote."""
_ARRAY = re.compile(r"[1-9][0-9]*\.npy")
_COMMON = frozenset({"__class__", "__module__", "__loader__", "__id__"})
_PARTS: dict[str, frozenset[str]] = {
    "DictNode": frozenset({"content", "key_types"}),
    "ListNode": frozenset({"content"}),
    "TupleNode": frozenset({"content"}),
    "JsonNode": frozenset({"content", "is_json"}),
    "TypeNode": frozenset(),
    "FunctionNode": frozenset(),
    "NdArrayNode": frozenset({"type", "file", "content", "shape"}),
    "DTypeNode": frozenset({"content"}),
    "ObjectNode": frozenset({"content"}),
    "LossNode": frozenset({"content", "__reduce__"}),
    "RandomGeneratorNode": frozenset({"content"}),
    "CachedNode": frozenset(),
}
"""What a node may have besides the common fields."""
_WITHOUT_IDENTITY = ("JsonNode", "TypeNode", "FunctionNode")
"""Values that are the same when they are equal. Whether Python keeps one copy or two is nobody's business."""


@dataclass
class _Numbering:
    """Numbers for objects and names for arrays, in order of appearance."""

    objects: dict[int, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def of(self, node: Any) -> Any:
        """Return a copy with the new numbers; an object that was there before becomes a reference to it."""
        if isinstance(node, list):
            return [self.of(part) for part in node]
        if not isinstance(node, dict):
            return node
        if not isinstance(node.get("__loader__"), str):
            return {key: self.of(part) for key, part in node.items()}
        fresh = {key: node[key] for key in ("__class__", "__module__", "__loader__")}
        if node["__loader__"] not in _WITHOUT_IDENTITY:
            known = self.objects.get(node["__id__"])
            if known is not None:
                return {"__class__": None, "__module__": None, "__loader__": "CachedNode", "__id__": known}
            fresh["__id__"] = self.objects[node["__id__"]] = len(self.objects) + 1
        for key, part in node.items():
            if key == "file":
                fresh[key] = self.files.setdefault(part, f"{len(self.files) + 1}.npy")
            elif key not in _COMMON:
                fresh[key] = self.of(part)
        return fresh


def canonical(dumped: bytes) -> bytes:
    """Rewrite what skops dumped so that the same model gives the same bytes, and nothing is written twice.

    skops numbers objects by their place in memory, writes an object as often as it is referred to, and names classes
    by their modules; headrank's own get their logical names.
    """
    with ZipFile(io.BytesIO(dumped)) as source:
        numbering = _Numbering()
        schema = with_logical_names(numbering.of(json.loads(source.read(SCHEMA))))
        buffer = io.BytesIO()
        with ZipFile(buffer, "w") as target:
            text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode()
            target.writestr(entry(SCHEMA, ZIP_DEFLATED), text)
            for old, new in numbering.files.items():
                target.writestr(entry(new, ZIP_DEFLATED), source.read(old))
    return buffer.getvalue()


def for_skops(payload: bytes) -> bytes:
    """Return a payload that has been inspected, with its classes by the paths where skops will find them."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as source, ZipFile(buffer, "w", ZIP_STORED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, json.dumps(with_present_paths(json.loads(data))) if name == SCHEMA else data)
    return buffer.getvalue()


def size_unpacked(payload: bytes) -> int:
    """Bytes of all entries."""
    with ZipFile(io.BytesIO(payload)) as archive:
        return sum(info.file_size for info in archive.infolist())


@dataclass(frozen=True)
class Foreign:
    """Something that no model file holds: its name, and the loader that would rebuild it."""

    name: str
    loader: str


@dataclass(frozen=True)
class Inspected:
    """What a payload holds.

    Attributes
    ----------
    foreign : tuple of Foreign
        What is not trusted.
    libraries : frozenset of str
        First parts of the names of all classes and functions: which packages the model is made of; empty if some of
        it is not trusted.
    """

    foreign: tuple[Foreign, ...]
    libraries: frozenset[str]


def inspect(payload: bytes, name: str, *, unpacked: int) -> Inspected:
    """Look at every node without building anything; refuse what is no archive of skops as `canonical` writes it."""
    try:
        with ZipFile(io.BytesIO(payload)) as archive:
            entries = plain_entries(archive, name)
            if sum(info.file_size for info in entries.values()) != unpacked:
                raise ModelFileError(f"{name} has been changed: it does not unpack to the {unpacked:,} bytes it says")
            strange = [each for each in entries if each != SCHEMA and not _ARRAY.fullmatch(each)]
            packed_strangely = any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in entries.values())
            if SCHEMA not in entries or strange or packed_strangely:
                raise ModelFileError(f"{name} must hold {SCHEMA} and numbered arrays, but holds {', '.join(entries)}")
            tree = json.loads(archive.read(SCHEMA))
            if not isinstance(tree, dict) or tree.get("protocol", 0) < _PROTOCOL:
                # A file may choose the rules by which skops reads it; the older ones were not written for this.
                raise ModelFileError(f"{name} has been changed: no headrank wrote skops files of an older protocol")
            seen = _Walk(name)
            seen.visit(tree, root=True)
            if seen.foreign:  # nothing below these has been looked at
                return Inspected(tuple(sorted(seen.foreign, key=lambda each: each.name)), frozenset())
            if seen.files != set(entries) - {SCHEMA}:
                raise ModelFileError(f"{name} has been changed: its arrays are not the ones that its {SCHEMA} names")
            for file in sorted(seen.files):
                _check_array(archive.read(file), f"{name}: {file}")
    except ModelFileError:
        raise
    except Exception as error:  # hostile bytes can make zipfile, json and numpy fail in many ways
        reason = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{name} is damaged: its content cannot be read ({reason})") from error
    return Inspected((), frozenset(each.partition(".")[0] for each in seen.names))


class _Walk:
    """A walk over all nodes of a schema."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: set[int] = set()
        self._done: set[int] = set()
        self.files: set[str] = set()
        self.names: set[str] = set()
        self.foreign: set[Foreign] = set()

    def visit(self, node: Any, *, root: bool = False) -> None:
        """Look at a node and all below it."""
        if not isinstance(node, dict) or not isinstance(node.get("__loader__"), str):
            raise self._malformed("a node without a loader")
        loader = node["__loader__"]
        if loader == "CachedNode":
            # Only what is complete may be referred to: skops would build a circle until the stack is full.
            if set(node) != _COMMON or (node["__id__"] not in self._done and not self.foreign):
                raise self._malformed("a reference to nothing")
            return
        name = name_of(node)
        if name not in TRUSTED.get(loader, ()):
            self.foreign.add(Foreign(name, loader))
            return
        parts = set(node) - _COMMON - ({"protocol", "_skops_version"} if root else set())
        if not parts <= _PARTS[loader]:
            raise self._malformed(f"a {loader} with the fields {', '.join(sorted(parts))}")
        number = node.get("__id__")
        if loader in _WITHOUT_IDENTITY:
            if number is not None:
                raise self._malformed(f"a {loader} with a number")
        elif type(number) is not int or number < 1 or number in self._open or number in self._done:
            raise self._malformed(f"the number {number!r} twice, or no number")
        else:
            self._open.add(number)
        self.names.add(name)
        for child in self._children(node, loader):
            self.visit(child)
        if number is not None:
            self._open.discard(number)
            self._done.add(number)

    def _children(self, node: Mapping[str, Any], loader: str) -> Iterator[Any]:
        """All nodes right below, in the order in which skops builds them; anything else is refused."""
        content = node.get("content")
        if loader in ("ListNode", "TupleNode") and isinstance(content, list):
            yield from content
        elif loader == "DictNode" and isinstance(content, dict):
            self._check_keys(node["key_types"], len(content))
            yield node["key_types"]
            yield from content.values()
        elif loader == "JsonNode":
            if not isinstance(content, str):
                raise self._malformed("a value that is no JSON")
        elif loader == "NdArrayNode" and node.get("type") == "numpy":
            if not isinstance(node.get("file"), str) or content is not None:
                raise self._malformed("an array without a file")
            self.files.add(node["file"])
        elif loader == "NdArrayNode" and node.get("type") == "json" and isinstance(content, list):
            yield from content
            yield node.get("shape")
        elif loader == "LossNode" and isinstance(node.get("__reduce__"), dict) and set(node["__reduce__"]) == {"args"}:
            yield content
            yield node["__reduce__"]["args"]
        elif loader == "RandomGeneratorNode" and isinstance(content, dict):
            yield from self._generator(content)
        elif loader in ("ObjectNode", "DTypeNode"):
            if content is not None:
                yield content
        elif loader not in ("TypeNode", "FunctionNode"):
            raise self._malformed(f"a {loader} without its content")

    def _check_keys(self, types: Any, n_keys: int) -> None:
        listed = types.get("content") if isinstance(types, dict) and types.get("__loader__") == "ListNode" else None
        if not isinstance(listed, list) or len(listed) != n_keys:
            raise self._malformed("a dictionary without the types of its keys")
        for each in listed:
            name = name_of(each)
            if each.get("__loader__") != "TypeNode" or name not in KEY_TYPES:
                self.foreign.add(Foreign(f"a dictionary with keys of type {name}", "DictNode"))

    def _generator(self, content: Mapping[str, Any]) -> Iterator[Any]:
        """The state of PCG64, started the usual way; the size of its pool decides how long the start takes."""
        if set(content) != {"bit_generator", "seed_seq"}:
            raise self._malformed("a random number generator without its state")
        kind = json.loads(content["bit_generator"]["content"]["bit_generator"]["content"])
        pool = json.loads(content["seed_seq"]["content"]["pool_size"]["content"])
        if (kind, pool) != ("PCG64", 4):
            raise self._malformed(f"a random number generator {kind!r} with a pool of {pool!r}")
        yield from (content["bit_generator"], content["seed_seq"])

    def _malformed(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self._name} has been changed, or is of an unknown kind: it holds {what}")


def _check_array(data: bytes, name: str) -> None:
    """Refuse an array whose header does not fit its bytes: NumPy would make room for what the header says."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ModelFileError(f"{name} is an array of version {version}; known are 1.0 and 2.0")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    n_bytes = prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or n_bytes != len(data) - stream.tell():
        raise ModelFileError(f"{name} is no plain array of {n_bytes:,} bytes as its header says")
