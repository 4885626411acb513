"""Errors and warnings that callers may want to catch; each derives from a builtin one."""


class InvalidSampleError(ValueError):
    """Labels, scores, weights or query ids are invalid."""


class OneClassError(InvalidSampleError):
    """A sample, or each of its queries, has no positives or no negatives."""


class ShallowHeadError(ValueError):
    """A value was requested that lies below the depth of a head."""


class NoVarianceError(ValueError):
    """An asymptotic method estimates zero variance on the sample, so it gives no interval or test."""


class NoIntervalError(ValueError):
    """A measure of a single list has no counterpart for a population, so it has a value there but no interval."""


class ModelFileError(ValueError):
    """A model cannot be saved or exported, or a model file cannot be loaded; the message says why."""


class TooFewRowsError(ValueError):
    """The sample is too small to certify any threshold for the budget at this confidence.

    Attributes
    ----------
    n_needed, n_given : int
        Minimum number of rows required (negatives for ``max_fpr``, else rows of both classes), and the number given.
    """

    def __init__(self, message: str, n_needed: int, n_given: int) -> None:
        super().__init__(message)
        self.n_needed, self.n_given = n_needed, n_given

    def __reduce__(self) -> tuple[type, tuple[str, int, int]]:
        return type(self), (str(self), self.n_needed, self.n_given)


class MeasureWarning(UserWarning):
    """A measure was computed, but its value is not comparable or meaningful on this sample."""


class MissingLabelsWarning(UserWarning):
    """Rows without a label were dropped, as asked for by ``missing="drop"``."""


class CollapsedFitWarning(UserWarning):
    """A ranker learned nothing: weights near 0 are optimal for its surrogate."""


class ShiftedScoresWarning(UserWarning):
    """The scores of new rows cannot have the distribution that a guarantee assumes."""
