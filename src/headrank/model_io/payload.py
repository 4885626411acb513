"""The payload: a skops archive, made canonical when written and checked node by node before it is loaded."""

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
"""The lowest protocol of skops that headrank has ever written."""
_FREE_SCHEMA, _SCHEMA_RATIO, _LARGEST_SCHEMA = 1 << 20, 100, 1 << 26
"""Bytes to which any schema may unpack, how many more per byte of it in the file, and the maximum."""
_DEEPEST = 256
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
"""A JSON string. An unterminated one matches to the end, so that the search stays linear."""
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
"""Fields that a node may have in addition to the common ones."""
_WITHOUT_IDENTITY = ("JsonNode", "TypeNode", "FunctionNode")
"""Values without identity: the payload does not depend on whether Python keeps one copy or two."""


@dataclass
class _Numbering:
    """Numbers for objects and names for arrays, in order of appearance."""

    objects: dict[int, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def of(self, node: Any) -> Any:
        """Return a copy with the new numbers. Repeated objects become references."""
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
    """Rewrite a skops dump so that the same model gives the same bytes and each object is written once.

    skops numbers objects by their memory address, writes an object once per reference, and names classes by their
    modules. headrank's own classes get their logical names.
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
    """Return an inspected payload with its classes as paths that skops can import."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(payload)) as source, ZipFile(buffer, "w", ZIP_STORED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, json.dumps(with_present_paths(json.loads(data))) if name == SCHEMA else data)
    return buffer.getvalue()


def size_unpacked(payload: bytes) -> int:
    """Return the total size of all entries in bytes."""
    with ZipFile(io.BytesIO(payload)) as archive:
        return sum(info.file_size for info in archive.infolist())


@dataclass(frozen=True)
class Foreign:
    """Something not allowed in a model file: its name and the loader that would rebuild it."""

    name: str
    loader: str


@dataclass(frozen=True)
class Inspected:
    """The result of inspecting a payload.

    Attributes
    ----------
    foreign : tuple of Foreign
        Everything that is not trusted.
    libraries : frozenset of str
        The packages of all classes and functions in the model; empty if something is not trusted.
    """

    foreign: tuple[Foreign, ...]
    libraries: frozenset[str]


def inspect(payload: bytes, name: str, *, unpacked: int) -> Inspected:
    """Inspect every node without building anything; raise unless it is an archive as `canonical` writes it."""
    try:
        with ZipFile(io.BytesIO(payload)) as archive:
            entries = plain_entries(archive, name)
            if sum(info.file_size for info in entries.values()) != unpacked:
                raise ModelFileError(f"{name} has been changed: it does not unpack to the stated {unpacked:,} bytes")
            strange = [each for each in entries if each != SCHEMA and not _ARRAY.fullmatch(each)]
            packed_strangely = any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in entries.values())
            if SCHEMA not in entries or strange or packed_strangely:
                raise ModelFileError(f"{name} must contain {SCHEMA} and numbered arrays, got {', '.join(entries)}")
            tree = json.loads(_schema(archive, entries[SCHEMA], name))
            if not isinstance(tree, dict) or tree.get("protocol", 0) < _PROTOCOL:
                # The file selects the rules by which skops reads it, and the older ones are not safe.
                raise ModelFileError(f"{name} has been changed: headrank has never written this old skops protocol")
            seen = _Walk(name)
            seen.visit(tree, root=True)
            if seen.foreign:  # their children have not been inspected
                return Inspected(tuple(sorted(seen.foreign, key=lambda each: each.name)), frozenset())
            if seen.files != set(entries) - {SCHEMA}:
                raise ModelFileError(f"{name} has been changed: its arrays are not those listed in its {SCHEMA}")
            for file in sorted(seen.files):
                _check_array(bounded(archive, entries[file], name, entries[file].file_size), f"{name}: {file}")
    except ModelFileError:
        raise
    except Exception as error:  # hostile bytes can make zipfile, json and numpy fail in many ways
        reason = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{name} is damaged: its content cannot be read ({reason})") from error
    return Inspected((), frozenset(each.partition(".")[0] for each in seen.names))


def _schema(archive: ZipFile, info: ZipInfo, name: str) -> bytes:
    """Unpack the schema; raise if it is much larger or more deeply nested than that of a model.

    Parsed, it takes about 30 times its size in memory.
    """
    most = min(_LARGEST_SCHEMA, _FREE_SCHEMA + _SCHEMA_RATIO * info.compress_size)
    text = bounded(archive, info, name, most)
    if _depth(text) > _DEEPEST:
        raise ModelFileError(f"{name} has been changed: its {SCHEMA} is nested more than {_DEEPEST} levels deep")
    return text


def _depth(text: bytes) -> int:
    """Return how deeply lists and dictionaries are nested in JSON. O(n)."""
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
        """Inspect a node and all nodes below it."""
        if not isinstance(node, dict) or not isinstance(node.get("__loader__"), str):
            raise self._malformed("a node without a loader")
        loader = node["__loader__"]
        if loader == "CachedNode":
            # Only complete nodes may be referred to: on a cycle, skops would overflow the stack.
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
        """Return the child nodes in the order in which skops builds them; raise on anything else."""
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
        """Return the state of PCG64 with a default seed sequence: the size of its pool determines the time to seed."""
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
        return ModelFileError(f"{self._name} has been changed, or is of an unknown kind: it contains {what}")


def _check_array(data: bytes, name: str) -> None:
    """Raise if the header of an array does not match its size: NumPy would allocate what the header says."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ModelFileError(f"{name} is an array of version {version}; expected 1.0 or 2.0")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    n_bytes = prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or n_bytes != len(data) - stream.tell():
        raise ModelFileError(f"{name} is not a plain array of {n_bytes:,} bytes as its header says")
