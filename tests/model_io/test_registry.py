"""Names in model files stand for classes wherever these live."""

import inspect as inspection
import json
import sys
from pkgutil import resolve_name, walk_packages
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

import headrank as hr
from fits import same_scores
from headrank.exceptions import ModelFileError
from headrank.measures.measure import QueryMean
from headrank.measures.names import MEASURES
from headrank.model_io import load, registry, save
from headrank.model_io.container import unpack
from headrank.model_io.contents import _everything_in
from headrank.model_io.payload import SCHEMA
from headrank.model_io.registry import LOGICAL_NAMES_OF_0_1, known_classes, logical_name, with_logical_names
from model_io.forging import entries_of, with_schema
from model_io.saved_models import MAKERS, made, numbers


def path_of(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def schema_of(path):
    _, payload = unpack(path.read_bytes(), path.name)
    return json.loads(entries_of(payload)[SCHEMA])


def test_files_name_no_module_of_headrank(tmp_path):
    save(made("what fit writes, ranker")[0], tmp_path / "model")
    assert "headrank." not in json.dumps(schema_of(tmp_path / "model"))
    assert '"TableModel@2"' in json.dumps(schema_of(tmp_path / "model"))
    assert unpack((tmp_path / "model").read_bytes(), "model")[0].model == "headrank/TableModel@2"


@pytest.mark.parametrize("module", ["_loss", "sklearn._loss._loss"])  # before scikit-learn 1.9, and since
def test_the_loss_of_trees_has_one_name(module):
    node = {"__loader__": "LossNode", "__module__": module, "__class__": "CyHalfBinomialLoss"}
    assert with_logical_names([node]) == [{**node, "__module__": "sklearn._loss._loss"}]


def test_a_class_that_has_moved_since_still_loads(tmp_path, monkeypatch):
    model, rows = made("ranker")
    save(model, tmp_path / "model")
    elsewhere = ModuleType("headrank_moved")
    elsewhere.Renamed = type("Renamed", (hr.LinearRanker,), {"__module__": "headrank_moved"})
    monkeypatch.setitem(sys.modules, "headrank_moved", elsewhere)
    monkeypatch.setitem(registry._HOMES, "LinearRanker@1", "headrank_moved.Renamed")
    loaded = load(tmp_path / "model")
    assert type(loaded) is elsewhere.Renamed
    assert same_scores(loaded.decision_function(rows), model.decision_function(rows))
    save(loaded, tmp_path / "again")
    assert schema_of(tmp_path / "again") == schema_of(tmp_path / "model")


def test_paths_of_the_first_release_are_read(tmp_path):
    """Every one of them, wherever it leads now."""
    old = {name: path for path, name in LOGICAL_NAMES_OF_0_1.items()}
    old["headrank/TableModel@2"] = old["headrank/TableModel@1"]
    save(made("what fit writes, ranker")[0], tmp_path / "model")

    def edit(node):
        if isinstance(node, dict):
            if node.get("__module__") == "headrank":
                node["__module__"], _, node["__class__"] = old[f"headrank/{node['__class__']}"].rpartition(".")
            node = list(node.values())
        for part in node if isinstance(node, list) else ():
            edit(part)

    (tmp_path / "old").write_bytes(with_schema((tmp_path / "model").read_bytes(), edit))
    assert "headrank.training.table_model" in json.dumps(schema_of(tmp_path / "old"))
    model, rows = made("what fit writes, ranker")
    assert same_scores(load(tmp_path / "old").decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("name", ["LinearRanker@2", "Oracle@1", "LinearRanker"])
def test_an_unknown_logical_name_is_refused(name, tmp_path):
    save(made("ranker")[0], tmp_path / "model")
    data = with_schema((tmp_path / "model").read_bytes(), lambda schema: schema.update({"__class__": name}))
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match=f"contains headrank/{name}, unknown to headrank .*; .*: update headrank"):
        load(tmp_path / "model")


def test_a_class_by_its_present_path_is_refused_unless_the_first_release_had_it_there(tmp_path):
    """No headrank writes such a name."""
    save(made("ranker")[0], tmp_path / "model")
    elsewhere = {"__module__": "headrank.estimators", "__class__": "LinearRanker"}
    data = with_schema((tmp_path / "model").read_bytes(), lambda schema: schema.update(elsewhere))
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"so it was not loaded: headrank\.estimators\.LinearRanker"):
        load(tmp_path / "model")


def test_every_name_leads_to_a_class():
    for name, path in known_classes().items():
        kind = resolve_name(path)
        assert path_of(kind) == path
        written, version = logical_name(path).split("@")
        assert written == name.split("@")[0]
        assert int(version) >= int(name.split("@")[1])


def test_every_measure_that_is_not_made_of_a_function_is_registered():
    assert {path_of(kind) for kind in MEASURES if kind is not hr.RankStatistic} <= set(known_classes().values())
    assert not {path_of(kind) for kind in (hr.RankStatistic, QueryMean)} & set(known_classes().values())


def test_every_estimator_is_registered():
    found = set()
    for module in walk_packages(hr.__path__, "headrank."):
        if module.name != "headrank.__main__":
            members = vars(resolve_name(module.name)).values()
            found |= {each for each in members if inspection.isclass(each) and issubclass(each, BaseEstimator)}
    ours = {kind for kind in found if kind.__module__.startswith("headrank.") and hasattr(kind, "fit")}
    concrete = {path_of(kind) for kind in ours if not inspection.isabstract(kind)}
    assert len(concrete) > 5
    assert concrete <= set(known_classes().values())


@pytest.mark.parametrize("name", MAKERS)
def test_all_that_models_are_made_of_is_registered(name):
    """The dataclasses they keep among them."""
    inside = {path_of(type(each)) for each in _everything_in(made(name)[0])}
    assert {path for path in inside if path.startswith("headrank.")} <= set(known_classes().values())


def test_every_class_of_the_first_release_has_its_name():
    assert set(LOGICAL_NAMES_OF_0_1.values()) <= set(known_classes())
    assert len(set(LOGICAL_NAMES_OF_0_1.values())) == len(LOGICAL_NAMES_OF_0_1) == 37


def test_a_function_still_cannot_be_saved(tmp_path):
    X, y = numbers()
    ranker = hr.LinearRanker("auc").fit(X, y)
    ranker.measure = hr.RankStatistic(lambda u: u)
    with pytest.raises(ModelFileError, match="its function cannot be saved: use PNormPush or WRanking"):
        save(ranker, tmp_path / "model")
