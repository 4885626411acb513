"""The outer file: a zip archive of a manifest and a payload, followed by a checksum over all bytes before it."""

from __future__ import annotations

import io
import json
import stat
import zlib
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from headrank.exceptions import ModelFileError

FORMAT = 2
"""The format that is written, and the highest that can be read. Since 2, headrank's classes have logical names."""
KIND = "headrank model"
MANIFEST, PAYLOAD = "manifest.json", "model.skops"
LARGEST = 1 << 30
"""Maximum size of a file in bytes, packed or unpacked."""
_LARGEST_MANIFEST = 1 << 16
_FREE, _LARGEST_RATIO = 1 << 26, 100
"""Bytes to which any file may unpack, and how many more per byte of it: a small file cannot fill the memory."""
_SEAL_LENGTH = 64


@dataclass(frozen=True)
class Manifest:
    """Metadata of a model file.

    Attributes
    ----------
    headrank : str
        The version that wrote it.
    libraries : dict of str to str
        Versions of Python and of the libraries with classes that may be in the file.
    model : str
        Class of the model.
    sha256 : str
        Hash of the payload.
    size, unpacked : int
        Bytes of the payload, and of its entries once unpacked.
    """

    headrank: str
    libraries: dict[str, str]
    model: str
    sha256: str
    size: int
    unpacked: int

    def __post_init__(self) -> None:
        for name, kind in (("headrank", str), ("libraries", dict), ("model", str), ("size", int), ("unpacked", int)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is not of type {kind.__name__}")
        if not all(isinstance(word, str) for pair in self.libraries.items() for word in pair):
            raise TypeError("libraries are not names with versions")


def pack(manifest: Manifest, payload: bytes) -> bytes:
    """Return the file with this manifest and payload. The same input gives the same bytes."""
    said = {"kind": KIND, "format": FORMAT, **asdict(manifest)}
    text = json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False).encode()
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr(entry(MANIFEST, ZIP_STORED), text)
        archive.writestr(entry(PAYLOAD, ZIP_STORED), payload)
        archive.comment = b"0" * _SEAL_LENGTH
    return sealed(buffer.getvalue())


def sealed(data: bytes) -> bytes:
    """Replace the comment at the end of the archive by the checksum of everything before it."""
    return data[:-_SEAL_LENGTH] + _seal(data)


def _seal(data: bytes) -> bytes:
    return sha256(data[:-_SEAL_LENGTH]).hexdigest().encode()


def entry(name: str, compression: int) -> ZipInfo:
    """Return an entry with a fixed timestamp."""
    info = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type, info.create_system, info.external_attr = compression, 3, (stat.S_IFREG | 0o644) << 16
    return info


def unpack(data: bytes, name: str) -> tuple[Manifest, bytes]:
    """Split a file into manifest and payload. Raise if it is damaged, of a later format or not a headrank model."""
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            entries = plain_entries(archive, name)
            if MANIFEST not in entries:
                if MANIFEST.encode() in data[:64]:  # zipfile has found the end of the payload, itself an archive
                    raise ModelFileError(f"{name} is cut off or damaged; copy it again from where it works")
                raise ModelFileError(f"{name} is a zip archive, but not a headrank model: it has no {MANIFEST}")
            said = _manifest(archive, entries[MANIFEST], name)
            if archive.comment != _seal(data):
                raise ModelFileError(
                    f"{name} is damaged: its checksum does not match; copy it again from where it works"
                )
            if set(entries) != {MANIFEST, PAYLOAD}:
                raise ModelFileError(f"{name} must contain {MANIFEST} and {PAYLOAD}, got {', '.join(entries)}")
            if any(info.compress_type != ZIP_STORED for info in entries.values()):
                raise ModelFileError(f"{name} has been changed: its entries are compressed, unlike headrank's")
            payload = bounded(archive, entries[PAYLOAD], name, LARGEST)
    except ModelFileError:
        raise
    except Exception as error:  # on invalid bytes, zipfile raises more than BadZipFile
        if data[:2] != b"PK":
            raise ModelFileError(f"{name} is not a headrank model: it is not a zip archive") from error
        raise ModelFileError(f"{name} is cut off or damaged ({error}); copy it again from where it works") from error
    manifest = _checked(said, name)
    if manifest.size != len(payload) or manifest.sha256 != sha256(payload).hexdigest():
        raise ModelFileError(f"{name} has been changed: {PAYLOAD} does not match {MANIFEST}; get the original file")
    return manifest, payload


def plain_entries(archive: ZipFile, name: str) -> dict[str, ZipInfo]:
    """Return the entries by name; raise if one is duplicated, encrypted, not a plain file, or if they are too large."""
    entries: dict[str, ZipInfo] = {}
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.filename in entries or info.flag_bits & 1 or kind not in (0, stat.S_IFREG):
            raise ModelFileError(
                f"{name} has an entry {info.filename!r} that is duplicated, encrypted or not a plain file"
            )
        entries[info.filename] = info
    total = sum(info.file_size for info in entries.values())
    most = min(LARGEST, _FREE + _LARGEST_RATIO * sum(info.compress_size for info in entries.values()))
    if total > most:
        raise ModelFileError(f"{name} would unpack to {total:,} bytes; the limit for its size is {most:,}")
    return entries


def compression_of(data: bytes) -> int:
    """Return the compression of an entry: none if it is large and would shrink too much for `plain_entries`."""
    small = len(data) <= _FREE >> 6
    return ZIP_DEFLATED if small or len(data) <= _LARGEST_RATIO * len(zlib.compress(data)) else ZIP_STORED


def bounded(archive: ZipFile, info: ZipInfo, name: str, most: int) -> bytes:
    """Unpack an entry up to a maximum size, whatever its header says."""
    with archive.open(info) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise ModelFileError(f"{name} has an entry {info.filename} of more than {most:,} bytes, the maximum")
    return data


def _manifest(archive: ZipFile, info: ZipInfo, name: str) -> dict[str, Any]:
    """Read the manifest and check the fields that all formats share: kind, format and version of headrank."""
    text = bounded(archive, info, name, _LARGEST_MANIFEST)
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is not a headrank model: its {MANIFEST} cannot be read ({error})") from error
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise ModelFileError(f"{name} is not a headrank model: its {MANIFEST} has another kind")
    number = said.get("format")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{name} has no valid format number, got {number!r}")
    if number > FORMAT:
        raise ModelFileError(
            f"{name} was written by headrank {said.get('headrank')}, format {number}; this headrank reads up to "
            f"{FORMAT}: update headrank"
        )
    return said


def _checked(said: dict[str, Any], name: str) -> Manifest:
    try:
        manifest = Manifest(**{key: value for key, value in said.items() if key not in ("kind", "format")})
    except TypeError as error:
        raise ModelFileError(f"{name} has a {MANIFEST} with missing or unknown fields ({error})") from error
    if manifest.unpacked > LARGEST:
        raise ModelFileError(f"{name} would unpack to {manifest.unpacked:,} bytes; the limit is {LARGEST:,}")
    return manifest
