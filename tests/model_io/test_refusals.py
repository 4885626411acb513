"""What cannot be saved or loaded is refused with the cause and the remedy, and leaves nothing behind."""

import io
import json
import warnings
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import headrank as hr
from headrank.exceptions import ModelFileError
from headrank.model_io import container, load, save
from headrank.model_io.container import MANIFEST, PAYLOAD, entry, sealed, unpack
from headrank.model_io.libraries import libraries
from model_io.forging import unchecked, with_payload, with_schema
from model_io.saved_models import made, numbers


def fitted(model, X=None):
    rows, y = numbers()
    return model.fit(rows if X is None else X, y)


def half(ranks):
    return ranks / 2


def categories():
    return pd.DataFrame({"a": pd.Categorical(np.arange(240) % 3), "b": numbers()[0][:, 0]})


UNSAVED = {
    "unfitted": (lambda: hr.LinearRanker(), "LinearRanker is not fitted; call fit before saving it"),
    "unfitted pipeline": (lambda: make_pipeline(StandardScaler(), LogisticRegression()), "Pipeline is not fitted"),
    "no estimator": (lambda: {"coef": [1.0]}, "expected a fitted model, got dict; these can be saved: headrank's"),
    "no scores": (lambda: fitted(StandardScaler()), "StandardScaler cannot score rows"),
    "forest": (lambda: fitted(hr.TopFractionClassifier(RandomForestClassifier(2))), "RandomForestClassifier"),
    "step": (lambda: fitted(make_pipeline(FunctionTransformer(), LogisticRegression())), "FunctionTransformer"),
    "function": (
        lambda: fitted(hr.LinearRanker(hr.RankStatistic(half), surrogate="logistic")),
        "RankStatistic .its function cannot be saved: use PNormPush",
    ),
    "lambda": (
        lambda: fitted(hr.KernelRanker(ranker=hr.LinearRanker("auc"), kernel=lambda a, b: a @ b, n_components=9)),
        "<lambda>.*functions cannot be saved",
    ),
    "random state": (
        lambda: fitted(hr.LinearRankerCV(surrogates=("logistic",), random_state=np.random.RandomState(0))),
        "RandomState.*pass random_state as an int",
    ),
    "sparse": (
        lambda: fitted(hr.KernelRanker(ranker=hr.LinearRanker("auc"), n_components=9), csr_array(numbers()[0])),
        "csr.*fit it to dense rows",
    ),
    "keys": (
        lambda: LogisticRegression(class_weight={False: 1, True: 2}).fit(numbers()[0], numbers()[1].astype(bool)),
        "keys of type builtins.bool",
    ),
    "cache": (lambda: fitted(make_pipeline(StandardScaler(), LogisticRegression(), memory="x")), "memory=None"),
    "category features": (
        lambda: fitted(HistGradientBoostingClassifier(max_iter=2, categorical_features=["a"]), categories()),
        "ColumnTransformer|category features",
    ),
    "rare categories": (
        lambda: fitted(make_pipeline(OneHotEncoder(max_categories=2), LogisticRegression()), categories()[["a"]]),
        "groups rare categories",
    ),
}


@pytest.mark.filterwarnings("ignore::headrank.exceptions.CollapsedFitWarning")
@pytest.mark.parametrize("name", list(UNSAVED))
def test_what_load_would_refuse_is_not_saved(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, words = UNSAVED[name]
    model = make()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match=words):
        save(model, tmp_path / "model")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "model").write_text("dear")
    with pytest.raises(ModelFileError):
        save(model, tmp_path / "model")
    assert (tmp_path / "model").read_text() == "dear"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        save(made("ranker")[0], tmp_path / "nowhere" / "model")


@pytest.fixture
def file():
    return unchecked(made("ranker")[0])


def refused(data, tmp_path, words):
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=words) as refusal:
        load(path)
    assert "model" in str(refusal.value)
    assert str(tmp_path) not in str(refusal.value)


def test_no_file_and_no_model(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no file .*nothing"):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)
    refused(b"", tmp_path, "not a zip archive")
    refused(b"a,b\n1,2\n", tmp_path, "not a headrank model: it is not a zip archive")
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    refused(buffer.getvalue(), tmp_path, "zip archive, but not a headrank model")


def manifest_of(file):
    with ZipFile(io.BytesIO(file)) as archive:
        return json.loads(archive.read(MANIFEST))


def rewritten(file, edit):
    """The file with an edited manifest, and a seal that fits."""
    said = manifest_of(file)
    edit(said)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr(entry(MANIFEST, 0), json.dumps(said))
        archive.writestr(entry(PAYLOAD, 0), unpack(file, "file")[1])
        archive.comment = b"0" * 64
    return sealed(buffer.getvalue())


def test_the_manifest_says_what_the_file_is(file):
    said = manifest_of(file)
    assert (said["kind"], said["format"]) == ("headrank model", 2)
    assert said["libraries"].keys() == {"python", "numpy", "scipy", "scikit-learn", "skrub", "skops", "polars"}
    assert "none" not in said["libraries"].values()


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda said: said.update(kind="cake"), "not a headrank model"),
        (
            lambda said: said.update(format=3, headrank="9.1"),
            "written by headrank 9.1, format 3; this .* up to 2: update",
        ),
        (lambda said: said.update(format="1"), "no valid format number"),
        (lambda said: said.update(format=True), "no valid format number"),
        (lambda said: said.pop("sha256"), "missing or unknown fields"),
        (lambda said: said.update(extra=1), "missing or unknown fields"),
        (lambda said: said.update(size="1"), "missing or unknown fields"),
        (lambda said: said.update(libraries={"numpy": 2}), "missing or unknown fields"),
        (lambda said: said.update(size=5), "has been changed"),
        (lambda said: said.update(sha256="0" * 64), "has been changed"),
        (lambda said: said.update(unpacked=said["unpacked"] + 1), "does not unpack to"),
        (lambda said: said.update(unpacked=1 << 40), "would unpack to"),
    ],
)
def test_manifests_that_do_not_fit(file, edit, words, tmp_path):
    refused(rewritten(file, edit), tmp_path, words)


def test_a_rewritten_manifest_that_fits_is_fine(file, tmp_path):
    (tmp_path / "model").write_bytes(rewritten(file, lambda said: said.update(headrank="0.0.7")))
    assert load(tmp_path / "model").coef_.size == 3


def test_every_flipped_byte_is_noticed(file, tmp_path):
    for change in (1, 0xFF):
        for i in range(len(file)):
            damaged = bytearray(file)
            damaged[i] ^= change
            with pytest.raises(ModelFileError):
                unpack(bytes(damaged), "model")
    assert unpack(file, "model")


def test_every_cut_and_every_addition_is_noticed(file, tmp_path):
    for sixteenth in range(16):
        refused(file[: sixteenth * len(file) // 16], tmp_path, "cut off or damaged|not a zip archive")
    refused(file[:-1], tmp_path, "damaged")
    refused(file + b"0", tmp_path, "damaged")
    refused(b"0" + file, tmp_path, "damaged|not a headrank model")


def test_too_large(file, tmp_path, monkeypatch):
    monkeypatch.setattr("headrank.model_io.loading.LARGEST", len(file) - 1)
    refused(file, tmp_path, "larger than the")
    monkeypatch.setattr("headrank.model_io.saving.LARGEST", 100)
    with pytest.raises(ModelFileError, match="the limit for a model file is 100"):
        save(made("ranker")[0], tmp_path / "other")


def test_other_versions(tmp_path, monkeypatch):
    """scikit-learn's classes may change with its version, headrank's own do not depend on it."""
    others = libraries() | {"scikit-learn": "1.2.9", "python": "3.0.0"}
    save(made("ranker")[0], tmp_path / "own")
    save(made("logistic regression")[0], tmp_path / "theirs")
    for name in ("own", "theirs"):
        _, payload = unpack((tmp_path / name).read_bytes(), name)
        (tmp_path / name).write_bytes(with_payload(payload, libraries=others))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "own")
    with pytest.warns(
        UserWarning, match=r"theirs was written with scikit-learn 1.2.9 \(here .*scores may differ"
    ) as told:
        load(tmp_path / "theirs")
    assert len(told) == 1
    assert told[0].filename == __file__


def test_scikit_learns_own_warning_is_not_heard(tmp_path):
    def older(schema):
        schema["content"]["content"]["_sklearn_version"]["content"] = '"1.2.9"'

    (tmp_path / "model").write_bytes(with_schema(unchecked(made("logistic regression")[0]), older))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "model")


def test_what_cannot_be_rebuilt_names_the_versions(tmp_path):
    def without_parameter(schema):
        del schema["content"]["content"]["C"]
        schema["content"]["key_types"]["content"].pop()

    data = with_schema(unchecked(made("ranker")[0]), without_parameter)
    _, payload = unpack(data, "model")
    others = libraries() | {"scikit-learn": "1.2.9"}
    refused(
        with_payload(payload, libraries=others), tmp_path, "parameters C are missing.* versions .*scikit-learn 1.2.9"
    )


def test_the_limit_is_checked_before_unpacking(file, tmp_path, monkeypatch):
    """A hundred thousand times as large inside as outside."""
    monkeypatch.setattr(container, "LARGEST", 1 << 20)
    bomb = with_schema(file, lambda schema: schema.update(_skops_version="0" * (1 << 21)))
    assert len(bomb) < 20_000
    refused(bomb, tmp_path, "would unpack to")
