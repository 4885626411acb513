"""Names as people read them."""

from collections.abc import Sequence

from headrank._format import percent
from headrank.training.goal import Goal


def goal_in_words(goal: Goal) -> str:
    """Say which part of the list matters, in percent.

    >>> goal_in_words(Goal(top=0.05)), goal_in_words(Goal(max_fpr=0.02)), goal_in_words(Goal(min_fpr=0.02, max_fpr=0.1))
    ('the best 5 % of all cases', 'false positive rates up to 2 %', 'false positive rates from 2 % to 10 %')
    """
    if goal.top is not None:
        return f"the best {percent(goal.top)} of all cases"
    assert goal.max_fpr is not None
    low = "up to" if goal.min_fpr == 0 else f"from {percent(goal.min_fpr)} to"
    return f"false positive rates {low} {percent(goal.max_fpr)}"


def measure_in_words(goal: Goal) -> str:
    """Say what the models are judged by.

    >>> measure_in_words(Goal(top=0.05))
    'the chance that a positive is among the best 5 % of all cases and scores higher than a negative'
    >>> measure_in_words(Goal(max_fpr=0.02))
    'the true positive rate, as a mean over false positive rates up to 2 %'
    """
    if goal.top is not None:
        return f"the chance that a positive is among {goal_in_words(goal)} and scores higher than a negative"
    return f"the true positive rate, as a mean over {goal_in_words(goal)}"


def subject(name: str) -> str:
    """Return a model's name as the subject of a sentence: the ranker, but logistic regression.

    >>> subject("ranker"), subject("logistic regression")
    ('the ranker', 'logistic regression')
    """
    return f"the {name}" if name == "ranker" else name


def sentence(words: str) -> str:
    """Return the words with a capital letter in front; the rest stays as it is.

    >>> sentence("the AUC is 1.")
    'The AUC is 1.'
    """
    return words[:1].upper() + words[1:]


def listed(words: Sequence[str]) -> str:
    """Return the words as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
