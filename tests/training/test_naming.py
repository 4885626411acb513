"""What positive rows are called: by the user's noun, the column or its positive value, never the wrong way round."""

import pytest

from headrank.training.naming import nouns_of, other_nouns, positive_nouns


@pytest.mark.parametrize(
    ("target", "positive", "many"),
    [
        ("fraud", "1", "fraud cases"),
        ("IsFraud_P", "true", "fraud cases"),
        ("is_fraud", "yes", "fraud cases"),
        ("FraudFound", "Yes", "fraud cases"),
        ("diagnosis", "malignant", "malignant cases"),
        ("quality", "bad", "bad cases"),
        ("survived", "no", "positives"),  # these are the ones that did not
        ("survived", "0", "positives"),
        ("rating", "5", "positives"),
        ("Class", "1", "positives"),
        ("target", "none", "positives"),
        ("y", "1", "positives"),
        ("x17", "1", "positives"),
        ("default payment next month", "1", "positives"),
        ("", "1", "positives"),
        ("größe", "1", "größe cases"),
    ],
)
def test_names_made_of_column_and_value(target, positive, many):
    assert positive_nouns("", target, positive).many == many


def test_a_given_name_comes_first_with_its_plural():
    assert positive_nouns("fraud", "quality", "bad").many == "frauds"
    assert positive_nouns("mouse/mice", "y", "1").counted(2) == "2 mice"
    assert positive_nouns("mouse / mice", "y", "1").counted(1) == "1 mouse"


@pytest.mark.parametrize("name", ["", " ", "/", "a/", "/b", "a/b/c"])
def test_names_that_are_no_noun_with_its_plural_are_refused(name):
    with pytest.raises(ValueError, match=r"like diagnosis/diagnoses; got"):
        nouns_of(name)


def test_the_others():
    assert other_nouns(positive_nouns("", "y", "1")).many == "negatives"
    assert other_nouns(positive_nouns("fraud", "y", "1")).counted(1) == "1 other case"
    assert other_nouns(positive_nouns("", "clicked", "1", by_query=True)).many == "other results"
