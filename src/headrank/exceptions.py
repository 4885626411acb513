"""The errors and warnings that callers may want to tell apart; each is also a builtin one."""


class InvalidSampleError(ValueError):
    """Labels, scores, weights or query ids that cannot be measured as they are."""


class OneClassError(InvalidSampleError):
    """A sample, or every one of its queries, lacks positives or lacks negatives."""


class ShallowHeadError(ValueError):
    """A head was asked about something below its depth."""


class NoVarianceError(ValueError):
    """An asymptotic method sees no noise in the sample, and so can say nothing of it."""


class ModelFileError(ValueError):
    """A model that cannot be saved or exported, or a file that cannot be loaded as one; the message says why."""


class TooFewRowsError(ValueError):
    """No threshold keeps the budget with this confidence: not even the highest score of the sample is high enough.

    Attributes
    ----------
    n_needed, n_given : int
        How many rows it would take at least (negatives for ``max_fpr``, else rows of both classes), and how many came.
    """

    def __init__(self, message: str, n_needed: int, n_given: int) -> None:
        super().__init__(message)
        self.n_needed, self.n_given = n_needed, n_given

    def __reduce__(self) -> tuple[type, tuple[str, int, int]]:
        return type(self), (str(self), self.n_needed, self.n_given)


class MeasureWarning(UserWarning):
    """A measure was computed, but does not mean here what its name promises."""


class CollapsedFitWarning(UserWarning):
    """A ranker has learned nothing: weights near 0 are optimal for its surrogate."""
