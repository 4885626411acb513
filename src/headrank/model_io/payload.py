"""The payload: a skops archive, made canonical when it is written and checked piece by piece before it is loaded."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from headrank.exceptions import ModelFileError
from headrank.model_io.container import bounded, compression_of, entry, plain_entries
from headrank.model_io.registry import name_of, with_logical_names, with_present_paths
from headrank.model_io.trusted import KEY_TYPES, TRUSTED

T = TypeVar("T")
SCHEMA = "schema.json"
_PROTOCOL = 2
"""The lowest protocol of skops that any headrank wrote."""
_FREE_SCHEMA, _SCHEMA_RATIO, _LARGEST_SCHEMA = 1 << 20, 100, 1 << 26
"""Bytes that any schema may unpack to, how many more per byte it has in the file, and the most."""
_DEEPEST = 256
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
"""Of JSON; one without an end goes on to the end, so that the search never starts again."""
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
                data = source.read(old)
                target.writestr(entry(new, compression_of(data)), data)
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
            tree = json.loads(_schema(archive, entries[SCHEMA], name))
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
                _check_array(bounded(archive, entries[file], name, entries[file].file_size), f"{name}: {file}")
    except ModelFileError:
        raise
    except Exception as error:  # hostile bytes can make zipfile, json and numpy fail in many ways
        reason = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{name} is damaged: its content cannot be read ({reason})") from error
    return Inspected((), frozenset(each.partition(".")[0] for each in seen.names))


def _schema(archive: ZipFile, info: ZipInfo, name: str) -> bytes:
    """Unpack the schema, or refuse one that is far larger or more deeply nested than that of a model.

    Parsed it takes some 30 times its size.
    """
    most = min(_LARGEST_SCHEMA, _FREE_SCHEMA + _SCHEMA_RATIO * info.compress_size)
    text = bounded(archive, info, name, most)
    if _depth(text) > _DEEPEST:
        raise ModelFileError(f"{name} has been changed: its {SCHEMA} is nested more than {_DEEPEST} levels deep")
    return text


def _depth(text: bytes) -> int:
    """How deeply lists and dictionaries are nested in JSON. O(n)."""
    signs = np.frombuffer(_STRING.sub(b"", text), dtype=np.uint8)
    opened = ((signs == ord("[")) | (signs == ord("{"))).astype(np.int8)
    closed = ((signs == ord("]")) | (signs == ord("}"))).astype(np.int8)
    return int(np.cumsum(opened - closed, dtype=np.int64).max(initial=0))


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
        read = {
            "ListNode": self._in_sequence,
            "TupleNode": self._in_sequence,
            "DictNode": self._in_dictionary,
            "JsonNode": self._in_value,
            "NdArrayNode": self._in_array,
            "LossNode": self._in_loss,
            "RandomGeneratorNode": self._in_generator,
            "ObjectNode": self._in_object,
            "DTypeNode": self._in_object,
            "TypeNode": self._in_name,
            "FunctionNode": self._in_name,
        }[loader]
        return read(node)

    def _in_sequence(self, node: Mapping[str, Any]) -> Iterator[Any]:
        return iter(self._content(node, list))

    def _in_dictionary(self, node: Mapping[str, Any]) -> Iterator[Any]:
        content = self._content(node, dict)
        self._check_keys(node["key_types"], len(content))
        return iter([node["key_types"], *content.values()])

    def _in_value(self, node: Mapping[str, Any]) -> Iterator[Any]:
        content = self._content(node, str)  # JSON
        if content.count("[") + content.count("{") > _DEEPEST and _depth(content.encode()) > _DEEPEST:
            raise self._malformed(f"a value that is nested more than {_DEEPEST} levels deep")
        return iter(())

    def _in_array(self, node: Mapping[str, Any]) -> Iterator[Any]:
        if node.get("type") == "json":
            return iter([*self._content(node, list), node.get("shape")])
        if node.get("type") != "numpy" or not isinstance(node.get("file"), str) or node.get("content") is not None:
            raise self._malformed("an array without a file")
        self.files.add(node["file"])
        return iter(())

    def _in_loss(self, node: Mapping[str, Any]) -> Iterator[Any]:
        arguments = node.get("__reduce__")
        if not isinstance(arguments, dict) or set(arguments) != {"args"}:
            raise self._malformed("a LossNode without its content")
        return iter([node.get("content"), arguments["args"]])

    def _in_generator(self, node: Mapping[str, Any]) -> Iterator[Any]:
        """The state of PCG64, started the usual way; the size of its pool decides how long the start takes."""
        content = self._content(node, dict)
        if set(content) != {"bit_generator", "seed_seq"}:
            raise self._malformed("a random number generator without its state")
        kind = json.loads(content["bit_generator"]["content"]["bit_generator"]["content"])
        pool = json.loads(content["seed_seq"]["content"]["pool_size"]["content"])
        if (kind, pool) != ("PCG64", 4):
            raise self._malformed(f"a random number generator {kind!r} with a pool of {pool!r}")
        return iter([content["bit_generator"], content["seed_seq"]])

    @staticmethod
    def _in_object(node: Mapping[str, Any]) -> Iterator[Any]:
        return iter(() if node.get("content") is None else (node["content"],))

    @staticmethod
    def _in_name(_node: Mapping[str, Any]) -> Iterator[Any]:
        return iter(())

    def _content(self, node: Mapping[str, Any], kind: type[T]) -> T:
        content = node.get("content")
        if not isinstance(content, kind):
            raise self._malformed(f"a {node['__loader__']} without its content")
        return content

    def _check_keys(self, types: Any, n_keys: int) -> None:
        listed = types.get("content") if isinstance(types, dict) and types.get("__loader__") == "ListNode" else None
        if not isinstance(listed, list) or len(listed) != n_keys:
            raise self._malformed("a dictionary without the types of its keys")
        for each in listed:
            name = name_of(each)
            if each.get("__loader__") != "TypeNode" or name not in KEY_TYPES:
                self.foreign.add(Foreign(f"a dictionary with keys of type {name}", "DictNode"))

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
