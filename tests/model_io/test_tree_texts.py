"""Texts of trees in files with right checksums: LightGBM sees none that could lead it out of its arrays."""

import re
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import headrank as hr
from headrank.estimators.trees import lightgbm_trees
from headrank.estimators.trees.lightgbm_trees import LightGBMTrees
from headrank.estimators.trees.tree_text import DEEPEST, faults_of
from headrank.exceptions import ModelFileError
from headrank.model_io import load, save
from model_io.forging import unchecked
from model_io.saved_models import made, numbers


@pytest.fixture
def unseen(monkeypatch):
    """LightGBM must not be reached, once the models of these tests are made."""
    categorical_text()
    for name in ("boosted trees", "boosted trees by cross-validation", "combination"):
        made(name)

    def reached(letters):
        raise AssertionError("LightGBM was given the text")

    monkeypatch.setattr(lightgbm_trees, "_read", reached)


def forged(text):
    model = deepcopy(made("boosted trees")[0])
    model.trees_ = (LightGBMTrees(np.frombuffer(text.encode("latin-1"), dtype=np.uint8)),)
    return unchecked(model)


def refused(text, tmp_path, words):
    (tmp_path / "model").write_bytes(forged(text))
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "model")


def text():
    return made("boosted trees")[0].trees_[0].text


@cache
def categorical_text():
    X, y = numbers()
    codes = np.arange(y.size) % 4 + 4 * y
    X = np.c_[codes, X]
    ranker = hr.BoostedRanker(categorical_features=[0], n_estimators=2, min_samples_leaf=5).fit(
        np.tile(X, (3, 1)), np.tile(y, 3)
    )
    return ranker.trees_[0].text


def with_line(text, name, change):
    """The text with another value in the first line of this name that has one."""
    found = re.search(rf"(?m)^{name}=(.+)$", text)
    return f"{text[: found.start()]}{name}={change(found.group(1))}{text[found.end() :]}"


def with_number(name, number, place=0, of=text):
    def change(values):
        values = values.split(" ")
        values[place] = str(number)
        return " ".join(values)

    return with_line(of(), name, change)


def chain(n_splits):
    """A tree that is one long path, to the left: LightGBM follows it by recursion."""

    def joined(values):
        return " ".join(map(str, values))

    lines = {
        "Tree": 0,
        "num_leaves": n_splits + 1,
        "num_cat": 0,
        "split_feature": joined([0] * n_splits),
        "split_gain": joined([1] * n_splits),
        "threshold": joined(range(n_splits)),
        "decision_type": joined([2] * n_splits),
        "left_child": joined([*range(1, n_splits), -n_splits - 1]),
        "right_child": joined(range(-1, -n_splits - 1, -1)),
        "leaf_value": joined(range(n_splits + 1)),
        "leaf_weight": joined([1] * (n_splits + 1)),
        "leaf_count": joined([1] * (n_splits + 1)),
        "internal_value": joined([0] * n_splits),
        "internal_weight": joined([1] * n_splits),
        "internal_count": joined(range(n_splits + 1, 1, -1)),
        "is_linear": 0,
        "shrinkage": 1,
    }
    block = "\n".join(f"{name}={value}" for name, value in lines.items())
    return f"{text().partition('Tree=')[0]}{block}\n\n\nend of trees\n"


FORGERIES = {
    "a node beyond the last": lambda: with_number("left_child", 10**6),
    "a leaf beyond the last": lambda: with_number("right_child", -(10**6)),
    "a node that is its own child": lambda: with_number("left_child", 0),
    "a node before its parent": lambda: with_nodes_exchanged(),
    "a leaf twice": lambda: with_number("right_child", text_of_line("left_child").split(" ")[-1], -1),
    "a feature beyond the last": lambda: with_number("split_feature", 3),
    "a feature before the first": lambda: with_number("split_feature", -1),
    "more features than columns": lambda: with_line(text(), "max_feature_idx", lambda _: "7"),
    "two numbers of features": lambda: with_line(text(), "max_feature_idx", lambda value: f"{value} 9"),
    "no feature": lambda: with_line(text(), "max_feature_idx", lambda _: "-1"),
    "a line within a line": lambda: with_line(text(), "feature_infos", lambda values: values.replace(":", "=", 1)),
    "a number that does not fit": lambda: with_number("split_feature", 2**32),
    "a number as only Python reads it": lambda: with_line(
        text(), "left_child", lambda values: re.sub(r"\b([1-9])", r"0_\1", values, count=1)
    ),
    "a number behind a tab": lambda: with_line(text(), "left_child", lambda values: f"\t{values}"),
    "two numbers of leaves": lambda: with_line(text(), "num_leaves", lambda value: f"{value} 3"),
    "a number in words": lambda: with_number("left_child", "one"),
    "two spaces": lambda: with_line(text(), "left_child", lambda values: values.replace(" ", "  ", 1)),
    "a line more in the head": lambda: text().replace("num_class=1\n", "num_class=1\naverage_output\n", 1),
    "sizes of trees": lambda: text().replace("num_class=1\n", "num_class=1\ntree_sizes=100000000\n", 1),
    "a line more in a tree": lambda: text().replace("is_linear=0\n", "is_linear=0\nleaf_features=9\n", 1),
    "a line twice": lambda: text().replace("is_linear=0\n", "is_linear=0\nis_linear=0\n", 1),
    "a line less": lambda: re.sub(r"(?m)^leaf_value=.*\n", "", text(), count=1),
    "a line behind a carriage return": lambda: text().replace("\nobjective", "\rtree_sizes=9\nobjective", 1),
    "a zero byte": lambda: text().replace("num_cat=0", "num_cat=0\0", 1),
    "a letter beyond ASCII": lambda: text().replace("Column_0", "Column_\xe9", 1),
    "linear leaves": lambda: with_line(text(), "is_linear", lambda _: "1"),
    "fewer leaves": lambda: with_line(text(), "num_leaves", lambda value: str(int(value) - 1)),
    "more leaves": lambda: with_line(text(), "num_leaves", lambda value: str(int(value) + 1)),
    "no leaf": lambda: with_line(text(), "num_leaves", lambda _: "0"),
    "fewer thresholds": lambda: with_line(text(), "threshold", lambda values: values.rpartition(" ")[0]),
    "fewer counts": lambda: with_line(text(), "internal_count", lambda values: values.rpartition(" ")[0]),
    "a negative count": lambda: with_number("leaf_count", -1),
    "a leaf that is NaN": lambda: with_number("leaf_value", "nan"),
    "a leaf that is infinite": lambda: with_number("leaf_value", "1e999"),
    "a threshold that is almost infinite": lambda: with_number("threshold", "info"),
    "categories beyond all": lambda: with_category("threshold", "inf"),
    "a threshold that is NaN": lambda: with_number("threshold", "nan"),
    "a kind of split that is not known": lambda: with_number("decision_type", 64),
    "a split of categories without categories": lambda: with_number("decision_type", 1),
    "several classes": lambda: with_line(text(), "num_class", lambda _: "3"),
    "several trees a round": lambda: with_line(text(), "num_tree_per_iteration", lambda _: "2"),
    "another version": lambda: with_line(text(), "version", lambda _: "v3"),
    "another objective": lambda: with_line(text(), "objective", lambda _: "rank_xendcg"),
    "trees in another order": lambda: text().replace("Tree=1\n", "Tree=2\n", 1),
    "no trees": lambda: f"{text().partition('Tree=')[0]}\n\n\nend of trees\n",
    "no end": lambda: text().removesuffix("end of trees\n"),
    "something behind the end": lambda: f"{text()}pandas_categorical:[]\n",
    "nothing": lambda: "",
    "a path too long to follow": lambda: chain(DEEPEST + 1),
    "categories that are not listed": lambda: with_category("threshold", 99),
    "half a category": lambda: with_category("threshold", 0.5),
    "categories beyond the last word": lambda: with_number("cat_boundaries", 10**6, -1, of=categorical_text),
    "categories in no order": lambda: with_number("cat_boundaries", 1, of=categorical_text),
    "fewer words of categories": lambda: with_line(
        categorical_text(), "cat_threshold", lambda values: values.rpartition(" ")[0]
    ),
    "more kinds of categories": lambda: with_line(categorical_text(), "num_cat", lambda value: str(int(value) + 1)),
}


def with_nodes_exchanged():
    """The last split and its parent exchange places: each has one parent, and a path leads back."""
    last = str(len(text_of_line("left_child").split(" ")) - 1)
    found = text()
    for name in ("left_child", "right_child"):
        children = re.search(rf"(?m)^{name}=(.+)$", found).group(1).split(" ")
        if last in children:
            parent = children.index(last)
            leaf = children[-1]
            children[parent], children[-1] = leaf, last
            found = with_line(found, name, lambda _, children=children: " ".join(children))
    return found


def text_of_line(name):
    return re.search(rf"(?m)^{name}=(.+)$", text()).group(1)


def with_category(name, number):
    """The text with another number where the first split of categories says which."""
    kinds = re.search(r"(?m)^decision_type=(.+)$", categorical_text()).group(1).split(" ")
    return with_number(name, number, next(i for i, kind in enumerate(kinds) if int(kind) & 1), of=categorical_text)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_text_that_was_tampered_with_is_refused(name, tmp_path, unseen):
    forgery = FORGERIES[name]()
    assert forgery not in (text(), categorical_text())
    refused(forgery, tmp_path, "cannot be used: LightGBMTrees: ")


def test_the_originals_are_without_fault():
    for each in (text(), categorical_text(), chain(DEEPEST)):
        assert list(faults_of(each)) == []
    assert "num_cat=1" in categorical_text()


def test_the_longest_path_can_be_followed():
    trees = LightGBMTrees.of(chain(DEEPEST))
    X = np.array([[-1.0, 0.0, 0.0], [500.5, 0.0, 0.0]])
    np.testing.assert_allclose(trees.contributions(X).sum(axis=1), trees.scores(X), atol=1e-6)


@pytest.mark.parametrize("letters", [np.arange(3.0), np.zeros((2, 2), dtype=np.uint8), None, "tree"])
def test_letters_that_are_none(letters, tmp_path, unseen):
    model = deepcopy(made("boosted trees")[0])
    object.__setattr__(model.trees_[0], "letters", letters)
    (tmp_path / "model").write_bytes(unchecked(model))
    with pytest.raises(ModelFileError, match="LightGBMTrees"):
        load(tmp_path / "model")


def test_trees_are_found_wherever_they_are(tmp_path, unseen):
    bad = LightGBMTrees.of(with_number("left_child", 0))
    chosen, combination, ranker = (
        deepcopy(made(name)[0]) for name in ("boosted trees by cross-validation", "combination", "boosted trees")
    )
    (member, *others), part = chosen.members_, combination.parts_[0]
    chosen.members_ = (replace(member, trees=(*member.trees[:-1], bad)), *others)
    ranker.trees_ = (bad,)
    combination.parts_ = (*combination.parts_, replace(part, scorer=ranker))
    for model in (chosen, combination):
        (tmp_path / "model").write_bytes(unchecked(model))
        with pytest.raises(ModelFileError, match="LightGBMTrees: tree 0 has nodes with no parent or with several"):
            load(tmp_path / "model")


def test_trees_of_more_features_than_the_model_has(tmp_path, unseen):
    """A text that is right in itself."""
    wide = with_line(text(), "max_feature_idx", lambda _: "7")
    for name in ("feature_names", "feature_infos"):
        wide = with_line(wide, name, lambda values: f"{values} a b c d e")
    wide = with_number("split_feature", 7, of=lambda: wide)
    assert list(faults_of(wide)) == []
    refused(wide, tmp_path, "BoostedRanker: trees for 8 features in a model for 3")
    trees = LightGBMTrees.of(wide)
    model = deepcopy(made("boosted trees by cross-validation")[0])
    model.members_ = (*model.members_[:-1], replace(model.members_[-1], trees=(trees,)))
    (tmp_path / "model").write_bytes(unchecked(model))
    with pytest.raises(ModelFileError, match="BoostedRankerCV: trees for 8 features in a model for 3"):
        load(tmp_path / "model")


@pytest.mark.parametrize("megabytes", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_large_models_fit(megabytes, tmp_path):
    """A text that shrinks as little as numbers do."""
    model = deepcopy(made("boosted trees")[0])
    head, _, blocks = text().partition("Tree=")
    body = blocks.removesuffix("\n\n\nend of trees\n").partition("\n\n\nTree=")[0].partition("\n")[2]
    rng = np.random.default_rng(0)
    n_names = megabytes * 1_000_000 - len(text())
    noise = rng.integers(97, 122, n_names, dtype=np.uint8).tobytes().decode()
    long = with_line(f"{head}Tree=0\n{body}\n\n\nend of trees\n", "feature_names", lambda names: f"{names}{noise}")
    model.trees_ = (LightGBMTrees.of(long),)
    assert len(long) > 0.98e6 * megabytes
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").trees_[0].text == long


def test_a_threshold_between_known_and_missing_values_is_read(tmp_path):
    """LightGBM writes it as infinite."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4 == 0
    X = np.where(rng.random((400, 2)) < 0.2 + 0.5 * y[:, None], np.nan, rng.integers(0, 2, (400, 2)))
    model = hr.BoostedRanker("auc", n_estimators=3, min_samples_leaf=5).fit(X, y)
    assert re.search(r"(?m)^threshold=(.* )?inf\b", model.trees_[0].text)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(X), model.decision_function(X))
