"""Files as somebody with bad intentions would write them: changed, and with all sizes and checksums made to fit."""

import io
import json
from dataclasses import replace
from hashlib import sha256
from zipfile import ZIP_DEFLATED, ZipFile

from headrank.model_io.container import Manifest, entry, pack, unpack
from headrank.model_io.dumping import dumped
from headrank.model_io.libraries import libraries
from headrank.model_io.payload import SCHEMA, canonical


def entries_of(payload):
    with ZipFile(io.BytesIO(payload)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def archive_of(entries):
    """An archive of (name or ZipInfo, bytes)."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in entries:
            archive.writestr(entry(name, ZIP_DEFLATED) if isinstance(name, str) else name, data)
    return buffer.getvalue()


def with_payload(payload, **said):
    with ZipFile(io.BytesIO(payload)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    manifest = Manifest("0.1.0", libraries(), "a.b", sha256(payload).hexdigest(), len(payload), unpacked)
    return pack(replace(manifest, **said), payload)


def with_schema(file, edit):
    """The file with an edited schema."""
    _, payload = unpack(file, "file")
    entries = entries_of(payload)
    schema = json.loads(entries[SCHEMA])
    entries[SCHEMA] = json.dumps(edit(schema) or schema).encode()
    return with_payload(archive_of(entries.items()))


def unchecked(model):
    """The file that `save` would write if it did not look."""
    return with_payload(canonical(dumped(model)))


def node(loader, module, name, number=None, **parts):
    identity = {} if number is None else {"__id__": number}
    return {"__class__": name, "__module__": module, "__loader__": loader, **identity, **parts}


def value(content):
    return node("JsonNode", "builtins", "str", content=json.dumps(content), is_json=True)
