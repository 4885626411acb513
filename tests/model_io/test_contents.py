"""Attributes that compiled code takes for positions in memory are checked before a model is handed out."""

from copy import deepcopy

import numpy as np
import pytest

import headrank as hr
from headrank.exceptions import ModelFileError
from headrank.model_io import load
from headrank.model_io.contents import faults
from headrank.solvers.trace import Step
from headrank.training.goal import Goal
from model_io.forging import unchecked
from model_io.saved_models import made


def refused(model, tmp_path, words):
    (tmp_path / "model").write_bytes(unchecked(model))
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "model")


def trees(edit):
    model = deepcopy(made("trees")[0])
    nodes = model._predictors[3][0].nodes
    edit(nodes)
    return model


def inner(nodes):
    return int(np.flatnonzero(nodes["is_leaf"] == 0)[0])


@pytest.mark.parametrize(
    ("field", "number"),
    [("left", 10**6), ("right", 10**6), ("left", 0), ("right", 0), ("feature_idx", 3), ("feature_idx", -1)],
)
def test_trees_that_lead_out_of_the_array_or_in_a_circle(field, number, tmp_path):
    def edit(nodes):
        nodes[field][inner(nodes)] = number

    refused(trees(edit), tmp_path, "a tree with invalid nodes")


def test_trees_that_look_up_categories_that_are_not_there(tmp_path):
    def edit(nodes):
        nodes["is_categorical"][inner(nodes)] = 1

    refused(trees(edit), tmp_path, "a tree with invalid nodes")


def test_trees_without_nodes_or_without_a_number_of_features(tmp_path):
    empty = trees(lambda nodes: None)
    empty._predictors[0][0].nodes = empty._predictors[0][0].nodes[:0]
    refused(empty, tmp_path, "a tree with invalid nodes")
    loose = trees(lambda nodes: None)
    del loose.n_features_in_
    refused(loose, tmp_path, "n_features_in_")
    in_fit = trees(lambda nodes: None)
    in_fit._in_fit = True
    refused(in_fit, tmp_path, "number of features is missing")


def table_model():
    return deepcopy(made("table, logistic regression")[0])


def encoders(model, name):
    return [each for each in model[0].transformers_.values() if type(each).__name__ == name]


@pytest.mark.parametrize("number", [10**6, -1, 0])
def test_words_that_are_numbered_wrongly(number, tmp_path):
    model = table_model()
    words = encoders(model, "StringEncoder")[0].vectorizer_.vocabulary_
    words[max(words, key=words.get)] = number
    refused(model, tmp_path, "vocabulary")


def test_text_that_is_the_name_of_a_file(tmp_path):
    model = table_model()
    encoders(model, "StringEncoder")[0].vectorizer_.input = "filename"
    refused(model, tmp_path, "reads files")


def test_one_hot_encoders_that_write_beside_their_columns(tmp_path):
    for edit in (
        lambda each: each.__dict__.update(_n_features_outs=[1]),
        lambda each: each.__dict__.update(_drop_idx_after_grouping=np.array([7], dtype=object)),
        lambda each: each.__dict__.update(_infrequent_enabled=True),
        lambda each: each.__dict__.update(_n_features_outs=[]),
        lambda each: each.__dict__.update(categories_=[np.array([3.0, 1.0, 2.0])]),
    ):
        model = table_model()
        edit(encoders(model, "OneHotEncoder")[0])
        refused(model, tmp_path, "OneHotEncoder")


def test_values_in_the_place_of_methods(tmp_path):
    model = deepcopy(made("ranker")[0])
    model.decision_function = 3.0
    refused(model, tmp_path, "in place of the methods decision_function")


def test_the_checks_of_constructors_are_made_up_for(tmp_path):
    model = deepcopy(made("ranker")[0])
    model.measure = hr.PartialAUC(max_fpr=0.5)
    object.__setattr__(model.measure, "max_fpr", 7.0)
    refused(model, tmp_path, "PartialAUC: ValueError")
    model.measure = hr.AUC()
    object.__setattr__(model.measure, "more", 1)
    refused(model, tmp_path, "unknown attributes more")
    goal = Goal(top=0.1)
    object.__setattr__(goal, "max_fpr", 0.5)
    assert faults([goal])
    step = Step(1, 2.0, 1.0, 1, 0.0)
    del step.__dict__["lower"]
    assert faults((step,)) == ["Step: AttributeError: 'Step' object has no attribute 'lower'"]


def test_wrong_numbers_are_wrong_numbers_and_no_more(tmp_path):
    """What a checksum cannot prove, and no check can see: who changed the coefficients."""
    model = deepcopy(made("ranker")[0])
    model.coef_ = model.coef_ * -1
    (tmp_path / "model").write_bytes(unchecked(model))
    assert (load(tmp_path / "model").coef_ == model.coef_).all()


@pytest.mark.parametrize(
    ("field", "place", "number"),
    [
        ("low", 0, 0),
        ("high", 0, 10**6),
        ("low", 0, -3),
        ("left", 0, 2),
        ("right", 0, 0),
        ("first", 0, 1),
        ("first", 0, 10**6),
        ("feature", 0, -1),
        ("right", -1, 1),
    ],
)
def test_ranking_trees_that_lead_nowhere_or_back(field, place, number, tmp_path):
    model = deepcopy(made("ranking tree")[0])
    getattr(model.tree_, field)[place] = number
    refused(model, tmp_path, "not a ranking tree")


@pytest.mark.parametrize("field", ["feature", "threshold", "missing_low", "low", "high", "pos", "first"])
def test_ranking_trees_with_arrays_that_are_too_short(field, tmp_path):
    model = deepcopy(made("ranking tree")[0])
    object.__setattr__(model.tree_, field, getattr(model.tree_, field)[:-1])
    refused(model, tmp_path, "RankingTree")


@pytest.mark.parametrize(
    ("field", "place", "number"),
    [("low", 5, 5), ("high", 5, 0), ("low", 0, 10**6), ("high", 0, -(10**6)), ("roots", 0, 10**6), ("feature", 3, -1)],
)
def test_ranking_forests_that_lead_nowhere_or_back(field, place, number, tmp_path):
    model = deepcopy(made("ranking forest")[0])
    getattr(model.graph_, field)[place] = number
    refused(model, tmp_path, "not the tests of ranking trees")
