"""Goals, measures and model names in words."""

from collections.abc import Sequence

from headrank._format import percent
from headrank.training.goal import Goal


def goal_in_words(goal: Goal) -> str:
    """Describe the part of the list that matters, in percent.

    >>> goal_in_words(Goal(top=0.05)), goal_in_words(Goal(max_fpr=0.02)), goal_in_words(Goal(min_fpr=0.02, max_fpr=0.1))
    ('the best 5 % of all cases', 'false positive rates up to 2 %', 'false positive rates from 2 % to 10 %')
    """
    if goal.top is not None:
        return f"the best {percent(goal.top)} of all cases"
    assert goal.max_fpr is not None
    low = "up to" if goal.min_fpr == 0 else f"from {percent(goal.min_fpr)} to"
    return f"false positive rates {low} {percent(goal.max_fpr)}"


def measure_in_words(goal: Goal) -> str:
    """Describe the measure that the models are compared by.

    >>> measure_in_words(Goal(top=0.05))
    'the probability that a positive is among the best 5 % of all cases and scores higher than a negative'
    >>> measure_in_words(Goal(max_fpr=0.02))
    'the mean true positive rate over false positive rates up to 2 %'
    """
    if goal.top is not None:
        return f"the probability that a positive is among {goal_in_words(goal)} and scores higher than a negative"
    return f"the mean true positive rate over {goal_in_words(goal)}"


def subject(name: str) -> str:
    """Return a model's name as the subject of a sentence, with an article if it needs one.

    Names of columns of scores are quoted.

    >>> subject("ranker"), subject("logistic regression"), subject("new_score"), subject("scorer")
    ('the ranker', 'logistic regression', '“new_score”', 'the scorer')
    """
    if name in ("logistic regression", "gradient boosting"):
        return name
    return f"the {name}" if name in ("ranker", "scorer") else f"“{name}”"


def sentence(words: str) -> str:
    """Capitalise the first letter and leave the rest unchanged.

    >>> sentence("the AUC is 1.")
    'The AUC is 1.'
    """
    return words[:1].upper() + words[1:]


def listed(words: Sequence[str]) -> str:
    """Join the words as an enumeration.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
