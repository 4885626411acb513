"""Names of measures that were meant otherwise: the one that was probably meant is named, and can be read."""

import re

import pytest

import headrank as hr


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("roc_auc", "auc"),
        ("AUROC", "auc"),
        ("AUC", "auc"),
        ("auc@0.1", "pauc@0.1"),
        ("roc_auc@0.1", "pauc@0.1"),
        ("pAUC@0.05", "pauc@0.05"),
        ("locuac@0.1", "locauc@0.1"),
        ("precision@100", "p@100"),
        ("recall@0.1", "r@0.1"),
        ("tpr@0.01", "tpr@fpr=0.01"),
        ("sensitivity@0.01", "tpr@fpr=0.01"),
        ("fpr@0.9", "fpr@tpr=0.9"),
        ("map", "ap"),
        ("MAP@10", "ap@10"),
        ("AUPRC", "prauc"),
    ],
)
def test_the_name_that_was_meant(name, meant):
    with pytest.raises(ValueError, match=re.escape(f"did you mean {meant!r}?")):
        hr.measure(name)
    assert str(hr.measure(meant)) == meant


@pytest.mark.parametrize("name", ["f1", "pauc@5", "pauc", "p@1.5", ""])
def test_no_name_is_made_up(name):
    with pytest.raises(ValueError, match=r"valid names are alpha, ap, auc|names look like") as caught:
        hr.measure(name)
    assert "did you mean" not in str(caught.value)


def test_safe_names_have_only_characters_that_trackers_accept():
    names = ("pauc@0.01:0.05", "auc", "p@20", "locauc@0.1", "pauc@0.0105")
    safe = [hr.measure(name).safe_name for name in names]
    assert safe == ["pauc_0.01_0.05", "auc", "p_20", "locauc_0.1", "pauc_0.0105"]
