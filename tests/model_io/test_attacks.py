"""Files made to do harm, with every size and checksum right: refused, and nothing of them is run."""

import copy
import io
import json
import os
import pickle
import stat
import sys
from hashlib import sha256
from zipfile import ZIP_DEFLATED, ZipExtFile, ZipFile, ZipInfo

import numpy as np
import pytest
import skops.io

import headrank as hr
from headrank.exceptions import ModelFileError
from headrank.model_io import container, load, save
from headrank.model_io.container import MANIFEST, PAYLOAD, Manifest, entry, pack, sealed, unpack
from headrank.model_io.libraries import libraries
from headrank.model_io.payload import SCHEMA, _depth, for_skops
from headrank.model_io.trusted import TRUSTED
from model_io.forging import archive_of, entries_of, node, unchecked, value, with_payload, with_schema
from model_io.saved_models import made


@pytest.fixture
def file():
    return unchecked(made("ranker")[0])


@pytest.fixture
def canary(tmp_path):
    return tmp_path / "canary"


def refused(data, tmp_path, words=None):
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=words):
        load(path)
    path.unlink()
    assert not (tmp_path / "canary").exists()


def with_node(file, planted):
    """The file with something else in the place of the ranker's measure."""

    def edit(schema):
        schema["content"]["content"]["measure"] = planted

    return with_schema(file, edit)


def strings(*words):
    return node("TupleNode", "builtins", "tuple", 9001, content=[value(word) for word in words])


def call(module, name, *words):
    """What makes skops call a function, if it trusts its name."""
    return node("ConstructorFromReduceNode", module, name, 9000, content=strings(*words))


def dictionary(types, content):
    listed = node("ListNode", "builtins", "list", 9003, content=types)
    return node("DictNode", "builtins", "dict", 9002, content=content, key_types=listed)


def attacks(canary):
    touch = f"touch {canary}"
    python = f"open({str(canary)!r}, 'w').close()"
    empty = dictionary([], {})
    method = {"func": "fit", "obj": node("ObjectNode", "headrank.estimators.linear", "LinearRanker", 9004)}
    generator = {"bit_generator": dictionary([], {"bit_generator": value("seed")}), "seed_seq": dictionary([], {})}
    return {
        "os.system": call("os", "system", touch),
        "posix.system": call(os.system.__module__, "system", touch),
        "eval": call("builtins", "eval", python),
        "exec": call("builtins", "exec", python),
        "Popen": call("subprocess", "Popen", "touch", str(canary)),
        "a trusted function, called": call("skrub._dataframe._common", "is_numeric", touch),
        "a trusted class, called": call("headrank.estimators.linear", "LinearRanker", "auc"),
        "a logical name, called": call("headrank", "LinearRanker@1", "auc"),
        "a logical name as a type": node("TypeNode", "headrank", "LinearRanker@1"),
        "a logical name of a module": node("ObjectNode", "headrank", "../os.system@1", 9000, content=empty),
        "a class of headrank by its module": node(
            "ObjectNode", "headrank.measures.ranks", "RankStatistic", 9000, content=empty
        ),
        "function": node("FunctionNode", "os", "system"),
        "type": node("TypeNode", "builtins", "eval"),
        "object": node("ObjectNode", "subprocess", "Popen", 9000, content=empty),
        "an estimator that skops trusts": node(
            "ObjectNode", "sklearn.preprocessing._function_transformer", "FunctionTransformer", 9000, content=empty
        ),
        "a ufunc that skops trusts": node("FunctionNode", "numpy", "exp"),
        "numpy.load": node("NdArrayNode", "numpy", "load", 9000, type="numpy", file="1.npy"),
        "keys that are called": dictionary([node("TypeNode", "builtins", "eval")], {python: value(1)}),
        "keys that are built": dictionary([node("ListNode", "builtins", "list", 9005, content=[])], {"a": value(1)}),
        "list": node("ListNode", "os", "system", 9000, content=[value(touch)]),
        "tuple": node("TupleNode", "subprocess", "Popen", 9000, content=[value(touch)]),
        "set": node("SetNode", "builtins", "set", 9000, content=[value(touch)]),
        "methodcaller": node("OperatorFuncNode", "operator", "methodcaller", 9000, attrs=strings("fit")),
        "operator": node("OperatorFuncNode", "operator", "call", 9000, attrs=strings(touch)),
        "method": node("MethodNode", "headrank.estimators.linear", "LinearRanker", 9000, content=method),
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            9000,
            content={"func": node("FunctionNode", "os", "system"), "args": strings(touch), "kwds": empty},
        ),
        "reduce": node("ReduceNode", "os", "system", 9000, __reduce__={"args": strings(touch)}, content=empty),
        "loss": node("LossNode", "os", "system", 9000, __reduce__={"args": strings(touch)}, content=empty),
        "tree": node(
            "TreeNode", "sklearn.tree._tree", "Tree", 9000, __reduce__={"args": strings(touch)}, content=empty
        ),
        "generator": node("RandomGeneratorNode", "numpy.random._generator", "Generator", 9000, content=generator),
        "random state": node("RandomStateNode", "numpy.random.mtrand", "RandomState", 9000, content=empty),
        "bytes": node("BytesNode", "builtins", "bytes", 9000, file="1.npy"),
        "an unknown loader": node("PickleNode", "builtins", "str", 9000),
        "no loader": {"__id__": 1},
        "no node": "os.system",
        "a reference to what is not there": node("CachedNode", None, None, 77),
        "a reference to what holds it": node("CachedNode", None, None, 1),
        "a number twice": node("ListNode", "builtins", "list", 1, content=[]),
        "a value with a number": {**value(1), "__id__": 1},
        "a field too many": {**value(1), "file": "../../etc/passwd"},
        "a function in the old style": node(
            "FunctionNode",
            "skrub._dataframe._common",
            "is_numeric",
            content={"module_path": "os", "function": "system"},
        ),
    }


@pytest.mark.parametrize("name", list(attacks("")))
def test_what_a_schema_can_be_made_to_say(name, file, canary, tmp_path, monkeypatch):
    """Refused before skops sees it: it would be too late to find out what skops makes of it."""
    asked = []
    monkeypatch.setattr(skops.io, "loads", lambda *args, **options: asked.append(args))
    refused(with_node(file, attacks(canary)[name]), tmp_path)
    assert not asked


def test_the_attacks_are_real(file, canary):
    """skops, told to trust what is in the file, runs it; so these tests would notice if `load` did."""
    forged = with_node(file, call(os.system.__module__, "system", f"touch {canary}"))
    _, payload = unpack(forged, "file")
    payload = for_skops(payload)
    skops.io.loads(payload, trusted=skops.io.get_untrusted_types(data=payload))
    assert canary.exists()


def test_forging_alone_does_not_refuse(file, tmp_path):
    (tmp_path / "model").write_bytes(with_node(file, value("auc")))
    assert load(tmp_path / "model").measure == "auc"


def test_foreign_types_are_named(file, canary, tmp_path):
    refused(with_node(file, attacks(canary)["Popen"]), tmp_path, "so it was not loaded: subprocess.Popen")


def test_an_older_protocol_cannot_be_chosen(file, tmp_path):
    for protocol in (0, 1, -1, None, "2"):
        refused(with_schema(file, lambda schema, p=protocol: schema.update(protocol=p)), tmp_path)


class Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_pickles_are_not_read(file, canary, tmp_path):
    poison = pickle.dumps(Touch(canary))
    refused(poison, tmp_path, "not a zip archive")
    refused(with_payload_of(poison), tmp_path)
    _, payload = unpack(file, "file")
    entries = entries_of(payload)
    array = next(name for name in entries if name.endswith(".npy"))
    objects = io.BytesIO()
    np.save(objects, np.array([Touch(canary)], dtype=object), allow_pickle=True)
    for data in (poison, objects.getvalue()):
        refused(with_payload(archive_of({**entries, array: data}.items())), tmp_path)
    pickle.loads(poison)
    assert canary.exists()


def with_payload_of(data):
    """A file whose payload is no archive."""
    return pack(Manifest("0.1.0", libraries(), "a", sha256(data).hexdigest(), len(data), 1), data)


def outer(*entries):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for info, data in entries:
            archive.writestr(info if isinstance(info, ZipInfo) else entry(info, 0), data)
        archive.comment = b"0" * 64
    return sealed(buffer.getvalue())


def link(name):
    info = entry(name, 0)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_strange_entries(file, canary, tmp_path):
    with ZipFile(io.BytesIO(file)) as archive:
        manifest, payload = archive.read(MANIFEST), archive.read(PAYLOAD)
    both = ((MANIFEST, manifest), (PAYLOAD, payload))
    (tmp_path / "model").write_bytes(outer(*both))
    assert load(tmp_path / "model")
    for strange in ("../canary", str(canary), "canary", "a/b", MANIFEST, PAYLOAD):
        refused(outer(*both, (strange, b"x")), tmp_path)
        refused(outer((strange, b"x"), *both), tmp_path)
    refused(outer((MANIFEST, manifest)), tmp_path, "must contain manifest.json and model.skops, got manifest.json")
    refused(outer((PAYLOAD, payload)), tmp_path, "has no manifest.json")
    refused(outer((MANIFEST, manifest), (link(PAYLOAD), str(canary))), tmp_path, "not a plain file")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_strange_entries_of_the_payload(file, canary, tmp_path):
    _, payload = unpack(file, "file")
    entries = list(entries_of(payload).items())
    for strange in ("../canary", str(canary), "canary.py", "0.npy", "99.npy", SCHEMA, entries[1][0]):
        refused(with_payload(archive_of([*entries, (strange, b"x")])), tmp_path)
    refused(with_payload(archive_of(entries[1:])), tmp_path, "must contain schema.json")
    refused(with_payload(archive_of(entries[:1])), tmp_path, "arrays are not those listed")
    refused(with_payload(archive_of([*entries[:-1], (link(entries[-1][0]), b"x")])), tmp_path, "not a plain file")
    packed = ZipInfo(SCHEMA)
    packed.compress_type = 14  # LZMA
    refused(with_payload(archive_of([(packed, entries[0][1]), *entries[1:]])), tmp_path)


def test_an_array_that_claims_to_be_huge_gets_no_memory(file, tmp_path):
    _, payload = unpack(file, "file")
    entries = entries_of(payload)
    array = next(name for name in entries if name.endswith(".npy"))
    for shape in ((1 << 45,), (-3,), (1 << 20, 1 << 30), (2,)):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
        data = header.getvalue() + bytes(24)
        refused(with_payload(archive_of({**entries, array: data}.items())), tmp_path, "as its header says|damaged")


def test_a_schema_without_end(file, tmp_path):
    depth = 50_000
    nested = '{"__loader__":"ListNode","content":[' * depth + "]}" * depth
    refused(with_payload(archive_of([(SCHEMA, nested.encode())])), tmp_path)
    limit = sys.getrecursionlimit()

    def deep(schema):
        inner = value(1)
        for number in range(100, 100 + limit):
            inner = node("ListNode", "builtins", "list", number, content=[inner])
        schema["content"]["content"]["measure"] = inner

    sys.setrecursionlimit(20 * limit)
    try:
        data = with_schema(file, deep)
    finally:
        sys.setrecursionlimit(limit)
    refused(data, tmp_path)


# -- small files that are large inside ----------------------------------------------------------------------------


@pytest.fixture
def unpacked(monkeypatch):
    """How many bytes zipfile gives out."""
    sizes, read = [0], ZipExtFile.read

    def counted(self, n=-1):
        data = read(self, n)
        sizes[0] += len(data)
        return data

    monkeypatch.setattr(ZipExtFile, "read", counted)
    return lambda: sizes[0]


def with_large_schema(file, n_bytes, **said):
    """The file with spaces in its schema, where JSON has no use for them."""
    entries = entries_of(unpack(file, "file")[1])
    entries[SCHEMA] += b" " * n_bytes
    return with_payload(archive_of(entries.items()), **said)


def test_a_schema_that_is_too_large_is_not_unpacked(file, tmp_path, unpacked):
    data = with_large_schema(file, 30 << 20)
    assert len(data) < 50_000
    before = unpacked()
    refused(data, tmp_path, "schema.json of more than")
    assert unpacked() - before < (1 << 20) + 102 * len(data)


def test_a_schema_with_room_to_spare_is_fine(file, tmp_path):
    (tmp_path / "model").write_bytes(with_large_schema(file, 1 << 19))
    assert load(tmp_path / "model")


def test_packing_twice_is_refused_before_unpacking(file, tmp_path, unpacked):
    """150 MB of schema in 2 kB: once packed by zip they still repeat themselves."""
    entries = entries_of(unpack(file, "file")[1])
    entries[SCHEMA] += b" " * (150 << 20)
    with ZipFile(io.BytesIO(with_payload(archive_of(entries.items())))) as archive:
        both = [(entry(name, ZIP_DEFLATED), archive.read(name)) for name in (MANIFEST, PAYLOAD)]
    data = outer(*both)
    assert len(data) < 5000
    before = unpacked()
    refused(data, tmp_path, "its entries are compressed")
    assert unpacked() - before < 1 << 16


def test_arrays_that_grow_too_much_are_not_unpacked(file, tmp_path, unpacked):
    entries = entries_of(unpack(file, "file")[1])
    array = next(name for name in entries if name.endswith(".npy"))
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(80 << 20, dtype=np.int8))
    data = with_payload(archive_of({**entries, array: zeros.getvalue()}.items()))
    assert len(data) < 200_000
    before = unpacked()
    refused(data, tmp_path, "would unpack to 8.,...,... bytes")
    assert unpacked() - before < 1 << 20


def test_a_size_that_is_not_true_is_not_believed(file, tmp_path, unpacked):
    """The directory of the archive says that the schema is small; what zipfile then gives out is cut there."""
    data = with_large_schema(file, 30 << 20)
    _, payload = unpack(data, "file")
    small = 1000
    with ZipFile(io.BytesIO(payload)) as archive:
        size = archive.getinfo(SCHEMA).file_size
    lying = payload.replace(size.to_bytes(4, "little"), small.to_bytes(4, "little"))
    assert lying != payload
    before = unpacked()
    refused(with_payload(lying), tmp_path, "damaged")
    assert unpacked() - before < 1 << 20


def test_a_model_of_many_zeros_is_saved_and_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "_FREE", 1 << 14)
    model = copy.copy(made("ranker")[0])
    model.coef_ = np.zeros(100_000)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").coef_.size == model.coef_.size


@pytest.mark.parametrize("place", ["schema", "value"])
def test_nesting_has_an_end(file, tmp_path, place):
    depth = 300
    nested = "[" * depth + "]" * depth
    planted = json.loads(nested) if place == "schema" else {**value(1), "content": nested}
    refused(with_node(file, planted), tmp_path, "nested more than 256 levels deep")
    quoted = value('"[{\\' * depth)
    (tmp_path / "model").write_bytes(with_node(file, {**quoted, "content": json.dumps("auc" + "[" * 0)}))
    assert load(tmp_path / "model").measure == "auc"


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("", 0),
        ("1", 0),
        ("[]", 1),
        ('{"a": [1, {"b": []}]}', 4),
        ('["[[[["]', 1),
        (r'["\"[[", "\\", [[]]]', 3),
        ('[["[[', 2),
        ("[][][[]]", 2),
    ],
)
def test_the_depth_of_json(text, depth):
    assert _depth(text.encode()) == depth


def test_no_function_on_the_list_does_more_than_ask(file):
    """A name on the list of functions is only ever a value; what may be called is on no list."""
    assert "ConstructorFromReduceNode" not in TRUSTED
    assert TRUSTED.keys().isdisjoint({"MethodNode", "OperatorFuncNode", "PartialNode", "TreeNode", "SparseMatrixNode"})
    assert all(name.startswith("skrub.") for name in TRUSTED["FunctionNode"])
    assert TRUSTED["FunctionNode"].isdisjoint(TRUSTED["ObjectNode"] | TRUSTED["TypeNode"])


def test_what_is_saved_passes_json_unchanged(file):
    _, payload = unpack(file, "file")
    text = entries_of(payload)[SCHEMA].decode()
    assert json.loads(text)["__class__"] == "LinearRanker@1"
    assert hr.__version__ not in text
    with ZipFile(io.BytesIO(payload)) as archive:
        assert {info.compress_type for info in archive.infolist()} == {ZIP_DEFLATED}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
